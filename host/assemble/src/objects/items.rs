//! Data bag items as people see them. They are decrypted if there is a secret, and encrypted again when they are written.

use super::{Expected, KeptObject, ObjectStore, ObjectsError, Shelf};
use crate::data;
use crate::settings::Settings;
use databag::{
    Secret, ValueError, check_bag_name, check_item_name, decrypt_item, encrypt_item, encrypted_beside_plain,
    is_encrypted,
};
use rustix::rand::{GetRandomFlags, getrandom};
use serde_json::{Map, Value};
use std::path::Path;

/// The secret for encrypted items, and where it comes from.
#[derive(Debug)]
pub enum ItemSecret {
    /// A secret from a file that the command names. Every written item is encrypted with it.
    Given(Secret),
    /// A secret from a file that the settings name. It decrypts items, and encrypts those that were encrypted.
    Configured(Secret),
    /// No secret is set. The text tells the user what to do.
    Missing(String),
}

impl ItemSecret {
    /// Reads the secret: from a file that the command names, else from the one of the settings.
    ///
    /// # Errors
    /// The file cannot be read, or is empty.
    pub fn of(settings: &Settings, file: Option<&Path>) -> Result<Self, ObjectsError> {
        let read = |path: &Path| data::secret(path).map_err(|error| ObjectsError::SecretFile(Box::new(error)));
        if let Some(file) = file {
            return Ok(Self::Given(read(file)?));
        }
        match &settings.encrypted_data_bag_secret {
            Some(path) if path.is_dir() => Ok(Self::Missing(format!(
                "{} has a secret for each policy: name the file of the one that is meant with --secret-file FILE",
                path.display()
            ))),
            Some(path) => Ok(Self::Configured(read(path)?)),
            None => Ok(Self::Missing(
                "no secret is known: name its file with --secret-file FILE, or with `encrypted_data_bag_secret` in the settings"
                    .to_owned(),
            )),
        }
    }

    fn needed(&self) -> Result<&Secret, ObjectsError> {
        match self {
            Self::Given(secret) | Self::Configured(secret) => Ok(secret),
            Self::Missing(why) => Err(ObjectsError::Secret(why.clone())),
        }
    }
}

/// An item that was read.
#[derive(Debug, Clone)]
pub struct OpenedItem {
    /// The content of the item. It is decrypted if it was encrypted and there is a secret.
    pub plain: Map<String, Value>,
    /// Whether the stored item is encrypted.
    pub is_encrypted: bool,
    /// Whether some of its values are encrypted and others are not. Such an item is not decrypted.
    pub is_mixed: bool,
    /// The item in its stored form.
    pub kept: KeptObject,
}

/// The items of one data bag.
pub struct Items<'a> {
    /// Where they are kept.
    pub store: &'a dyn ObjectStore,
    /// The name of the data bag.
    pub bag: &'a str,
    /// The secret for encrypted ones.
    pub secret: ItemSecret,
    /// Whether items that are not encrypted yet are encrypted when they are written.
    pub encrypts: bool,
}

impl Items<'_> {
    fn shelf(&self) -> Shelf {
        Shelf::DataBag(self.bag.to_owned())
    }

    fn wrong(&self, item: &str, reason: impl ToString) -> ObjectsError {
        ObjectsError::Encryption { item: format!("{}/{item}", self.bag), reason: reason.to_string() }
    }

    /// Checks that there is a secret if items have to be encrypted.
    ///
    /// # Errors
    /// There is no secret.
    pub fn check(&self) -> Result<(), ObjectsError> {
        if self.encrypts { self.secret.needed().map(drop) } else { Ok(()) }
    }

    /// Checks that an item can be made. Returns whether the bag must be made first.
    ///
    /// # Errors
    /// The item is there, or a name is invalid.
    pub fn check_new(&self, name: &str) -> Result<bool, ObjectsError> {
        check_bag_name(self.bag)?;
        check_item_name(name)?;
        if !self.store.bags()?.iter().any(|bag| bag == self.bag) {
            return Ok(true);
        }
        if self.store.names(&self.shelf())?.iter().any(|known| known == name) {
            let kept = self.store.object(&self.shelf(), name)?;
            return Err(ObjectsError::exists(&self.shelf(), name, kept.place));
        }
        Ok(false)
    }

    /// Reads an item, and decrypts it if it is encrypted. Without a secret it stays encrypted.
    ///
    /// # Errors
    /// The item does not exist, or the secret is another one than it was encrypted with.
    pub fn open(&self, name: &str) -> Result<OpenedItem, ObjectsError> {
        let kept = self.store.object(&self.shelf(), name)?;
        let item = kept.value.as_object().cloned().unwrap_or_default();
        let is_encrypted = is_encrypted(&item);
        let plain = match &self.secret {
            ItemSecret::Given(secret) | ItemSecret::Configured(secret) if is_encrypted => {
                decrypt_item(&item, secret).map_err(|error| self.wrong(name, format!("{}: {error}", kept.place)))?
            }
            _ => item,
        };
        let is_mixed = !encrypted_beside_plain(&plain).is_empty() && !is_encrypted;
        Ok(OpenedItem { plain, is_encrypted, is_mixed, kept })
    }

    /// Reads an item to change it. An encrypted item must be decrypted for that, so a missing secret is an error.
    ///
    /// # Errors
    /// As [`Items::open`], or there is no secret for an encrypted item.
    pub fn open_to_change(&self, name: &str) -> Result<OpenedItem, ObjectsError> {
        let item = self.open(name)?;
        if item.is_encrypted {
            self.secret.needed()?;
        }
        Ok(item)
    }

    /// Writes a new item, or replaces one.
    ///
    /// # Errors
    /// It is there and must not be, or cannot be encrypted or written.
    pub fn put(&self, name: &str, item: &Map<String, Value>, expected: &Expected) -> Result<bool, ObjectsError> {
        let encrypts = self.encrypts || matches!(self.secret, ItemSecret::Given(_));
        let is_encrypted_already = is_encrypted(item);
        if encrypts && is_encrypted_already {
            return Err(
                self.wrong(name, "it is encrypted already; leave out --encrypt and --secret-file to keep it so")
            );
        }
        // Encryption gives another result each time, so the decrypted items are compared: an equal item is not a change.
        if encrypts
            && *expected == Expected::Anything
            && let Ok(old) = self.open(name)
            && old.is_encrypted
            && old.plain == *item
        {
            return Ok(false);
        }
        let value = if encrypts { self.encrypted(name, item)? } else { item.clone() };
        self.store.put(&self.shelf(), name, &Value::Object(value), expected)
    }

    /// Writes a changed item, if nobody else has changed it meanwhile. An item that was encrypted is encrypted again.
    ///
    /// # Errors
    /// It has changed meanwhile, or cannot be encrypted or written.
    pub fn change(&self, name: &str, old: &OpenedItem, new: &Map<String, Value>) -> Result<bool, ObjectsError> {
        let encrypts = old.is_encrypted || self.encrypts || matches!(self.secret, ItemSecret::Given(_));
        let expected = Expected::Version(old.kept.version.clone());
        if *new == old.plain && encrypts == old.is_encrypted {
            return Ok(false);
        }
        let value = if encrypts { self.encrypted(name, new)? } else { new.clone() };
        self.store.put(&self.shelf(), name, &Value::Object(value), &expected)
    }

    /// Tells whether the stored item is encrypted, but would be stored in plain text with these values.
    pub fn would_uncover(&self, name: &str, new: &Map<String, Value>) -> bool {
        let encrypts = self.encrypts || matches!(self.secret, ItemSecret::Given(_));
        let is_kept_encrypted = || {
            let kept = self.store.object(&self.shelf(), name);
            kept.is_ok_and(|kept| kept.value.as_object().is_some_and(is_encrypted))
        };
        !encrypts && !is_encrypted(new) && is_kept_encrypted()
    }

    fn encrypted(&self, name: &str, item: &Map<String, Value>) -> Result<Map<String, Value>, ObjectsError> {
        if let [first, ..] = encrypted_beside_plain(item)[..] {
            let reason = format!(
                "`{first}` is encrypted and other values are not: encrypt the whole item, or leave out --encrypt and \
                 --secret-file to keep it as it is"
            );
            return Err(self.wrong(name, reason));
        }
        let mut random = |bytes: &mut [u8]| -> Result<(), EncryptionError> {
            let mut filled = 0;
            while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
                filled += rustix::io::retry_on_intr(|| getrandom(&mut *rest, GetRandomFlags::empty()))
                    .map_err(EncryptionError::Random)?;
            }
            Ok(())
        };
        encrypt_item(item, self.secret.needed()?, &mut random).map_err(|error| self.wrong(name, error))
    }
}

/// The reasons why an item cannot be encrypted.
#[derive(Debug, thiserror::Error)]
enum EncryptionError {
    #[error(transparent)]
    Value(#[from] ValueError),
    #[error("the system gives no random bytes: {0}")]
    Random(rustix::io::Errno),
}
