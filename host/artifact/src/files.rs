//! The section with the cookbooks' files: an index, then their contents.
//!
//! ```text
//! 8 bytes   `wrunfil1`
//! u32       how many files
//! per file, sorted by path:
//!   u16     length of the path
//!   u64     length of the content
//!   bytes   the path: COOKBOOK/PART/PART, UTF-8
//! then the contents, in the same order, without gaps
//! ```
//!
//! Numbers are little-endian. Files are not compressed, so they are read in place, and no limit for unpacking is needed. A
//! policy's files are small, and transports compress artifacts anyway. Rejected: tar, because the owners and times in its
//! headers would make two builds differ.

use std::ops::Range;

/// The first bytes of the section. The last character is the format's number.
const MAGIC: &[u8; 8] = b"wrunfil1";

/// How many files a policy may have.
pub const MAX_FILES: usize = 65_536;

/// The longest path, `COOKBOOK/` included, in bytes.
pub const MAX_PATH: usize = 1024;

/// The errors of a policy's files.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    /// The index ends early or is invalid.
    #[error("the index of its files cannot be read")]
    Index,
    /// The contents are longer or shorter than the index says.
    #[error("its files are not as long as their index says")]
    Length,
    /// A path is not below a cookbook's folder.
    #[error("a file has the impossible path {path:?}")]
    Path {
        /// The path that is not below a cookbook's folder.
        path: String,
    },
    /// A path is repeated, or paths are not sorted.
    #[error("the file {path:?} is there twice or not in its place")]
    Order {
        /// The path that is not where it belongs.
        path: String,
    },
    /// The policy has too many files.
    #[error("it has {count} files, more than {MAX_FILES}")]
    TooMany {
        /// The number of files in the artifact.
        count: usize,
    },
    /// A file belongs to a cookbook that the manifest does not name.
    #[error("the file {path:?} belongs to none of its cookbooks")]
    Stray {
        /// The path of the file that no cookbook owns.
        path: String,
    },
}

/// The positions of the files in an artifact's bytes.
#[derive(Debug)]
pub(super) struct FileIndex {
    // Sorted by path. The ranges were checked against the bytes that they belong to.
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    path: Range<usize>,
    content: Range<usize>,
}

/// Writes the index and, after it, the contents in order of path.
pub(super) fn write(files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, FilesError> {
    let mut sorted: Vec<&(String, Vec<u8>)> = files.iter().collect();
    sorted.sort_by(|left, right| left.0.cmp(&right.0));
    if sorted.len() > MAX_FILES {
        return Err(FilesError::TooMany { count: sorted.len() });
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend(u32::try_from(sorted.len()).map_err(|_| FilesError::Index)?.to_le_bytes());
    let mut before: Option<&str> = None;
    for (path, content) in &sorted {
        check_path(path)?;
        if before == Some(path) {
            return Err(FilesError::Order { path: path.clone() });
        }
        before = Some(path);
        bytes.extend(u16::try_from(path.len()).map_err(|_| FilesError::Index)?.to_le_bytes());
        bytes.extend(u64::try_from(content.len()).map_err(|_| FilesError::Length)?.to_le_bytes());
        bytes.extend(path.as_bytes());
    }
    for (_, content) in &sorted {
        bytes.extend(content);
    }
    Ok(bytes)
}

/// Checks a path of the form `COOKBOOK/PART/..`: at least two parts, without `.` and `..`.
fn check_path(path: &str) -> Result<(), FilesError> {
    let mut parts = path.split('/');
    let is_good = path.len() <= MAX_PATH
        && parts.clone().count() >= 2
        && parts.all(|part| !part.is_empty() && part != "." && part != "..")
        && !path.contains('\0');
    if is_good { Ok(()) } else { Err(FilesError::Path { path: path.chars().take(200).collect() }) }
}

impl FileIndex {
    /// Reads the index from the range of an artifact's bytes that holds the container.
    pub(super) fn read(bytes: &[u8], container: Range<usize>) -> Result<Self, FilesError> {
        let end = container.end;
        let mut reader = Reader { bytes: bytes.get(..end).ok_or(FilesError::Index)?, position: container.start };
        if reader.take::<8>()? != *MAGIC {
            return Err(FilesError::Index);
        }
        let count = usize::try_from(u32::from_le_bytes(reader.take()?)).map_err(|_| FilesError::Index)?;
        if count > MAX_FILES {
            return Err(FilesError::TooMany { count });
        }
        let mut index = Vec::with_capacity(count);
        let mut before: Option<&str> = None;
        for _ in 0..count {
            let path_length = usize::from(u16::from_le_bytes(reader.take()?));
            let length = usize::try_from(u64::from_le_bytes(reader.take()?)).map_err(|_| FilesError::Length)?;
            let path_range = reader.skip(path_length)?;
            let path = std::str::from_utf8(reader.bytes.get(path_range.clone()).ok_or(FilesError::Index)?)
                .map_err(|_| FilesError::Index)?;
            check_path(path)?;
            if before.is_some_and(|before| before >= path) {
                return Err(FilesError::Order { path: path.to_owned() });
            }
            before = Some(path);
            index.push((path_range, length));
        }
        let mut entries = Vec::with_capacity(count);
        for (path, length) in index {
            let content = reader.skip(length).map_err(|_| FilesError::Length)?;
            entries.push(Entry { path, content });
        }
        if reader.position == end { Ok(Self { entries }) } else { Err(FilesError::Length) }
    }

    /// All files, sorted by path.
    pub(super) fn all<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        self.entries.iter().map(|entry| (entry.path_in(bytes), bytes.get(entry.content.clone()).unwrap_or_default()))
    }

    /// Returns a file's content, or `None` if the artifact does not have it.
    pub(super) fn content<'a>(&self, bytes: &'a [u8], path: &str) -> Option<&'a [u8]> {
        let index = self.entries.binary_search_by(|entry| entry.path_in(bytes).cmp(path)).ok()?;
        self.entries.get(index).and_then(|entry| bytes.get(entry.content.clone()))
    }

    /// The paths that begin with `prefix`, sorted.
    pub(super) fn paths<'a>(&'a self, bytes: &'a [u8], prefix: &'a str) -> impl Iterator<Item = &'a str> {
        let first = self.entries.partition_point(|entry| entry.path_in(bytes) < prefix);
        let rest = self.entries.get(first..).unwrap_or_default();
        rest.iter().map(|entry| entry.path_in(bytes)).take_while(move |path| path.starts_with(prefix))
    }

    /// Returns the first file of an unknown cookbook.
    pub(super) fn first_outside<'a>(&'a self, bytes: &'a [u8], known: impl Fn(&str) -> bool) -> Option<&'a str> {
        let mut paths = self.entries.iter().map(|entry| entry.path_in(bytes));
        paths.find(|path| !known(path.split('/').next().unwrap_or_default()))
    }
}

impl Entry {
    fn path_in<'a>(&self, bytes: &'a [u8]) -> &'a str {
        bytes.get(self.path.clone()).and_then(|path| std::str::from_utf8(path).ok()).unwrap_or_default()
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl Reader<'_> {
    fn take<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], FilesError> {
        let range = self.skip(LENGTH)?;
        self.bytes.get(range).and_then(|bytes| bytes.try_into().ok()).ok_or(FilesError::Index)
    }

    fn skip(&mut self, length: usize) -> Result<Range<usize>, FilesError> {
        let end = self.position.checked_add(length).filter(|end| *end <= self.bytes.len()).ok_or(FilesError::Index)?;
        Ok(std::mem::replace(&mut self.position, end)..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
        paths.iter().map(|(path, content)| ((*path).to_owned(), content.as_bytes().to_vec())).collect()
    }

    #[test]
    fn files_come_back_sorted_whatever_order_they_went_in() {
        let some = files(&[("b/x", "2"), ("a/files/y", ""), ("a/files/x", "1"), ("a/z", "3")]);
        let bytes = write(&some).unwrap();
        let reversed: Vec<_> = some.iter().rev().cloned().collect();
        assert_eq!(write(&reversed).unwrap(), bytes);
        // The container may be anywhere in an artifact.
        let artifact = [&b"before"[..], &bytes, b"after"].concat();
        let index = FileIndex::read(&artifact, 6..6 + bytes.len()).unwrap();
        let all: Vec<_> = index.all(&artifact).collect();
        assert_eq!(all, [("a/files/x", &b"1"[..]), ("a/files/y", b""), ("a/z", b"3"), ("b/x", b"2")]);
        assert_eq!(index.paths(&artifact, "a/files/").collect::<Vec<_>>(), ["a/files/x", "a/files/y"]);
        assert_eq!(index.paths(&artifact, "c/").count(), 0);
        assert_eq!(index.content(&artifact, "b/x"), Some(&b"2"[..]));
        assert_eq!(index.content(&artifact, "b"), None);
        assert_eq!(index.first_outside(&artifact, |cookbook| cookbook == "a"), Some("b/x"));
    }

    #[test]
    fn impossible_paths_are_refused() {
        for path in ["", "a", "/a/b", "a/../b", "a//b", "a/.", "a/b/", "a/\0", &format!("a/{}", "x".repeat(MAX_PATH))] {
            assert!(matches!(write(&files(&[(path, "")])), Err(FilesError::Path { .. })), "{path:?}");
        }
        assert!(matches!(write(&files(&[("a/b", "1"), ("a/b", "2")])), Err(FilesError::Order { .. })));
    }

    #[test]
    fn no_cut_or_changed_byte_reaches_outside() {
        let bytes = write(&files(&[("a/b", "content"), ("a/c", "more")])).unwrap();
        for length in 0..bytes.len() {
            assert!(FileIndex::read(&bytes[..length], 0..length).is_err(), "{length}");
            let mut changed = bytes.clone();
            changed[length] ^= 0xff;
            if let Ok(index) = FileIndex::read(&changed, 0..changed.len()) {
                assert_eq!(index.all(&changed).count(), 2);
            }
        }
        let longer = [&bytes[..], b"x"].concat();
        assert_eq!(FileIndex::read(&longer, 0..longer.len()).unwrap_err(), FilesError::Length);
        let mut many = MAGIC.to_vec();
        many.extend(u32::MAX.to_le_bytes());
        assert!(matches!(FileIndex::read(&many, 0..many.len()), Err(FilesError::TooMany { .. })));
    }
}
