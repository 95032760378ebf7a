//! Names and messages of errors for Ruby and Chef. No other module has the names of their classes and functions, or the
//! messages that are built from an error's fields. Ruby cookbooks rescue the classes, and people search for the messages.

mod http;
mod names;
mod plain;
mod shell_out;

pub use http::{NO_URL, status, unreachable, with_address};
pub use names::unknown_name;
pub use plain::{dry_refusal, is_own, plainly, without_repetition};
pub use shell_out::{
    AccountLookup, CommandEnd, OUTPUT_BEGINS, timed_out, unexpected_exit, without_account, without_directory,
};

use crate::{ClassName, ErrorKind, FileCall, SystemError};

/// Returns the name of the class under which Ruby code rescues the error. Classes that begin with `Wrun::` are wrun's own.
pub fn class(kind: &ErrorKind) -> &str {
    match kind {
        ErrorKind::System(error) => system_class(*error),
        ErrorKind::Custom(class) => &class.0,
        ErrorKind::Denied => "Wrun::Denied",
        ErrorKind::DryRun => "Wrun::DryRun",
        ErrorKind::Assumed => "Wrun::Assumed",
        ErrorKind::Unknown => "Wrun::Unknown",
        ErrorKind::Bug => "Wrun::Bug",
        ErrorKind::GuestLost => "Wrun::GuestLost",
        ErrorKind::NotStarted => "Wrun::PolicyNotStarted",
        ErrorKind::PolicyFailed => "Wrun::PolicyFailed",
        ErrorKind::NotBegun => "Wrun::NotBegun",
        ErrorKind::StateNotSaved => "Wrun::StateNotSaved",
        ErrorKind::FactsNotGathered => "Wrun::FactsNotGathered",
        ErrorKind::CheckFailed => "Wrun::CheckFailed",
        ErrorKind::TooLarge => "Wrun::TooLarge",
        ErrorKind::TooEarly => "Wrun::TooEarly",
        ErrorKind::TooManyResources => "Wrun::TooManyResources",
        ErrorKind::TooManyNotifications => "Wrun::TooManyNotifications",
        ErrorKind::TooManyContexts => "Wrun::TooManyContexts",
        ErrorKind::NestedTooDeep => "Wrun::NestedTooDeep",
        ErrorKind::NoTypes => "Wrun::NoTypes",
        ErrorKind::InvalidResourceId => "Wrun::NoSuchResource",
        ErrorKind::ContextEnded => "Wrun::ContextEnded",
        ErrorKind::NotInAction => "Wrun::NotInAction",
        ErrorKind::NotEntered => "Wrun::NotEntered",
        ErrorKind::DidNotConverge => "Wrun::DidNotConverge",
        ErrorKind::ChangedMeanwhile => "Wrun::ChangedMeanwhile",
        ErrorKind::Failed => "RuntimeError",
        ErrorKind::InvalidArgument => "ArgumentError",
        ErrorKind::WrongType => "TypeError",
        ErrorKind::NoSuchName => "NoMethodError",
        ErrorKind::InputOutput => "IOError",
        ErrorKind::EndOfInput => "EOFError",
        ErrorKind::InvalidSyntax => "SyntaxError",
        ErrorKind::InvalidPattern => "RegexpError",
        ErrorKind::Signalled => "SignalException",
        ErrorKind::Interrupted => "Interrupt",
        ErrorKind::NotJson => "JSON::GeneratorError",
        ErrorKind::InvalidJson => "Chef::Exceptions::JSON::ParseError",
        ErrorKind::InvalidUnit => "IniParse::ParseError",
        ErrorKind::InvalidArchive => "Archive::Error",
        ErrorKind::GemNotInstalled => "Gem::InstallError",
        ErrorKind::Template => "Chef::Mixin::Template::TemplateError",
        ErrorKind::CommandFailed => "Mixlib::ShellOut::ShellCommandFailed",
        ErrorKind::CommandTimeout => "Mixlib::ShellOut::CommandTimeout",
        ErrorKind::Unreachable => "SocketError",
        ErrorKind::ConnectTimeout => "Net::OpenTimeout",
        ErrorKind::ReadTimeout => "Net::ReadTimeout",
        ErrorKind::HttpClientError => "Net::HTTPClientException",
        ErrorKind::HttpServerError => "Net::HTTPFatalError",
        ErrorKind::HttpRedirect => "Net::HTTPRetriableError",
        ErrorKind::HttpStatus => "Net::HTTPError",
        ErrorKind::HttpBadResponse => "Net::HTTPBadResponse",
        ErrorKind::Tls => "OpenSSL::SSL::SSLError",
        ErrorKind::InvalidUrl => "URI::InvalidURIError",
        ErrorKind::LengthMismatch => "Chef::Exceptions::ContentLengthMismatch",
        ErrorKind::InvalidRedirect => "Chef::Exceptions::InvalidRedirect",
        ErrorKind::TooManyRedirects => "Chef::Exceptions::RedirectLimitExceeded",
        ErrorKind::InvalidFileUrl => "Chef::Exceptions::InvalidRemoteFileURI",
        ErrorKind::ChecksumMismatch => "Chef::Exceptions::ChecksumMismatch",
        ErrorKind::InvalidValue => "Chef::Exceptions::ValidationFailed",
        ErrorKind::NoSuchVerification => "Chef::Exceptions::VerificationNotFound",
        ErrorKind::UnsupportedAction => "Chef::Exceptions::UnsupportedAction",
        ErrorKind::UnsupportedPlatform => "Chef::Exceptions::UnsupportedPlatform",
        ErrorKind::NoProvider => "Chef::Exceptions::ProviderNotFound",
        ErrorKind::NoSuchFile => "Chef::Exceptions::FileNotFound",
        ErrorKind::WrongFileType => "Chef::Exceptions::FileTypeMismatch",
        ErrorKind::InvalidLink => "Chef::Exceptions::InvalidSymlink",
        ErrorKind::NoParentDirectory => "Chef::Exceptions::EnclosingDirectoryDoesNotExist",
        ErrorKind::NoCheckoutParent => "Chef::Exceptions::MissingParentDirectory",
        ErrorKind::NotPermitted => "Chef::Exceptions::InsufficientPermissions",
        ErrorKind::NoSuchUser => "Chef::Exceptions::UserIDNotFound",
        ErrorKind::NoSuchGroup => "Chef::Exceptions::GroupIDNotFound",
        ErrorKind::ConflictingMembers => "Chef::Exceptions::ConflictingMembersInGroup",
        ErrorKind::InvalidRequest => "Chef::Exceptions::InvalidResourceSpecification",
        ErrorKind::InvalidGitReference => "Chef::Exceptions::InvalidRemoteGitReference",
        ErrorKind::NoSuchGitReference => "Chef::Exceptions::UnresolvableGitReference",
        ErrorKind::Cron => "Chef::Exceptions::Cron",
        ErrorKind::Execute => "Chef::Exceptions::Execute",
        ErrorKind::Group => "Chef::Exceptions::Group",
        ErrorKind::Link => "Chef::Exceptions::Link",
        ErrorKind::Mount => "Chef::Exceptions::Mount",
        ErrorKind::Package => "Chef::Exceptions::Package",
        ErrorKind::Service => "Chef::Exceptions::Service",
        ErrorKind::User => "Chef::Exceptions::User",
        ErrorKind::RebootFailed => "Chef::Exceptions::RebootFailed",
        ErrorKind::ResourceNotFound => "Chef::Exceptions::ResourceNotFound",
        ErrorKind::InvalidResourceKey => "Chef::Exceptions::InvalidResourceReference",
        ErrorKind::TooLateForBefore => "Chef::Exceptions::UnifiedModeBeforeSubscriptionEarlierResource",
        ErrorKind::Several => "Chef::Exceptions::MultipleFailures",
        ErrorKind::ReadOnlyAttribute => "Chef::Exceptions::ImmutableAttributeModification",
        ErrorKind::AttributeTypeMismatch => "Chef::Exceptions::AttributeTypeMismatch",
        ErrorKind::NoSuchAttribute => "Chef::Exceptions::NoSuchAttribute",
        ErrorKind::NoSuchCookbook => "Chef::Exceptions::CookbookNotFound",
        ErrorKind::CookbookVersionConflict => "Chef::Exceptions::CookbookVersionConflict",
        ErrorKind::UnsatisfiableRunList => "Chef::Exceptions::CookbookVersionSelection::UnsatisfiableRunListItem",
        ErrorKind::InvalidCookbookVersion => "Chef::Exceptions::InvalidCookbookVersion",
        ErrorKind::InvalidPlatformVersion => "Chef::Exceptions::InvalidPlatformVersion",
        ErrorKind::InvalidVersionConstraint => "Chef::Exceptions::InvalidVersionConstraint",
        ErrorKind::InvalidMetadata => "Chef::Exceptions::MetadataNotValid",
        ErrorKind::NoSuchRole => "Chef::Exceptions::MissingRole",
        ErrorKind::NoSuchEnvironment => "Chef::Exceptions::EnvironmentNotFound",
        ErrorKind::AmbiguousRunList => "Chef::Exceptions::AmbiguousRunlistSpecification",
    }
}

fn system_class(error: SystemError) -> &'static str {
    match error {
        SystemError::Access => "Errno::EACCES",
        SystemError::Again => "Errno::EAGAIN",
        SystemError::BadDescriptor => "Errno::EBADF",
        SystemError::Busy => "Errno::EBUSY",
        SystemError::ConnectionRefused => "Errno::ECONNREFUSED",
        SystemError::ConnectionReset => "Errno::ECONNRESET",
        SystemError::Quota => "Errno::EDQUOT",
        SystemError::Exists => "Errno::EEXIST",
        SystemError::FileTooLarge => "Errno::EFBIG",
        SystemError::HostUnreachable => "Errno::EHOSTUNREACH",
        SystemError::InvalidSequence => "Errno::EILSEQ",
        SystemError::Interrupted => "Errno::EINTR",
        SystemError::Invalid => "Errno::EINVAL",
        SystemError::InputOutput => "Errno::EIO",
        SystemError::IsDirectory => "Errno::EISDIR",
        SystemError::Loop => "Errno::ELOOP",
        SystemError::TooManyOpen => "Errno::EMFILE",
        SystemError::TooManyLinks => "Errno::EMLINK",
        SystemError::NameTooLong => "Errno::ENAMETOOLONG",
        SystemError::TooManyOpenInSystem => "Errno::ENFILE",
        SystemError::NoDevice => "Errno::ENODEV",
        SystemError::NotFound => "Errno::ENOENT",
        SystemError::NoMemory => "Errno::ENOMEM",
        SystemError::NoSpace => "Errno::ENOSPC",
        SystemError::NoSuchCall => "Errno::ENOSYS",
        SystemError::NotDirectory => "Errno::ENOTDIR",
        SystemError::NotEmpty => "Errno::ENOTEMPTY",
        SystemError::NoSuchDevice => "Errno::ENXIO",
        SystemError::NotSupported => "Errno::EOPNOTSUPP",
        SystemError::NotPermitted => "Errno::EPERM",
        SystemError::ReadOnly => "Errno::EROFS",
        SystemError::Stale => "Errno::ESTALE",
        SystemError::TimedOut => "Errno::ETIMEDOUT",
        SystemError::TextBusy => "Errno::ETXTBSY",
        SystemError::CrossDevice => "Errno::EXDEV",
    }
}

/// Returns the kind of an exception by the name of its class, as a guest sent it.
pub fn kind(class_name: &str) -> ErrorKind {
    let system = || SystemError::ALL.iter().map(|error| ErrorKind::System(*error));
    let known = ErrorKind::PLAIN.iter().cloned().chain(system());
    known
        .into_iter()
        .find(|kind| class(kind) == class_name)
        .unwrap_or_else(|| ErrorKind::Custom(ClassName(class_name.to_owned())))
}

/// Ruby's and Chef's exceptions that are not `StandardError`.
const NOT_STANDARD: [&str; 19] = [
    "Exception",
    "ScriptError",
    "LoadError",
    "NotImplementedError",
    "SyntaxError",
    "Gem::LoadError",
    "Gem::MissingSpecError",
    "Gem::MissingSpecVersionError",
    "Gem::ConflictError",
    "NoMemoryError",
    "SecurityError",
    "SystemExit",
    "SystemStackError",
    "SignalException",
    "Interrupt",
    "Timeout::ExitException",
    "Chef::Exceptions::Reboot",
    "Chef::Exceptions::RebootPending",
    "Chef::Exceptions::ClientUpgraded",
];

/// Returns true if Ruby's `rescue` without a class catches the error. Guests do not send the ancestors of a class, so a
/// cookbook's own classes count as standard.
pub fn is_standard(kind: &ErrorKind) -> bool {
    !NOT_STANDARD.contains(&class(kind))
}

/// Returns true if Chef computes the message of this class itself, so that a longer message would never appear.
pub fn has_own_message(kind: &ErrorKind) -> bool {
    matches!(kind, ErrorKind::Template | ErrorKind::Several)
}

/// Returns the message of a refused call: `No such file or directory @ rb_sysopen - /srv/x`.
///
/// `sentence` is the C library's text for the error, which Ruby shows, too.
pub fn refused_call(sentence: &str, call: FileCall, path: &str) -> String {
    format!("{sentence} @ {} - {path}", function(call))
}

/// Returns the name of Ruby's internal function for the call.
fn function(call: FileCall) -> &'static str {
    match call {
        FileCall::Open => "rb_sysopen",
        FileCall::Read => "read",
        FileCall::Look => "rb_file_s_stat",
        FileCall::LookAtLink => "rb_file_lstat",
        FileCall::ReadLink => "rb_readlink",
        FileCall::ResolveLinks => "rb_check_realpath_internal",
        FileCall::List => "dir_initialize",
        FileCall::MakeDirectory => "dir_s_mkdir",
        FileCall::RemoveDirectory => "dir_s_rmdir",
        FileCall::Change => "apply2files",
        FileCall::Rename => "rb_file_s_rename",
        FileCall::LinkSymbolic => "rb_file_s_symlink",
        FileCall::LinkHard => "rb_file_s_link",
        FileCall::Unmount => "umount",
    }
}

/// Returns the place of a declaration in a Ruby file, with the frame that Chef shows.
///
/// For a line of a recipe, the frame is the method that reads files. For a line of an action, it is the action's block in the
/// file of its class.
pub fn declared_at(place: &str, in_action: bool) -> String {
    let frame = if in_action { "block in class_from_file" } else { "from_file" };
    format!("{place}:in `{frame}'")
}

/// Returns the message of an action without a provider. `why` is wrun's explanation.
pub fn without_provider(resource: &str, why: &str) -> String {
    format!("Cannot find a provider for {resource}: {why}")
}

/// Returns the prefix of the message of an error that has passed through a resource: `file[/x] (a.rb:1) had an error:
/// KeyError: `.
pub fn passed_on(resource: &str, kind: &ErrorKind) -> String {
    format!("{resource} had an error: {}: ", class(kind))
}

/// The part of a run in which one of several failures happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedIn {
    /// The converge of the resources, in order.
    Converge,
    /// A notification at the end of the run.
    DelayedNotification,
}

/// Returns the message of several failures, each with its class, its part of the run and its own message.
pub fn several<'a>(failures: impl IntoIterator<Item = (&'a ErrorKind, FailedIn, String)>) -> String {
    let lines = failures.into_iter().map(|(kind, place, message)| {
        let place = match place {
            FailedIn::Converge => "Chef Infra Client run",
            FailedIn::DelayedNotification => "delayed notification",
        };
        format!("\n* {} occurred in {place}: {message}", class(kind))
    });
    format!("Multiple failures occurred:{}", lines.collect::<String>())
}

/// Returns the message of an action that a provider does not have. `kind` is the resource type: `apt_package`.
pub fn no_such_action(action: &str, kind: &str) -> String {
    format!("undefined method 'action_{action}' for an instance of Chef::Provider::{}", camel_case(kind))
}

/// Converts a type's name to that of a Ruby class: `apt_package` becomes `AptPackage`.
fn camel_case(kind: &str) -> String {
    let words = kind.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    });
    words.collect()
}

/// Returns the message of a notification with several receivers. Chef's message contains the address of an object, which is
/// always zero here.
pub fn several_receivers(sender: &str, place: &str) -> String {
    let message = format!(
        "Notification #<Chef::Resource::Notification:0x{:016x}> from {sender} was created with a reference to multiple \
         resources, but can only notify one resource. Notifying resource was defined on {place}",
        0
    );
    message.trim_end().to_owned()
}

/// Chef's name of the verification of a file as JSON.
pub const VERIFIES_JSON: &str = ":json (Chef::Resource::File::Verification::Json)";

/// Chef's name of the verification of a file as a systemd unit.
pub const VERIFIES_UNIT: &str = ":systemd_unit (Chef::Resource::File::Verification::SystemdUnit)";

/// Ruby's text for a property type that is itself a property.
pub const NESTED_PROPERTY: &str = "#<Chef::Property>";

/// Returns the message about a text that is not an item of a run list. `quoted` is the text as Ruby prints it.
pub fn not_a_run_list_item(quoted: &str) -> String {
    format!("Unable to create Chef::RunList::RunListItem from String:{quoted}: must be recipe[] or role[]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_kind_has_a_class_of_its_own_and_is_found_by_it() {
        let kinds = ErrorKind::PLAIN.iter().cloned().chain(SystemError::ALL.iter().copied().map(ErrorKind::from));
        let mut classes = BTreeSet::new();
        for known in kinds {
            assert_eq!(kind(class(&known)), known);
            assert!(classes.insert(class(&known).to_owned()), "{known:?}");
        }
        for error in SystemError::ALL {
            assert_eq!(SystemError::named(error.name()), Some(*error));
        }
        assert_eq!(kind("Errno::ENOENT"), ErrorKind::System(SystemError::NotFound));
    }

    #[test]
    fn other_classes_keep_their_names() {
        for name in ["MyCookbook::Broken", "Errno::EPIPE", "", "LoadError"] {
            let kind = kind(name);
            assert!(matches!(kind, ErrorKind::Custom(_)), "{name}");
            assert_eq!(class(&kind), name);
        }
        assert!(!is_standard(&kind("LoadError")) && is_standard(&kind("MyCookbook::Broken")));
        assert!(!is_standard(&ErrorKind::Signalled) && is_standard(&ErrorKind::Failed));
    }

    #[test]
    fn sentences_are_those_of_ruby_and_chef() {
        let refused = refused_call("No such file or directory", FileCall::Open, "/srv/x");
        assert_eq!(refused, "No such file or directory @ rb_sysopen - /srv/x");
        assert_eq!(
            no_such_action("paint", "apt_package"),
            "undefined method 'action_paint' for an instance of Chef::Provider::AptPackage"
        );
        let failures = [
            (&ErrorKind::Failed, FailedIn::Converge, "no".to_owned()),
            (&ErrorKind::InvalidArgument, FailedIn::DelayedNotification, "neither".to_owned()),
        ];
        assert_eq!(
            several(failures),
            "Multiple failures occurred:\n* RuntimeError occurred in Chef Infra Client run: no\n* ArgumentError occurred in \
             delayed notification: neither"
        );
    }
}
