//! The declared content of a file, and its comparison with an existing file.

use contract::Account;
use machine::digest::{Digest, digest_of};
use machine::root::{Fault, NamelessFile, StagedFile, is_swap_space};
use rustix::fd::AsFd;
use std::borrow::Cow;
use std::fmt;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

/// The size of one read, in bytes.
const CHUNK: usize = 64 << 10;

/// The declared content of a file.
#[derive(Clone)]
pub(crate) enum Content<'a> {
    /// Bytes in the memory of wrun.
    Bytes(Cow<'a, [u8]>),
    /// An unnamed file, which other processes cannot reach.
    File(Arc<NamelessFile>),
    /// An empty swap file.
    SwapSpace {
        /// The size in bytes.
        size: u64,
        /// How long it may take to fill it.
        timeout: Duration,
    },
}

impl fmt::Debug for Content<'_> {
    /// Shows only the length: the content and its digest may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content").field("size", &self.size()).finish_non_exhaustive()
    }
}

impl Content<'_> {
    /// Tells whether a diff and a digest of the content say something.
    pub(super) fn is_shown(&self) -> bool {
        !matches!(self, Self::SwapSpace { .. })
    }

    /// Returns the SHA-256 digest of the content.
    pub(crate) fn digest(&self) -> Digest {
        match self {
            Self::SwapSpace { .. } => Digest::of(&[]),
            Self::Bytes(bytes) => Digest::of(bytes),
            Self::File(file) => file.digest.clone(),
        }
    }

    /// Returns the length of the content in bytes.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(file) => file.size,
            Self::SwapSpace { size, .. } => *size,
        }
    }

    /// Tells whether a file of this size has the same content. Reads no more than necessary and copies nothing.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn is_in(&self, file: impl AsFd, size: u64, account: &Account) -> Result<bool, rustix::io::Errno> {
        if size != self.size() {
            return Ok(false);
        }
        match self {
            Self::Bytes(bytes) => same(file, bytes),
            Self::File(wanted) => {
                let found = digest_of(file, account)?;
                Ok(found == wanted.digest)
            }
            Self::SwapSpace { size, .. } => is_swap_space(file, *size),
        }
    }

    /// Returns up to `limit` bytes of the content, for a diff.
    pub(crate) fn head(&self, limit: u64) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => {
                bytes.get(..usize::try_from(limit).unwrap_or(usize::MAX).min(bytes.len())).unwrap_or_default().to_vec()
            }
            Self::File(file) => {
                let mut head = Vec::new();
                // If the content cannot be read, the diff is empty.
                if let Ok(mut file) = file.reader() {
                    let _ = Read::by_ref(&mut file).take(limit).read_to_end(&mut head);
                }
                head
            }
            Self::SwapSpace { .. } => vec![],
        }
    }

    /// Returns owned content, for an operation.
    pub(crate) fn into_owned(self) -> Content<'static> {
        match self {
            Self::Bytes(bytes) => Content::Bytes(Cow::Owned(bytes.into_owned())),
            Self::File(file) => Content::File(file),
            Self::SwapSpace { size, timeout } => Content::SwapSpace { size, timeout },
        }
    }

    /// Writes the content into a staged file.
    ///
    /// # Errors
    /// The disk is full, or fails.
    pub(crate) fn write_to(&self, staged: &mut StagedFile) -> Result<(), Fault> {
        match self {
            Self::Bytes(bytes) => staged.write(bytes),
            Self::File(file) => staged.copy_from(file.reader()),
            Self::SwapSpace { size, timeout } => staged.fill_with_swap_space(*size, *timeout),
        }
    }
}

/// Returns up to `limit` bytes of an open file, from its beginning.
///
/// # Errors
/// Reading fails.
pub(crate) fn head_of(file: impl AsFd, limit: u64) -> Result<Vec<u8>, rustix::io::Errno> {
    let mut head = Vec::new();
    let mut buffer = vec![0; CHUNK];
    while (head.len() as u64) < limit {
        match rustix::io::pread(&file, &mut buffer, head.len() as u64)? {
            0 => break,
            length => head.extend_from_slice(buffer.get(..length).unwrap_or_default()),
        }
    }
    head.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(head)
}

fn same(file: impl AsFd, wanted: &[u8]) -> Result<bool, rustix::io::Errno> {
    let mut buffer: Vec<u8> = Vec::with_capacity(wanted.len().clamp(1, CHUNK));
    let mut rest = wanted;
    while !rest.is_empty() {
        buffer.clear();
        let length = rustix::io::read(&file, rustix::buffer::spare_capacity(&mut buffer))?;
        match rest.split_at_checked(length) {
            Some((expected, after)) if length > 0 && expected == buffer.as_slice() => rest = after,
            _ => return Ok(false),
        }
    }
    Ok(true)
}
