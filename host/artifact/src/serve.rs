//! Provides the files of an artifact to its guest.
//!
//! A path from the guest is only compared with the paths of the index, and is never used as a path of the machine.

use contract::{CookbookFiles, FileError};

use crate::Artifact;

/// How many names an error lists.
const MAX_LISTED: usize = 50;

impl Artifact {
    /// Describes a name for messages: a cookbook with its version, or the gems.
    fn described(&self, name: &str) -> Result<String, FileError> {
        let cookbook = self.manifest().cookbook(name).map(|cookbook| format!("cookbook {name} ({})", cookbook.version));
        let gems = || self.manifest().owners_of_files().contains(name).then(|| "gems".to_owned());
        cookbook.or_else(gems).ok_or_else(|| {
            let all = self.manifest().cookbooks.iter().map(|cookbook| cookbook.name.as_str());
            let names = listed(all);
            FileError::NoSuchCookbook(format!(
                "policy {} has no cookbook {:?}; it has {names}",
                self.manifest().name,
                shortened(name)
            ))
        })
    }
}

impl CookbookFiles for Artifact {
    fn cookbooks(&self) -> Vec<(String, String)> {
        let all = self.manifest().cookbooks.iter();
        all.map(|cookbook| (cookbook.name.clone(), cookbook.version.clone())).collect()
    }

    fn paths(&self, cookbook: &str, folder: &str) -> Result<Vec<String>, FileError> {
        self.described(cookbook)?;
        let root = format!("{cookbook}/");
        let prefix = match folder.trim_end_matches('/') {
            "" => root.clone(),
            folder => format!("{root}{folder}/"),
        };
        let found = self.inner.files.paths(&self.inner.bytes, &prefix);
        Ok(found.filter_map(|path| path.strip_prefix(&root)).map(str::to_owned).collect())
    }

    fn read(&self, cookbook: &str, path: &str) -> Result<Vec<u8>, FileError> {
        let described = self.described(cookbook)?;
        if let Some(content) = self.inner.files.content(&self.inner.bytes, &format!("{cookbook}/{path}")) {
            return Ok(content.to_vec());
        }
        let folder = path.split_once('/').map_or("", |(folder, _)| folder);
        let there = self.paths(cookbook, folder)?;
        Err(FileError::NoSuchFile(format!(
            "{described} has no file {:?}; in {} it has {}",
            shortened(path),
            if folder.is_empty() { "all".to_owned() } else { format!("{:?}", shortened(folder)) },
            listed(there.iter().map(String::as_str)),
        )))
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}

fn listed<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    let count = names.clone().count();
    let mut shown: Vec<&str> = names.take(MAX_LISTED).collect();
    if count > MAX_LISTED {
        shown.push("..");
    }
    if shown.is_empty() { "none".into() } else { shown.join(", ") }
}
