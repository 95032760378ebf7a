//! One entry of a run list.
//!
//! The grammar is Chef's: `recipe[NAME]`, `recipe[NAME@VERSION]`, `role[NAME]`, or a bare `NAME` or `NAME@VERSION`, which is
//! a recipe; a version is `x.y` or `x.y.z`. Anything else with brackets is refused. Like Chef's grammar, it accepts unusual
//! names. Whether the cookbook exists is checked later.

use std::fmt;

use errors::{ErrorKind, chef};
use serde_json::Value;
use thiserror::Error;

/// Why an entry is not a run-list item.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RunListError {
    /// The text is not a valid item. The message is Chef's.
    #[error("{}", chef::not_a_run_list_item(&quoted(.text)))]
    NotAnItem {
        /// The text that was given as an item.
        text: String,
    },
    /// The item is not a text.
    #[error("a run list item must be text, not {found}")]
    NotText {
        /// What was found instead.
        found: &'static str,
    },
    /// The run list has too many items.
    #[error("a run list cannot have more than {limit} items")]
    TooManyItems {
        /// Largest number of items that a run list may have.
        limit: usize,
    },
    /// An item is not in the list that was to be changed.
    #[error("{item} is not in the run list{}", known(items))]
    NotInList {
        /// The item that was asked for.
        item: String,
        /// The items of the list.
        items: Vec<String>,
    },
    /// The same recipe is asked for in two versions. The message is Chef's.
    #[error("Run list requires {recipe} at versions {first} and {second}")]
    VersionConflict {
        /// The recipe's name, such as `nginx::source`.
        recipe: String,
        /// The version asked for first.
        first: String,
        /// The version asked for later.
        second: String,
    },
    /// Roles are nested too deeply.
    #[error("roles are nested deeper than {limit} levels at role[{role}]")]
    RolesTooDeep {
        /// The role that is one too deep.
        role: String,
        /// Largest depth of roles that include roles.
        limit: usize,
    },
}

impl RunListError {
    /// Returns what went wrong, as the kind of the failure that it becomes.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::VersionConflict { .. } => ErrorKind::CookbookVersionConflict,
            Self::NotAnItem { .. }
            | Self::NotText { .. }
            | Self::TooManyItems { .. }
            | Self::NotInList { .. }
            | Self::RolesTooDeep { .. } => ErrorKind::InvalidArgument,
        }
    }

    pub(crate) fn not_a_text(value: &Value) -> Self {
        Self::NotText {
            found: match value {
                Value::Null => "null",
                Value::Bool(_) => "a boolean",
                Value::Number(_) => "a number",
                Value::String(_) => "text",
                Value::Array(_) => "an array",
                Value::Object(_) => "an object",
            },
        }
    }
}

fn known(items: &[String]) -> String {
    if items.is_empty() { "; it is empty".to_owned() } else { format!("; it has: {}", items.join(", ")) }
}

/// What an item names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunListItemKind {
    /// One recipe, which is compiled in its place.
    Recipe,
    /// A role, whose own run list takes the item's place.
    Role,
}

impl RunListItemKind {
    /// Returns the word before the bracket: `recipe` or `role`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Recipe => "recipe",
            Self::Role => "role",
        }
    }
}

/// One entry of a run list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunListItem {
    /// Whether the item names a recipe or a role.
    pub kind: RunListItemKind,
    /// The recipe's or role's name, such as `nginx::source`.
    pub name: String,
    /// The version a recipe is wanted in, as written.
    pub version: Option<String>,
}

impl RunListItem {
    /// Parses one item.
    ///
    /// # Errors
    /// [`RunListError::NotAnItem`].
    pub fn parse(text: &str) -> Result<Self, RunListError> {
        let refused = || RunListError::NotAnItem { text: text.to_owned() };
        if let Some(inside) = bracketed(text, "recipe[") {
            let (name, version) = split_version(inside).ok_or_else(refused)?;
            return Ok(Self::recipe(name, version));
        }
        if let Some(name) = bracketed(text, "role[") {
            return Ok(Self { kind: RunListItemKind::Role, name: name.to_owned(), version: None });
        }
        if let Some((name, Some(version))) = split_version(text) {
            return Ok(Self::recipe(name, Some(version)));
        }
        if text.contains(['[', ']']) {
            return Err(refused());
        }
        Ok(Self::recipe(text, None))
    }

    fn recipe(name: &str, version: Option<&str>) -> Self {
        Self { kind: RunListItemKind::Recipe, name: name.to_owned(), version: version.map(str::to_owned) }
    }
}

impl fmt::Display for RunListItem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}[{}", self.kind.as_str(), self.name)?;
        if let Some(version) = &self.version {
            write!(out, "@{version}")?;
        }
        out.write_str("]")
    }
}

/// Returns the text between `opening` and the closing bracket. Returns `None` if it is empty or contains another closing
/// bracket.
fn bracketed<'text>(text: &'text str, opening: &str) -> Option<&'text str> {
    let inside = text.strip_prefix(opening)?.strip_suffix(']')?;
    (!inside.is_empty() && !inside.contains(']')).then_some(inside)
}

/// Splits `name@x.y` and `name@x.y.z`. Returns `None` if the version or the name around the `@` is missing.
fn split_version(text: &str) -> Option<(&str, Option<&str>)> {
    match text.split_once('@') {
        None => Some((text, None)),
        Some((name, version)) => (!name.is_empty() && is_version(version)).then_some((name, Some(version))),
    }
}

fn is_version(text: &str) -> bool {
    let parts = text.split('.');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(parts.clone().count(), 2 | 3) && parts.into_iter().all(is_number)
}

/// Text in double quotes as Ruby's `inspect` writes it, for the characters that matter in one line of output.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            '\u{1b}' => quoted.push_str("\\e"),
            character if character.is_control() => quoted.extend(format!("\\x{:02X}", u32::from(character)).chars()),
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
