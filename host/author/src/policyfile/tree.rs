//! The folder that an instance of the Ruby runtime may look into while it answers: the Policyfile's or a cookbook's, under a name
//! that stands for it.

use std::path::{Path, PathBuf};

use artifact::MAX_FILES;
use contract::{CookbookFiles, FileError};

/// How deep folders may be nested.
const MAX_DEPTH: usize = 32;

/// The largest file that is handed over, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The folder in which git keeps a repository, with its remotes' addresses and the tokens in them.
const GIT: &str = ".git";

/// A folder with the files that an instance may read.
#[derive(Debug)]
pub(super) struct Tree {
    folder: PathBuf,
}

impl Tree {
    /// The name that stands for the folder.
    pub(super) const NAME: &'static str = "folder-0";

    pub(super) fn of(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    fn folder(&self, name: &str) -> Result<&Path, FileError> {
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
        read(folder, path).map_err(|error| FileError::NoSuchFile(format!("{}: {error}", folder.join(path).display())))
    }
}

/// The files below a folder, without those of git, sorted.
fn list(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut found = vec![];
    let mut open = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((path, prefix, depth)) = open.pop() {
        for entry in std::fs::read_dir(&path)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let kind = entry.file_type()?;
            if kind.is_dir() && name != GIT && depth < MAX_DEPTH {
                open.push((entry.path(), format!("{prefix}{name}/"), depth + 1));
            } else if (kind.is_file() || kind.is_symlink()) && name != GIT {
                found.push(format!("{prefix}{name}"));
            }
        }
        if found.len() > MAX_FILES {
            return Err(std::io::Error::other(format!("{} has more than {MAX_FILES} files", folder.display())));
        }
    }
    found.sort();
    Ok(found)
}

/// A file's content. It lies below the folder, without links that lead elsewhere, and is one of those that are listed.
fn read(folder: &Path, path: &str) -> std::io::Result<Vec<u8>> {
    let real = folder.join(path).canonicalize()?;
    let below = folder.canonicalize()?;
    let below = real.strip_prefix(&below).ok().filter(|below| !below.iter().any(|part| part == GIT));
    if below.is_none() || !real.is_file() {
        return Err(std::io::Error::other("it is not a file of this folder"));
    }
    plain_files::read(&real, MAX_FILE_BYTES)
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
        let tree = Tree::of(&folder);
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
}
