//! Records of downloads, used to ask a server whether a file has changed since.
//!
//! They are kept per address in wrun's cache directory, in Chef's format. Each has the digest of its file, and it is used
//! only as long as the file on the node still has that digest.

use crate::digest::Digest;
use crate::root::{Fault, ModeBits, NewFileAttributes, Root};
use serde_json::{Value, json};
use ureq::http::HeaderMap;

/// Maximum length of a stored ETag, in bytes.
const MAX_TAG: usize = 1024;

/// The record of one download.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CacheControl {
    pub etag: Option<String>,
    /// The header `Last-Modified`, as the server wrote it.
    pub modified: Option<String>,
    checksum: Option<String>,
}

impl CacheControl {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let field = |name| {
            let text = headers.get(name).and_then(|value| value.to_str().ok());
            text.filter(|text| text.len() <= MAX_TAG).map(str::to_owned)
        };
        Self { etag: field("etag"), modified: field("last-modified").or_else(|| field("date")), checksum: None }
    }

    pub(super) fn with_checksum(self, checksum: &str) -> Self {
        Self { checksum: Some(checksum.to_owned()), ..self }
    }

    /// Reads the record of an address, if one exists.
    pub fn load(cache: &Root, url: &str) -> Option<Self> {
        let record: Value = serde_json::from_slice(&cache.read(&path(url)).ok()?).ok()?;
        let text = |name: &str| record.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self { etag: text("etag"), modified: text("mtime"), checksum: text("checksum") })
    }

    /// Tells whether the record belongs to a file with this digest.
    pub fn is_about(&self, digest: &Digest) -> bool {
        self.checksum.as_deref() == Some(digest.text())
    }

    /// Saves the record and returns its path in the cache directory.
    ///
    /// # Errors
    /// The cache directory cannot be written.
    pub fn save(&self, cache: &Root, url: &str) -> Result<String, Fault> {
        let record = json!({ "etag": self.etag, "mtime": self.modified, "checksum": self.checksum });
        let path = path(url);
        let site = cache.own_site(&path)?;
        site.write(record.to_string().as_bytes(), ModeBits::plain(0o600), &NewFileAttributes::default())?;
        Ok(path)
    }
}

/// Returns the record's path, `remote_file/READABLE-DIGEST.json`, as in Chef.
fn path(url: &str) -> String {
    let plain = |one: char| if one.is_ascii_alphanumeric() || one == '_' { one } else { '_' };
    let readable: String = url.chars().take(64).map(plain).collect();
    let digest = Digest::of(url.as_bytes());
    format!("/remote_file/{readable}-{}.json", digest.text().get(..32).unwrap_or_default())
}
