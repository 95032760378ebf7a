//! The content of a folder as a value that can be compared and printed.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

/// The machine's system folders, which are not compared.
const SYSTEM_FOLDERS: [&str; 3] = ["dev", "proc", "sys"];

/// Largest content that is shown as text, in bytes. Longer or binary content is shown as a digest.
const TEXT_LIMIT: u64 = 400;

/// The kind of an entry, with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Folder,
    /// Short text, shown in full.
    Text(String),
    /// Other content: its length in bytes, and the first 16 digits of its SHA-256.
    Binary {
        length: u64,
        digest: String,
    },
    Link(PathBuf),
    /// A pipe, a socket, or a device, by the name of its kind.
    Special(&'static str),
    /// In a layer of changes: an entry that was removed.
    Removed,
}

/// One file, folder or link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub kind: Kind,
    /// Permissions, including the set-user, set-group, and sticky bits.
    pub mode: u32,
    pub owner: u32,
    pub group: u32,
}

/// All entries below a folder, sorted by their relative path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree {
    pub entries: BTreeMap<PathBuf, Entry>,
}

impl Tree {
    /// Reads everything below a folder, except the system's own file systems directly below it.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let mut tree = Self::default();
        read_below(folder, Path::new(""), &mut tree.entries)?;
        Ok(tree)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the removed (`-`), added (`+`), and changed (`-` and `+`) entries in `after`, one per line.
    #[must_use]
    pub fn difference(&self, after: &Self) -> String {
        let paths: std::collections::BTreeSet<&PathBuf> = self.entries.keys().chain(after.entries.keys()).collect();
        let mut lines = String::new();
        for path in paths {
            let (old, new) = (self.entries.get(path), after.entries.get(path));
            if old == new {
                continue;
            }
            for (sign, entry) in [('-', old), ('+', new)] {
                if let Some(entry) = entry {
                    lines.push_str(&format!("{sign} {} {entry}\n", path.display()));
                }
            }
        }
        lines
    }
}

impl Display for Tree {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.entries.iter().try_for_each(|(path, entry)| writeln!(formatter, "{} {entry}", path.display()))
    }
}

impl Display for Entry {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let owner = format!("{:04o} {}:{}", self.mode, self.owner, self.group);
        match &self.kind {
            Kind::Folder => write!(formatter, "folder {owner}"),
            Kind::Text(text) => write!(formatter, "file {owner} {text:?}"),
            Kind::Binary { length, digest } => write!(formatter, "file {owner} {length} bytes, {digest}"),
            Kind::Link(target) => write!(formatter, "link to {}", target.display()),
            Kind::Special(what) => write!(formatter, "{what} {owner}"),
            Kind::Removed => write!(formatter, "removed"),
        }
    }
}

fn read_below(top: &Path, inside: &Path, entries: &mut BTreeMap<PathBuf, Entry>) -> Result<()> {
    let folder = top.join(inside);
    let listing = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for found in listing {
        let found = found.with_context(|| format!("cannot list {}", folder.display()))?;
        let is_top = inside.as_os_str().is_empty();
        if is_top && SYSTEM_FOLDERS.iter().any(|name| found.file_name() == *name) {
            continue;
        }
        let path = inside.join(found.file_name());
        let entry = read_entry(&found.path())?;
        let is_folder = entry.kind == Kind::Folder;
        entries.insert(path.clone(), entry);
        if is_folder {
            read_below(top, &path, entries)?;
        }
    }
    Ok(())
}

fn read_entry(path: &Path) -> Result<Entry> {
    let metadata = path.symlink_metadata().with_context(|| format!("cannot look at {}", path.display()))?;
    let kind = metadata.file_type();
    let kind = if kind.is_dir() {
        Kind::Folder
    } else if kind.is_symlink() {
        Kind::Link(fs::read_link(path).with_context(|| format!("cannot read the link {}", path.display()))?)
    } else if kind.is_file() {
        read_content(path, metadata.len())?
    } else if kind.is_fifo() {
        Kind::Special("pipe")
    } else if kind.is_socket() {
        Kind::Special("socket")
    } else if kind.is_char_device() && metadata.rdev() == 0 {
        Kind::Removed
    } else {
        Kind::Special("device")
    };
    Ok(Entry { kind, mode: metadata.mode() & 0o7777, owner: metadata.uid(), group: metadata.gid() })
}

fn read_content(path: &Path, length: u64) -> Result<Kind> {
    let context = || format!("cannot read {}", path.display());
    if length <= TEXT_LIMIT {
        let bytes = fs::read(path).with_context(context)?;
        match String::from_utf8(bytes) {
            Ok(text) => return Ok(Kind::Text(text)),
            Err(error) => return Ok(binary(&error.into_bytes())),
        }
    }
    let mut bytes = Vec::new();
    fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)).with_context(context)?;
    Ok(binary(&bytes))
}

fn binary(bytes: &[u8]) -> Kind {
    let digest = text::hex(Sha256::digest(bytes).iter().take(8).copied().collect::<Vec<_>>());
    Kind::Binary { length: bytes.len() as u64, digest }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_difference_names_what_changed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("same"), "same").unwrap();
        fs::write(at("content"), "old").unwrap();
        fs::write(at("mode"), "mode").unwrap();
        fs::set_permissions(at("mode"), fs::Permissions::from_mode(0o644)).unwrap();
        symlink("old", at("link")).unwrap();
        fs::write(at("gone"), [0xff, 0xfe]).unwrap();
        let before = Tree::read(folder.path()).unwrap();
        assert_eq!(before.difference(&before), "");
        fs::write(at("content"), "new").unwrap();
        fs::set_permissions(at("mode"), fs::Permissions::from_mode(0o4755)).unwrap();
        fs::remove_file(at("link")).unwrap();
        symlink("new", at("link")).unwrap();
        fs::remove_file(at("gone")).unwrap();
        fs::create_dir(at("added")).unwrap();
        fs::write(at("added/inner"), "x".repeat(500)).unwrap();
        let changed = before.difference(&Tree::read(folder.path()).unwrap());
        let names: Vec<(&str, &str)> =
            changed.lines().map(|line| (&line[..1], line[2..].split(' ').next().unwrap())).collect();
        let expected = [
            ("+", "added"),
            ("+", "added/inner"),
            ("-", "content"),
            ("+", "content"),
            ("-", "gone"),
            ("-", "link"),
            ("+", "link"),
            ("-", "mode"),
            ("+", "mode"),
        ];
        assert_eq!(names, expected, "{changed}");
        assert!(changed.contains("+ mode file 4755 ") && changed.contains("500 bytes"), "{changed}");
    }
}
