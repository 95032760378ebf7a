//! SHA-256 digests in the format that Chef uses.

use crate::pace::looked_at;
use contract::Account;
use rustix::fd::AsFd;
use sha2::{Digest as _, Sha256};
use std::io::Read;

/// The size of one read, in bytes.
const CHUNK: usize = 64 << 10;

/// A SHA-256 digest in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest(String);

/// Computes a digest in steps.
#[derive(Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    /// Adds bytes to what is digested so far.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of all added bytes.
    pub(crate) fn finish(self) -> Digest {
        Digest(text::hex(self.0.finalize()))
    }
}

impl Digest {
    /// Returns the digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(bytes);
        hasher.finish()
    }

    /// Returns the digest of everything that a reader returns.
    ///
    /// # Errors
    /// Reading fails.
    pub fn read(mut content: impl Read) -> std::io::Result<Self> {
        let mut hasher = Hasher::default();
        let mut buffer = vec![0; CHUNK];
        loop {
            match content.read(&mut buffer)? {
                0 => return Ok(hasher.finish()),
                length => hasher.update(buffer.get(..length).unwrap_or_default()),
            }
        }
    }

    /// Returns the digest as 64 hexadecimal digits.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the first six characters, the form that report sentences use.
    pub fn short(&self) -> &str {
        short(&self.0)
    }
}

/// Returns the first six characters of a digest.
pub fn short(digest: &str) -> &str {
    digest.char_indices().nth(6).map_or(digest, |(end, _)| digest.get(..end).unwrap_or(digest))
}

/// Returns the digest of an open file, read from its beginning.
///
/// # Errors
/// Reading fails.
pub fn digest_of(file: impl AsFd, account: &Account) -> Result<Digest, rustix::io::Errno> {
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; CHUNK];
    let mut at = 0;
    loop {
        match rustix::io::pread(&file, &mut buffer, at)? {
            0 => return Ok(hasher.finish()),
            length => {
                looked_at(account, length).map_err(|_| rustix::io::Errno::INTR)?;
                hasher.update(buffer.get(..length).unwrap_or_default());
                at += length as u64;
            }
        }
    }
}
