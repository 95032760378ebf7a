//! The folder that an instance of the Ruby runtime may read: that of the Policyfile or of a cookbook, under a placeholder
//! name.

use std::io;

use artifact::MAX_FILES;
use contract::{CookbookFiles, FileError};
use plain_files::{HeldFolder, Kind, WalkError};

/// How deep folders may be nested.
const MAX_DEPTH: usize = 32;

/// The largest file that is handed over, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The folder of a git repository. It is hidden, because addresses of remotes may contain tokens.
const GIT: &str = ".git";

/// A folder with the files that an instance may read.
#[derive(Debug)]
pub(super) struct Tree {
    folder: HeldFolder,
}

impl Tree {
    /// The name that stands for the folder.
    pub(super) const NAME: &'static str = "folder-0";

    pub(super) fn of(folder: HeldFolder) -> Self {
        Self { folder }
    }

    fn folder(&self, name: &str) -> Result<&HeldFolder, FileError> {
        if name == Self::NAME { Ok(&self.folder) } else { Err(FileError::NoSuchCookbook(name.to_owned())) }
    }
}

impl CookbookFiles for Tree {
    fn cookbooks(&self) -> Vec<(String, String)> {
        vec![]
    }

    fn paths(&self, cookbook: &str, folder: &str) -> Result<Vec<String>, FileError> {
        let all = list(self.folder(cookbook)?).map_err(|error| FileError::NoSuchFile(error.to_string()))?;
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        Ok(all.into_iter().filter(|path| path.starts_with(&prefix)).collect())
    }

    fn read(&self, cookbook: &str, path: &str) -> Result<Vec<u8>, FileError> {
        let folder = self.folder(cookbook)?;
        let place = || folder.path().join(path);
        read(folder, path).map_err(|error| FileError::NoSuchFile(format!("{}: {error}", place().display())))
    }
}

/// The files below a folder, without those of git, sorted.
fn list(folder: &HeldFolder) -> io::Result<Vec<String>> {
    let mut found = vec![];
    let walked = folder.folder().walk(MAX_FILES, |entry| {
        let Some(path) = entry.text().filter(|_| !entry.is(GIT)) else { return Ok(false) };
        if matches!(entry.kind, Kind::File | Kind::Link) {
            found.push(path.to_owned());
        }
        Ok::<_, io::Error>(entry.depth < MAX_DEPTH)
    });
    walked.map_err(|error| match error {
        WalkError::TooMany => io::Error::other(format!("{} has more than {MAX_FILES} files", folder.path().display())),
        WalkError::Read(_, error) | WalkError::Visit(error) => error,
    })?;
    found.sort();
    Ok(found)
}

/// Reads a file. The file must be one of the listed ones and below the folder, also after links are resolved.
fn read(folder: &HeldFolder, path: &str) -> io::Result<Vec<u8>> {
    let below = folder.without_links(path)?;
    if below.iter().any(|part| part == GIT) {
        return Err(io::Error::other("it is not a file of this folder"));
    }
    // The path that was looked at is the one that is opened: no link is followed.
    Ok(folder.folder().read_below(&below, MAX_FILE_BYTES)?.ok_or(io::ErrorKind::NotFound)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_outside_the_folders_is_seen() {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("policy");
        for (path, text) in [("policy/a", "a"), ("policy/x/b", "b"), ("policy/.git/config", ""), ("secret", "s")] {
            let path = top.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        symlink("../secret", folder.join("leak")).unwrap();
        let tree = Tree::of(HeldFolder::open(&folder).unwrap());
        symlink(".git/config", folder.join("settings")).unwrap();
        let name = Tree::NAME;
        assert_eq!(tree.paths(name, "").unwrap(), ["a", "leak", "settings", "x/b"]);
        assert_eq!(tree.paths(name, "x").unwrap(), ["x/b"]);
        assert_eq!(tree.read(name, "x/b").unwrap(), b"b");
        for path in [
            "leak",
            "../secret",
            "/etc/passwd",
            "x",
            "gone",
            ".git/config",
            "x/../.git/config",
            "settings",
            "./.git/config",
        ] {
            assert!(matches!(tree.read(name, path), Err(FileError::NoSuchFile(_))), "{path}");
        }
        assert!(matches!(tree.read("folder-1", "a"), Err(FileError::NoSuchCookbook(_))));
    }
    #[test]
    fn attack_a_folder_that_is_exchanged_for_a_link_stays_the_one_that_was_opened() {
        let top = tempfile::tempdir().unwrap();
        let path = |name: &str| top.path().join(name);
        for (folder, text) in [("policy/x", "own"), ("secrets/x", "secret")] {
            std::fs::create_dir_all(path(folder)).unwrap();
            std::fs::write(path(folder).join("a"), text).unwrap();
        }
        let tree = Tree::of(HeldFolder::open(&path("policy")).unwrap());
        // A folder below, then the folder itself.
        std::fs::rename(path("policy/x"), path("policy/y")).unwrap();
        symlink("../secrets/x", path("policy/x")).unwrap();
        assert!(tree.read(Tree::NAME, "x/a").is_err());
        std::fs::rename(path("policy"), path("away")).unwrap();
        symlink("secrets", path("policy")).unwrap();
        assert!(tree.read(Tree::NAME, "x/a").is_err());
        assert_eq!(tree.paths(Tree::NAME, "").unwrap(), ["x", "y/a"]);
    }
}
