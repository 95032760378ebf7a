//! Reads the entries of an untrusted tar archive. The descriptions of an entry (a long name, extensions) are read up to a
//! limit, because the tar crate would read as many bytes as the archive states.

use std::io::{self, Read};

use artifact::MAX_PATH;
use tar::{Archive, Entry, PaxExtensions};

/// The most bytes of pax extensions before an entry.
const MAX_EXTENSIONS: usize = 64 << 10;

/// The key of a path among pax extensions.
const PATH: &[u8] = b"path";

/// Calls `take` for each entry with its path.
///
/// # Errors
/// The archive is malformed, in the words of `unreadable`; or what `take` returned.
pub(crate) fn each_entry<R: Read, E>(
    reader: R,
    unreadable: impl Fn(io::Error) -> E,
    mut take: impl FnMut(&[u8], &mut Entry<'_, R>) -> Result<(), E>,
) -> Result<(), E> {
    let mut archive = Archive::new(reader);
    let mut described: Option<Vec<u8>> = None;
    for entry in archive.entries().map_err(&unreadable)?.raw(true) {
        let mut entry = entry.map_err(&unreadable)?;
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() {
            let mut name = description(&mut entry, MAX_PATH).map_err(&unreadable)?;
            if name.last() == Some(&0) {
                name.pop();
            }
            described = Some(name);
        } else if kind.is_pax_local_extensions() {
            let extensions = description(&mut entry, MAX_EXTENSIONS).map_err(&unreadable)?;
            let path = PaxExtensions::new(&extensions).flatten().find(|one| one.key_bytes() == PATH);
            described = path.map(|path| path.value_bytes().to_vec()).or(described);
        } else if !kind.is_gnu_longlink() {
            let path = described.take().unwrap_or_else(|| entry.path_bytes().into_owned());
            take(&path, &mut entry)?;
        }
    }
    Ok(())
}

/// The content of an entry that describes the next one.
fn description(entry: &mut impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    entry.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        return Err(io::Error::other(format!("it describes an entry with more than {limit} bytes")));
    }
    Ok(bytes)
}
