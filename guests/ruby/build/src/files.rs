//! A tree of files in memory, which Ruby sees during the build.

use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A file or a folder. Folders are sorted, so that each build lists them in the same order.
#[derive(Clone)]
pub(crate) enum Node {
    File(Vec<u8>),
    Folder(BTreeMap<String, Self>),
}

impl Default for Node {
    fn default() -> Self {
        Self::Folder(BTreeMap::new())
    }
}

impl Node {
    /// Returns the node at a relative path. It ignores the parts `.` and empty parts.
    pub(crate) fn at(&self, path: &str) -> Option<&Self> {
        path.split('/').filter(|part| !part.is_empty() && *part != ".").try_fold(self, |node, part| match node {
            Self::File(_) => None,
            Self::Folder(entries) => entries.get(part),
        })
    }

    /// Puts a file at a relative path, with the folders on the way.
    pub(crate) fn put(&mut self, path: &str, content: Vec<u8>) {
        let mut node = self;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            if let Self::File(_) = node {
                *node = Self::default();
            }
            let Self::Folder(entries) = node else { return };
            node = entries.entry(part.to_owned()).or_default();
        }
        *node = Self::File(content);
    }

    /// Reads the files of a folder and its subfolders with one of these endings.
    pub(crate) fn read(folder: &Path, endings: &[&str]) -> Result<Self> {
        let mut tree = Self::default();
        tree.read_into("", folder, endings)?;
        Ok(tree)
    }

    /// Calls a function with each file's path and content, in order.
    pub(crate) fn each(&self, path: &str, visit: &mut dyn FnMut(&str, &[u8])) {
        match self {
            Self::File(content) => visit(path, content),
            Self::Folder(entries) => {
                entries.iter().for_each(|(name, node)| node.each(&format!("{path}/{name}"), visit));
            }
        }
    }

    fn read_into(&mut self, prefix: &str, folder: &Path, endings: &[&str]) -> Result<()> {
        let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let path = entry.with_context(|| format!("cannot read {}", folder.display()))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let inside = format!("{prefix}{name}");
            if path.is_dir() {
                self.read_into(&format!("{inside}/"), &path, endings)?;
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                self.put(&inside, fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?);
            }
        }
        Ok(())
    }
}
