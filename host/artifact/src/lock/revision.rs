//! A policy's revision: the SHA-256 of its name, run lists, cookbook identifiers and attributes.
//!
//! It is computed as in Chef, so that locks of Chef's tools and of wrun have the same revision. Sources and solved
//! dependencies are not part of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::{AttributeValue, InvalidAttribute};
use text::hex;

/// The parts of a revision.
#[derive(Debug, Clone)]
pub struct RevisionParts<'a> {
    /// The name of the policy that the revision is of.
    pub name: &'a str,
    /// The items in order, as `recipe[COOKBOOK::RECIPE]`.
    pub run_list: &'a [String],
    /// Further run lists by name. Their written order changes the revision.
    pub named_run_lists: &'a [(String, Vec<String>)],
    /// The identifier of each cookbook, by its name.
    pub cookbooks: BTreeMap<&'a str, &'a str>,
    /// Attributes of the level `default`.
    pub default_attributes: &'a AttributeValue,
    /// Attributes of the level `override`.
    pub override_attributes: &'a AttributeValue,
}

impl RevisionParts<'_> {
    /// Returns the text whose digest is the revision.
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
