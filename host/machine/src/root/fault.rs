//! Errors of system calls for files.

use contract::{Ended, FileCall, Raised, SystemError};
use errors::chef;
use rustix::io::Errno;

/// A refused system call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", chef::refused_call(&description(*errno), *call, path))]
pub struct Fault {
    /// The error number of the refused call.
    pub errno: Errno,
    /// The kind of call that wrun made.
    call: FileCall,
    /// The path of the call, as seen from inside the root.
    pub path: String,
    /// The resolved path, as far as it resolves. A policy that may not read this path does not see the error.
    reached: Option<String>,
    /// Advice for the reader of the message.
    hint: Option<Hint>,
}

/// Advice about an error that the system's message does not explain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    /// `/etc/fstab` names the path, so wrun does not move or remove it.
    BootMount,
    /// The path is relative, and no directory is defined that it could be relative to.
    NotAbsolute,
    /// The server of a file system does not answer.
    Silent,
    /// Filling a swap file took longer than its resource allows.
    SwapTimeout,
}

impl Hint {
    fn text(self) -> &'static str {
        match self {
            Self::BootMount => {
                "/etc/fstab names it, or something below it: disable that mount first (`mount` with the action `:disable`)"
            }
            Self::SwapTimeout => "filling the swap file took longer than the property `timeout` allows",
            Self::Silent => "the server of its file system does not answer: `stat -f PATH` waits for it as well",
            Self::NotAbsolute => "a path begins with `/`: there is no directory that it could be relative to",
        }
    }
}

impl Fault {
    pub fn new(errno: Errno, call: FileCall, path: &str) -> Self {
        // An overlong path is cut in the message.
        let path = path.chars().take(super::MAX_PATH).collect();
        Self { errno, call, path, reached: None, hint: None }
    }

    /// Adds the resolved path.
    #[must_use]
    pub(super) fn reached(self, path: String) -> Self {
        Self { reached: Some(path), ..self }
    }

    /// Returns the resolved path, if it is known.
    pub fn real(&self) -> Option<&str> {
        self.reached.as_deref()
    }

    /// Tells whether the entry, or the directory of the entry, does not exist.
    pub fn is_absence(&self) -> bool {
        matches!(self.errno, Errno::NOENT | Errno::NOTDIR)
    }

    /// Returns the error by its system name.
    pub fn error(&self) -> SystemError {
        system_error(self.errno)
    }

    /// Replaces the path by another one: the one that the cookbook wrote. The path of a silent mount stays, for it lies below.
    #[must_use]
    pub fn about(self, path: &str) -> Self {
        if self.hint == Some(Hint::Silent) {
            return self;
        }
        Self { reached: self.reached, hint: self.hint, ..Self::new(self.errno, self.call, path) }
    }

    /// Adds advice for the operator.
    #[must_use]
    pub(super) fn because(self, hint: Hint) -> Self {
        Self { hint: Some(hint), ..self }
    }

    /// Replaces the kind of call.
    #[must_use]
    pub fn during(self, call: FileCall) -> Self {
        Self { call, ..self }
    }
}

impl From<Fault> for Raised {
    fn from(fault: Fault) -> Self {
        let raised = Self::new(fault.error(), fault.to_string());
        let silent = (fault.errno == Errno::TIMEDOUT).then_some(Hint::Silent);
        Self { hint: fault.hint.or(silent).map(|hint| hint.text().to_owned()), ..raised }
    }
}

/// Returns the error number of a refused call. If cap-std refused it without asking the kernel, the error is `EPERM`.
pub(super) fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::PERM)
}

/// Returns the error number for a step that an account ended. The runner reports the reason, and guest code cannot continue
/// for long.
pub(super) fn errno_of(ended: &Ended) -> Errno {
    match ended {
        Ended::Exceeded(_) => Errno::DQUOT,
        Ended::Stopped(_) => Errno::INTR,
    }
}

/// Returns the C library's text for an error.
fn description(errno: Errno) -> String {
    let text = std::io::Error::from(errno).to_string();
    match text.rfind(" (os error") {
        Some(end) => text.get(..end).unwrap_or_default().to_owned(),
        None => text,
    }
}

/// Returns the error by its name. Error numbers that are not expected here become I/O errors.
pub(crate) fn system_error(errno: Errno) -> SystemError {
    match errno {
        Errno::ACCESS => SystemError::Access,
        Errno::AGAIN => SystemError::Again,
        Errno::BADF => SystemError::BadDescriptor,
        Errno::BUSY => SystemError::Busy,
        Errno::DQUOT => SystemError::Quota,
        Errno::EXIST => SystemError::Exists,
        Errno::FBIG => SystemError::FileTooLarge,
        Errno::ILSEQ => SystemError::InvalidSequence,
        Errno::INTR => SystemError::Interrupted,
        Errno::INVAL => SystemError::Invalid,
        Errno::ISDIR => SystemError::IsDirectory,
        Errno::LOOP => SystemError::Loop,
        Errno::MFILE => SystemError::TooManyOpen,
        Errno::MLINK => SystemError::TooManyLinks,
        Errno::NAMETOOLONG => SystemError::NameTooLong,
        Errno::NFILE => SystemError::TooManyOpenInSystem,
        Errno::NODEV => SystemError::NoDevice,
        Errno::NOENT => SystemError::NotFound,
        Errno::NOMEM => SystemError::NoMemory,
        Errno::NOSPC => SystemError::NoSpace,
        Errno::NOSYS => SystemError::NoSuchCall,
        Errno::NOTDIR => SystemError::NotDirectory,
        Errno::NOTEMPTY => SystemError::NotEmpty,
        Errno::NXIO => SystemError::NoSuchDevice,
        Errno::OPNOTSUPP => SystemError::NotSupported,
        Errno::PERM => SystemError::NotPermitted,
        Errno::ROFS => SystemError::ReadOnly,
        Errno::STALE => SystemError::Stale,
        Errno::TIMEDOUT => SystemError::TimedOut,
        Errno::TXTBSY => SystemError::TextBusy,
        Errno::XDEV => SystemError::CrossDevice,
        _ => SystemError::InputOutput,
    }
}
