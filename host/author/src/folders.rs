//! Cookbooks that are run from where they lie: folders side by side in a directory, without a policy and an artifact.
//!
//! Their files are found as Chef finds them: `chefignore` of the cookbook or of a folder above it is respected, and
//! folders at a cookbook's top whose names begin with a dot are none of its own. Of two cookbooks with one folder name,
//! the one in the later directory is taken as a whole.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use contract::{CookbookFiles, FileError};

use crate::ignore::{Ignore, Unusable};
use artifact::MAX_FILES;

/// How deep a cookbook's folders may be nested.
const MAX_DEPTH: usize = 32;

/// The largest file that is handed to a guest, in bytes: what its memory can take in one call.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// How many names an error lists.
const MAX_LISTED: usize = 50;

/// Why cookbooks cannot be taken from a directory.
#[derive(Debug, thiserror::Error)]
#[error("cookbooks cannot be read from {}", path.display())]
pub struct FoldersError {
    /// The directory that holds the cookbooks.
    path: PathBuf,
    /// What the system said.
    source: io::Error,
}

/// Cookbooks in folders, by name, in an order.
#[derive(Debug, Clone, Default)]
pub struct CookbookFolders {
    cookbooks: Vec<Entry>,
    by_name: BTreeMap<String, usize>,
}

#[derive(Debug, Clone)]
struct Entry {
    name: String,
    version: String,
    folder: Arc<Folder>,
}

/// The folder of one cookbook, with what was read of it.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    /// The cookbooks' folders, which links may lead into, without links themselves.
    inside: Arc<[PathBuf]>,
    /// Relative paths, sorted; listed when somebody asks first.
    files: OnceLock<Result<Vec<String>, String>>,
}

/// A cookbook that is to be in a selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// The name that its metadata gives it.
    pub name: String,
    /// The cookbook's version, `x.y.z`.
    pub version: String,
    /// The name of its folder.
    pub folder: String,
}

/// Whether a folder is a cookbook's.
fn has_metadata(folder: &Path) -> bool {
    ["metadata.rb", "metadata.json"].iter().any(|file| folder.join(file).is_file())
}

/// How deep in a cookbook's folder others are looked for.
const MAX_VENDOR_DEPTH: usize = 3;

/// The directories inside the cookbooks of some directories that hold cookbooks themselves: what their authors have put
/// beside their own code. Tests' cookbooks are none of these.
#[must_use]
pub fn vendor_directories(directories: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for cookbook in directories.iter().flat_map(|directory| folders_in(directory)) {
        vendored_in(&cookbook, MAX_VENDOR_DEPTH, &mut found);
    }
    found.sort();
    found
}

fn vendored_in(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for inner in folders_in(folder) {
        if folders_in(&inner).iter().any(|path| has_metadata(path)) {
            found.push(inner.clone());
        }
        if depth > 1 {
            vendored_in(&inner, depth - 1, found);
        }
    }
}

/// The folders in a folder, without hidden ones, tests and links; none where it cannot be read.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let is_plain = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        entry.file_type().is_ok_and(|kind| kind.is_dir()) && !name.starts_with('.') && name != "test" && name != "spec"
    };
    entries.flatten().filter(is_plain).map(|entry| entry.path()).collect()
}

impl CookbookFolders {
    /// All cookbooks of some directories, under the names of their folders and in the order of these.
    ///
    /// # Errors
    /// A directory that cannot be read.
    pub fn open(directories: &[PathBuf]) -> Result<Self, FoldersError> {
        let mut found = BTreeMap::new();
        for directory in directories {
            let failed = |source| FoldersError { path: directory.clone(), source };
            let directory = directory.canonicalize().map_err(failed)?;
            for entry in std::fs::read_dir(&directory).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                let name = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
                if let Some(name) = name.filter(|name| !name.starts_with('.'))
                    && path.is_dir()
                {
                    found.insert(name, path);
                }
            }
        }
        // Links may lead to other cookbooks, and not to whatever else lies beside them: the directory may be somebody's home. A
        // cookbook's folder may itself be a link: then it lies where the operator says.
        let cookbooks = found.values().filter(|path| has_metadata(path));
        let inside: Arc<[PathBuf]> = cookbooks.filter_map(|path| path.canonicalize().ok()).collect();
        let entry = |(name, path): (String, PathBuf)| {
            let inside =
                if has_metadata(&path) { Arc::clone(&inside) } else { path.canonicalize().into_iter().collect() };
            let folder = Folder { path, inside, files: OnceLock::new() };
            Entry { name, version: "0.0.0".to_owned(), folder: Arc::new(folder) }
        };
        Ok(Self::of(found.into_iter().map(entry).collect()))
    }

    /// One cookbook, under the name of its folder. Those beside it are not seen, and links do not lead to them.
    ///
    /// # Errors
    /// The folder cannot be found, or its name is not UTF-8.
    pub fn one(folder: &Path) -> Result<Self, FoldersError> {
        let failed = |source| FoldersError { path: folder.to_owned(), source };
        let path = folder.canonicalize().map_err(failed)?;
        let name = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let name = name.ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
        let inside: Arc<[PathBuf]> = [path.clone()].into();
        let folder = Folder { path, inside, files: OnceLock::new() };
        Ok(Self::of(vec![Entry { name, version: "0.0.0".to_owned(), folder: Arc::new(folder) }]))
    }

    fn of(cookbooks: Vec<Entry>) -> Self {
        let by_name = cookbooks.iter().enumerate().map(|(at, entry)| (entry.name.clone(), at)).collect();
        Self { cookbooks, by_name }
    }

    /// Some of the cookbooks, under other names and in another order. Folders that are not there are left out.
    #[must_use]
    pub fn select(&self, wanted: &[Selected]) -> Self {
        let entries = wanted.iter().filter_map(|wanted| {
            let folder = Arc::clone(&self.entry(&wanted.folder)?.folder);
            Some(Entry { name: wanted.name.clone(), version: wanted.version.clone(), folder })
        });
        Self::of(entries.collect())
    }

    /// The names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.cookbooks.iter().map(|entry| entry.name.as_str())
    }

    /// Where a cookbook lies on the machine.
    pub fn place(&self, cookbook: &str) -> Option<&Path> {
        Some(&self.entry(cookbook)?.folder.path)
    }

    fn entry(&self, cookbook: &str) -> Option<&Entry> {
        self.cookbooks.get(*self.by_name.get(cookbook)?)
    }

    fn known(&self, cookbook: &str) -> Result<&Entry, FileError> {
        self.entry(cookbook).ok_or_else(|| {
            let names = listed(self.names());
            FileError::NoSuchCookbook(format!(
                "there is no cookbook {:?} in this run; it has {names}",
                shortened(cookbook)
            ))
        })
    }
}

impl CookbookFiles for CookbookFolders {
    fn cookbooks(&self) -> Vec<(String, String)> {
        self.cookbooks.iter().map(|entry| (entry.name.clone(), entry.version.clone())).collect()
    }

    fn paths(&self, cookbook: &str, folder: &str) -> Result<Vec<String>, FileError> {
        let files = self.known(cookbook)?.files()?;
        let prefix = match folder.trim_end_matches('/') {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        Ok(files.iter().filter(|path| path.starts_with(&prefix)).cloned().collect())
    }

    fn read(&self, cookbook: &str, path: &str) -> Result<Vec<u8>, FileError> {
        let entry = self.known(cookbook)?;
        let place = format!("cookbook {cookbook} ({})", entry.version);
        // Only what was listed can be read: no path of a guest's ever reaches the machine.
        if !entry.files()?.iter().any(|known| known == path) {
            let folder = path.split_once('/').map_or("", |(folder, _)| folder);
            let there = self.paths(cookbook, folder)?;
            let names = listed(there.iter().map(String::as_str));
            return Err(FileError::NoSuchFile(format!("{place} has no file {:?}; it has {names}", shortened(path))));
        }
        entry
            .folder
            .read(path)
            .map_err(|error| FileError::NoSuchFile(format!("{place}: {path} cannot be read: {error}")))
    }
}

impl Entry {
    /// The cookbook's files, listed once.
    fn files(&self) -> Result<&[String], FileError> {
        let listed = self.folder.files.get_or_init(|| self.folder.list().map_err(|error| error.to_string()));
        listed.as_deref().map_err(|error| {
            FileError::NoSuchFile(format!(
                "the files of cookbook {} ({}) cannot be listed: {error}",
                self.name, self.version
            ))
        })
    }
}

impl Folder {
    /// The cookbook's files, or why they cannot be listed.
    fn list(&self) -> io::Result<Vec<String>> {
        let unusable = |(path, error): Unusable| {
            let name = path.file_name().unwrap_or_default().display();
            io::Error::new(error.kind(), format!("{name} cannot be read: {error}"))
        };
        let mut ignore = Ignore::of_folder_or_above(&self.path).map_err(unusable)?;
        let mut found = vec![];
        let mut folders = vec![(self.path.clone(), String::new(), 0)];
        while let Some((path, prefix, depth)) = folders.pop() {
            for entry in std::fs::read_dir(&path)? {
                let entry = entry?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                let (kind, relative) = (entry.file_type()?, format!("{prefix}{name}"));
                let is_hidden = depth == 0 && name.starts_with('.');
                if kind.is_dir() && !is_hidden && depth < MAX_DEPTH {
                    folders.push((entry.path(), format!("{relative}/"), depth + 1));
                } else if self.is_own_file(&entry, kind) && !ignore.ignores(&relative).map_err(unusable)? {
                    found.push(relative);
                }
            }
            if found.len() > MAX_FILES {
                return Err(io::Error::other("too many files"));
            }
        }
        found.sort();
        Ok(found)
    }

    /// A file, or a link to one that lies in the cookbooks' folders as well: a stranger's cookbook must not hand its guest
    /// what only the operator may read.
    fn is_own_file(&self, entry: &std::fs::DirEntry, kind: std::fs::FileType) -> bool {
        if !kind.is_symlink() {
            return kind.is_file();
        }
        let Ok(real) = entry.path().canonicalize() else { return false };
        real.is_file() && self.inside.iter().any(|directory| real.starts_with(directory))
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let real = self.path.join(path).canonicalize()?;
        if !self.inside.iter().any(|directory| real.starts_with(directory)) {
            return Err(io::Error::other("it leads out of the cookbooks' folders"));
        }
        plain_files::read(&real, MAX_FILE_BYTES)
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut shown: Vec<&str> = names.take(MAX_LISTED + 1).collect();
    if shown.len() > MAX_LISTED {
        shown.truncate(MAX_LISTED);
        shown.push("..");
    }
    if shown.is_empty() { "none".into() } else { shown.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn files_are_found_as_chef_finds_them() {
        let top = tempfile::tempdir().unwrap();
        let (one, two) = (top.path().join("one"), top.path().join("two"));
        write(top.path(), "chefignore", "*.bak\n");
        write(&one, "a/recipes/default.rb", "one");
        write(&one, "b/recipes/default.rb", "b");
        write(&two, "a/recipes/default.rb", "two");
        write(&two, "a/recipes/old.bak", "");
        write(&two, "a/.git/config", "");
        write(&two, "a/.rubocop.yml", "");
        write(&two, "a/templates/.hidden/x.erb", "");
        write(&two, ".a/recipes/default.rb", "");
        let all = CookbookFolders::open(&[one, two.clone()]).unwrap();
        assert_eq!(all.names().collect::<Vec<_>>(), ["a", "b"]);
        let paths = all.paths("a", "").unwrap();
        assert_eq!(paths, [".rubocop.yml", "recipes/default.rb", "templates/.hidden/x.erb"]);
        assert_eq!(all.read("a", "recipes/default.rb").unwrap(), b"two");
        assert_eq!(all.paths("a", "recipes").unwrap(), ["recipes/default.rb"]);
        let selected = Selected { name: "other".into(), version: "1.2.3".into(), folder: "a".into() };
        let chosen = all.select(&[selected]);
        assert_eq!(chosen.cookbooks(), [("other".to_owned(), "1.2.3".to_owned())]);
        assert_eq!(chosen.place("other"), Some(two.canonicalize().unwrap().join("a").as_path()));
        assert!(matches!(chosen.read("a", "recipes/default.rb"), Err(FileError::NoSuchCookbook(_))));
    }

    #[test]
    fn cookbooks_inside_cookbooks_are_found() {
        let top = tempfile::tempdir().unwrap();
        let books = top.path().join("books");
        write(&books, "a/metadata.rb", "");
        write(&books, "a/cookbooks/third-party/b-1.0.0/metadata.rb", "");
        write(&books, "a/vendor/c/metadata.json", "{}");
        write(&books, "a/test/cookbooks/d/metadata.rb", "");
        write(&books, "a/files/e/metadata.txt", "");
        let found = vendor_directories(&[books.clone(), top.path().join("missing")]);
        assert_eq!(found, [books.join("a/cookbooks/third-party"), books.join("a/vendor")]);
    }

    #[test]
    fn one_cookbook_is_seen_without_its_neighbours() {
        let top = tempfile::tempdir().unwrap();
        write(top.path(), "a/metadata.rb", "own");
        write(top.path(), "b/files/secret", "secret");
        symlink("../b/files/secret", top.path().join("a/leak")).unwrap();
        let one = CookbookFolders::one(&top.path().join("a")).unwrap();
        assert_eq!(one.names().collect::<Vec<_>>(), ["a"]);
        assert_eq!(one.paths("a", "").unwrap(), ["metadata.rb"]);
        assert_eq!(one.read("a", "metadata.rb").unwrap(), b"own");
        assert!(matches!(one.read("b", "files/secret"), Err(FileError::NoSuchCookbook(_))));
        assert!(matches!(one.read("a", "leak"), Err(FileError::NoSuchFile(_))));
        assert!(CookbookFolders::one(&top.path().join("missing")).is_err());
    }

    #[test]
    fn links_lead_to_other_cookbooks_and_not_to_what_lies_beside_them() {
        let home = tempfile::tempdir().unwrap();
        for (path, content) in [
            ("a/metadata.rb", "a"),
            ("b/metadata.json", "{}"),
            ("b/files/shared", "shared"),
            ("secrets/token", "secret"),
            ("token", "secret"),
        ] {
            write(home.path(), path, content);
        }
        for (name, target) in [("shared", "../b/files/shared"), ("x", "../secrets/token"), ("y", "../token")] {
            symlink(target, home.path().join("a").join(name)).unwrap();
        }
        symlink("../token", home.path().join("secrets/alias")).unwrap();
        let all = CookbookFolders::open(&[home.path().to_owned()]).unwrap();
        assert_eq!(all.paths("a", "").unwrap(), ["metadata.rb", "shared"]);
        assert_eq!(all.read("a", "shared").unwrap(), b"shared");
        assert_eq!(all.paths("secrets", "").unwrap(), ["token"]);
    }

    #[test]
    fn nothing_outside_is_read() {
        let top = tempfile::tempdir().unwrap();
        let books = top.path().join("books");
        write(&books, "a/files/own", "own");
        write(top.path(), "secret", "secret");
        symlink(top.path().join("secret"), books.join("a/files/leak")).unwrap();
        symlink("own", books.join("a/files/alias")).unwrap();
        symlink(top.path(), books.join("a/files/folder")).unwrap();
        let all = CookbookFolders::open(&[books]).unwrap();
        assert_eq!(all.paths("a", "").unwrap(), ["files/alias", "files/own"]);
        assert_eq!(all.read("a", "files/alias").unwrap(), b"own");
        for path in ["files/leak", "files/folder/secret", "../../secret", "files/../../secret", "/etc/passwd"] {
            assert!(matches!(all.read("a", path), Err(FileError::NoSuchFile(_))), "{path}");
        }
    }
}
