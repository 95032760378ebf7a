//! Reads a released gem: a tar archive of `metadata.gz` with the specification, and `data.tar.gz` with the files.
//!
//! It is untrusted: its unpacked size is limited, and a path that leads out of it is an error.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::GzDecoder;

use super::{GemsError, MAX_BYTES};
use crate::tar_entries::each_entry;
use artifact::{MAX_FILES, MAX_PATH};

/// What a gem says of itself, and its files.
const SPECIFICATION: &str = "metadata.gz";
const FILES: &str = "data.tar.gz";

/// The longest specification, in bytes.
const MAX_SPECIFICATION: u64 = 1 << 20;

/// Largest part of a gem's file that is read, in bytes: the limit of all gems of a policy, and the same again for headers.
const MAX_GEM: u64 = 2 * MAX_BYTES;

/// Returns the specification of a gem, in YAML.
pub(super) fn specification(file: File, path: &Path) -> Result<String, GemsError> {
    part(file, path, SPECIFICATION, |content| {
        let mut text = Vec::new();
        GzDecoder::new(content).take(MAX_SPECIFICATION + 1).read_to_end(&mut text)?;
        if text.len() as u64 > MAX_SPECIFICATION {
            return Err(io::Error::other(format!("{SPECIFICATION} has more than {MAX_SPECIFICATION} bytes")));
        }
        String::from_utf8(text).map_err(|_| io::Error::other(format!("{SPECIFICATION} is not UTF-8")))
    })
}

/// Returns the gem's files with their paths. `room`: the limit of their total size, in bytes.
pub(super) fn files(file: File, path: &Path, room: u64) -> Result<Vec<(String, Vec<u8>)>, GemsError> {
    part(file, path, FILES, |content| {
        // Headers and padding weigh something too.
        let reader = GzDecoder::new(content).take(room.saturating_mul(2));
        let mut found = Vec::new();
        let mut room = room;
        each_entry(
            reader,
            |error| error,
            |path, entry| {
                let kind = entry.header().entry_type();
                if kind.is_dir() || kind.is_pax_global_extensions() {
                    return Ok(());
                }
                let name = name(path)?;
                if !kind.is_file() {
                    return Err(io::Error::other(format!("{name:?} is not a plain file")));
                }
                let mut bytes = Vec::new();
                entry.take(room.saturating_add(1)).read_to_end(&mut bytes)?;
                room = room.checked_sub(bytes.len() as u64).ok_or_else(|| io::Error::other("it is too large"))?;
                found.push((name, bytes));
                if found.len() > MAX_FILES {
                    return Err(io::Error::other(format!("it has more than {MAX_FILES} files")));
                }
                Ok(())
            },
        )?;
        Ok(found)
    })
}

/// Reads one part of a gem.
fn part<Got>(
    file: File,
    path: &Path,
    wanted: &str,
    read: impl FnOnce(&mut dyn Read) -> io::Result<Got>,
) -> Result<Got, GemsError> {
    let no_gem = |error: io::Error| GemsError::NoGem { path: path.to_owned(), what: error.to_string() };
    // The parts of a gem have short names, so entries that describe longer names are not read. The reader is limited because
    // a sparse file may have any size.
    let mut archive = tar::Archive::new(file.take(MAX_GEM));
    for entry in archive.entries().map_err(no_gem)?.raw(true) {
        let mut entry = entry.map_err(no_gem)?;
        if *entry.path_bytes() == *wanted.as_bytes() {
            return read(&mut entry).map_err(no_gem);
        }
    }
    Err(no_gem(io::Error::other(format!("it has no {wanted} in its first {MAX_GEM} bytes"))))
}

/// A path within a gem: relative, and nowhere else.
fn name(bytes: &[u8]) -> io::Result<String> {
    let wrong = || io::Error::other(format!("it has the impossible path {:?}", String::from_utf8_lossy(bytes)));
    let text = std::str::from_utf8(bytes).map_err(|_| wrong())?;
    let text = text.strip_prefix("./").unwrap_or(text);
    let is_good = text.len() < MAX_PATH
        && !text.contains('\0')
        && text.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    if is_good { Ok(text.to_owned()) } else { Err(wrong()) }
}
