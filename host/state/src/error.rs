//! The errors of reading and writing the state directory.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Holder;

/// The reasons why the state cannot be read or written. Every message names the file.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// A system call failed.
    #[error("cannot {doing} {}", path.display())]
    System {
        /// The failed operation, as a verb: `read`, `replace`.
        doing: &'static str,
        /// The file or directory that the verb is about.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file or directory belongs to another user.
    #[error(
        "{} belongs to user {owner}, but wrun runs as user {wanted} and trusts only what is its own; \
         run it as user {owner} (with `sudo`, if that is root), or name a state directory of user {wanted}", path.display()
    )]
    Foreign {
        /// The path of the file or directory.
        path: PathBuf,
        /// The number of the user who owns it.
        owner: u32,
        /// The number of the user that wrun runs as.
        wanted: u32,
    },
    /// Other users may write to the directory.
    #[error(
        "{} may be written by others (mode {mode:04o}), so what it says cannot be trusted; \
         check what is in it, then run `chmod 0700` on it", path.display()
    )]
    OpenToOthers {
        /// The directory that others may write to.
        path: PathBuf,
        /// The directory's permission bits, as in `0o777`.
        mode: u32,
    },
    /// There is a link or a device in place of a file or directory of wrun.
    #[error("{} is not a plain {wanted}; the state directory holds no links and nothing special", path.display())]
    NotPlain {
        /// The path of the link or device.
        path: PathBuf,
        /// The kind that it should be: `file` or `directory`.
        wanted: &'static str,
    },
    /// A file is larger than wrun ever writes it.
    #[error("{} is {size} bytes long, more than the {limit} that are read", path.display())]
    TooLarge {
        /// The path of the large file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A file would become too large to be read again.
    #[error("{} would be longer than {limit} bytes and is not written", path.display())]
    Unwritable {
        /// The path of the file that is not written.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// The disk has less free space than the limit.
    #[error(
        "{} is not written: its disk has {} MiB free, and {} MiB are always left (`min_free_mib`)",
        path.display(), free >> 20, least >> 20
    )]
    DiskFull {
        /// The path of the file that is not written.
        path: PathBuf,
        /// Free bytes on the disk, before the file is written.
        free: u64,
        /// Bytes that stay free.
        least: u64,
    },
    /// A file has invalid content.
    #[error("{}:{line}: {reason}; restore the file from a backup, or remove it to begin anew", path.display())]
    Malformed {
        /// The path of the malformed file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A newer version of this program wrote the file.
    #[error(
        "{} has format {found}, but this version of wrun reads formats up to {known}; use the version that wrote it",
        path.display()
    )]
    NewerFormat {
        /// The path of the file in the newer format.
        path: PathBuf,
        /// The format that the file states, from 1.
        found: u64,
        /// The newest that is known here.
        known: u64,
    },
    /// A name is invalid, because it becomes the name of a file.
    #[error("{name:?} cannot be a {of}: {why}")]
    BadName {
        /// The name that was refused, as given.
        name: String,
        /// What it names: `node name`, `run id`.
        of: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Another run is under way.
    #[error("another run is under way{}{}", told(holder), waited(*wait))]
    Locked {
        /// The run that holds the lock; `None` if it is not known yet.
        holder: Option<Holder>,
        /// How long this process has waited.
        wait: Duration,
    },
    /// Other commands hold the lock of changes for too long.
    #[error("others are changing nodes; waited {} s for them to end", wait.as_secs_f64())]
    ChangesLocked {
        /// How long this process has waited.
        wait: Duration,
    },
    /// Waiting for the lock was interrupted.
    #[error("interrupted while waiting for another run to end")]
    Interrupted,
}

impl StateError {
    /// Tells whether this user may not use the directory, but another user may.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        match self {
            Self::System { source, .. } => {
                matches!(source.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
            }
            Self::Foreign { .. } => true,
            _ => false,
        }
    }

    /// Tells whether a file is damaged, so that it can be renamed and replaced.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Malformed { .. } | Self::TooLarge { .. })
    }

    pub(crate) fn system(doing: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::System { doing, path: path.to_owned(), source: source.into() }
    }
}

fn told(holder: &Option<Holder>) -> String {
    holder.as_ref().map(|holder| format!(": {holder}")).unwrap_or_default()
}

fn waited(wait: Duration) -> String {
    if wait.is_zero() { String::new() } else { format!("; waited {} s for it to end", wait.as_secs_f64()) }
}
