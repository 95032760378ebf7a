//! Tags: a list of words in `normal.tags`, which is kept after the run.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;

use super::{AttributeError, Attributes, Level};
use crate::origin::Origin;

/// The attribute that holds the tags.
const TAGS: &str = "tags";

impl Attributes {
    /// Returns the tags. Creates the list if it does not exist, and turns a single value into a list. Chef's `tags`.
    ///
    /// # Errors
    /// A broken limit.
    pub fn tags(&mut self, origin: &Origin) -> Result<Vec<Value>, AttributeError> {
        let (tags, is_list) = match self.read_level(Level::Normal, &[TAGS]).map(Cow::into_owned) {
            Some(Value::Array(tags)) => (tags, true),
            None | Some(Value::Null) => (Vec::new(), false),
            Some(single) => (vec![single], false),
        };
        if !is_list {
            self.write(Level::Normal, &[TAGS], Value::Array(tags.clone()), origin)?;
        }
        Ok(tags)
    }

    /// Adds the tags that the node does not have yet. Chef's `tag`.
    ///
    /// # Errors
    /// A broken limit.
    pub fn tag<Tag: AsRef<str>>(&mut self, added: &[Tag], origin: &Origin) -> Result<Vec<Value>, AttributeError> {
        let mut tags = self.tags(origin)?;
        let before = tags.len();
        let mut known: HashSet<&str> = HashSet::new();
        known.extend(tags.iter().filter_map(Value::as_str));
        let new: Vec<Value> =
            added.iter().map(AsRef::as_ref).filter(|tag| known.insert(tag)).map(Value::from).collect();
        tags.extend(new);
        if tags.len() != before {
            self.write(Level::Normal, &[TAGS], Value::Array(tags.clone()), origin)?;
        }
        Ok(tags)
    }

    /// Removes tags. Chef's `untag`.
    ///
    /// # Errors
    /// A broken limit.
    pub fn untag<Tag: AsRef<str>>(&mut self, removed: &[Tag], origin: &Origin) -> Result<Vec<Value>, AttributeError> {
        let mut tags = self.tags(origin)?;
        let before = tags.len();
        let gone: HashSet<&str> = removed.iter().map(AsRef::as_ref).collect();
        tags.retain(|tag| !tag.as_str().is_some_and(|tag| gone.contains(tag)));
        if tags.len() != before {
            self.write(Level::Normal, &[TAGS], Value::Array(tags.clone()), origin)?;
        }
        Ok(tags)
    }
}
