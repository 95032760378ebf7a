//! Node attributes: eleven levels of precedence, seen as one tree.
//!
//! Each level is a tree of its own; merged values are never stored. A read follows its path in all levels together
//! ([`merge`]) and merges only the values at the end. So the cost of a read depends only on its result, and a write does not
//! invalidate anything. Rejected: a cache of merged top-level keys, like Chef's. A loop that writes one key of a large
//! subtree and reads another one would merge that subtree every time.
//!
//! Guests are not trusted. Every write is checked against [`limits`] before anything changes. Guests cannot write two of the
//! levels. Each write is recorded with its origin ([`history`], [`explain`]).

mod automatic;
mod error;
pub mod explain;
mod facts;
pub(crate) mod gaps;
pub mod guest_values;
pub mod history;
mod history_json;
mod history_text;
pub mod levels;
pub mod limits;
mod merge;
mod path;
mod read;
mod remove;
mod withheld;
mod write;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

pub use automatic::is_policys_own;
pub(crate) use automatic::{ADDED_UP_KEYS, OWN_POLICY_KEYS};
pub use error::AttributeError;
pub use explain::{Explanation, LevelExplanation, Outcome};
pub(crate) use facts::{FactsPart, are_equal};
pub use facts::{SharedFacts, acceptable_facts};
pub use guest_values::GuestValue;
pub use history::{Change, History, WriteRecord, WrittenValue};
pub use levels::{Group, Level};
pub use read::Shape;

use crate::origin::Origin;
use automatic::Automatic;
use levels::LevelTrees;
use limits::Usage;
use withheld::Withheld;

/// The attributes that one policy sees while it runs.
///
/// Paths are slices of strings; a decimal number indexes an array. Methods that a guest's call reaches are `read*`,
/// `write*`, `unlink*`, `remove*`; those named `host_*` or `set_*` are for the host alone.
#[derive(Debug, Clone, Default)]
pub struct Attributes {
    trees: LevelTrees,
    usage: Usage,
    history: History,
    earlier: Vec<Arc<History>>,
    withheld: Withheld,
    version: u64,
    may_hold_guest_values: bool,
    /// The recipes in `automatic.recipes`, cached at the first use; `None` after a write to `automatic`.
    recipes: Option<HashSet<String>>,
}

impl Attributes {
    /// Attributes with nothing in any level.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of changes so far. While it stays the same, nothing was written, so a guest may reuse values that
    /// it has read.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Bytes that the policy's writes and their records take, as they are counted against this room's limits.
    pub fn held_bytes(&self) -> u64 {
        self.usage.bytes().saturating_add(self.history.bytes() as u64)
    }

    /// The tree of one level; always an object.
    pub fn level(&self, level: Level) -> Cow<'_, Value> {
        let no_path: &[&str] = &[];
        self.read_level(level, no_path).unwrap_or(Cow::Owned(Value::Null))
    }

    /// Replaces a whole level. Only the host calls this, to load facts, saved attributes and a policy's own attributes.
    ///
    /// Each value that is not an object is recorded as written by `origin`. Values of `automatic`, `normal` and `inherited`
    /// are not recorded: they were written before.
    ///
    /// # Errors
    /// Where the data holds markers of guest values, or is nested too deeply.
    pub fn set_level(&mut self, level: Level, data: Map<String, Value>, origin: &Origin) -> Result<(), AttributeError> {
        self.set_level_from(level, data, &|_| origin.clone())
    }

    /// Replaces a whole level like [`set_level`](Self::set_level), with an origin for each path.
    pub(crate) fn set_level_from(
        &mut self,
        level: Level,
        data: Map<String, Value>,
        origin: &dyn Fn(&[&str]) -> Origin,
    ) -> Result<(), AttributeError> {
        let data = Value::Object(data);
        if limits::inspect::<&str>(&data, &[])?.holds_guest_values {
            return Err(AttributeError::GuestValueNotAccepted { path: level.as_str().to_owned() });
        }
        if !matches!(level, Level::Automatic | Level::Normal | Level::Inherited) {
            record_leaves(&mut self.history, level, &mut vec![], &data, origin);
        }
        match data {
            Value::Object(all) if level == Level::Automatic => self.trees.set_automatic(Automatic::of(all)),
            data => *self.trees.tree_mut::<&str>(level, &[]) = data,
        }
        self.changed_at(level);
        Ok(())
    }

    /// Sets the level `automatic`: the facts that the policy may see, and what describes the node and the policy.
    pub(crate) fn set_facts(&mut self, facts: FactsPart, own: Map<String, Value>) {
        self.trees.set_automatic(Automatic::new(Arc::clone(&facts.shown), own));
        self.withheld.facts = facts;
        self.changed_at(Level::Automatic);
    }

    /// Adds a recipe that is being compiled to `automatic.recipes`, once. Returns the number of recipes that were compared,
    /// which the policy is charged for.
    pub fn host_add_recipe(&mut self, recipe: &str) -> u64 {
        let Value::Object(automatic) = self.trees.tree_mut(Level::Automatic, &["recipes"]) else { return 0 };
        let recipes = automatic.entry("recipes").or_insert_with(|| Value::Array(vec![]));
        let Value::Array(recipes) = recipes else { return 0 };
        let looked_at = if self.recipes.is_some() { 1 } else { 1 + recipes.len() as u64 };
        let texts = || recipes.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let known = self.recipes.get_or_insert_with(texts);
        if known.insert(recipe.to_owned()) {
            recipes.push(recipe.into());
            self.changed();
        }
        looked_at
    }

    /// The most bytes by which [`held_bytes`](Self::held_bytes) grows if this value is written to this level, or, with
    /// `None`, if something is removed.
    pub fn most_growth(&self, written: Option<(Level, &Value)>, path: &[String], origin: &Origin) -> u64 {
        let history = history::most_bytes(path, origin);
        let value = written.map_or(0, |(level, value)| self.bytes_of_write(level, path, value));
        history.saturating_add(value)
    }

    /// Records that `origin` gave these `normal` attributes. [`set_level`](Self::set_level) has stored them already.
    pub(crate) fn record_given_normal(&mut self, given: &Map<String, Value>, origin: &Origin) {
        for (name, value) in given {
            self.history.record(Level::Normal, &[name], WrittenValue::summary(value), origin);
        }
    }

    /// Sets the histories of this run's earlier policies, so that explanations can name their writes.
    pub fn set_earlier_history(&mut self, earlier: Vec<Arc<History>>) {
        self.earlier = earlier;
    }

    /// The record of this policy's writes.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Turns the attributes into the record of their writes.
    pub(crate) fn into_history(self) -> History {
        self.history
    }

    fn changed(&mut self) {
        self.version = self.version.wrapping_add(1);
    }

    fn changed_at(&mut self, level: Level) {
        if level == Level::Automatic {
            self.recipes = None;
        }
        self.changed();
    }
}

/// Records every value below a path that is not an object with members.
fn record_leaves<'data>(
    history: &mut History,
    level: Level,
    path: &mut Vec<&'data str>,
    value: &'data Value,
    origin: &dyn Fn(&[&str]) -> Origin,
) {
    match value {
        Value::Object(members) if path.is_empty() || !members.is_empty() => {
            for (name, member) in members {
                path.push(name);
                record_leaves(history, level, path, member, origin);
                path.pop();
            }
        }
        value => history.record(level, path, WrittenValue::summary(value), &origin(path)),
    }
}
