//! The keys of whoever releases: files in a folder, found by the roles that they may sign for.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::error::{RepositoryError, Role};
use crate::key_file::KeyFile;
use crate::keys::SigningKey;
use crate::metadata::RoleKeys;

/// Asks for a key's passphrase.
pub type AskPassphrase<'a> = dyn Fn(&KeyFile) -> Result<String, String> + 'a;

/// A folder of keys.
pub struct KeyRing<'a> {
    folder: PathBuf,
    ask: &'a AskPassphrase<'a>,
    /// Seeds that were opened: nobody is asked twice for one key.
    opened: RefCell<Vec<(PathBuf, SigningKey)>>,
}

impl<'a> KeyRing<'a> {
    /// The keys in a folder.
    #[must_use]
    pub fn new(folder: PathBuf, ask: &'a AskPassphrase<'a>) -> Self {
        Self { folder, ask, opened: RefCell::default() }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The keys of a role that are here, at most as many as it needs, without those that have signed already.
    ///
    /// # Errors
    /// The folder cannot be read, or a key of the role cannot be opened.
    pub fn of_role(&self, keys: &RoleKeys, without: &[String]) -> Result<Vec<SigningKey>, RepositoryError> {
        let (files, _) = KeyFile::all(&self.folder)?;
        let mut found: Vec<SigningKey> = vec![];
        let wanted = keys.threshold.saturating_sub(without.len());
        for file in files {
            let id = file.public().id();
            let is_new = !without.contains(&id) && found.iter().all(|key| key.public() != file.public());
            if found.len() < wanted && is_new && keys.keys.contains_key(&id) {
                found.push(self.open(&file)?);
            }
        }
        Ok(found)
    }

    /// The keys of a role, as many as it needs. `repository`: whose role it is.
    ///
    /// # Errors
    /// As [`Self::of_role`], or there are fewer.
    pub fn enough(&self, role: Role, keys: &RoleKeys, repository: &str) -> Result<Vec<SigningKey>, RepositoryError> {
        let found = self.of_role(keys, &[])?;
        if found.len() >= keys.threshold {
            return Ok(found);
        }
        Err(RepositoryError::NoKey {
            folder: self.folder.clone(),
            repository: repository.to_owned(),
            role,
            wanted: keys.keys.keys().map(|id| id.chars().take(12).collect()).collect(),
        })
    }

    fn open(&self, file: &KeyFile) -> Result<SigningKey, RepositoryError> {
        let known = |opened: &[(PathBuf, SigningKey)]| {
            let found = opened.iter().find(|(path, _)| path == file.path());
            found.and_then(|(_, key)| SigningKey::from_seed(*key.seed()))
        };
        if let Some(key) = known(&self.opened.borrow()) {
            return Ok(key);
        }
        let asked = if file.needs_passphrase() { (self.ask)(file) } else { Ok(String::new()) };
        let passphrase = asked.map_err(|what| RepositoryError::Key { path: file.path().to_owned(), what })?;
        let key = file.open(&passphrase)?;
        let copy = SigningKey::from_seed(*key.seed());
        self.opened.borrow_mut().extend(copy.map(|copy| (file.path().to_owned(), copy)));
        Ok(key)
    }
}
