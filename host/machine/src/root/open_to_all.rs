//! Tells which files every user of the machine may read.

use super::{Entry, HOLD, Kind, Root, plain};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// The permissions of others: to read, and to search a directory.
const READ: u32 = 0o4;
const SEARCH: u32 = 0o1;

/// What is at a path to which each directory on the way is open.
enum Reached {
    /// Nothing is there. Every user may find that out.
    Nothing,
    /// This entry. Every user may look at it, and read it if its own mode allows it.
    Entry(Entry),
}

impl Root {
    /// Tells whether every user may read what is at a real path, by the modes of all directories on the way and of the entry
    /// itself. Of an absent path or a link, every user may find out at least that. In doubt, returns false.
    ///
    /// The system checks most files of a process again when they are read, whatever their mode is. So only a few are open.
    pub fn is_open_to_all(&self, real: &str) -> bool {
        self.reach(real).is_some_and(|reached| match reached {
            Reached::Nothing => true,
            Reached::Entry(entry) => is_readable(&entry),
        })
    }

    /// Does the same for something that was opened by this path before: its device and inode number. Users may exchange names
    /// between the two looks.
    pub fn is_open_to_all_as(&self, real: &str, identity: (u64, u64)) -> bool {
        self.reach(real).is_some_and(|reached| match reached {
            Reached::Nothing => false,
            Reached::Entry(entry) => is_readable(&entry) && entry.identity == identity,
        })
    }

    /// Walks to an entry, each directory by the handle whose mode was judged. `None`: a directory on the way is not open, is a
    /// link, or cannot be looked at.
    fn reach(&self, real: &str) -> Option<Reached> {
        if !real.starts_with('/') || is_hidden_of_process(real) {
            return None;
        }
        self.require_answers(real).ok()?;
        let flags = HOLD.union(OFlags::DIRECTORY);
        let mut here = rustix::fs::openat(&self.handle, ".", flags, Mode::empty()).ok()?;
        let Some((parent, name)) = plain(real).filter(|_| real != "/") else {
            let entry = Entry::of(&rustix::fs::fstat(&here).ok()?);
            return (real == "/").then_some(Reached::Entry(entry));
        };
        for directory in parent.split('/').filter(|directory| !directory.is_empty()) {
            if !may_search(&Entry::of(&rustix::fs::fstat(&here).ok()?)) {
                return None;
            }
            here = match rustix::fs::openat(&here, directory, flags, Mode::empty()) {
                Ok(next) => next,
                Err(Errno::NOENT) => return Some(Reached::Nothing),
                Err(_) => return None,
            };
        }
        if !may_search(&Entry::of(&rustix::fs::fstat(&here).ok()?)) {
            return None;
        }
        match rustix::fs::statat(&here, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(Reached::Entry(Entry::of(&stat))),
            Err(Errno::NOENT) => Some(Reached::Nothing),
            Err(_) => None,
        }
    }
}

fn may_search(directory: &Entry) -> bool {
    directory.mode & SEARCH != 0
}

fn is_readable(entry: &Entry) -> bool {
    match entry.kind {
        Kind::Link => true,
        Kind::Directory => entry.mode & READ != 0 && may_search(entry),
        _ => entry.mode & READ != 0,
    }
}

/// The files of a process whose mode says all.
const OPEN_OF_PROCESS: [&str; 4] = ["cgroup", "cmdline", "comm", "status"];

/// Tells whether a path leads to a file of a process that others may not read, or to its folder.
fn is_hidden_of_process(real: &str) -> bool {
    let mut components = real.split('/').skip(1);
    components.next() == Some("proc")
        && components.next().is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()))
        && !(components.next().is_some_and(|name| OPEN_OF_PROCESS.contains(&name)) && components.next().is_none())
}

#[cfg(test)]
mod tests {
    use crate::root::Root;
    use contract::Account;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    /// A path is open to all only if every directory on the way may be searched, and the entry itself may be read.
    #[test]
    fn modes_decide_what_is_open_to_all() {
        let place = tempfile::tempdir().unwrap();
        let set = |path: &str, mode: u32| {
            fs::set_permissions(place.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
        };
        for folder in ["open/shut", "listed", "proc/1"] {
            fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        for file in
            ["open/file", "open/secret", "open/shut/file", "listed/file", "proc/1/maps", "proc/1/comm", "proc/cpuinfo"]
        {
            fs::write(place.path().join(file), "x").unwrap();
        }
        symlink("shut", place.path().join("open/link")).unwrap();
        let modes = [("", 0o755), ("open", 0o755), ("open/shut", 0o750), ("listed", 0o754), ("open/file", 0o644)];
        for (path, mode) in modes.into_iter().chain([("open/secret", 0o640), ("open/shut/file", 0o644)]) {
            set(path, mode);
        }
        let root = Root::open(place.path(), &Account::unmetered("test")).unwrap();
        for open in
            ["/", "/open", "/open/file", "/open/link", "/open/absent", "/absent/deep", "/proc/cpuinfo", "/proc/1/comm"]
        {
            assert!(root.is_open_to_all(open), "{open}");
        }
        for shut in ["/open/secret", "/open/shut", "/open/shut/file", "/open/shut/absent", "/open/link/file", "/listed"]
        {
            assert!(!root.is_open_to_all(shut), "{shut}");
        }
        let identity = |path: &str| root.entry(path).unwrap().unwrap().identity;
        assert!(root.is_open_to_all_as("/open/file", identity("/open/file")));
        for other in ["/open/secret", "/open/shut/file"] {
            assert!(!root.is_open_to_all_as("/open/file", identity(other)), "it was exchanged for {other}");
            assert!(!root.is_open_to_all_as(other, identity(other)), "{other}");
        }
        for shut in ["/listed/file", "/proc/1/maps", "open/file", ""] {
            assert!(!root.is_open_to_all(shut), "{shut}");
        }
    }
}
