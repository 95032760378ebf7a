//! What wrun itself writes into a policy's folder lies there, and not where a link leads: the folder may be a stranger's.

use std::path::{Path, PathBuf};

use super::AuthorError;

/// The path of something that wrun writes below a policy's folder.
///
/// # Errors
/// The path, or a folder on the way to it, is a link.
pub fn below_policy(policy: &Path, below: impl AsRef<Path>) -> Result<PathBuf, AuthorError> {
    let mut path = policy.to_owned();
    for part in below.as_ref() {
        path.push(part);
        if std::fs::symlink_metadata(&path).is_ok_and(|about| about.is_symlink()) {
            let what = "is a link, and wrun would write where it leads: remove it";
            return Err(AuthorError::File { path, what });
        }
    }
    Ok(path)
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
        for below in [".wrun/test", ".wrun", "tests/web.json"] {
            let error = below_policy(&policy, below).unwrap_err().to_string();
            assert!(error.ends_with(" is a link, and wrun would write where it leads: remove it"), "{error}");
        }
        assert_eq!(below_policy(&policy, "tests/other.json").unwrap(), policy.join("tests/other.json"));
    }
}
