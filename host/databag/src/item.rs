//! An item as a whole: each value but `id` is encrypted by itself.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::secret::Secret;
use crate::value::{IV_BYTES, ValueError, decrypt_value, encrypt_value, looks_encrypted};

/// The key that is never encrypted.
const ID: &str = "id";

/// The reasons why an item cannot be decrypted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{key}`: {reason}")]
pub struct ItemError {
    /// The key of the value.
    pub key: String,
    /// The reason. Part of the message, hence no `source`.
    pub reason: ValueError,
}

/// Tells whether an item is encrypted: all its values but `id` look so, and there is at least one.
pub fn is_encrypted(item: &Map<String, Value>) -> bool {
    let mut values = item.iter().filter(|(key, _)| *key != ID).peekable();
    values.peek().is_some() && values.all(|(_, value)| looks_encrypted(value))
}

/// Returns the keys of the values that look encrypted, in an item with others that do not.
pub fn encrypted_beside_plain(item: &Map<String, Value>) -> Vec<&str> {
    let values = || item.iter().filter(|(key, _)| *key != ID);
    let encrypted: Vec<_> = values().filter(|(_, value)| looks_encrypted(value)).map(|(key, _)| key.as_str()).collect();
    if encrypted.len() == values().count() { vec![] } else { encrypted }
}

/// Decrypts all values of an item, in any of the formats 1 to 3.
///
/// # Errors
/// A value cannot be decrypted; its key is named.
pub fn decrypt_item(item: &Map<String, Value>, secret: &Secret) -> Result<Map<String, Value>, ItemError> {
    let decrypt = |(key, value): (&String, &Value)| {
        let plain = match key.as_str() {
            ID => value.clone(),
            _ => decrypt_value(value, secret).map_err(|reason| ItemError { key: key.clone(), reason })?,
        };
        Ok((key.clone(), plain))
    };
    item.iter().map(decrypt).collect()
}

/// Encrypts all values of an item in format 3. `random` fills a buffer with random bytes.
///
/// # Errors
/// A value cannot be encrypted, or there are no random bytes.
pub fn encrypt_item<E: From<ValueError>>(
    item: &Map<String, Value>,
    secret: &Secret,
    random: &mut dyn FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<Map<String, Value>, E> {
    let mut encrypted = Map::new();
    for (key, value) in item {
        let value = if key == ID {
            value.clone()
        } else {
            let mut iv = [0; IV_BYTES];
            random(&mut iv)?;
            encrypt_value(value, secret, iv)?
        };
        encrypted.insert(key.clone(), value);
    }
    Ok(encrypted)
}
