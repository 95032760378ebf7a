//! Folders of wrun's own in which the files of one policy are bounded in sum, over all its runs: the oldest go first.

use contract::{ErrorKind, Raised, Receipt};
use machine::root::{Kind, Root, absent};
use node::origin::Origin;
use std::collections::{BTreeMap, BTreeSet};

/// What a file takes beside its content, in bytes, for its name and for each directory that leads to it.
const PART: u64 = 4096;

/// What the index of a folder takes in memory for a file, in bytes, beside its path, which it has twice.
const ROW: u64 = 256;

/// Returns the age of a file as a text that sorts, the oldest first, by its path and the time of its last change in seconds
/// since 1970. `None`: the file is not one of those that are bounded.
pub(crate) type Age = fn(&str, i64) -> Option<String>;

/// The files of a folder, known from one look at it, and from what is added and removed since.
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
    /// Looks at a folder, the whole of `root`. `most`: the bytes that its files may take together.
    ///
    /// # Errors
    /// It cannot be listed, or the policy may cost no more.
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

    /// Adds a file that was written just now, and removes the oldest others while all are too much together.
    ///
    /// # Errors
    /// One cannot be looked at or removed, or the policy may cost no more.
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
        // No path has a character behind the last one.
        let end = format!("{text}{}", char::MAX);
        self.files.range(text.to_owned()..end).map(|(path, _)| path.as_str())
    }

    /// Removes a file, with the directories above it that are empty then.
    ///
    /// # Errors
    /// It cannot be removed.
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
