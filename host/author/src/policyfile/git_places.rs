//! Checks the files that git would read on this machine before git is started. A file may be a named pipe, for which git
//! would wait, or a device, which it would read without end.

use std::fs::{self, FileType};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use super::git::GitError;

/// Largest number of checked files and folders of a repository. For a larger one only git's time limit applies.
const MAX_ENTRIES: usize = 200_000;

/// Largest size of a file that names another folder, in bytes.
const MAX_NAME: u64 = 8192;

/// Endings that git tries where an address has no repository itself.
const ENDINGS: [&str; 3] = ["", ".git", ".bundle"];

/// Files of a working tree, beside its `.git`, that git reads by itself.
const READ_IN_TREES: [&str; 2] = [".gitattributes", ".gitmodules"];

/// Checks the repository of a working tree.
///
/// # Errors
/// [`GitError::NotPlain`] names what is neither a plain file nor a folder.
pub(super) fn check_working_tree(top: &Path) -> Result<(), GitError> {
    READ_IN_TREES.iter().try_for_each(|name| check_one(&top.join(name)).map(drop))?;
    check_git_folder(&top.join(".git"))
}

/// Checks what lies at an address of a repository, if it is a place on this machine. Relative ones begin at `folder`.
///
/// # Errors
/// As [`check_working_tree`].
pub(super) fn check_source(uri: &str, folder: &Path) -> Result<(), GitError> {
    let Some(path) = local_path(uri) else { return Ok(()) };
    for ending in ENDINGS {
        let mut place = folder.join(&path).into_os_string();
        place.push(ending);
        let place = PathBuf::from(place);
        if check_one(&place)?.is_some_and(|kind| kind.is_dir()) {
            let inside = place.join(".git");
            let is_bare = !inside.exists() && place.join("HEAD").exists();
            check_git_folder(if is_bare { &place } else { &inside })?;
        }
    }
    Ok(())
}

/// Returns the path of an address on this machine, such as `file:///srv/a` or `/srv/a`. `HOST:PATH` names another machine.
fn local_path(uri: &str) -> Option<PathBuf> {
    if let Some(rest) = uri.strip_prefix("file://") {
        let path = rest.get(rest.find('/')?..)?;
        let path = percent_encoding::percent_decode_str(path).collect();
        return Some(PathBuf::from(std::ffi::OsString::from_vec(path)));
    }
    let first = uri.split('/').next().unwrap_or_default();
    (!first.contains(':')).then(|| PathBuf::from(uri))
}

/// Checks `.git`: a folder with all that is in it, or a file that names such a folder.
fn check_git_folder(git: &Path) -> Result<(), GitError> {
    let Some(kind) = check_one(git)? else { return Ok(()) };
    let folder = if kind.is_dir() {
        git.to_owned()
    } else {
        let Some(named) = named_in(git, "gitdir:") else { return Ok(()) };
        git.parent().unwrap_or(Path::new("")).join(named)
    };
    check_below(&folder)?;
    // An additional working tree has most of its repository in another folder.
    match named_in(&folder.join("commondir"), "") {
        Some(common) => check_below(&folder.join(common)),
        None => Ok(()),
    }
}

/// The path that a file names behind a word. `None`: it does not.
fn named_in(file: &Path, word: &str) -> Option<PathBuf> {
    let text = plain_files::read_text(file, MAX_NAME).ok()?;
    Some(PathBuf::from(text.strip_prefix(word)?.trim()))
}

/// Checks everything in a folder of git's.
fn check_below(folder: &Path) -> Result<(), GitError> {
    let mut folders = vec![folder.to_owned()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        // Git itself reports a folder that cannot be listed.
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MAX_ENTRIES {
                return Ok(());
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => {}
                _ => drop(check_one(&entry.path())?),
            }
        }
    }
    Ok(())
}

/// Checks one place, or what a link leads to. Returns its kind; `None`: nothing is there.
fn check_one(place: &Path) -> Result<Option<FileType>, GitError> {
    // Git itself reports a file that cannot be read.
    let Ok(about) = fs::metadata(place) else { return Ok(None) };
    let kind = about.file_type();
    if kind.is_file() || kind.is_dir() { Ok(Some(kind)) } else { Err(GitError::NotPlain { place: place.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    fn pipe(path: &Path) {
        drop(fs::remove_file(path));
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[track_caller]
    fn refused(checked: Result<(), GitError>, place: &Path) {
        assert!(matches!(&checked, Err(GitError::NotPlain { place: found }) if found == place), "{checked:?}");
    }

    #[test]
    fn a_pipe_anywhere_in_a_repository_is_refused() {
        for file in ["HEAD", "config", "refs/heads/main", "objects/info/alternates"] {
            let folder = tempfile::tempdir().unwrap();
            let git = folder.path().join(".git");
            for below in ["refs/heads", "objects/info"] {
                fs::create_dir_all(git.join(below)).unwrap();
            }
            fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
            check_working_tree(folder.path()).unwrap();
            let place = folder.path().display();
            check_source(&format!("file://{place}"), Path::new("/")).unwrap();
            pipe(&git.join(file));
            refused(check_working_tree(folder.path()), &git.join(file));
            refused(check_source(&format!("file://{place}"), Path::new("/")), &git.join(file));
            refused(check_source(&place.to_string(), Path::new("/")), &git.join(file));
        }
    }

    #[test]
    fn a_pipe_in_the_place_of_a_repository_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let [itself, bare, ended] = ["a b", "bare", "ended.git"].map(|name| folder.path().join(name));
        pipe(&itself);
        let place = folder.path().display();
        refused(check_source(&format!("file://{place}/a%20b"), Path::new("/")), &itself);
        refused(check_source("a b", folder.path()), &itself);
        fs::create_dir(&bare).unwrap();
        pipe(&bare.join("HEAD"));
        refused(check_source(&format!("{place}/bare"), Path::new("/")), &bare.join("HEAD"));
        symlink("/dev/zero", &ended).unwrap();
        refused(check_source(&format!("{place}/ended"), Path::new("/")), &ended);
        // The `.git` of an additional working tree is a file that names the folder.
        let tree = folder.path().join("tree");
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join(".git"), "gitdir: ../bare\n").unwrap();
        refused(check_working_tree(&tree), &tree.join("../bare/HEAD"));
        for elsewhere in ["https://example.org/a", "git@example.org:a/b", "ssh://a/b"] {
            assert_eq!(local_path(elsewhere), None, "{elsewhere}");
        }
    }
}
