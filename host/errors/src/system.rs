//! What the system refuses: the errors of its calls by their names, and what wrun was doing.

/// Declares the errors with the system's names.
macro_rules! system_errors {
    ($($(#[doc = $doc:literal])* $error:ident = $name:literal,)*) => {
        /// An error of a system call.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum SystemError {
            $($(#[doc = $doc])* $error,)*
        }

        impl SystemError {
            /// All errors that have a name here.
            pub const ALL: &[Self] = &[$(Self::$error,)*];

            /// Returns the system's name, as in `ENOENT`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$error => $name,)*
                }
            }
        }
    };
}

system_errors! {
    /// The permissions do not allow it.
    Access = "EACCES",
    /// It cannot be done right now.
    Again = "EAGAIN",
    /// The file is not open for this.
    BadDescriptor = "EBADF",
    /// It is in use.
    Busy = "EBUSY",
    /// No server accepts connections there.
    ConnectionRefused = "ECONNREFUSED",
    /// The other side ended the connection.
    ConnectionReset = "ECONNRESET",
    /// The quota of the disk is used up.
    Quota = "EDQUOT",
    /// Something is there already.
    Exists = "EEXIST",
    /// The file is too large.
    FileTooLarge = "EFBIG",
    /// No route leads to the server.
    HostUnreachable = "EHOSTUNREACH",
    /// The name is not UTF-8.
    InvalidSequence = "EILSEQ",
    /// The call was interrupted.
    Interrupted = "EINTR",
    /// An argument of the call is invalid.
    Invalid = "EINVAL",
    /// The device failed, or the error has no name here.
    InputOutput = "EIO",
    /// It is a directory.
    IsDirectory = "EISDIR",
    /// The links of the path lead in a circle, or a link is not followed.
    Loop = "ELOOP",
    /// The process has too many files open.
    TooManyOpen = "EMFILE",
    /// The file has too many links.
    TooManyLinks = "EMLINK",
    /// The path or a name in it is too long.
    NameTooLong = "ENAMETOOLONG",
    /// The system has too many files open.
    TooManyOpenInSystem = "ENFILE",
    /// The device does not exist.
    NoDevice = "ENODEV",
    /// No file or directory has the path.
    NotFound = "ENOENT",
    /// The memory is used up.
    NoMemory = "ENOMEM",
    /// The disk is full.
    NoSpace = "ENOSPC",
    /// The kernel does not have the call.
    NoSuchCall = "ENOSYS",
    /// A part of the path is not a directory.
    NotDirectory = "ENOTDIR",
    /// The directory is not empty.
    NotEmpty = "ENOTEMPTY",
    /// Nothing is at the other end of the device.
    NoSuchDevice = "ENXIO",
    /// The file system does not support it.
    NotSupported = "EOPNOTSUPP",
    /// The operation is not permitted.
    NotPermitted = "EPERM",
    /// The file system is read-only, as everything is in a dry run.
    ReadOnly = "EROFS",
    /// The file's handle is stale.
    Stale = "ESTALE",
    /// The connection took too long.
    TimedOut = "ETIMEDOUT",
    /// The program is being run.
    TextBusy = "ETXTBSY",
    /// The paths are on two file systems.
    CrossDevice = "EXDEV",
}

impl SystemError {
    /// Returns the error that the system calls by this name. `None`: none has it here.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|error| error.name() == name)
    }
}

/// What wrun was doing with a file when the system refused it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileCall {
    /// Opening it, or finding its place.
    Open,
    /// Reading the content of it.
    Read,
    /// Looking at what its links lead to.
    Look,
    /// Looking at it without following a link.
    LookAtLink,
    /// Reading where a link leads.
    ReadLink,
    /// Finding the path without links.
    ResolveLinks,
    /// Reading the names in a directory.
    List,
    /// Making a directory at it.
    MakeDirectory,
    /// Removing a directory at it.
    RemoveDirectory,
    /// Removing it, or changing its owner, its mode or its times.
    Change,
    /// Giving it another name.
    Rename,
    /// Making a symbolic link.
    LinkSymbolic,
    /// Making a hard link.
    LinkHard,
    /// Taking a file system off its directory.
    Unmount,
}
