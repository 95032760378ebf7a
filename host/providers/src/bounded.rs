//! Limits the total size of one policy's files in a folder of wrun, over all runs: the oldest files are removed first.

use contract::{ErrorKind, Raised, Receipt};
use machine::root::{Kind, Root, absent};
use node::origin::Origin;
use std::collections::{BTreeMap, BTreeSet};

/// The space for a file's name and for each directory above it, in bytes, besides its content.
const PART: u64 = 4096;

/// The memory for a file in the index of a folder, in bytes, besides its path, which the index has twice.
const ROW: u64 = 256;

/// Returns a sortable text for the age of a file, oldest first, from its path and the time of its last change (seconds since
/// 1970). Returns `None` if the file is not among the limited ones.
pub(crate) type Age = fn(&str, i64) -> Option<String>;

/// The files of a folder: read once, and then updated for each added and removed file.
#[derive(Debug)]
pub(crate) struct BoundedFolder {
    most: u64,
    age: Age,
    /// Age and bytes by path.
    files: BTreeMap<String, (String, u64)>,
    by_age: BTreeSet<(String, String)>,
    bytes: u64,
    paid: Receipt,
}

impl BoundedFolder {
    /// Reads the whole folder `root`. `most` is the maximum size of all its files, in bytes.
    ///
    /// # Errors
    /// The folder cannot be listed, or the policy's limit is exceeded.
    pub(crate) fn read(root: &Root, most: u64, age: Age) -> Result<Self, Raised> {
        let paid = root.account().keep(0, Origin::default).map_err(ended)?;
        let mut folder = Self { most, age, files: BTreeMap::new(), by_age: BTreeSet::new(), bytes: 0, paid };
        for (path, kind) in root.locate("/")?.descendants()? {
            if kind == Kind::File {
                folder.note(root, &path)?;
            }
        }
        Ok(folder)
    }

    /// Adds a file that was just written, and removes the oldest others while the total size is too large.
    ///
    /// # Errors
    /// A file cannot be read or removed, or the policy's limit is exceeded.
    pub(crate) fn add(&mut self, root: &Root, path: &str) -> Result<(), Raised> {
        self.note(root, path)?;
        while self.bytes > self.most {
            let Some(oldest) = self.by_age.iter().map(|(_, oldest)| oldest).find(|oldest| *oldest != path) else {
                break;
            };
            self.remove(root, &oldest.clone())?;
        }
        Ok(())
    }

    /// Returns the paths that begin with a text, in order.
    pub(crate) fn beginning_with<'a>(&'a self, text: &'a str) -> impl DoubleEndedIterator<Item = &'a str> {
        // No character sorts after `char::MAX`, so this end is after every such path.
        let end = format!("{text}{}", char::MAX);
        self.files.range(text.to_owned()..end).map(|(path, _)| path.as_str())
    }

    /// Removes a file, and the directories above it that become empty.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub(crate) fn remove(&mut self, root: &Root, path: &str) -> Result<(), Raised> {
        root.account().work(1).map_err(ended)?;
        absent(root.own_site(path)?.remove_file())?;
        self.forget(path);
        let mut above = path;
        while let Some((parent, _)) = above.rsplit_once('/').filter(|(parent, _)| !parent.is_empty()) {
            if root.own_site(parent)?.remove_directory().is_err() {
                break;
            }
            above = parent;
        }
        Ok(())
    }

    fn note(&mut self, root: &Root, path: &str) -> Result<(), Raised> {
        let Some(entry) = root.entry(path)? else { return Ok(()) };
        let Some(age) = (self.age)(path, entry.modified) else { return Ok(()) };
        self.forget(path);
        self.paid.grow(row(path), Origin::default).map_err(ended)?;
        let bytes = entry.size.saturating_add(PART * path.matches('/').count() as u64);
        self.bytes = self.bytes.saturating_add(bytes);
        self.by_age.insert((age.clone(), path.to_owned()));
        self.files.insert(path.to_owned(), (age, bytes));
        Ok(())
    }

    fn forget(&mut self, path: &str) {
        if let Some((age, bytes)) = self.files.remove(path) {
            self.by_age.remove(&(age, path.to_owned()));
            self.bytes = self.bytes.saturating_sub(bytes);
            self.paid.shrink(row(path));
        }
    }
}

fn row(path: &str) -> u64 {
    ROW + 2 * path.len() as u64
}

fn ended(ended: contract::Ended) -> Raised {
    Raised::new(ErrorKind::Failed, format!("the policy {ended}"))
}
