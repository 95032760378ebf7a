//! Run lists: the recipes and roles that a node runs, in order.

mod edit;
mod item;

use std::collections::HashSet;

use serde_json::Value;

pub use edit::RunListEdit;
pub use item::{RunListError, RunListItem, RunListItemKind};

/// Largest number of items of a run list. Hand-written run lists have a few dozen.
pub const MAX_RUN_LIST_ITEMS: usize = 10_000;

/// Run-list items in order.
///
/// As in Chef, a parsed list keeps repeated items. A list built by adding items, as a node's run list, has each item once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunList {
    items: Vec<RunListItem>,
}

impl RunList {
    /// Parses items.
    ///
    /// # Errors
    /// The first item that is invalid, or too many of them.
    pub fn parse<Item: AsRef<str>>(items: impl IntoIterator<Item = Item>) -> Result<Self, RunListError> {
        let mut list = Self::default();
        for item in items {
            list.append(RunListItem::parse(item.as_ref())?)?;
        }
        Ok(list)
    }

    /// The list with each item once, at its first place.
    #[must_use]
    pub fn without_repeats(self) -> Self {
        let mut met = HashSet::new();
        Self { items: self.items.into_iter().filter(|item| met.insert(item.clone())).collect() }
    }

    /// Parses the JSON of a run list: an array of texts, or one text.
    ///
    /// # Errors
    /// Another kind of value, or an invalid item.
    pub fn from_json(value: &Value) -> Result<Self, RunListError> {
        match value {
            Value::String(item) => Self::parse([item]),
            Value::Array(items) => Self::parse(
                items.iter().map(|item| item.as_str().ok_or_else(|| RunListError::not_a_text(item))).collect::<Result<
                    Vec<_>,
                    _,
                >>(
                )?,
            ),
            other => Err(RunListError::not_a_text(other)),
        }
    }

    /// Adds an item at the end, unless it is there already.
    ///
    /// # Errors
    /// Too many items.
    pub fn push(&mut self, item: RunListItem) -> Result<(), RunListError> {
        if self.items.contains(&item) { Ok(()) } else { self.append(item) }
    }

    fn append(&mut self, item: RunListItem) -> Result<(), RunListError> {
        if self.items.len() >= MAX_RUN_LIST_ITEMS {
            return Err(RunListError::TooManyItems { limit: MAX_RUN_LIST_ITEMS });
        }
        self.items.push(item);
        Ok(())
    }

    /// The items in order.
    pub fn items(&self) -> &[RunListItem] {
        &self.items
    }

    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether the item that `text` writes is in the list. Chef's `run_list.include?`.
    pub fn includes(&self, text: &str) -> bool {
        RunListItem::parse(text).is_ok_and(|item| self.items.contains(&item))
    }

    /// The items as text, such as `recipe[nginx::default]`.
    pub fn to_strings(&self) -> Vec<String> {
        self.items.iter().map(ToString::to_string).collect()
    }

    /// The items as a JSON array of text.
    pub fn to_json(&self) -> Value {
        Value::from(self.to_strings())
    }
}

/// Splits `cookbook::recipe`; without `::` the recipe is `default`.
pub fn split_recipe(name: &str) -> (&str, &str) {
    name.split_once("::").unwrap_or((name, "default"))
}
