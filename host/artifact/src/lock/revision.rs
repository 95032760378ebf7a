//! A policy's revision: the SHA-256 of everything that decides what a node is made of.
//!
//! As Chef computes it, so that a lock that Chef's tools wrote and ours have one name. What only says where something
//! came from (sources, dependencies that were solved) is not part of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::{AttributeValue, InvalidAttribute};
use text::hex;

/// What a revision depends on.
#[derive(Debug, Clone)]
pub struct RevisionParts<'a> {
    /// The name of the policy that the revision is of.
    pub name: &'a str,
    /// The items in order, as `recipe[COOKBOOK::RECIPE]`.
    pub run_list: &'a [String],
    /// Further run lists by name, in the order in which they were written, which counts.
    pub named_run_lists: &'a [(String, Vec<String>)],
    /// The identifier of each cookbook, by its name.
    pub cookbooks: BTreeMap<&'a str, &'a str>,
    /// Attributes of the level `default`.
    pub default_attributes: &'a AttributeValue,
    /// Attributes of the level `override`.
    pub override_attributes: &'a AttributeValue,
}

impl RevisionParts<'_> {
    /// The text that the revision is the digest of.
    ///
    /// # Errors
    /// An attribute that has no JSON form.
    pub fn canonical_text(&self) -> Result<String, InvalidAttribute> {
        let mut text = format!("name:{}\n", self.name);
        // Writing into a string cannot fail.
        for item in self.run_list {
            let _ = writeln!(text, "run-list-item:{item}");
        }
        for (name, items) in self.named_run_lists {
            for item in items {
                let _ = writeln!(text, "named-run-list:{name};run-list-item:{item}");
            }
        }
        for (name, identifier) in &self.cookbooks {
            let _ = writeln!(text, "cookbook:{name};id:{identifier}");
        }
        let _ = writeln!(text, "default_attributes:{}", self.default_attributes.canonical()?);
        let _ = writeln!(text, "override_attributes:{}", self.override_attributes.canonical()?);
        Ok(text)
    }

    /// The revision: 64 hexadecimal digits.
    ///
    /// # Errors
    /// An attribute that has no JSON form.
    pub fn revision_id(&self) -> Result<String, InvalidAttribute> {
        Ok(hex(Sha256::digest(self.canonical_text()?)))
    }
}
