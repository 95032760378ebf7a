//! The kinds of errors. The host's code compares kinds, never the class names of other languages.

use crate::SystemError;

/// The name of an exception class without a kind. Only `chef::kind` creates it, from the name that a guest sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClassName(pub(crate) String);

/// Declares the kinds without fields, and the list of them.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $kind:ident,)*) => {
        /// The kind of an error.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
        pub enum ErrorKind {
            $($(#[doc = $doc])* $kind,)*
            /// The system refused a call.
            System(SystemError),
            /// An exception of a policy's own code, by the name of its class.
            Custom(ClassName),
            /// A failure without a kind of its own.
            #[default]
            Failed,
        }

        impl ErrorKind {
            /// The kinds without fields.
            pub const PLAIN: &[Self] = &[$(Self::$kind,)* Self::Failed];
        }
    };
}

kinds! {
    /// The policy lacks a grant for the call.
    Denied,
    /// A dry run refused a change to the machine.
    DryRun,
    /// A dry run assumes something instead of querying the machine. This becomes part of a plan, never an exception.
    Assumed,
    /// A dry run cannot query the machine.
    Unknown,
    /// A part of wrun contradicts another.
    Bug,
    /// The policy's instance has ended and cannot answer.
    GuestLost,
    /// A policy could not be started.
    NotStarted,
    /// Another policy failed. Handlers get no further details.
    PolicyFailed,
    /// The run ended before it began.
    NotBegun,
    /// The run's state could not be saved.
    StateNotSaved,
    /// Facts of the machine could not be gathered.
    FactsNotGathered,
    /// The check of a cookbook could not be made.
    CheckFailed,
    /// Something is larger than its limit.
    TooLarge,
    /// A guest made a call before the run was ready for it.
    TooEarly,
    /// A policy declared more resources than its limit.
    TooManyResources,
    /// A resource has more notifications or guards than its limit.
    TooManyNotifications,
    /// A policy opened more contexts than its limit.
    TooManyContexts,
    /// Resources or requests are nested deeper than their limit.
    NestedTooDeep,
    /// The run has no table of resource types.
    NoTypes,
    /// No resource has the number that a guest gave.
    InvalidResourceId,
    /// The context of a resource has ended.
    ContextEnded,
    /// The call is allowed only in a resource's action.
    NotInAction,
    /// A context was not entered before its use.
    NotEntered,
    /// A composite resource requested further actions too often.
    DidNotConverge,
    /// The thing changed after the plan was made, so the plan was not applied.
    ChangedMeanwhile,
    /// An argument has an invalid value.
    InvalidArgument,
    /// A value has the wrong type.
    WrongType,
    /// No resource type, property or action has the name.
    NoSuchName,
    /// Reading or writing failed, for a reason that is not an errno.
    InputOutput,
    /// The input ended where more was expected.
    EndOfInput,
    /// A file of code is not valid in its language.
    InvalidSyntax,
    /// A regular expression is invalid.
    InvalidPattern,
    /// The run ends because of a signal or a reboot of the node.
    Signalled,
    /// The run ends because the operator interrupted it (SIGINT).
    Interrupted,
    /// A value cannot be written as JSON.
    NotJson,
    /// A text is not valid JSON.
    InvalidJson,
    /// The content of a systemd unit is not in the format of units.
    InvalidUnit,
    /// An archive cannot be read.
    InvalidArchive,
    /// A gem could not be installed.
    GemNotInstalled,
    /// A template could not be rendered.
    Template,
    /// A command ended with an exit code that is not a success.
    CommandFailed,
    /// A command took too long.
    CommandTimeout,
    /// A server cannot be reached, for a reason without a kind of its own.
    Unreachable,
    /// A server took too long to accept the connection.
    ConnectTimeout,
    /// A server took too long to answer.
    ReadTimeout,
    /// A server answered with a status from 400 to 499.
    HttpClientError,
    /// A server answered with a status from 500 to 599.
    HttpServerError,
    /// A server answered with a status from 300 to 399.
    HttpRedirect,
    /// A server answered with a status that HTTP does not define.
    HttpStatus,
    /// A server's answer is not HTTP.
    HttpBadResponse,
    /// The encrypted connection to a server failed.
    Tls,
    /// A text is not a URL.
    InvalidUrl,
    /// A download ended before its announced length.
    LengthMismatch,
    /// A server redirected to an address that is not allowed.
    InvalidRedirect,
    /// A server redirected more often than allowed.
    TooManyRedirects,
    /// The URL of a file names no file of this node.
    InvalidFileUrl,
    /// A file does not have the expected checksum.
    ChecksumMismatch,
    /// A property, a name or a setting has an invalid value.
    InvalidValue,
    /// No verification of files has the name.
    NoSuchVerification,
    /// A provider does not have the action.
    UnsupportedAction,
    /// The platform does not support the requested feature.
    UnsupportedPlatform,
    /// No provider on this node can run the resource.
    NoProvider,
    /// A cookbook does not have the file.
    NoSuchFile,
    /// The path has another kind of file.
    WrongFileType,
    /// A symbolic link leads to something that cannot be managed.
    InvalidLink,
    /// The parent directory of a path does not exist.
    NoParentDirectory,
    /// The parent directory of a checkout does not exist.
    NoCheckoutParent,
    /// The permissions of a file do not allow the change.
    NotPermitted,
    /// The user that should own a file does not exist.
    NoSuchUser,
    /// The group that should own a file does not exist.
    NoSuchGroup,
    /// A user is both to be added to and removed from a group.
    ConflictingMembers,
    /// The properties of a resource contradict each other.
    InvalidRequest,
    /// A reference of a Git repository is invalid.
    InvalidGitReference,
    /// A Git repository does not have the reference.
    NoSuchGitReference,
    /// A crontab could not be read or written.
    Cron,
    /// A command of `execute` cannot be run.
    Execute,
    /// A group could not be managed.
    Group,
    /// A link could not be managed.
    Link,
    /// A mount could not be managed.
    Mount,
    /// A package could not be managed.
    Package,
    /// A service could not be managed.
    Service,
    /// A user could not be managed.
    User,
    /// The reboot of the node failed.
    RebootFailed,
    /// No resource was declared under the key.
    ResourceNotFound,
    /// A text does not name one declared resource.
    InvalidResourceKey,
    /// A `:before` notification names a resource that has already run.
    TooLateForBefore,
    /// A converge and some of its delayed notifications failed.
    Several,
    /// An attribute level cannot be written.
    ReadOnlyAttribute,
    /// An attribute's path leads through a value without keys.
    AttributeTypeMismatch,
    /// The node does not have the attribute.
    NoSuchAttribute,
    /// The policy does not have the cookbook.
    NoSuchCookbook,
    /// A recipe is requested in two versions.
    CookbookVersionConflict,
    /// No version of a cookbook satisfies the constraints.
    UnsatisfiableRunList,
    /// A text is not a cookbook's version.
    InvalidCookbookVersion,
    /// A text is not a platform's version.
    InvalidPlatformVersion,
    /// A text is not a version constraint.
    InvalidVersionConstraint,
    /// The metadata of a cookbook is invalid.
    InvalidMetadata,
    /// A role of the run list does not exist.
    NoSuchRole,
    /// The node's environment does not exist.
    NoSuchEnvironment,
    /// A run list is given in two ways.
    AmbiguousRunList,
}

impl From<SystemError> for ErrorKind {
    fn from(error: SystemError) -> Self {
        Self::System(error)
    }
}
