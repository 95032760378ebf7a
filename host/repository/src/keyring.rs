//! The keys of a publisher: files in a folder, selected by the roles that they may sign for.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::error::{RepositoryError, Role};
use crate::key_file::KeyFile;
use crate::keys::{PublicKey, Sign, SigningKey};
use crate::metadata::RoleKeys;
use text::hex;

/// Asks for a key's passphrase.
pub type AskPassphrase<'a> = dyn Fn(&KeyFile) -> Result<String, String> + 'a;

/// Runs the program of a key with its arguments. The program reads a message, and writes a signature of 64 bytes.
pub type RunCommand<'a> = dyn Fn(&[String], &[u8]) -> Result<Vec<u8>, String> + 'a;

/// A key that signs, in this process or in another program.
pub struct Signer<'a> {
    path: PathBuf,
    public: PublicKey,
    place: SecretPlace<'a>,
}

enum SecretPlace<'a> {
    Here(SigningKey),
    Command(Vec<String>, &'a RunCommand<'a>),
}

impl Sign for Signer<'_> {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn signature(&self, message: &[u8]) -> Result<String, RepositoryError> {
        let (command, run) = match &self.place {
            SecretPlace::Here(key) => return Ok(key.sign(message)),
            SecretPlace::Command(command, run) => (command, run),
        };
        let wrong = |what| RepositoryError::Key { path: self.path.clone(), what };
        let signature = run(command, message).map_err(wrong)?;
        // The output of another program is accepted only if it is a valid signature of this key.
        match self.public.verifies(message, &signature) {
            true => Ok(hex(signature)),
            false => Err(wrong("what its command has written is not the signature of this key".into())),
        }
    }
}

/// A folder of keys.
pub struct KeyRing<'a> {
    folder: PathBuf,
    ask: &'a AskPassphrase<'a>,
    run: &'a RunCommand<'a>,
    /// Decrypted keys, so that the user is asked only once for each passphrase.
    opened: RefCell<Vec<(PathBuf, SigningKey)>>,
}

impl<'a> KeyRing<'a> {
    /// Creates a key ring with the keys in a folder.
    #[must_use]
    pub fn new(folder: PathBuf, ask: &'a AskPassphrase<'a>) -> Self {
        let run = &|_: &[String], _: &[u8]| Err("a command signs for it, and none is run here".to_owned());
        Self { folder, ask, run, opened: RefCell::default() }
    }

    /// Sets the function that runs the commands of keys.
    #[must_use]
    pub fn with_commands(self, run: &'a RunCommand<'a>) -> Self {
        Self { run, ..self }
    }

    /// Returns the folder of the keys.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the available keys of a role, at most as many as the threshold needs, without those that have signed already.
    ///
    /// # Errors
    /// The folder cannot be read, or a key of the role cannot be opened.
    pub fn of_role(&self, keys: &RoleKeys, without: &[String]) -> Result<Vec<Signer<'a>>, RepositoryError> {
        let (files, _) = KeyFile::all(&self.folder)?;
        let mut found: Vec<Signer<'a>> = vec![];
        let wanted = keys.threshold.saturating_sub(without.len());
        for file in files {
            let id = file.public().id();
            let is_new = !without.contains(&id) && found.iter().all(|key| key.public() != file.public());
            if found.len() < wanted && is_new && keys.keys.contains_key(&id) {
                let place = match file.command() {
                    Some(command) => SecretPlace::Command(command.to_vec(), self.run),
                    None => SecretPlace::Here(self.open(&file)?),
                };
                found.push(Signer { path: file.path().to_owned(), public: file.public().clone(), place });
            }
        }
        Ok(found)
    }

    /// Tells whether one of the keys with these ids is available. It does not ask for a passphrase.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn has_any(&self, ids: &[String]) -> Result<bool, RepositoryError> {
        let (files, _) = KeyFile::all(&self.folder)?;
        Ok(files.iter().any(|file| ids.contains(&file.public().id())))
    }

    /// Returns as many keys of a role as its threshold needs. `repository`: the repository's name for messages.
    ///
    /// # Errors
    /// As [`Self::of_role`], or there are fewer.
    pub fn enough(&self, role: Role, keys: &RoleKeys, repository: &str) -> Result<Vec<Signer<'a>>, RepositoryError> {
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
