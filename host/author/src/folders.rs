//! Reads cookbooks directly from folders, side by side in a directory, without a policy and an artifact.
//!
//! Files are found as in Chef: the `chefignore` of the cookbook or of a folder above it applies, and hidden folders at a
//! cookbook's top are left out. If two cookbooks have the same folder name, only the one in the later directory is used.

mod found;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use contract::{CookbookFiles, FileError};

use crate::ignore::{Ignore, Unusable};
use artifact::MAX_FILES;
use found::{directory, found_in, vendor_directories};
use plain_files::{HeldFolder, Kind, WalkError, is_link};

/// How deep a cookbook's folders may be nested.
const MAX_DEPTH: usize = 32;

/// The largest file that a guest may read, in bytes, because it gets the content in one call.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// How many names an error lists.
const MAX_LISTED: usize = 50;

/// The reason why cookbooks cannot be read from a directory.
#[derive(Debug, thiserror::Error)]
#[error("cookbooks cannot be read from {}", path.display())]
pub struct FoldersError {
    /// The directory that holds the cookbooks.
    path: PathBuf,
    /// What the system said.
    source: io::Error,
}

/// Cookbooks in folders, in order, each with its name.
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

/// The folder of one cookbook, with its cached list of files.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    /// The folder itself, or why it is not read.
    opened: Result<HeldFolder, String>,
    /// The cookbooks' folders, which links may lead into.
    inside: Arc<[HeldFolder]>,
    /// Relative paths of the files, sorted; listed at the first use.
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

/// The files that a cookbook has one of.
const METADATA: [&str; 2] = ["metadata.rb", "metadata.json"];

impl CookbookFolders {
    /// All cookbooks of some directories, under the names of their folders and in the order of these.
    ///
    /// # Errors
    /// A directory that cannot be read.
    pub fn open(directories: &[PathBuf]) -> Result<Self, FoldersError> {
        let given = directories.iter().map(|path| directory(path)).collect::<Result<Vec<_>, _>>()?;
        Self::in_directories(&given)
    }

    /// As [`open`](Self::open), with the cookbooks that lie inside of others. One that lies in a given directory goes before a
    /// copy inside another cookbook.
    ///
    /// # Errors
    /// A directory that cannot be read.
    pub fn open_with_vendored(directories: &[PathBuf]) -> Result<Self, FoldersError> {
        let given = directories.iter().map(|path| directory(path)).collect::<Result<Vec<_>, _>>()?;
        let mut all: Vec<_> = given.iter().flat_map(vendor_directories).collect();
        all.sort_by(|one, other| one.path().cmp(other.path()));
        all.extend(given);
        Self::in_directories(&all)
    }

    fn in_directories(given: &[HeldFolder]) -> Result<Self, FoldersError> {
        let mut found = BTreeMap::new();
        for directory in given {
            let failed = |source| FoldersError { path: directory.path().to_owned(), source };
            for one in found_in(directory).map_err(failed)? {
                found.insert(one.name.clone(), one);
            }
        }
        let opened: Vec<_> = found.into_values().map(|one| (one.path(), one.open(given), one.name)).collect();
        // Links may lead to other cookbooks, and not to whatever else lies beside them: the directory may be somebody's home.
        let is_cookbook = |folder: &&HeldFolder| METADATA.iter().any(|file| folder.is_file(file));
        let cookbooks = opened.iter().filter_map(|(_, opened, _)| opened.as_ref().ok()).filter(is_cookbook);
        let inside: Arc<[HeldFolder]> = cookbooks.cloned().collect();
        let entry = |(path, opened, name): (PathBuf, Result<HeldFolder, String>, String)| {
            let inside = match &opened {
                Ok(own) if !is_cookbook(&own) => [own.clone()].into(),
                _ => Arc::clone(&inside),
            };
            let folder = Folder { path, opened, inside, files: OnceLock::new() };
            Entry { name, version: "0.0.0".to_owned(), folder: Arc::new(folder) }
        };
        Ok(Self::of(opened.into_iter().map(entry).collect()))
    }

    /// Opens one cookbook, under the name of its folder. Cookbooks beside it cannot be read, not even by links.
    ///
    /// # Errors
    /// The folder cannot be found, or its name is not UTF-8.
    pub fn one(folder: &Path) -> Result<Self, FoldersError> {
        let opened = directory(folder)?;
        let path = opened.path().to_owned();
        let name = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let no_name = || FoldersError { path: folder.to_owned(), source: io::ErrorKind::InvalidFilename.into() };
        let (name, inside) = (name.ok_or_else(no_name)?, [opened.clone()].into());
        let folder = Folder { path, opened: Ok(opened), inside, files: OnceLock::new() };
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
        // Only listed files can be read, so a path from a guest is never used to open a file.
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
    fn opened(&self) -> io::Result<&HeldFolder> {
        self.opened.as_ref().map_err(|why| io::Error::other(why.clone()))
    }

    /// The cookbook's files, or why they cannot be listed.
    fn list(&self) -> io::Result<Vec<String>> {
        let unusable = |(path, error): Unusable| {
            let name = path.file_name().unwrap_or_default().display();
            io::Error::new(error.kind(), format!("{name} cannot be read: {error}"))
        };
        let opened = self.opened()?;
        let mut ignore = Ignore::of_folder_or_above(opened).map_err(unusable)?;
        let mut found = vec![];
        let walked = opened.folder().walk(MAX_FILES, |entry| {
            let Some(relative) = entry.text() else { return Ok(false) };
            let is_own = match entry.kind {
                Kind::Folder => return Ok(entry.depth < MAX_DEPTH && !(entry.depth == 0 && entry.is_hidden())),
                Kind::File => true,
                Kind::Link => self.is_own_file(opened, relative),
                Kind::Other => false,
            };
            if is_own && !ignore.ignores(relative).map_err(unusable)? {
                found.push(relative.to_owned());
            }
            Ok(false)
        });
        walked.map_err(|error| match error {
            WalkError::TooMany => too_many(),
            WalkError::Read(_, error) | WalkError::Visit(error) => error,
        })?;
        found.sort();
        Ok(found)
    }

    /// Whether a link leads to a file that lies in the cookbooks' folders as well: a stranger's cookbook must not hand its guest
    /// what only the operator may read.
    fn is_own_file(&self, opened: &HeldFolder, path: &str) -> bool {
        let target = self.target(opened, path);
        target.is_ok_and(|(folder, below)| folder.folder().kind(below).is_ok_and(|kind| kind == Some(Kind::File)))
    }

    /// The folder of a cookbook that a link leads into, and the path there without links.
    fn target(&self, opened: &HeldFolder, path: &str) -> io::Result<(&HeldFolder, PathBuf)> {
        let target = opened.real().join(path).canonicalize()?;
        let inside = self.inside.iter().find_map(|one| Some((one, target.strip_prefix(one.real()).ok()?.to_owned())));
        inside.ok_or_else(|| io::Error::other("it leads out of the cookbooks' folders"))
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let opened = self.opened()?;
        let read = match opened.folder().read_below(path, MAX_FILE_BYTES) {
            Err(error) if is_link(&error) => {
                let (folder, below) = self.target(opened, path)?;
                folder.folder().read_below(below, MAX_FILE_BYTES)?
            }
            read => read?,
        };
        read.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn too_many() -> io::Error {
    io::Error::other(format!("it has more than {MAX_FILES} files"))
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
        let found = vendor_directories(&HeldFolder::open(&books).unwrap());
        let found: Vec<_> = found.iter().map(HeldFolder::path).collect();
        assert_eq!(found, [books.join("a/cookbooks/third-party"), books.join("a/vendor")]);
        let all = CookbookFolders::open_with_vendored(&[books]).unwrap();
        assert_eq!(all.names().collect::<Vec<_>>(), ["a", "b-1.0.0", "c"]);
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
    #[test]
    fn attack_what_is_exchanged_for_a_link_is_not_read() {
        let top = tempfile::tempdir().unwrap();
        let books = top.path().join("books");
        write(&books, "a/metadata.rb", "own");
        write(&books, "a/files/d/shadow", "own");
        write(&books, "a/files/shadow", "own");
        write(top.path(), "secrets/shadow", "secret");
        let all = CookbookFolders::open(std::slice::from_ref(&books)).unwrap();
        assert_eq!(all.paths("a", "files").unwrap(), ["files/d/shadow", "files/shadow"]);
        let exchange = |path: &Path, target: &Path| {
            fs::rename(path, path.with_extension("away")).unwrap();
            symlink(target, path).unwrap();
        };
        exchange(&books.join("a/files/d"), &top.path().join("secrets"));
        exchange(&books.join("a/files/shadow"), &top.path().join("secrets/shadow"));
        for path in ["files/d/shadow", "files/shadow"] {
            assert!(matches!(all.read("a", path), Err(FileError::NoSuchFile(_))), "{path}");
        }
        // The cookbook's folder, and the directory.
        write(top.path(), "secrets/metadata.rb", "secret");
        exchange(&books.join("a"), &top.path().join("secrets"));
        assert_eq!(all.read("a", "metadata.rb").unwrap(), b"own");
        exchange(&books, top.path());
        assert_eq!(all.read("a", "metadata.rb").unwrap(), b"own");
    }

    #[test]
    fn attack_a_cookbook_that_others_have_made_a_link_leads_into_the_given_directories_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let top = tempfile::tempdir().unwrap();
        let (books, more) = (top.path().join("books"), top.path().join("more"));
        for (folder, name) in [(&books, "own"), (&more, "other"), (&top.path().join("private"), "secret")] {
            write(folder, &format!("{name}/metadata.rb"), name);
        }
        for (name, target) in
            [("beside", "own"), ("given", "../more/other"), ("out", "../private/secret"), ("all", ".")]
        {
            symlink(target, books.join(name)).unwrap();
        }
        let read = |name: &str| {
            let all = CookbookFolders::open(&[more.clone(), books.clone()]).unwrap();
            all.read(name, "metadata.rb").map(|content| String::from_utf8(content).unwrap())
        };
        // The operator's own links.
        assert_eq!([read("beside"), read("given"), read("out")].map(Result::unwrap), ["own", "other", "secret"]);
        fs::set_permissions(&books, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!([read("beside"), read("given")].map(Result::unwrap), ["own", "other"]);
        for name in ["out", "all"] {
            let Err(FileError::NoSuchFile(error)) = read(name) else { panic!("{name}") };
            assert!(error.contains(&format!("{name} is a link out of the given directories")), "{error}");
            assert!(error.contains("give the directory of") && error.contains("--cookbooks"), "{error}");
        }
    }

    #[test]
    fn attack_names_are_counted_while_they_are_read() {
        let top = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        write(top.path(), "books/a/metadata.rb", "");
        for name in 0..MAX_FILES {
            fs::create_dir(top.path().join(format!("books/a/{name}"))).unwrap();
        }
        let all = CookbookFolders::open(&[top.path().join("books")]).unwrap();
        let Err(FileError::NoSuchFile(error)) = all.paths("a", "") else { panic!("it was listed") };
        assert!(error.contains("more than 65536 files"), "{error}");
        let error = CookbookFolders::open(&[top.path().join("books/a")]).map(drop).unwrap_err();
        assert!(error.source.to_string().contains("more than 65536 files"), "{error:?}");
    }
}
