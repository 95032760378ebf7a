//! Secrets for encrypted items: a type that cannot print.

use std::fmt;

/// A shared secret. Printing it shows asterisks.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// Makes a secret from its bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Returns the bytes. Give them to whoever they are for, and to nobody else.
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(********)")
    }
}
