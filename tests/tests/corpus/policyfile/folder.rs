//! The scratch folder of a case: filled before, read after each command.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};

/// The files below a folder, without those of git.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tree(pub(super) BTreeMap<String, Vec<u8>>);

impl Tree {
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        let mut open = vec![(folder.to_owned(), String::new())];
        while let Some((path, prefix)) = open.pop() {
            for entry in std::fs::read_dir(&path).with_context(|| format!("cannot read {}", path.display()))? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if entry.file_type()?.is_dir() {
                    if name != ".git" {
                        open.push((entry.path(), format!("{prefix}{name}/")));
                    }
                } else {
                    files.insert(format!("{prefix}{name}"), std::fs::read(entry.path()).unwrap_or_default());
                }
            }
        }
        Ok(Self(files))
    }
}

/// Copies a folder; texts go through `fill`.
pub(super) fn copy(from: &Path, to: &Path, fill: &dyn Fn(&str) -> String) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target, fill)?;
            continue;
        }
        let content = std::fs::read(entry.path())?;
        match std::str::from_utf8(&content) {
            Ok(text) => std::fs::write(target, fill(text))?,
            Err(_) => std::fs::write(target, content)?,
        }
    }
    Ok(())
}
