//! Files without a name: for content that is not at its place yet, and that nobody else can reach.

use super::fault::errno;
use super::{Fault, Root};
use crate::digest::Digest;
use cap_std_ext::cap_tempfile::TempFile;
use contract::{FileCall, OpenFile};
use rustix::io::Errno;
use std::fs::File;
use std::io::Seek;

/// Content in a file that is only reached through this.
#[derive(Debug)]
pub struct NamelessFile {
    /// The file's handle, open for reading.
    pub file: File,
    /// The length of the content in bytes.
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
        .map_err(|errno| Fault::new(errno, FileCall::Open, "memory"))
}

impl Root {
    /// Makes a file without a name in a directory of wrun's own. It is gone when it is closed, or the process is killed.
    ///
    /// # Errors
    /// The root was not opened with [`Root::open_own`], or the kernel refuses.
    pub(crate) fn nameless_file(&self) -> Result<File, Fault> {
        let fault = |errno| Fault::new(errno, FileCall::Open, &self.path.to_string_lossy());
        if !self.own {
            return Err(fault(Errno::PERM));
        }
        let file = TempFile::new_anonymous(&self.handle).map_err(|error| fault(errno(&error)))?;
        Ok(file.into_std())
    }
}
