//! Files without a name: for content that is not at its place yet, and that nobody else can reach.

use super::{Fault, OWN_DIRECTORY, Root, replace};
use crate::digest::Digest;
use contract::OpenFile;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::Seek;

/// Content in a file that is only reached through this.
#[derive(Debug)]
pub struct NamelessFile {
    /// Open for reading.
    pub file: File,
    /// Bytes.
    pub size: u64,
    /// Of all of it.
    pub digest: Digest,
    /// Counts it as open.
    pub _open: OpenFile,
}

impl NamelessFile {
    /// Reads from its beginning. Not for two readers at once: they share a position.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn reader(&self) -> std::io::Result<File> {
        let mut file = self.file.try_clone()?;
        file.rewind()?;
        Ok(file)
    }
}

/// Makes a file in memory, for a dry run that finds no directory of wrun's own.
///
/// # Errors
/// The kernel refuses.
pub(crate) fn memory_file() -> Result<File, Fault> {
    rustix::fs::memfd_create("download", rustix::fs::MemfdFlags::CLOEXEC)
        .map(File::from)
        .map_err(|errno| Fault::new(errno, "rb_sysopen", "memory"))
}

impl Root {
    /// Makes a file without a name in a directory of wrun's own. It is gone when it is closed, or the process is killed.
    ///
    /// # Errors
    /// The root was not opened with [`Root::open_own`], or the kernel refuses.
    pub(crate) fn nameless_file(&self) -> Result<File, Fault> {
        let fault = |errno| Fault::new(errno, "rb_sysopen", &self.path.to_string_lossy());
        if !self.own {
            return Err(fault(Errno::PERM));
        }
        let mode = Mode::from_raw_mode(OWN_DIRECTORY & 0o600);
        let open =
            |name: &str, flags| rustix::fs::openat(&self.handle, name, flags | OFlags::RDWR | OFlags::CLOEXEC, mode);
        match open(".", OFlags::TMPFILE) {
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {}
            other => return other.map(File::from).map_err(fault),
        }
        // This file system cannot: the name is taken away at once.
        let mut handle = None;
        let name = replace::unused_name("download", |name| {
            handle = Some(open(name, OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW)?);
            Ok(())
        })
        .map_err(fault)?;
        rustix::fs::unlinkat(&self.handle, name.as_str(), AtFlags::empty()).map_err(fault)?;
        handle.map(File::from).ok_or_else(|| fault(Errno::IO))
    }
}
