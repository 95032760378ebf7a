//! The folder of one test: an almost empty root, and the input files of the run. It is removed when its value is dropped.

use super::TestCase;
use crate::error::AssembleError;
use serde_json::Value;
use std::fmt::Write as _;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Directories that every system has.
const DIRECTORIES: [&str; 20] = [
    "etc/cron.d",
    "etc/default",
    "etc/init.d",
    "etc/sysctl.d",
    "etc/systemd/system",
    "home",
    "opt",
    "root",
    "run",
    "srv",
    "tmp",
    "usr/bin",
    "usr/local/bin",
    "usr/local/sbin",
    "usr/sbin",
    "var/backups",
    "var/cache",
    "var/lib/dpkg",
    "var/log",
    "var/tmp",
];

/// The number of the first user and group that a test names.
const FIRST_NUMBER: usize = 1000;

/// The folder of one test.
pub(super) struct Place(tempfile::TempDir);

impl Place {
    /// Writes the files of a test.
    ///
    /// # Errors
    /// A file cannot be written, or a path of the test's would not be below the root.
    pub(super) fn make(case: &TestCase) -> Result<Self, AssembleError> {
        let failed = |source| AssembleError::TestPlace { path: std::env::temp_dir(), source };
        let place = Self(tempfile::tempdir().map_err(failed)?);
        let root = place.root();
        for directory in DIRECTORIES {
            let path = root.join(directory);
            std::fs::create_dir_all(&path).map_err(|source| AssembleError::TestPlace { path, source })?;
        }
        write(&root.join("etc/passwd"), passwd(case).as_bytes())?;
        write(&root.join("etc/group"), group(case).as_bytes())?;
        write(&root.join("var/lib/dpkg/arch"), b"amd64\n")?;
        write(&root.join("var/lib/dpkg/status"), status(case).as_bytes())?;
        // Fresh package lists: a package that they do not have counts as missing, and the run does not update the lists.
        write(&root.join("var/lib/apt/lists/test_dists_stable_Packages"), b"")?;
        for (path, content) in &case.files {
            write(&below(&root, path)?, content.as_bytes())?;
        }
        for (path, item) in &case.data_bags {
            write(&below(&place.data_bags(), &format!("{path}.json"))?, item.to_string().as_bytes())?;
        }
        write(&place.facts(), Value::Object(case.facts.clone()).to_string().as_bytes())?;
        write(&place.attributes(), Value::Object(case.attributes.clone()).to_string().as_bytes())?;
        if let Some(grants) = &case.grants {
            write(&place.grants(), grants.as_bytes())?;
        }
        Ok(place)
    }

    pub(super) fn root(&self) -> PathBuf {
        self.0.path().join("root")
    }

    pub(super) fn state(&self) -> PathBuf {
        self.0.path().join("state")
    }

    pub(super) fn backups(&self) -> PathBuf {
        self.0.path().join("backups")
    }

    pub(super) fn facts(&self) -> PathBuf {
        self.0.path().join("facts.json")
    }

    pub(super) fn attributes(&self) -> PathBuf {
        self.0.path().join("attributes.json")
    }

    pub(super) fn grants(&self) -> PathBuf {
        self.0.path().join("grants.toml")
    }

    pub(super) fn data_bags(&self) -> PathBuf {
        self.0.path().join("data_bags")
    }
}

/// Returns a path of the test below a folder.
fn below(folder: &Path, path: &str) -> Result<PathBuf, AssembleError> {
    let inner = Path::new(path.trim_start_matches('/'));
    let is_inside = inner.components().all(|one| matches!(one, Component::Normal(_))) && inner != Path::new("");
    let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "a test gives an absolute path without `..`");
    match is_inside {
        true => Ok(folder.join(inner)),
        false => Err(AssembleError::TestPlace { path: path.into(), source: invalid() }),
    }
}

fn write(path: &Path, content: &[u8]) -> Result<(), AssembleError> {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let failed = |source| AssembleError::TestPlace { path: path.to_owned(), source };
    made.and_then(|()| std::fs::write(path, content)).map_err(failed)
}

fn passwd(case: &TestCase) -> String {
    let mut text = "root:x:0:0:root:/root:/bin/bash\n".to_owned();
    for (number, name) in (FIRST_NUMBER..).zip(case.users.keys()) {
        let _ = writeln!(text, "{name}:x:{number}:{number}::/home/{name}:/bin/sh");
    }
    text
}

fn group(case: &TestCase) -> String {
    let mut text = "root:x:0:\n".to_owned();
    let others = case.groups.keys().filter(|name| !case.users.contains_key(*name));
    for (number, name) in (FIRST_NUMBER..).zip(case.users.keys().chain(others)) {
        let _ = writeln!(text, "{name}:x:{number}:");
    }
    text
}

fn status(case: &TestCase) -> String {
    let mut text = String::new();
    for (name, version) in &case.installed {
        let _ =
            writeln!(text, "Package: {name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: {version}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_of_a_test_leaves_its_root() {
        let root = Path::new("/root");
        assert_eq!(below(root, "/etc/hosts").expect("a path"), Path::new("/root/etc/hosts"));
        for path in ["/../etc/hosts", "/etc/../../x", "", "/", "//.."] {
            assert!(below(root, path).is_err(), "{path}");
        }
    }
}
