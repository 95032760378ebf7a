//! The key that tells our own cached native code from anybody else's.
//!
//! Native code is run without further checks, so the sandbox runs only what carries a tag made with this key. The key lies
//! beside the code, in a folder that belongs to one user alone: who could change it could change that user's programs.

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

/// The key of a folder of native code, which is made if it is absent. The key is made when it is first asked for and stays
/// the same.
///
/// # Errors
/// It cannot be kept, what is kept is not a key, or the folder is not this user's alone.
pub fn cache_key(folder: &Path) -> Result<CacheKey, StateError> {
    load_or_create(&Folder::made_outermost(folder)?)
}

/// Two processes that start at once agree: the file is put in place whole, and by one of them only.
fn load_or_create(folder: &Folder) -> Result<CacheKey, StateError> {
    if let Some(key) = load(folder)? {
        return Ok(key);
    }
    let path = folder.path_of(FILE);
    // Whoever was first: what all processes see from now on is what counts, so it is read back.
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
