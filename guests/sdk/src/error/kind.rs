//! The kinds of errors, for code that handles some of them. The contract uses Ruby's class names for errors in both
//! languages. Authors of Rust cookbooks need not know them.

/// The kind of an error.
///
/// ```
/// use wrun_sdk::{Error, ErrorKind};
///
/// let error = Error::new("Errno::ENOENT", "No such file or directory @ rb_sysopen - /etc/motd");
/// assert_eq!(error.kind(), ErrorKind::NotFound);
/// assert_eq!(error.to_string(), "no such file or directory: /etc/motd");
/// // The message of a call that the cookbook made by itself is the path.
/// assert_eq!(Error::new("Errno::EISDIR", "/etc").to_string(), "/etc: it is a directory");
///
/// let ended = Error::new("Mixlib::ShellOut::ShellCommandFailed", "Expected process to exit with [0], but received '3'");
/// assert_eq!((ended.kind(), ended.to_string()), (ErrorKind::CommandFailed, "the command ended with 3, not with 0".into()));
/// assert_eq!(Error::text("no").kind(), ErrorKind::Other);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The policy lacks a grant for the call.
    Denied,
    /// A dry run refused a change.
    DryRun,
    /// No file or directory has the path.
    NotFound,
    /// The permissions of the machine's files do not allow it.
    PermissionDenied,
    /// The path already exists.
    AlreadyExists,
    /// The path, or a part of it, is not a directory.
    NotADirectory,
    /// The path leads to a directory.
    IsADirectory,
    /// The system refused the call for another reason.
    System,
    /// A command ended with an exit code that is not a success.
    CommandFailed,
    /// A command took too long.
    CommandTimeout,
    /// A server cannot be reached, or its response is incomplete.
    Unreachable,
    /// A server answered with a status that is not a success.
    HttpStatus,
    /// A property, an argument or a value is invalid.
    Invalid,
    /// No resource type, property or action has the name.
    UnknownName,
    /// No resource was declared under the key.
    ResourceNotFound,
    /// The node does not have the attribute.
    AttributeNotFound,
    /// The policy does not have the cookbook, the recipe, the file or the data.
    Missing,
    /// A template could not be rendered.
    Template,
    /// Any other error, including those of [`Error::text`](crate::Error::text).
    Other,
}

/// Returns the kind of an error by its class in the contract.
pub(super) fn of_class(class: &str) -> ErrorKind {
    if let Some(name) = class.strip_prefix("Errno::") {
        return match name {
            "ENOENT" => ErrorKind::NotFound,
            "EACCES" | "EPERM" => ErrorKind::PermissionDenied,
            "EEXIST" => ErrorKind::AlreadyExists,
            "ENOTDIR" => ErrorKind::NotADirectory,
            "EISDIR" => ErrorKind::IsADirectory,
            "ECONNREFUSED" | "ECONNRESET" | "EHOSTUNREACH" | "ETIMEDOUT" => ErrorKind::Unreachable,
            _ => ErrorKind::System,
        };
    }
    match class.strip_prefix("Chef::Exceptions::").unwrap_or(class) {
        "Wrun::Denied" => ErrorKind::Denied,
        "Wrun::DryRun" => ErrorKind::DryRun,
        "Mixlib::ShellOut::ShellCommandFailed" => ErrorKind::CommandFailed,
        "Mixlib::ShellOut::CommandTimeout" => ErrorKind::CommandTimeout,
        "SocketError"
        | "Net::OpenTimeout"
        | "Net::ReadTimeout"
        | "Net::HTTPBadResponse"
        | "EOFError"
        | "OpenSSL::SSL::SSLError"
        | "ContentLengthMismatch" => ErrorKind::Unreachable,
        "Net::HTTPClientException" | "Net::HTTPFatalError" | "Net::HTTPRetriableError" | "Net::HTTPError" => {
            ErrorKind::HttpStatus
        }
        "ValidationFailed" | "ArgumentError" | "TypeError" | "RangeError" | "EncodingError" => ErrorKind::Invalid,
        "NoMethodError" => ErrorKind::UnknownName,
        "ResourceNotFound" => ErrorKind::ResourceNotFound,
        "NoSuchAttribute" => ErrorKind::AttributeNotFound,
        "CookbookNotFound" | "RecipeNotFound" | "FileNotFound" | "Wrun::NotFound" => ErrorKind::Missing,
        "Chef::Mixin::Template::TemplateError" => ErrorKind::Template,
        _ => ErrorKind::Other,
    }
}

/// Returns the message for an author of Rust: without the names of Ruby's functions, and with an explanation if the message
/// is only a path.
pub(super) fn plainly(class: &str, message: &str) -> String {
    let plain = match class.strip_prefix("Errno::") {
        Some(name) => system_error(message).or_else(|| about_path(name, message)),
        None if of_class(class) == ErrorKind::CommandFailed => exited(message),
        None => None,
    };
    plain.unwrap_or_else(|| message.to_owned())
}

/// Rewrites the message of a failed command: `Expected process to exit with [0, 2], but received '3'`, with the output below.
fn exited(message: &str) -> Option<String> {
    let (first, output) = message.split_once('\n').map_or((message, None), |(first, rest)| (first, Some(rest)));
    let (wanted, received) = first.strip_prefix("Expected process to exit with [")?.split_once("], but received ")?;
    let (wanted, received) = (wanted.replace(", ", " or "), received.trim_matches('\''));
    let output = output.map(|output| format!("\n{output}")).unwrap_or_default();
    Some(format!("the command ended with {received}, not with {wanted}{output}"))
}

/// Rewrites a system error with a function of Ruby: `No such file or directory @ rb_sysopen - /srv/x`.
fn system_error(message: &str) -> Option<String> {
    let (sentence, about) = message.split_once(" - ")?;
    let sentence = sentence.split(" @ ").next().unwrap_or(sentence);
    let mut letters = sentence.chars();
    let first = letters.next()?.to_lowercase();
    Some(format!("{first}{}: {about}", letters.as_str()))
}

/// Rewrites a system error of a direct call, whose message is only the path: `/srv/x`.
fn about_path(name: &str, path: &str) -> Option<String> {
    let words = match name {
        "EACCES" | "EPERM" => "permission denied",
        "EEXIST" => "something is there already",
        "EINVAL" => "the path is invalid",
        "EISDIR" => "it is a directory",
        "ELOOP" => "its links lead in a circle",
        "ENOENT" => "no such file or directory",
        "ENOTDIR" => "a part of the path is not a directory",
        "ENOTEMPTY" => "the directory is not empty",
        "EROFS" => "a dry run changes nothing",
        _ => return None,
    };
    (path.starts_with('/') && !path.contains('\n')).then(|| format!("{path}: {words}"))
}
