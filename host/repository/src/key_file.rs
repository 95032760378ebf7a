//! Key files, with the secret in plain form or encrypted with a passphrase.
//!
//! ```json
//! {"format": "wrun-key-1", "public": "..", "secret": "..", "passphrase": {"iterations": 600000, "salt": "..", "nonce": ".."}}
//! ```
//!
//! Without `passphrase`, `secret` is the seed of the key. With it, the seed is encrypted by ChaCha20-Poly1305, with a key
//! that PBKDF2 with HMAC-SHA-256 derives from the passphrase. Instead of both, a file may have `"command": ["/usr/bin/sign",
//! ".."]`: a program that holds the key, for example on a hardware token, and signs its input.

use std::io::Read as _;
use std::num::NonZeroU32;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use plain_files::{Existing, Folder, Survives};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::pbkdf2::{PBKDF2_HMAC_SHA256, derive};
use ring::rand::{SecureRandom as _, SystemRandom};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use text::{hex, unhex};

use crate::error::RepositoryError;
use crate::files::FILE_MODE;
use crate::keys::{PublicKey, SEED_LENGTH, SigningKey};

/// The extension of key files.
pub const EXTENSION: &str = "key";

const FORMAT: &str = "wrun-key-1";

/// Rounds of PBKDF2. They take about a third of a second.
const ITERATIONS: u32 = 600_000;

/// Most rounds that a file may ask for.
const MAX_ITERATIONS: u32 = 10_000_000;

const SALT_LENGTH: usize = 16;

/// The largest file, in bytes.
const MAX_BYTES: u64 = 4096;

/// Largest number of files in a folder of keys.
const MAX_FILES: usize = 4096;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: String,
    public: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    secret: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    passphrase: Option<Encryption>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<Vec<String>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Encryption {
    iterations: u32,
    salt: String,
    nonce: String,
}

/// A key file that was read. Its secret may still be encrypted.
pub struct KeyFile {
    path: PathBuf,
    public: PublicKey,
    written: Written,
}

impl std::fmt::Debug for KeyFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeyFile({}, {})", self.path.display(), self.public.to_hex())
    }
}

fn wrong(path: &Path, what: impl Into<String>) -> RepositoryError {
    RepositoryError::Key { path: path.to_owned(), what: what.into() }
}

/// Writes a new key's file, which only its owner may read. An empty passphrase: the secret is not encrypted.
///
/// # Errors
/// The file exists or cannot be written, or the system has no random bytes.
pub fn write(path: &Path, key: &SigningKey, passphrase: &str) -> Result<(), RepositoryError> {
    let (secret, encryption) = if passphrase.is_empty() {
        (hex(key.seed()), None)
    } else {
        let random = SystemRandom::new();
        let (mut salt, mut nonce) = ([0; SALT_LENGTH], [0; NONCE_LEN]);
        let filled = random.fill(&mut salt).and_then(|()| random.fill(&mut nonce));
        filled.map_err(|_| wrong(path, "the system has no random bytes"))?;
        let cipher = cipher(passphrase, &salt, ITERATIONS).ok_or_else(|| wrong(path, "it cannot be encrypted"))?;
        let mut secret = key.seed().to_vec();
        let sealed = cipher.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut secret);
        sealed.map_err(|_| wrong(path, "it cannot be encrypted"))?;
        (hex(secret), Some(Encryption { iterations: ITERATIONS, salt: hex(salt), nonce: hex(nonce) }))
    };
    let written =
        Written { format: FORMAT.into(), public: key.public().to_hex(), secret, passphrase: encryption, command: None };
    store(path, &written)
}

/// Writes the file of a key that another program holds. `command`: the absolute path of the program, and its arguments.
///
/// # Errors
/// The command cannot be one, or the file exists or cannot be written.
pub fn write_command(path: &Path, public: &PublicKey, command: &[String]) -> Result<(), RepositoryError> {
    check_command(path, command)?;
    let (public, command) = (public.to_hex(), Some(command.to_vec()));
    let written = Written { format: FORMAT.into(), public, secret: String::new(), passphrase: None, command };
    store(path, &written)
}

/// Checks the command of a key. The program needs an absolute path, so that it does not depend on anybody's search path.
fn check_command(path: &Path, command: &[String]) -> Result<(), RepositoryError> {
    match command.first() {
        Some(program) if Path::new(program).is_absolute() => Ok(()),
        Some(program) => {
            Err(wrong(path, format!("the program {program:?} of its command is not named by its whole path")))
        }
        None => Err(wrong(path, "its command is empty")),
    }
}

fn store(path: &Path, written: &Written) -> Result<(), RepositoryError> {
    let text = serde_json::to_string(written).map_err(|error| wrong(path, error.to_string()))?;
    let stored = folder_of(path).and_then(|(folder, name)| {
        let text = format!("{text}\n");
        folder.write(name, text.as_bytes(), FILE_MODE, Existing::Stays, Survives::PowerCut)
    });
    match stored {
        Ok(true) => Ok(()),
        Ok(false) => Err(RepositoryError::Exists { what: format!("the key {}", path.display()) }),
        Err(error) => Err(wrong(path, format!("it cannot be written: {error}"))),
    }
}

/// Opens the folder of a key's file, and returns it with the file's name. A link in place of the folder is not followed.
fn folder_of(path: &Path) -> std::io::Result<(Folder, &Path)> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(std::io::ErrorKind::InvalidFilename.into());
    };
    let folder = Folder::open(folder)?.ok_or(Errno::NOENT)?;
    Ok((folder, Path::new(name)))
}

impl KeyFile {
    /// Reads a key file without decrypting its secret.
    ///
    /// # Errors
    /// It cannot be read, others may read it, it is somebody else's or a link, or it is not a key.
    pub fn read(path: &Path) -> Result<Self, RepositoryError> {
        let failed = |error: std::io::Error| wrong(path, format!("it cannot be read: {error}"));
        let opened = folder_of(path).and_then(|(folder, name)| folder.open_file(name));
        let file = opened.and_then(|file| file.ok_or(Errno::NOENT.into())).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        if about.uid() != 0 && about.uid() != rustix::process::geteuid().as_raw() {
            return Err(wrong(path, format!("it belongs to another user ({}), who may change it", about.uid())));
        }
        if about.permissions().mode() & 0o077 != 0 {
            return Err(wrong(path, "others may read it; take their rights away (chmod 600)"));
        }
        let mut text = String::new();
        file.take(MAX_BYTES).read_to_string(&mut text).map_err(failed)?;
        let written: Written = serde_json::from_str(&text).map_err(|_| wrong(path, "it is not a key of wrun"))?;
        if written.format != FORMAT {
            return Err(wrong(path, "its format is not known to this wrun"));
        }
        let public = PublicKey::from_hex(&written.public).ok_or_else(|| wrong(path, "its public key is invalid"))?;
        if let Some(command) = &written.command {
            check_command(path, command)?;
            if !written.secret.is_empty() || written.passphrase.is_some() {
                return Err(wrong(path, "it has a command, and a secret beside it"));
            }
        }
        Ok(Self { path: path.to_owned(), public, written })
    }

    /// The files of a folder, by name. Other files are left out. Keys that cannot be read are left out too, and their errors
    /// are returned.
    ///
    /// # Errors
    /// The folder cannot be read. One that does not exist has no keys.
    pub fn all(folder: &Path) -> Result<(Vec<Self>, Vec<RepositoryError>), RepositoryError> {
        let failed = |error| wrong(folder, format!("the folder cannot be read: {error}"));
        let Some(open) = Folder::open(folder).map_err(failed)? else { return Ok((vec![], vec![])) };
        let paths = open.names().map_err(failed)?.into_iter().map(|name| folder.join(name));
        let paths: Vec<_> =
            paths.filter(|path| path.extension().is_some_and(|end| end == EXTENSION)).take(MAX_FILES).collect();
        let (mut files, mut problems) = (vec![], vec![]);
        for path in paths {
            match Self::read(&path) {
                Ok(file) => files.push(file),
                Err(error) => problems.push(error),
            }
        }
        Ok((files, problems))
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The public half of the key.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Tells whether the secret is encrypted.
    #[must_use]
    pub fn needs_passphrase(&self) -> bool {
        self.written.passphrase.is_some()
    }

    /// Returns the program that signs for this key, with its arguments. Returns `None` if the file has the secret.
    #[must_use]
    pub fn command(&self) -> Option<&[String]> {
        self.written.command.as_deref()
    }

    /// Decrypts the secret with the passphrase.
    ///
    /// # Errors
    /// The passphrase is another one, the file is damaged, or another program has the secret.
    pub fn open(&self, passphrase: &str) -> Result<SigningKey, RepositoryError> {
        let damaged = || wrong(&self.path, "it is damaged");
        if self.written.command.is_some() {
            return Err(wrong(&self.path, "its secret is not in it: a command signs for it"));
        }
        let mut secret = unhex(&self.written.secret).ok_or_else(damaged)?;
        if let Some(Encryption { iterations, salt, nonce }) = &self.written.passphrase {
            if *iterations > MAX_ITERATIONS {
                return Err(damaged());
            }
            let (salt, nonce) = (unhex(salt).ok_or_else(damaged)?, unhex(nonce).ok_or_else(damaged)?);
            let cipher = cipher(passphrase, &salt, *iterations).ok_or_else(damaged)?;
            let nonce = Nonce::try_assume_unique_for_key(&nonce).map_err(|_| damaged())?;
            let opened = cipher.open_in_place(nonce, Aad::empty(), &mut secret);
            let length = opened.map_err(|_| wrong(&self.path, "the passphrase does not fit"))?.len();
            secret.truncate(length);
        }
        let seed: [u8; SEED_LENGTH] = secret.try_into().map_err(|_| damaged())?;
        let key = SigningKey::from_seed(seed).ok_or_else(damaged)?;
        if key.public() == &self.public { Ok(key) } else { Err(damaged()) }
    }
}

fn cipher(passphrase: &str, salt: &[u8], iterations: u32) -> Option<LessSafeKey> {
    let mut key = [0; 32];
    derive(PBKDF2_HMAC_SHA256, NonZeroU32::new(iterations)?, salt, passphrase.as_bytes(), &mut key);
    Some(LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_kept_with_and_without_a_passphrase() {
        let folder = tempfile::tempdir().unwrap();
        for (name, passphrase) in [("a.key", ""), ("b.key", "correct horse")] {
            let key = SigningKey::generate().unwrap();
            let path = folder.path().join(name);
            write(&path, &key, passphrase).unwrap();
            assert!(matches!(write(&path, &key, passphrase), Err(RepositoryError::Exists { .. })));
            let file = KeyFile::read(&path).unwrap();
            assert_eq!((file.public(), file.needs_passphrase()), (key.public(), !passphrase.is_empty()));
            assert_eq!(file.open(passphrase).unwrap().seed(), key.seed());
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text.contains(&hex(key.seed())), passphrase.is_empty(), "{text}");
        }
        std::fs::write(folder.path().join("c.txt"), "").unwrap();
        std::fs::write(folder.path().join("d.key"), "{}").unwrap();
        let (files, problems) = KeyFile::all(folder.path()).unwrap();
        assert_eq!((files.len(), problems.len()), (2, 1));
        let closed = files[1].open("wrong").unwrap_err().to_string();
        assert!(closed.contains("the passphrase does not fit"), "{closed}");
    }

    #[test]
    fn a_key_may_name_the_program_that_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.key");
        let public = SigningKey::generate().unwrap().public().clone();
        let command = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for (words, part) in [(&[][..], "its command is empty"), (&["sign"][..], "not named by its whole path")] {
            let error = write_command(&path, &public, &command(words)).unwrap_err().to_string();
            assert!(error.contains(part) && !path.exists(), "{error}");
        }
        write_command(&path, &public, &command(&["/usr/bin/sign", "slot 1"])).unwrap();
        let file = KeyFile::read(&path).unwrap();
        assert_eq!((file.public(), file.needs_passphrase()), (&public, false));
        assert_eq!(file.command(), Some(&command(&["/usr/bin/sign", "slot 1"])[..]));
        assert!(file.open("").unwrap_err().to_string().contains("a command signs for it"));
        let text = std::fs::read_to_string(&path).unwrap();
        for (from, to, part) in [
            ("\"command\"", "\"secret\":\"00\",\"command\"", "a secret beside it"),
            ("/usr/bin/sign", "sign", "not named by its whole path"),
            ("[\"/usr/bin/sign\",\"slot 1\"]", "[]", "its command is empty"),
        ] {
            std::fs::write(&path, text.replace(from, to)).unwrap();
            let error = KeyFile::read(&path).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    /// A file can name a program, which would run with the rights of the user who signs.
    #[test]
    fn a_key_of_another_user_and_a_link_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.key");
        write(&path, &SigningKey::generate().unwrap(), "").unwrap();
        let link = folder.path().join("b.key");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(KeyFile::read(&link).unwrap_err().to_string().contains("it is a link"));
        KeyFile::read(&path).unwrap();
        std::os::unix::fs::chown(&path, Some(1500), None).unwrap();
        let error = KeyFile::read(&path).unwrap_err().to_string();
        assert!(error.contains("belongs to another user (1500)"), "{error}");
    }

    #[test]
    fn a_link_in_the_place_of_a_key_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a.key"), folder.path().join("b.key"));
        write(&path, &SigningKey::generate().unwrap(), "").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let error = KeyFile::read(&link).unwrap_err().to_string();
        assert!(error.contains("it is a link"), "{error}");
        let (files, problems) = KeyFile::all(folder.path()).unwrap();
        assert_eq!((files.len(), problems.len()), (1, 1));
        let nowhere = folder.path().join("c.key");
        std::os::unix::fs::symlink(folder.path().join("gone"), &nowhere).unwrap();
        assert!(matches!(write(&nowhere, &SigningKey::generate().unwrap(), ""), Err(RepositoryError::Exists { .. })));
        assert!(!folder.path().join("gone").exists());
    }

    #[test]
    fn a_key_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.key");
        write(&path, &SigningKey::generate().unwrap(), "").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(KeyFile::read(&path).unwrap_err().to_string().contains("chmod 600"));
    }
}
