//! One encrypted value. What is encrypted is `{"json_wrapper": VALUE}`; binary parts are base64 with line breaks.
//!
//! | format | cipher | what proves that it is whole |
//! |---|---|---|
//! | 1 | AES-256, chained | nothing: a wrong secret mostly gives a wrong end |
//! | 2 | AES-256, chained | HMAC-SHA256 with the secret, over the encrypted value's base64 |
//! | 3 | AES-256 in Galois/counter mode | the cipher's own tag |

use aes::Aes256;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt as _, KeyIvInit as _};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hmac;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::secret::Secret;

/// Bytes of the initialisation vector of format 3.
pub(crate) const IV_BYTES: usize = 12;

/// Bytes of the tag of format 3.
const TAG_BYTES: usize = 16;

/// The format that is written.
const WRITTEN: u64 = 3;

/// Characters in one line of base64, as Ruby writes it.
const LINE: usize = 60;

/// The names of the ciphers, as items have them.
const CHAINED: &str = "aes-256-cbc";
const GALOIS: &str = "aes-256-gcm";

/// The reasons why a value cannot be decrypted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ValueError {
    /// The value is not an encrypted one.
    #[error("it is not an encrypted value: it must be an object with `version`, `cipher`, `encrypted_data` and `iv`")]
    NotEncrypted,
    /// The format is unknown.
    #[error("it has the format {version}; wrun reads 1, 2 and 3")]
    UnknownFormat {
        /// What stands for the version.
        version: String,
    },
    /// The cipher is not that of the format.
    #[error("it names the cipher {cipher:?}; format {version} has {expected}")]
    WrongCipher {
        /// The cipher that is named.
        cipher: String,
        /// The number of the format.
        version: u64,
        /// The cipher of that format.
        expected: &'static str,
    },
    /// A part is missing or is not base64.
    #[error("`{part}` is missing or is not base64")]
    BadPart {
        /// The key of the part.
        part: &'static str,
    },
    /// The value was encrypted with another secret, or has changed since.
    #[error("it cannot be decrypted: the secret is another one than it was encrypted with, or the value was changed")]
    WrongSecret,
    /// The value cannot be encrypted.
    #[error("it cannot be encrypted")]
    NotEncryptable,
}

/// Tells whether a value has the shape of an encrypted one.
pub(crate) fn looks_encrypted(value: &Value) -> bool {
    let Some(object) = value.as_object() else { return false };
    let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    match object.get("version").and_then(Value::as_u64) {
        Some(1) => keys == ["cipher", "encrypted_data", "iv", "version"],
        Some(2) => keys == ["cipher", "encrypted_data", "hmac", "iv", "version"],
        Some(3) => keys == ["auth_tag", "cipher", "encrypted_data", "iv", "version"],
        _ => false,
    }
}

/// Decrypts a value in one of the formats 1 to 3.
///
/// # Errors
/// The value is not an encrypted one, or was encrypted with another secret.
pub fn decrypt_value(value: &Value, secret: &Secret) -> Result<Value, ValueError> {
    let object = value.as_object().ok_or(ValueError::NotEncrypted)?;
    let found = object.get("version").ok_or(ValueError::NotEncrypted)?;
    let unknown = || ValueError::UnknownFormat { version: found.to_string().chars().take(20).collect() };
    let version = found.as_u64().filter(|version| (1..=3).contains(version)).ok_or_else(unknown)?;
    let expected = if version == 3 { GALOIS } else { CHAINED };
    let cipher = object.get("cipher").and_then(Value::as_str).unwrap_or_default();
    if cipher != expected {
        return Err(ValueError::WrongCipher { cipher: cipher.chars().take(50).collect(), version, expected });
    }
    let text = |part: &'static str| object.get(part).and_then(Value::as_str).ok_or(ValueError::BadPart { part });
    let bytes = |part: &'static str| unpacked(text(part)?).ok_or(ValueError::BadPart { part });
    let (encrypted, iv) = (bytes("encrypted_data")?, bytes("iv")?);
    let plain = match version {
        3 => opened(encrypted, &iv, &bytes("auth_tag")?, secret)?,
        version => {
            if version == 2 {
                let key = hmac::Key::new(hmac::HMAC_SHA256, secret.reveal());
                let is_whole = hmac::verify(&key, text("encrypted_data")?.as_bytes(), &bytes("hmac")?);
                is_whole.map_err(|_| ValueError::WrongSecret)?;
            }
            let cipher = cbc::Decryptor::<Aes256>::new_from_slices(&key(secret), &iv);
            let cipher = cipher.map_err(|_| ValueError::BadPart { part: "iv" })?;
            cipher.decrypt_padded_vec::<Pkcs7>(&encrypted).map_err(|_| ValueError::WrongSecret)?
        }
    };
    let wrapped: Value = serde_json::from_slice(&plain).map_err(|_| ValueError::WrongSecret)?;
    match wrapped {
        Value::Object(mut wrapped) => wrapped.shift_remove("json_wrapper").ok_or(ValueError::WrongSecret),
        _ => Err(ValueError::WrongSecret),
    }
}

/// Encrypts a value in format 3. `iv`: random bytes that were never used with this secret.
///
/// # Errors
/// The cipher refuses the value.
pub fn encrypt_value(value: &Value, secret: &Secret, iv: [u8; IV_BYTES]) -> Result<Value, ValueError> {
    let mut bytes = json!({ "json_wrapper": value }).to_string().into_bytes();
    let refused = |_| ValueError::NotEncryptable;
    let tag = galois(secret)?
        .seal_in_place_separate_tag(Nonce::assume_unique_for_key(iv), Aad::empty(), &mut bytes)
        .map_err(refused)?;
    Ok(json!({
        "encrypted_data": packed(&bytes),
        "iv": packed(&iv),
        "auth_tag": packed(tag.as_ref()),
        "version": WRITTEN,
        "cipher": GALOIS,
    }))
}

fn opened(mut bytes: Vec<u8>, iv: &[u8], tag: &[u8], secret: &Secret) -> Result<Vec<u8>, ValueError> {
    if tag.len() != TAG_BYTES {
        return Err(ValueError::BadPart { part: "auth_tag" });
    }
    let nonce = Nonce::try_assume_unique_for_key(iv).map_err(|_| ValueError::BadPart { part: "iv" })?;
    bytes.extend_from_slice(tag);
    let plain = galois(secret)?.open_in_place(nonce, Aad::empty(), &mut bytes);
    plain.map(|plain| plain.to_vec()).map_err(|_| ValueError::WrongSecret)
}

fn galois(secret: &Secret) -> Result<LessSafeKey, ValueError> {
    let key = UnboundKey::new(&AES_256_GCM, &key(secret)).map_err(|_| ValueError::NotEncryptable)?;
    Ok(LessSafeKey::new(key))
}

/// The key of all ciphers: the digest of the secret.
fn key(secret: &Secret) -> [u8; 32] {
    Sha256::digest(secret.reveal()).into()
}

/// Base64 in lines, as Ruby's `pack("m")` writes it.
fn packed(bytes: &[u8]) -> String {
    let mut packed = String::new();
    for (at, character) in STANDARD.encode(bytes).chars().enumerate() {
        if at > 0 && at % LINE == 0 {
            packed.push('\n');
        }
        packed.push(character);
    }
    packed.push('\n');
    packed
}

fn unpacked(text: &str) -> Option<Vec<u8>> {
    let text: String = text.chars().filter(|one| !one.is_ascii_whitespace()).collect();
    STANDARD.decode(text).ok()
}
