//! An empty swap file, filled through its open handle.
//!
//! Programs that get the file's path as text (`dd`, `fallocate`, `mkswap`) would follow a link that somebody put there. wrun
//! fills a new file beside the path, and one rename puts it in place.

use super::fault::Hint;
use super::{Fault, StagedFile};
use plain_files::random_bytes;
use rustix::fd::AsFd;
use rustix::fs::{FallocateFlags, FsWord, XattrFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

/// The number of bytes that are allocated in one call. The policy may be ended between two calls.
const ALLOCATED: u64 = 64 << 20;

/// The number of zeroes that are written in one call, in bytes.
const WRITTEN: usize = 1 << 20;

/// The place of the header's fields in a swap file, in bytes: a boot loader may have the space before them.
const FIELDS: usize = 1024;

/// The last bytes of the first page.
const SIGNATURE: &[u8; 10] = b"SWAPSPACE2";

/// The version of the header.
const VERSION: u32 = 1;

/// The attribute with the label of SELinux.
const LABEL: &str = "security.selinux";

/// The type that SELinux expects of a swap file, as `mkswap` sets it.
const LABEL_TYPE: &str = "swapfile_t";

/// Maximum length of a label, in bytes.
const MAX_LABEL: usize = 4096;

/// The numbers of the file systems whose allocated, unwritten blocks the kernel can swap to: ext4 and XFS.
const ALLOCATING: [FsWord; 2] = [0xef53, 0x5846_5342];

impl StagedFile {
    /// Fills the new file as an empty swap file of this size, in bytes. The policy pays for the bytes.
    ///
    /// # Errors
    /// The size is not the size of a swap file; it takes longer than `timeout`; the disk is full, or the policy must end.
    pub fn fill_with_swap_space(&mut self, size: u64, timeout: Duration) -> Result<(), Fault> {
        let page = rustix::param::page_size();
        let header = header(size, page).ok_or_else(|| self.refused(Errno::INVAL))?;
        let began = Instant::now();
        let is_over = || began.elapsed() >= timeout;
        if !self.allocate(size, &is_over)? {
            let zeroes = vec![0; WRITTEN];
            let mut rest = size;
            while rest > 0 {
                let length = usize::try_from(rest).unwrap_or(WRITTEN).min(WRITTEN);
                self.write(zeroes.get(..length).unwrap_or_default())?;
                rest -= length as u64;
                self.require_time(is_over())?;
            }
        }
        let finish = || {
            self.file.write_all_at(&header, 0)?;
            set_label(&self.file);
            Ok(rustix::fs::fsync(&self.file)?)
        };
        finish().map_err(|error: io::Error| self.refused(Errno::from_io_error(&error).unwrap_or(Errno::IO)))
    }

    /// Allocates the file's blocks without writing them. Returns false if the file system cannot do that, or if the kernel
    /// could not swap to such blocks.
    fn allocate(&self, size: u64, is_over: &impl Fn() -> bool) -> Result<bool, Fault> {
        let kind = rustix::fs::fstatfs(&self.file).map_err(|errno| self.refused(errno))?.f_type;
        if !ALLOCATING.contains(&kind) {
            return Ok(false);
        }
        let mut done = 0;
        while done < size {
            let length = ALLOCATED.min(size - done);
            self.spend(length)?;
            match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), done, length) {
                Ok(()) => done += length,
                // ext2 and ext3 have the same number as ext4.
                Err(Errno::OPNOTSUPP | Errno::NOSYS) if done == 0 => return Ok(false),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.refused(errno)),
            }
            self.require_time(is_over())?;
        }
        Ok(true)
    }

    fn require_time(&self, is_over: bool) -> Result<(), Fault> {
        if is_over { Err(self.refused(Errno::TIMEDOUT).because(Hint::SwapTimeout)) } else { Ok(()) }
    }
}

/// Tells whether an open file is a swap file of this size, by its header.
///
/// # Errors
/// The file cannot be read.
pub fn is_swap_space(file: impl AsFd, size: u64) -> Result<bool, Errno> {
    let page = rustix::param::page_size();
    let Some(wanted) = header(size, page) else { return Ok(false) };
    if u64::try_from(rustix::fs::fstat(&file)?.st_size) != Ok(size) {
        return Ok(false);
    }
    let mut found = vec![0; page];
    if rustix::io::retry_on_intr(|| rustix::io::pread(&file, found.as_mut_slice(), 0))? < page {
        return Ok(false);
    }
    // Version and number of pages, then the signature. The identifier between them is random.
    let fields = FIELDS..FIELDS + 8;
    let signature = page.saturating_sub(SIGNATURE.len())..page;
    Ok(found.get(fields.clone()) == wanted.get(fields) && found.get(signature.clone()) == wanted.get(signature))
}

/// Returns the first page of an empty swap file (`union swap_header` of Linux), or `None` if no swap file has this size.
fn header(size: u64, page: usize) -> Option<Vec<u8>> {
    let last_page = u32::try_from((size / page as u64).checked_sub(1)?).ok().filter(|last| *last > 0)?;
    let mut header = vec![0; FIELDS];
    header.extend_from_slice(&VERSION.to_ne_bytes());
    header.extend_from_slice(&last_page.to_ne_bytes());
    // The number of damaged pages.
    header.extend_from_slice(&0_u32.to_ne_bytes());
    header.extend_from_slice(&identifier()?);
    header.resize(page.checked_sub(SIGNATURE.len())?, 0);
    header.extend_from_slice(SIGNATURE);
    Some(header)
}

/// Returns a random identifier (UUID of version 4).
fn identifier() -> Option<[u8; 16]> {
    let mut bytes: [u8; 16] = random_bytes().ok()?;
    let [.., version, _, variant, _, _, _, _, _, _, _] = &mut bytes;
    *version = (*version & 0x0f) | 0x40;
    *variant = (*variant & 0x3f) | 0x80;
    Some(bytes)
}

/// Gives the file the type of a swap file, where SELinux labels files. Without it, the system may not swap to the file at its
/// next start.
fn set_label(file: &File) {
    let mut label = Vec::with_capacity(MAX_LABEL);
    if rustix::fs::fgetxattr(file, LABEL, rustix::buffer::spare_capacity(&mut label)).is_err() {
        return;
    }
    let Some(label) = swap_label(&label) else { return };
    // `mkswap` only warns, too.
    let _refused = rustix::fs::fsetxattr(file, LABEL, label.as_bytes(), XattrFlags::empty());
}

/// Returns a label with the type of a swap file: `system_u:object_r:swapfile_t:s0`.
fn swap_label(label: &[u8]) -> Option<String> {
    let label = std::str::from_utf8(label).ok()?;
    let mut parts: Vec<&str> = label.splitn(4, ':').collect();
    *parts.get_mut(2)? = LABEL_TYPE;
    Some(parts.join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_that_of_mkswap() {
        let header = header(1 << 20, 4096).unwrap();
        assert_eq!(header.len(), 4096);
        let number = |at: usize| u32::from_ne_bytes(header[at..at + 4].try_into().unwrap());
        assert_eq!((number(1024), number(1028), number(1032)), (1, 255, 0));
        assert_eq!((header[1042] & 0xf0, header[1044] & 0xc0), (0x40, 0x80), "a UUID of version 4");
        assert!(header[1052..4086].iter().all(|byte| *byte == 0));
        assert_eq!(&header[4086..], b"SWAPSPACE2");
        assert!(super::header(4096, 4096).is_none() && super::header(u64::MAX, 4096).is_none());
    }

    #[test]
    fn a_label_gets_the_type_of_a_swap_file() {
        assert_eq!(swap_label(b"u:object_r:etc_t:s0:c1,c2").as_deref(), Some("u:object_r:swapfile_t:s0:c1,c2"));
        assert_eq!(swap_label(b"a:b"), None);
    }
}
