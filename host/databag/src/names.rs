//! Names of data bags and of their items.

use thiserror::Error;

/// Bytes of a name.
const MAX_NAME: usize = 255;

/// Names of search indexes, which a bag cannot have.
const INDEXES: [&str; 4] = ["node", "role", "environment", "client"];

/// The reasons why a name cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NameError {
    /// The name has characters that names do not have.
    #[error(
        "{name:?} cannot be the name of a {what}: use up to {MAX_NAME} letters, digits and the characters - _ . and no dot at the \
         beginning"
    )]
    Invalid {
        /// The name, cut where it is long.
        name: String,
        /// `data bag`, or `data bag item`.
        what: &'static str,
    },
    /// A search index has the name.
    #[error("{name:?} cannot be the name of a data bag, since a search index has it: choose another one")]
    Index {
        /// The name as it was given.
        name: String,
    },
}

/// Checks the name of a data bag.
///
/// # Errors
/// The name is invalid, or a search index has it.
pub fn check_bag_name(name: &str) -> Result<(), NameError> {
    check(name, "data bag")?;
    if INDEXES.contains(&name) { Err(NameError::Index { name: name.to_owned() }) } else { Ok(()) }
}

/// Checks the `id` of a data bag item.
///
/// # Errors
/// The name is invalid.
pub fn check_item_name(name: &str) -> Result<(), NameError> {
    check(name, "data bag item")
}

fn check(name: &str, what: &'static str) -> Result<(), NameError> {
    let fits = !name.is_empty()
        && name.len() <= MAX_NAME
        && !name.starts_with('.')
        && name.chars().all(|one| one.is_ascii_alphanumeric() || "-_.".contains(one));
    if fits { Ok(()) } else { Err(NameError::Invalid { name: name.chars().take(MAX_NAME).collect(), what }) }
}
