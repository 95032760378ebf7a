//! Files of keys: the secret as it is, or encrypted with a passphrase.
//!
//! ```json
//! {"format": "wrun-key-1", "public": "..", "secret": "..", "passphrase": {"iterations": 600000, "salt": "..", "nonce": ".."}}
//! ```
//!
//! Without `passphrase`, `secret` is the seed of the key. With it, the seed is encrypted by ChaCha20-Poly1305 with a key that
//! PBKDF2 with HMAC-SHA-256 makes of the passphrase. In place of both there may be `"command": ["/usr/bin/sign", ".."]`: a program
//! that has the key, such as one that speaks to a token, and signs what it reads.

use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU32;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::pbkdf2::{PBKDF2_HMAC_SHA256, derive};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::{Deserialize, Serialize};
use text::{hex, unhex};

use crate::error::RepositoryError;
use crate::keys::{PublicKey, SEED_LENGTH, SigningKey};

/// What the files are called.
pub const EXTENSION: &str = "key";

const FORMAT: &str = "wrun-key-1";

/// Rounds of PBKDF2: about a third of a second.
const ITERATIONS: u32 = 600_000;

/// Most rounds that a file may ask for.
const MAX_ITERATIONS: u32 = 10_000_000;

const SALT_LENGTH: usize = 16;

/// The largest file, in bytes.
const MAX_BYTES: u64 = 4096;

/// Most files of a folder that are looked at.
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

/// A file of a key, read but not opened.
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

/// Writes the file of a key that another program has. `command`: the program, by its whole path, and its arguments.
///
/// # Errors
/// The command cannot be one, or the file exists or cannot be written.
pub fn write_command(path: &Path, public: &PublicKey, command: &[String]) -> Result<(), RepositoryError> {
    check_command(path, command)?;
    let (public, command) = (public.to_hex(), Some(command.to_vec()));
    let written = Written { format: FORMAT.into(), public, secret: String::new(), passphrase: None, command };
    store(path, &written)
}

/// Checks the command of a key. Its program is named by its whole path, so that nobody's search path decides which one it is.
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
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let stored = opened.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()
    });
    stored.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => RepositoryError::Exists { what: format!("the key {}", path.display()) },
        _ => wrong(path, format!("it cannot be written: {error}")),
    })
}

impl KeyFile {
    /// Reads a file. Its secret stays closed.
    ///
    /// # Errors
    /// It cannot be read, others may read it, it is somebody else's or a link, or it is not a key.
    pub fn read(path: &Path) -> Result<Self, RepositoryError> {
        let failed = |error: std::io::Error| wrong(path, format!("it cannot be read: {error}"));
        // NONBLOCK: a pipe must not make us wait. NOFOLLOW: a file may name a program, so it is nobody else's.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
        let file = opened.map_err(|error| match error.raw_os_error() {
            Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => {
                wrong(path, "it is a link; put the key's own file there")
            }
            _ => failed(error),
        })?;
        let about = file.metadata().map_err(failed)?;
        if !about.is_file() {
            return Err(wrong(path, "it is not a regular file"));
        }
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

    /// The files of a folder, by name. Other files are left out, and so are keys that cannot be read: the errors say why.
    ///
    /// # Errors
    /// The folder cannot be read. One that does not exist has no keys.
    pub fn all(folder: &Path) -> Result<(Vec<Self>, Vec<RepositoryError>), RepositoryError> {
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((vec![], vec![])),
            entries => entries.map_err(|error| wrong(folder, format!("the folder cannot be read: {error}")))?,
        };
        let paths = entries.flatten().map(|entry| entry.path());
        let mut paths: Vec<_> =
            paths.filter(|path| path.extension().is_some_and(|end| end == EXTENSION)).take(MAX_FILES).collect();
        paths.sort();
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

    /// The program with its arguments that signs for this key. `None`: the file has the secret.
    #[must_use]
    pub fn command(&self) -> Option<&[String]> {
        self.written.command.as_deref()
    }

    /// Opens the secret.
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

    /// A file can name a program, which would run as whoever signs.
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
    fn a_key_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.key");
        write(&path, &SigningKey::generate().unwrap(), "").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(KeyFile::read(&path).unwrap_err().to_string().contains("chmod 600"));
    }
}
