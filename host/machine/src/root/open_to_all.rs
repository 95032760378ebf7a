//! Tells which files every user of the machine may read.

use super::{Kind, Root};

/// The permissions of others: to read, and to search a directory.
const READ: u32 = 0o4;
const SEARCH: u32 = 0o1;

impl Root {
    /// Tells whether every user may read what is at a real path, by the modes of all directories on the way and of the entry
    /// itself. Of an absent path or a link, every user may find out at least that. In doubt, returns false.
    ///
    /// The system checks most files of a process again when they are read, whatever their mode is. So only a few are open.
    pub fn is_open_to_all(&self, real: &str) -> bool {
        if !real.starts_with('/') || is_hidden_of_process(real) {
            return false;
        }
        let directories =
            real.match_indices('/').map(|(at, _)| if at == 0 { "/" } else { real.get(..at).unwrap_or("/") });
        for directory in directories {
            match self.entry(directory) {
                Ok(Some(entry)) if entry.kind == Kind::Directory && entry.mode & SEARCH != 0 => {}
                Ok(None) => return true,
                Ok(Some(_)) | Err(_) => return false,
            }
        }
        match self.entry(real) {
            Ok(None) => true,
            Ok(Some(entry)) => match entry.kind {
                Kind::Link => true,
                Kind::Directory => entry.mode & READ != 0 && entry.mode & SEARCH != 0,
                _ => entry.mode & READ != 0,
            },
            Err(_) => false,
        }
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
        for shut in ["/listed/file", "/proc/1/maps", "open/file", ""] {
            assert!(!root.is_open_to_all(shut), "{shut}");
        }
    }
}
