//! What the kernel refused, under the class that Ruby would have raised: cookbooks rescue `Errno::ENOENT`.

use contract::{Ended, Raised};
use rustix::io::Errno;

/// A refused system call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} @ {operation} - {path}", description(*errno))]
pub struct Fault {
    /// The error number of the refused call.
    pub errno: Errno,
    /// Ruby's name of the operation, part of its message.
    pub(crate) operation: &'static str,
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
    pub fn new(errno: Errno, operation: &'static str, path: &str) -> Self {
        // Whoever says a path of megabytes gets the beginning of it back.
        let path = path.chars().take(super::MAXIMUM_PATH).collect();
        Self { errno, operation, path, reached: None, hint: None }
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

    /// The error's name, as in `ENOENT`.
    pub fn name(&self) -> &'static str {
        name(self.errno)
    }

    /// The same under another path: the one that the cookbook wrote.
    #[must_use]
    pub fn about(self, path: &str) -> Self {
        Self { reached: self.reached, hint: self.hint, ..Self::new(self.errno, self.operation, path) }
    }

    /// The same with what a person could do about it.
    #[must_use]
    pub(super) fn because(self, hint: Hint) -> Self {
        Self { hint: Some(hint), ..self }
    }

    /// The same as another operation.
    #[must_use]
    pub fn during(self, operation: &'static str) -> Self {
        Self { operation, ..self }
    }
}

impl From<Fault> for Raised {
    fn from(fault: Fault) -> Self {
        let raised = Self::new(&format!("Errno::{}", fault.name()), fault.to_string());
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

/// The C library's sentence, which Ruby shows too.
fn description(errno: Errno) -> String {
    let text = std::io::Error::from(errno).to_string();
    match text.rfind(" (os error") {
        Some(end) => text.get(..end).unwrap_or_default().to_owned(),
        None => text,
    }
}

fn name(errno: Errno) -> &'static str {
    match errno {
        Errno::ACCESS => "EACCES",
        Errno::AGAIN => "EAGAIN",
        Errno::BADF => "EBADF",
        Errno::BUSY => "EBUSY",
        Errno::DQUOT => "EDQUOT",
        Errno::EXIST => "EEXIST",
        Errno::FBIG => "EFBIG",
        Errno::ILSEQ => "EILSEQ",
        Errno::INTR => "EINTR",
        Errno::INVAL => "EINVAL",
        Errno::ISDIR => "EISDIR",
        Errno::LOOP => "ELOOP",
        Errno::MFILE => "EMFILE",
        Errno::MLINK => "EMLINK",
        Errno::NAMETOOLONG => "ENAMETOOLONG",
        Errno::NFILE => "ENFILE",
        Errno::NODEV => "ENODEV",
        Errno::NOENT => "ENOENT",
        Errno::NOMEM => "ENOMEM",
        Errno::NOSPC => "ENOSPC",
        Errno::NOSYS => "ENOSYS",
        Errno::NOTDIR => "ENOTDIR",
        Errno::NOTEMPTY => "ENOTEMPTY",
        Errno::NXIO => "ENXIO",
        Errno::OPNOTSUPP => "EOPNOTSUPP",
        Errno::PERM => "EPERM",
        Errno::ROFS => "EROFS",
        Errno::STALE => "ESTALE",
        Errno::TXTBSY => "ETXTBSY",
        Errno::XDEV => "EXDEV",
        _ => "EIO",
    }
}
