//! Ed25519 keys and signatures.

use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use text::{hex, unhex};

use crate::canonical::canonical;
use crate::error::RepositoryError;

/// Bytes of a public key.
const PUBLIC_LENGTH: usize = 32;

/// Bytes of the secret that a key is made of.
pub(crate) const SEED_LENGTH: usize = 32;

/// A public key, which verifies signatures.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey {
    bytes: [u8; PUBLIC_LENGTH],
}

impl PublicKey {
    /// Reads 64 hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        unhex(text)?.try_into().ok().map(|bytes| Self { bytes })
    }

    /// The key in 64 hexadecimal digits.
    #[must_use]
    pub fn to_hex(&self) -> String {
        hex(self.bytes)
    }

    /// Returns the key in the form of the metadata.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({ "keytype": "ed25519", "scheme": "ed25519", "keyval": { "public": self.to_hex() } })
    }

    /// Reads a key in the form of the metadata.
    ///
    /// # Errors
    /// It is a key of another kind, or none.
    pub fn from_json(value: &Value) -> Result<Self, String> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        if (text("keytype"), text("scheme")) != ("ed25519", "ed25519") {
            return Err(format!("a key is of the kind {:?} and not ed25519", text("keytype")));
        }
        let public = value.get("keyval").and_then(|it| it.get("public")).and_then(Value::as_str);
        let key = public.and_then(Self::from_hex).ok_or("a public key does not have 64 hexadecimal digits")?;
        // The id of a key is the digest of its JSON, so only one form of the JSON is accepted.
        if value != &key.to_json() {
            return Err("a key has other members than keytype, scheme and keyval".into());
        }
        Ok(key)
    }

    /// Returns the id of the key: the digest of its canonical JSON.
    #[must_use]
    pub fn id(&self) -> String {
        hex(Sha256::digest(canonical(&self.to_json()).unwrap_or_default()))
    }

    /// Tells whether a signature is this key's over a message.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.bytes).verify(message, signature).is_ok()
    }
}

/// Returns a random id of 32 hexadecimal digits, or `None` if the system does not give random bytes.
pub(crate) fn random_id() -> Option<String> {
    let bytes: ring::rand::Random<[u8; 16]> = ring::rand::generate(&SystemRandom::new()).ok()?;
    Some(hex(bytes.expose()))
}

/// A private key, which signs. It cannot be printed.
pub struct SigningKey {
    pair: Ed25519KeyPair,
    seed: [u8; SEED_LENGTH],
    public: PublicKey,
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SigningKey({})", self.public.to_hex())
    }
}

impl SigningKey {
    /// Makes a new key. Returns `None` if the system does not give random bytes.
    #[must_use]
    pub fn generate() -> Option<Self> {
        let seed: ring::rand::Random<[u8; SEED_LENGTH]> = ring::rand::generate(&SystemRandom::new()).ok()?;
        Self::from_seed(seed.expose())
    }

    /// The key of a seed.
    pub(crate) fn from_seed(seed: [u8; SEED_LENGTH]) -> Option<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).ok()?;
        let bytes = pair.public_key().as_ref().try_into().ok()?;
        Some(Self { pair, seed, public: PublicKey { bytes } })
    }

    /// Returns the secret for storing it.
    pub(crate) fn seed(&self) -> &[u8; SEED_LENGTH] {
        &self.seed
    }

    /// Returns the public half of the key.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs a message; the signature is in hexadecimal.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> String {
        hex(self.pair.sign(message))
    }
}

/// Something that can sign for a public key.
pub trait Sign {
    /// The public half of the key.
    fn public(&self) -> &PublicKey;

    /// Signs a message. Returns a valid signature of the key in hexadecimal.
    ///
    /// # Errors
    /// Another program has the key, and does not sign.
    fn signature(&self, message: &[u8]) -> Result<String, RepositoryError>;
}

impl Sign for SigningKey {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn signature(&self, message: &[u8]) -> Result<String, RepositoryError> {
        Ok(self.sign(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_vector_of_rfc_8032_is_signed_and_verified() {
        let seed = unhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").unwrap();
        let key = SigningKey::from_seed(seed.try_into().unwrap()).unwrap();
        assert_eq!(key.public().to_hex(), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
        let signature = key.sign(b"");
        assert!(signature.starts_with("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"));
        assert!(key.public().verifies(b"", &unhex(&signature).unwrap()));
        assert!(!key.public().verifies(b"x", &unhex(&signature).unwrap()));
        assert!(!key.public().verifies(b"", b"short"));
        assert!(format!("{key:?}").contains("d75a") && !format!("{key:?}").contains("9d61"));
    }

    #[test]
    fn a_key_is_read_from_its_one_form_only() {
        let key = SigningKey::generate().unwrap().public().clone();
        assert_eq!(PublicKey::from_json(&key.to_json()), Ok(key.clone()));
        assert!(PublicKey::from_json(&json!({"keytype": "rsa", "scheme": "x", "keyval": {}})).is_err());
        let mut more = key.to_json();
        more["x"] = json!(1);
        assert!(PublicKey::from_json(&more).unwrap_err().contains("other members"));
        assert_eq!(key.id().len(), 64);
    }
}
