//! Identifiers of cookbooks and policies, as Chef computes them, so that both worlds name the same thing alike.
//!
//! A cookbook's identifier says which files it has; a policy's revision says what is run and with which attributes.

mod attribute;
mod identifier;
mod revision;

pub use attribute::{AttributeKey, AttributeValue, InvalidAttribute};
pub use identifier::{CookbookIdentifier, FileChecksum};
pub use revision::RevisionParts;
