//! Manages the key that authenticates cached native code.
//!
//! Native code is run without further checks, so the sandbox runs only code with a tag made with this key. The key is stored
//! beside the code, in a folder that only its owner can change. An attacker who could change it could also change that user's
//! programs.

use std::fmt;
use std::path::Path;

use crate::StateError;
use crate::folder::{Folder, Survives, random};

const FILE: &str = "cache-key";

/// How long the key is, in bytes.
const LENGTH: usize = 32;

/// A secret of 32 bytes that cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct CacheKey([u8; LENGTH]);

impl CacheKey {
    /// Returns the secret bytes of the key.
    #[must_use]
    pub fn bytes(&self) -> &[u8; LENGTH] {
        &self.0
    }
}

impl fmt::Debug for CacheKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("CacheKey(..)")
    }
}

/// Returns the key of a folder of native code. The folder and the key are created if they do not exist. The key never
/// changes.
///
/// # Errors
/// It cannot be kept, what is kept is not a key, or the folder is not this user's alone.
pub fn cache_key(folder: &Path) -> Result<CacheKey, StateError> {
    load_or_create(&Folder::made_outermost(folder)?)
}

/// Loads the key or creates it. Two processes that start at the same time get the same key, because only one of them can
/// create the file, and does so atomically.
fn load_or_create(folder: &Folder) -> Result<CacheKey, StateError> {
    if let Some(key) = load(folder)? {
        return Ok(key);
    }
    let path = folder.path_of(FILE);
    // Another process may have been first, so the file that all processes see is read back.
    folder.create(FILE, &random::<LENGTH>(&path)?, Survives::Kill)?;
    load(folder)?.ok_or_else(|| StateError::system("read", &path, rustix::io::Errno::NOENT))
}

fn load(folder: &Folder) -> Result<Option<CacheKey>, StateError> {
    let Some(bytes) = folder.read(FILE)? else { return Ok(None) };
    let length = bytes.len();
    let key = bytes.try_into().map_err(|_| StateError::Malformed {
        path: folder.path_of(FILE),
        line: 1,
        reason: format!("this is not a key: it has {length} bytes instead of {LENGTH}"),
    })?;
    Ok(Some(CacheKey(key)))
}
