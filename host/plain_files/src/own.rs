//! Whether others could have put something where it lies.

use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, openat};

use crate::Folder;
use crate::folder::names_of;

impl Folder {
    /// Tells whether only root and the owner of the process can change a file below, and every folder above it: what lies there is
    /// the operator's own. The folders above are those of the folder that is open, whatever has become of its path.
    ///
    /// # Errors
    /// It is a path out of the folder; or the system's.
    pub fn is_own(&self, path: impl AsRef<Path>) -> io::Result<bool> {
        Ok(self.only_own_above()? && self.only_own_below(path.as_ref())?)
    }

    fn only_own_above(&self) -> io::Result<bool> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut open = openat(self.as_fd(), ".", flags, Mode::empty())?;
        loop {
            let status = fstat(&open)?;
            let above = openat(&open, "..", flags, Mode::empty())?;
            let status_above = fstat(&above)?;
            if !is_own(&status) {
                return Ok(false);
            }
            // The outermost folder is above itself.
            if (status.st_dev, status.st_ino) == (status_above.st_dev, status_above.st_ino) {
                return Ok(true);
            }
            open = above;
        }
    }

    fn only_own_below(&self, path: &Path) -> io::Result<bool> {
        let mut open = self.as_fd().try_clone_to_owned()?;
        for name in names_of(path)? {
            open = openat(&open, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
            let status = fstat(&open)?;
            if !is_own(&status) || FileType::from_raw_mode(status.st_mode) == FileType::Symlink {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Tells whether nobody but root and the owner of the process can change something.
fn is_own(status: &Stat) -> bool {
    let own = rustix::process::geteuid().as_raw();
    // In a folder such as /tmp, others cannot rename what is not theirs.
    let is_sticky = FileType::from_raw_mode(status.st_mode) == FileType::Directory && status.st_mode & 0o1000 != 0;
    let is_closed = status.st_mode & 0o022 == 0 || (status.st_uid == 0 && is_sticky);
    (status.st_uid == 0 || status.st_uid == own) && is_closed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_can_change_is_not_the_operators_own() {
        let top = tempfile::tempdir().unwrap();
        std::fs::create_dir(top.path().join("a")).unwrap();
        std::fs::write(top.path().join("a/b"), "").unwrap();
        std::os::unix::fs::symlink("b", top.path().join("a/link")).unwrap();
        let folder = Folder::open(top.path()).unwrap().unwrap();
        let set = |path: &str, mode: u32| {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
            std::fs::set_permissions(top.path().join(path), mode).unwrap();
        };
        let check = |expected: bool| assert_eq!(folder.is_own("a/b").unwrap(), expected);
        set("a", 0o755);
        set("a/b", 0o644);
        check(true);
        set("a/b", 0o664);
        check(false);
        set("a/b", 0o644);
        set("a", 0o777);
        check(false);
        set("a", 0o755);
        assert!(!folder.is_own("a/link").unwrap());
        assert!(folder.is_own("gone").is_err() && folder.is_own("../a").is_err());
    }
}
