//! The errors of system calls by name, and the kinds of calls that can fail.

/// Declares the errors with the system's names.
macro_rules! system_errors {
    ($($(#[doc = $doc:literal])* $error:ident = $name:literal,)*) => {
        /// An error of a system call.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum SystemError {
            $($(#[doc = $doc])* $error,)*
        }

        impl SystemError {
            /// All errors of this list.
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
    /// The permissions do not allow the call.
    Access = "EACCES",
    /// The call cannot be done right now.
    Again = "EAGAIN",
    /// The file is not open for this.
    BadDescriptor = "EBADF",
    /// The file or device is in use.
    Busy = "EBUSY",
    /// No server accepts connections there.
    ConnectionRefused = "ECONNREFUSED",
    /// The other side ended the connection.
    ConnectionReset = "ECONNRESET",
    /// The quota of the disk is used up.
    Quota = "EDQUOT",
    /// The path already exists.
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
    /// The path is a directory.
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
    /// The device or its other end does not exist.
    NoSuchDevice = "ENXIO",
    /// The file system does not support the call.
    NotSupported = "EOPNOTSUPP",
    /// The operation is not permitted.
    NotPermitted = "EPERM",
    /// The file system is read-only, as everything is in a dry run.
    ReadOnly = "EROFS",
    /// The file's handle is stale.
    Stale = "ESTALE",
    /// The connection took too long.
    TimedOut = "ETIMEDOUT",
    /// The program's file is in use by a running process.
    TextBusy = "ETXTBSY",
    /// The paths are on two file systems.
    CrossDevice = "EXDEV",
}

impl SystemError {
    /// Returns the error with this system name, or `None` if the list does not contain it.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|error| error.name() == name)
    }
}

/// The operation on a file that the system refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileCall {
    /// Opening the file, or resolving its path.
    Open,
    /// Reading the file's content.
    Read,
    /// Reading the metadata of the file, following symbolic links.
    Look,
    /// Reading the metadata without following a symbolic link.
    LookAtLink,
    /// Reading the target of a symbolic link.
    ReadLink,
    /// Resolving all symbolic links of the path.
    ResolveLinks,
    /// Reading the names in a directory.
    List,
    /// Creating a directory at the path.
    MakeDirectory,
    /// Removing the directory at the path.
    RemoveDirectory,
    /// Removing the file, or changing its owner, mode or times.
    Change,
    /// Renaming the file or directory.
    Rename,
    /// Making a symbolic link.
    LinkSymbolic,
    /// Making a hard link.
    LinkHard,
    /// Unmounting a file system.
    Unmount,
}
