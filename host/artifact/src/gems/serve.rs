//! Provides gems to a guest, in addition to its cookbooks' files.

use std::sync::Arc;

use contract::{CookbookFiles, FileError};

use super::{COOKBOOK, Gems};

/// Cookbooks' files and gems.
pub struct WithGems {
    files: Arc<dyn CookbookFiles>,
    gems: Arc<Gems>,
}

impl WithGems {
    /// Adds gems to cookbooks.
    pub fn new(files: Arc<dyn CookbookFiles>, gems: Arc<Gems>) -> Self {
        Self { files, gems }
    }
}

impl CookbookFiles for WithGems {
    fn cookbooks(&self) -> Vec<(String, String)> {
        self.files.cookbooks()
    }

    fn paths(&self, cookbook: &str, folder: &str) -> Result<Vec<String>, FileError> {
        if cookbook != COOKBOOK {
            return self.files.paths(cookbook, folder);
        }
        let prefix = match folder.trim_end_matches('/') {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        Ok(self.gems.files().keys().filter(|path| path.starts_with(&prefix)).cloned().collect())
    }

    fn read(&self, cookbook: &str, path: &str) -> Result<Vec<u8>, FileError> {
        if cookbook != COOKBOOK {
            return self.files.read(cookbook, path);
        }
        let content = self.gems.files().get(path).cloned();
        content.ok_or_else(|| {
            FileError::NoSuchFile(format!("no gem has the file {:?}", path.chars().take(200).collect::<String>()))
        })
    }
}
