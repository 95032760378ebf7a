//! Unnamed files: for content that is not yet at its place and that no other process can reach.

use super::fault::errno;
use super::{Fault, Root};
use crate::digest::Digest;
use cap_std_ext::cap_tempfile::TempFile;
use contract::{FileCall, OpenFile};
use rustix::io::Errno;
use std::fs::File;
use std::io::Seek;

/// Content in a file that can be reached only through this value.
#[derive(Debug)]
pub struct NamelessFile {
    /// The open file without a name.
    pub file: File,
    /// Size of the content, in bytes.
    pub size: u64,
    /// The digest of the whole content.
    pub digest: Digest,
    /// Counts the file as open in the policy's account.
    pub _open: OpenFile,
}

impl NamelessFile {
    /// Returns a reader from the beginning. Two readers must not be used at once, because they share a position.
    ///
    /// # Errors
    /// The kernel refuses a call.
    pub fn reader(&self) -> std::io::Result<File> {
        let mut file = self.file.try_clone()?;
        file.rewind()?;
        Ok(file)
    }
}

/// Creates a file in memory, for a dry run without a directory of wrun's own.
///
/// # Errors
/// The kernel refuses.
pub(crate) fn memory_file() -> Result<File, Fault> {
    rustix::fs::memfd_create("download", rustix::fs::MemfdFlags::CLOEXEC)
        .map(File::from)
        .map_err(|errno| Fault::new(errno, FileCall::Open, "memory"))
}

impl Root {
    /// Creates an unnamed file in one of wrun's own directories. It disappears when it is closed or the process is killed.
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
