//! SHA-256 digests, in Chef's form.

use crate::pace::looked_at;
use contract::Account;
use rustix::fd::AsFd;
use sha2::{Digest as _, Sha256};
use std::io::Read;

/// How much is read at once, in bytes.
const CHUNK: usize = 64 << 10;

/// A SHA-256 digest in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest(String);

/// Makes a digest bit by bit.
#[derive(Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    /// Adds bytes to what is digested so far.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all that was added.
    pub(crate) fn finish(self) -> Digest {
        Digest(text::hex(self.0.finalize()))
    }
}

impl Digest {
    /// The digest of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(bytes);
        hasher.finish()
    }

    /// The digest of all that can be read.
    ///
    /// # Errors
    /// It cannot be read.
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

    /// The first six characters, as sentences have them.
    pub fn short(&self) -> &str {
        short(&self.0)
    }
}

/// The first six characters of a digest.
pub fn short(digest: &str) -> &str {
    digest.char_indices().nth(6).map_or(digest, |(end, _)| digest.get(..end).unwrap_or(digest))
}

/// The digest of an open file, from its beginning.
///
/// # Errors
/// It cannot be read.
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
