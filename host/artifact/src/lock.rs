//! Computes identifiers of cookbooks and policies like Chef, so that wrun and Chef use the same ones.
//!
//! A cookbook's identifier is a digest of its files. A policy's revision is a digest of its run lists, cookbooks and
//! attributes.

mod attribute;
mod identifier;
mod revision;

pub use attribute::{AttributeKey, AttributeValue, InvalidAttribute};
pub use identifier::{CookbookIdentifier, FileChecksum};
pub use revision::RevisionParts;
