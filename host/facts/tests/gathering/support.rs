//! Roots made of a few files, for tests.

use std::path::Path;

use facts::{Facts, Settings};
use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;

/// A time in winter: 2023-11-14 22:13:20 UTC.
pub(crate) const NOW: Timestamp = Timestamp::constant(1_700_000_000, 500_000_000);

/// A directory that holds these files.
#[must_use]
pub(crate) fn tree(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, content) in files {
        write(directory.path(), path, content.as_bytes());
    }
    directory
}

pub(crate) fn write(root: &Path, path: &str, content: &[u8]) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// The facts of a root, on a machine of files.
#[must_use]
pub(crate) fn facts(root: &Path, machine: &Path) -> Facts {
    Facts::new(&Settings { root: root.to_owned(), machine: machine.to_owned(), now: NOW }).unwrap()
}

/// The value at a path of keys, or null.
#[must_use]
pub(crate) fn at(facts: &Facts, path: &[&str]) -> Value {
    let mut value = facts.get(path[0]).cloned().unwrap_or(Value::Null);
    for key in &path[1..] {
        value = value.get(*key).cloned().unwrap_or(Value::Null);
    }
    value
}
