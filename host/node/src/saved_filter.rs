//! Selects the attributes that are saved with the node: lists of allowed and of blocked subtrees for each level.
//!
//! An item names a subtree. A text is split at `/` (a leading one does not count). An array gives the keys unchanged, for
//! keys that contain a `/`. Allowed items are copied, then blocked items are taken out. An item whose subtree does not exist
//! is ignored. An item that leads through a value without keys is an error: a list of secrets that silently blocks nothing is
//! worse than a failed save.

use errors::ErrorKind;
use serde_json::{Map, Value};
use thiserror::Error;

/// An item that leads through something that has no keys.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("saved attribute item {item:?} leads through {found} instead of an object")]
pub struct FilterError {
    /// The keys of the list's item, outermost first.
    pub item: Vec<String>,
    /// What stands there instead.
    pub found: &'static str,
    kind: ErrorKind,
}

impl FilterError {
    /// Returns what went wrong, as the kind of the failure that it becomes.
    pub fn kind(&self) -> ErrorKind {
        self.kind.clone()
    }
}

/// A subtree by its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterItem {
    keys: Vec<String>,
}

/// An item that is neither text nor an array of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a saved attribute item must be text or an array of texts")]
pub struct NotAnItem;

impl FilterItem {
    /// From text with `/` between the keys.
    pub fn from_text(text: &str) -> Self {
        let mut keys: Vec<String> = text.split('/').map(str::to_owned).collect();
        while keys.last().is_some_and(String::is_empty) {
            keys.pop();
        }
        if keys.first().is_some_and(String::is_empty) {
            keys.remove(0);
        }
        Self { keys }
    }

    /// From keys as they are.
    pub fn from_keys(keys: Vec<String>) -> Self {
        Self { keys }
    }

    /// The keys that lead to the attribute.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// From a list in a configuration: text or an array of texts.
    ///
    /// # Errors
    /// Anything else.
    pub fn from_json(value: &Value) -> Result<Self, NotAnItem> {
        match value {
            Value::String(text) => Ok(Self::from_text(text)),
            Value::Array(keys) => {
                let keys: Option<Vec<String>> = keys.iter().map(|key| key.as_str().map(str::to_owned)).collect();
                keys.map(Self::from_keys).ok_or(NotAnItem)
            }
            _ => Err(NotAnItem),
        }
    }
}

/// The lists of one level. `None` means no restriction. An empty list of allowed items saves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LevelFilter {
    /// Save only these subtrees; `None`: all of them.
    pub allowed: Option<Vec<FilterItem>>,
    /// Save all but these.
    pub blocked: Option<Vec<FilterItem>>,
}

/// The lists of all four saved levels.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SavedFilters {
    /// Of facts: `allowed_automatic_attributes`, `blocked_automatic_attributes`.
    pub automatic: LevelFilter,
    /// Of all default levels: `allowed_default_attributes`, `blocked_default_attributes`.
    pub default: LevelFilter,
    /// Of the normal level: `allowed_normal_attributes`, `blocked_normal_attributes`.
    pub normal: LevelFilter,
    /// Of all override levels: `allowed_override_attributes`, `blocked_override_attributes`.
    pub r#override: LevelFilter,
}

impl LevelFilter {
    /// Applies both lists.
    ///
    /// # Errors
    /// An item that leads through something without keys.
    pub fn apply(&self, data: &Map<String, Value>) -> Result<Map<String, Value>, FilterError> {
        let mut kept = match &self.allowed {
            Some(items) => allow(data, items)?,
            None => data.clone(),
        };
        if let Some(items) = &self.blocked {
            block(&mut kept, items)?;
        }
        Ok(kept)
    }
}

/// Copies the subtrees that the items name.
///
/// # Errors
/// An item that leads through something without keys.
pub fn allow(data: &Map<String, Value>, items: &[FilterItem]) -> Result<Map<String, Value>, FilterError> {
    let mut kept = Map::new();
    for item in items {
        copy_allowed(data, &mut kept, item)?;
    }
    Ok(kept)
}

/// Takes out the subtrees that the items name.
///
/// # Errors
/// An item that leads through something without keys.
pub fn block(data: &mut Map<String, Value>, items: &[FilterItem]) -> Result<(), FilterError> {
    for item in items {
        let Some((last, parents)) = item.keys.split_last() else { continue };
        if let Some(parent) = find_blocked(data, item, parents)? {
            parent.shift_remove(last);
        }
    }
    Ok(())
}

/// Copies one subtree. The objects along the path are copied as far as they exist, even if the last key does not exist, as in
/// Chef.
fn copy_allowed(
    data: &Map<String, Value>,
    kept: &mut Map<String, Value>,
    item: &FilterItem,
) -> Result<(), FilterError> {
    let Some((last, parents)) = item.keys.split_last() else { return Ok(()) };
    let (mut from, mut to) = (data, kept);
    for key in parents {
        let next = match from.get(key) {
            Some(Value::Object(next)) => next,
            Some(other) => return Err(not_an_object(item, other)),
            None => return Ok(()),
        };
        let made = to.entry(key.as_str()).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(made) = made else { return Err(not_an_object(item, made)) };
        (from, to) = (next, made);
    }
    if let Some(value) = from.get(last) {
        to.insert(last.clone(), value.clone());
    }
    Ok(())
}

/// Returns the object that holds the item's last key. Chef asks each value along the path for a key without checking its
/// type. So it ignores null, false and text, and fails in one of two ways on other values.
fn find_blocked<'data>(
    data: &'data mut Map<String, Value>,
    item: &FilterItem,
    parents: &[String],
) -> Result<Option<&'data mut Map<String, Value>>, FilterError> {
    let mut here = data;
    for (depth, key) in parents.iter().enumerate() {
        match here.get_mut(key) {
            Some(Value::Object(next)) => here = next,
            None | Some(Value::Null | Value::Bool(false)) => return Ok(None),
            Some(other) => {
                let rest = parents.get(depth + 1..).unwrap_or_default();
                return blocked_in_scalar(item, other, rest).map(|()| None);
            }
        }
    }
    Ok(Some(here))
}

/// Decides about an item that leads through a value without keys: ignore it or fail. `rest`: the keys between this value and
/// the item's last key.
fn blocked_in_scalar(item: &FilterItem, value: &Value, rest: &[String]) -> Result<(), FilterError> {
    match (value, rest) {
        (Value::Array(_), [_, ..]) => Err(FilterError { kind: ErrorKind::WrongType, ..not_an_object(item, value) }),
        (Value::Number(number), [_, ..]) if !number.is_f64() => {
            Err(FilterError { kind: ErrorKind::WrongType, ..not_an_object(item, value) })
        }
        (Value::String(text), rest) if !is_chain_of_substrings(text, rest) => Ok(()),
        _ => Err(not_an_object(item, value)),
    }
}

/// Tells whether Chef passes over a text: Ruby's `text[key]` returns `key` if the text contains it.
fn is_chain_of_substrings(text: &str, keys: &[String]) -> bool {
    keys.iter().try_fold(text, |here, key| here.contains(key.as_str()).then_some(key.as_str())).is_some()
}

fn not_an_object(item: &FilterItem, found: &Value) -> FilterError {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    FilterError { item: item.keys.clone(), found, kind: ErrorKind::NoSuchName }
}
