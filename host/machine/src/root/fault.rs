//! What the kernel refused of a call about a file.

use contract::{Ended, FileCall, Raised, SystemError};
use errors::chef;
use rustix::io::Errno;

/// A refused system call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", chef::refused_call(&description(*errno), *call, path))]
pub struct Fault {
    /// The error number of the refused call.
    pub errno: Errno,
    /// What wrun was doing.
    call: FileCall,
    /// What it was about, as seen from inside the root.
    pub path: String,
    /// The resolved path that it is about, as far as it resolves. Who may not look there does not hear of the refusal.
    reached: Option<String>,
    /// What a person could do about it.
    hint: Option<Hint>,
}

/// Advice for people about a refusal that the system's words do not explain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    /// The table of file systems names it, and it stays where it is.
    BootMount,
    /// The path is relative, and there is nothing that it could be relative to.
    NotAbsolute,
}

impl Hint {
    fn text(self) -> &'static str {
        match self {
            Self::BootMount => {
                "/etc/fstab names it, or something below it: disable that mount first (`mount` with the action `:disable`)"
            }
            Self::NotAbsolute => "a path begins with `/`: there is no directory that it could be relative to",
        }
    }
}

impl Fault {
    pub fn new(errno: Errno, call: FileCall, path: &str) -> Self {
        // Whoever says a path of megabytes gets the beginning of it back.
        let path = path.chars().take(super::MAXIMUM_PATH).collect();
        Self { errno, call, path, reached: None, hint: None }
    }

    /// The same about a resolved path.
    #[must_use]
    pub(super) fn reached(self, path: String) -> Self {
        Self { reached: Some(path), ..self }
    }

    /// The resolved path that it is about, where it is known.
    pub fn real(&self) -> Option<&str> {
        self.reached.as_deref()
    }

    /// Nothing is there, or no directory to be in.
    pub fn is_absence(&self) -> bool {
        matches!(self.errno, Errno::NOENT | Errno::NOTDIR)
    }

    /// The error, by the system's name.
    pub fn error(&self) -> SystemError {
        system_error(self.errno)
    }

    /// The same under another path: the one that the cookbook wrote.
    #[must_use]
    pub fn about(self, path: &str) -> Self {
        Self { reached: self.reached, hint: self.hint, ..Self::new(self.errno, self.call, path) }
    }

    /// The same with what a person could do about it.
    #[must_use]
    pub(super) fn because(self, hint: Hint) -> Self {
        Self { hint: Some(hint), ..self }
    }

    /// The same of another call.
    #[must_use]
    pub fn during(self, call: FileCall) -> Self {
        Self { call, ..self }
    }
}

impl From<Fault> for Raised {
    fn from(fault: Fault) -> Self {
        let raised = Self::new(fault.error(), fault.to_string());
        Self { hint: fault.hint.map(|hint| hint.text().to_owned()), ..raised }
    }
}

/// The errno of a refused call. What cap-std refuses by itself, before the kernel is asked, is not permitted.
pub(super) fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::PERM)
}

/// The errno of a step that an account ended. The runner says why; guest code cannot go on for long.
pub(super) fn errno_of(ended: &Ended) -> Errno {
    match ended {
        Ended::Exceeded(_) => Errno::DQUOT,
        Ended::Stopped(_) => Errno::INTR,
    }
}

/// The C library's sentence.
fn description(errno: Errno) -> String {
    let text = std::io::Error::from(errno).to_string();
    match text.rfind(" (os error") {
        Some(end) => text.get(..end).unwrap_or_default().to_owned(),
        None => text,
    }
}

/// The error with its name. Those that nothing here meets are errors of the device.
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
        Errno::TXTBSY => SystemError::TextBusy,
        Errno::XDEV => SystemError::CrossDevice,
        _ => SystemError::InputOutput,
    }
}
