//! What hostile commands would like to change.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A directory that is not a scratch directory, with things to be changed; away with the value.
pub(crate) struct Victim {
    directory: tempfile::TempDir,
    pub(crate) process: Child,
}

impl Victim {
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("wrun-confined-").tempdir_in("/var/lib").unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::write(at("kept"), "kept\n").unwrap();
        std::fs::create_dir(at("open")).unwrap();
        std::fs::set_permissions(at("open"), PermissionsExt::from_mode(0o777)).unwrap();
        std::fs::write(at("open/kept"), "kept\n").unwrap();
        std::fs::set_permissions(at("open/kept"), PermissionsExt::from_mode(0o666)).unwrap();
        let made = |arguments: &[&str]| {
            let made = Command::new("mknod").args(arguments).current_dir(directory.path()).status().unwrap();
            assert!(made.success(), "{arguments:?}");
        };
        made(&["-m", "666", "pipe", "p"]);
        made(&["-m", "666", "zero", "c", "1", "5"]);
        // An old time of access, which a read would make new.
        let touched = Command::new("touch").args(["-a", "-d", "2001-01-01"]).arg(at("kept")).status().unwrap();
        assert!(touched.success());
        let process = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
        Self { directory, process }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// All that can be seen of it.
    pub(crate) fn snapshot(&self) -> Vec<String> {
        fn walk(at: &Path, seen: &mut Vec<String>) {
            let is = at.symlink_metadata().unwrap();
            // That this looks into a directory is an access of its own.
            let accessed = if is.is_dir() { 0 } else { is.atime() };
            let times = (accessed, is.mtime(), is.mtime_nsec(), is.ctime(), is.ctime_nsec());
            let (path, mode) = (at.display(), is.mode());
            seen.push(format!("{path} {mode:o} {} {} {} {times:?}", is.uid(), is.nlink(), is.len()));
            if is.is_dir() {
                let mut names: Vec<PathBuf> = at.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
                names.sort();
                names.iter().for_each(|name| walk(name, seen));
            }
        }
        let mut seen = Vec::new();
        walk(self.path(), &mut seen);
        seen
    }

    /// `DIR` and `PID` in a command stand for the directory and the process.
    pub(crate) fn named(&self, line: &str) -> String {
        line.replace("DIR", self.path().to_str().unwrap()).replace("PID", &self.process.id().to_string())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
