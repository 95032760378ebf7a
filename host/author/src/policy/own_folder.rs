//! A policy's folder, which may be a stranger's. It is opened once: whatever is exchanged for a link meanwhile, what wrun reads and
//! writes below it lies in the folder that was opened.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use plain_files::{HeldFolder, Kind, is_link};

use super::AuthorError;

/// Opens a policy's folder.
///
/// # Errors
/// It does not exist, or cannot be opened.
pub fn open_policy(path: &Path) -> Result<HeldFolder, AuthorError> {
    HeldFolder::open(path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => match plain_files::missing_part(path) {
            Some(missing) => AuthorError::NoFolder { folder: path.to_owned(), missing },
            None => no_policy(path),
        },
        ErrorKind::NotADirectory => {
            let missing = "it is not a directory".to_owned();
            AuthorError::NoFolder { folder: path.to_owned(), missing }
        }
        _ => AuthorError::Read { path: path.to_owned(), source },
    })
}

/// The error for a folder that is not a policy's. A person who is in a part of a policy's folder hears its name.
pub(crate) fn no_policy(path: &Path) -> AuthorError {
    let above = std::path::absolute(path).ok().and_then(|whole| whole.parent().map(Path::to_owned));
    let is_policy = |folder: &PathBuf| ["policy.toml", "Policyfile.rb"].iter().any(|file| folder.join(file).is_file());
    let advice = match above.filter(is_policy) {
        Some(above) => format!("the folder above it is one: {}", above.display()),
        None => "start one with `wrun policy new`".to_owned(),
    };
    AuthorError::NoPolicy { folder: path.to_owned(), advice }
}

/// Opens a folder below a policy's folder in which wrun writes, and makes it where it does not exist.
///
/// # Errors
/// The folder, or one on the way to it, is a link; or the system's.
pub fn below_policy(policy: &HeldFolder, below: impl AsRef<Path>) -> Result<HeldFolder, AuthorError> {
    let below = below.as_ref();
    policy.own(below).map_err(|source| unwritten(policy, below, source))
}

/// Writes a file below a policy's folder, whole or not at all. Returns its path, for people.
///
/// # Errors
/// The file, or a folder on the way to it, is a link; or the system's.
pub fn write_below(policy: &HeldFolder, below: impl AsRef<Path>, content: &[u8]) -> Result<PathBuf, AuthorError> {
    let below = below.as_ref();
    refuse_links(policy, below)?;
    policy.write(below, content).map_err(|source| unwritten(policy, below, source))?;
    Ok(policy.path().join(below))
}

/// Checks that neither something that wrun is to write below a policy's folder nor a folder on the way to it is a link.
///
/// # Errors
/// One of them is a link.
pub fn refuse_links(policy: &HeldFolder, below: impl AsRef<Path>) -> Result<(), AuthorError> {
    match link_on_the_way(policy, below.as_ref()) {
        Some(path) => Err(written_elsewhere(path)),
        None => Ok(()),
    }
}

/// The first part of a path below a folder that is a link.
fn link_on_the_way(policy: &HeldFolder, below: &Path) -> Option<PathBuf> {
    let mut ways: Vec<_> = below.ancestors().collect();
    ways.reverse();
    let is_link = |way: &&&Path| policy.folder().kind(way).is_ok_and(|kind| kind == Some(Kind::Link));
    ways.iter().find(is_link).map(|way| policy.path().join(way))
}

fn written_elsewhere(path: PathBuf) -> AuthorError {
    AuthorError::File { path, what: "is a link, and wrun would write where it leads: remove it" }
}

/// The error for something below a policy's folder that could not be written.
fn unwritten(policy: &HeldFolder, below: &Path, source: std::io::Error) -> AuthorError {
    let path = policy.path().join(below);
    match is_link(&source) {
        true => written_elsewhere(link_on_the_way(policy, below).unwrap_or(path)),
        false => AuthorError::Write { path, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_is_written_through_links() {
        let top = tempfile::tempdir().unwrap();
        let policy = top.path().join("policy");
        std::fs::create_dir_all(policy.join("tests")).unwrap();
        symlink(top.path(), policy.join(".wrun")).unwrap();
        symlink("/etc/passwd", policy.join("tests/web.json")).unwrap();
        let held = open_policy(&policy).unwrap();
        for (below, link) in [(".wrun/test", ".wrun"), (".wrun", ".wrun"), ("tests/web.json", "tests/web.json")] {
            let expected =
                format!("{} is a link, and wrun would write where it leads: remove it", policy.join(link).display());
            assert_eq!(write_below(&held, below, b"new").unwrap_err().to_string(), expected);
            assert_eq!(refuse_links(&held, below).unwrap_err().to_string(), expected);
        }
        let error = below_policy(&held, ".wrun/test").unwrap_err().to_string();
        assert!(error.contains("policy/.wrun is a link, and wrun would write where"), "{error}");
        assert_eq!(write_below(&held, "tests/other.json", b"new").unwrap(), policy.join("tests/other.json"));
    }
}
