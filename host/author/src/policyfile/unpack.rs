//! Unpacks untrusted archives into memory, with limits. Only plain files in them count.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use artifact::MAX_FILES;
use flate2::read::GzDecoder;

use crate::tar_entries::each_entry;

/// Largest size of an unpacked archive, in bytes.
pub(super) const MAX_UNPACKED: u64 = 256 << 20;

/// How deep its folders may be nested.
const MAX_DEPTH: usize = 40;

/// The plain files of a compressed archive, by their paths. `kind`: what the archive should be, for messages.
pub(super) fn unpacked(bytes: &[u8], kind: &str) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let unreadable = |error: std::io::Error| format!("it is not {kind}: {error}");
    // This limits the unpacked size, whatever sizes the archive states.
    let reader = GzDecoder::new(bytes).take(MAX_UNPACKED);
    let (mut files, mut entries) = (BTreeMap::new(), 0_usize);
    each_entry(reader, unreadable, |path, entry| {
        entries += 1;
        if entries > 2 * MAX_FILES {
            return Err(format!("it has more than {} entries", 2 * MAX_FILES));
        }
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() {
            return Ok(());
        }
        let path = plain_path(Path::new(OsStr::from_bytes(path)), "the archive")?;
        if !kind.is_file() {
            return Err(format!("{path} is not a plain file; links and devices are not taken from archives"));
        }
        let size = entry.size();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(unreadable)?;
        if content.len() as u64 != size {
            return Err(format!("it ends in the middle of {path}, or holds more than {MAX_UNPACKED} bytes"));
        }
        if files.insert(path.clone(), content).is_some() {
            return Err(format!("{path} is there twice"));
        }
        if files.len() > MAX_FILES {
            return Err(format!("it has more than {MAX_FILES} files"));
        }
        Ok(())
    })?;
    Ok(files)
}

/// Returns a relative path inside an archive as text, and refuses one that leads out of it. `holder`: the kind of archive,
/// for messages.
pub(super) fn plain_path(path: &Path, holder: &str) -> Result<String, String> {
    let mut parts = vec![];
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => match name.to_str() {
                Some(name) if !name.contains(char::is_control) => parts.push(name),
                _ => return Err(format!("{:?} is not a name that a cookbook's file can have", path.display())),
            },
            _ => return Err(format!("{:?} leads out of {holder}", path.display())),
        }
    }
    if parts.is_empty() {
        return Err(format!("{:?} is not a name that a cookbook's file can have", path.display()));
    }
    if parts.len() > MAX_DEPTH {
        return Err(format!("{:?} is nested more than {MAX_DEPTH} folders deep", path.display()));
    }
    Ok(parts.join("/"))
}
