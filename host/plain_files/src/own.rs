//! Checks whether other users could have created or changed a file.

use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;

use crate::Folder;
use crate::folder::{bare, names_of};

impl Folder {
    /// Returns whether only root and the process's user can change a file below this folder and all of its parent folders. If
    /// so, the file can be trusted like the operator. The parents are those of the open folder, even if its path has changed.
    ///
    /// # Errors
    /// It is a path out of the folder; or the system's.
    pub fn is_own(&self, path: impl AsRef<Path>) -> io::Result<bool> {
        Ok(self.only_own_above()? && self.only_own_below(path.as_ref())?)
    }

    /// Tells whether nobody but root and the owner of the process decides what has a name in this folder: it belongs to one of
    /// them, and only they can change the folder and those above it.
    ///
    /// # Errors
    /// The name is not a bare one, or nothing has it; or the system's.
    pub fn is_own_name(&self, name: impl AsRef<Path>) -> io::Result<bool> {
        let owner = self.owner_of(name)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(is_own_user(owner) && self.only_own_above()?)
    }

    /// Opens a folder by a path, and creates it if it is missing. Nobody but root and the process's user may decide where the
    /// path leads: each link on the way lies in a folder of theirs, and so does the folder itself.
    ///
    /// # Errors
    /// `PermissionDenied` with the entry that others could change; or the system's.
    pub fn make_own(path: &Path, mode: u32) -> io::Result<Self> {
        let path = without_links(&std::path::absolute(path)?)?;
        let existing = path.ancestors().find(|above| above.exists()).unwrap_or(&path);
        let folder = Self::open(existing)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        if !folder.only_own_above()? {
            return Err(others_may_change(existing));
        }
        folder.make_below(path.strip_prefix(existing).unwrap_or(Path::new("")), mode)
    }

    /// The user that the folder belongs to.
    ///
    /// # Errors
    /// The system's.
    pub fn owner(&self) -> io::Result<u32> {
        Ok(fstat(self.as_fd())?.st_uid)
    }

    /// The user that something in the folder belongs to, be it a link. `None`: it does not exist.
    ///
    /// # Errors
    /// The name is not a bare one; or the system's.
    pub fn owner_of(&self, name: impl AsRef<Path>) -> io::Result<Option<u32>> {
        match statat(self.as_fd(), bare(name.as_ref())?, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(status) => Ok(Some(status.st_uid)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens the folder above, to reach files by their names. `None`: this is the outermost one.
    ///
    /// # Errors
    /// The system's.
    pub fn above(&self) -> io::Result<Option<Self>> {
        let above = openat(self.as_fd(), "..", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let (own, other) = (fstat(self.as_fd())?, fstat(&above)?);
        let is_same = (own.st_dev, own.st_ino) == (other.st_dev, other.st_ino);
        Ok((!is_same).then(|| Self { handle: above.into() }))
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
            // The root folder is its own parent.
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

/// Maximum number of links that are followed, as in the kernel.
const MAX_LINKS: usize = 40;

/// Follows the links of an absolute path. Each must lie where only root and the process's user can exchange it.
fn without_links(path: &Path) -> io::Result<PathBuf> {
    let parts = |path: &Path| path.components().rev().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>();
    let (mut left, mut at, mut links) = (parts(path), PathBuf::new(), 0);
    while let Some(part) = left.pop() {
        if part == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&part);
        if !next.is_symlink() {
            at = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(Errno::LOOP.into());
        }
        let folder = Folder::open(&at)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        if !folder.is_own_name(&part)? {
            return Err(others_may_change(&next));
        }
        left.extend(parts(&std::fs::read_link(&next)?));
    }
    Ok(at)
}

fn others_may_change(path: &Path) -> io::Error {
    let text = format!("others than root and the present user may change or exchange {}", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

/// Returns whether only root and the process's user can change an entry.
fn is_own(status: &Stat) -> bool {
    // In a sticky folder such as /tmp, users cannot rename the entries of others.
    let is_sticky = FileType::from_raw_mode(status.st_mode) == FileType::Directory && status.st_mode & 0o1000 != 0;
    let is_closed = status.st_mode & 0o022 == 0 || (status.st_uid == 0 && is_sticky);
    is_own_user(status.st_uid) && is_closed
}

/// Tells whether a user is root or the owner of the process.
#[must_use]
pub fn is_own_user(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
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
    #[test]
    fn attack_a_path_that_others_decide_about_is_not_opened_to_write() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let top = tempfile::tempdir().unwrap();
        let [own, open] = ["own", "open"].map(|name| top.path().join(name));
        std::fs::create_dir_all(own.join("inner")).unwrap();
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
        symlink(&own, open.join("link")).unwrap();
        symlink("inner", own.join("link")).unwrap();
        symlink(open.join("link"), own.join("twice")).unwrap();
        for path in [own.join("inner"), own.join("link"), own.join("new/folder"), own.join("link/../inner")] {
            let _folder = Folder::make_own(&path, 0o755).unwrap();
        }
        assert!(own.join("new/folder").is_dir());
        for (path, named) in [
            (open.clone(), "open"),
            (open.join("new"), "open"),
            (open.join("link"), "open/link"),
            (open.join("link/inner"), "open/link"),
            (own.join("twice"), "open/link"),
        ] {
            let error = Folder::make_own(&path, 0o755).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            assert!(error.to_string().ends_with(&format!("exchange {}", top.path().join(named).display())), "{error}");
        }
    }

    #[test]
    fn a_link_is_the_operators_own_where_others_cannot_change_its_folder() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let top = tempfile::tempdir().unwrap();
        symlink("/", top.path().join("link")).unwrap();
        let folder = Folder::open(top.path()).unwrap().unwrap();
        assert!(folder.is_own_name("link").unwrap() && folder.is_own_name("gone").is_err());
        std::fs::set_permissions(top.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!folder.is_own_name("link").unwrap());
        assert!(is_own_user(folder.owner().unwrap()) && !is_own_user(u32::MAX));
        assert_eq!(folder.owner_of("gone").unwrap(), None);
        let (mut outermost, mut count) = (folder, 0);
        while let Some(above) = outermost.above().unwrap() {
            (outermost, count) = (above, count + 1);
        }
        assert_eq!(count, top.path().canonicalize().unwrap().components().count() - 1);
    }
}
