//! Tags: a list of words under `normal.tags`, so that they outlive the run.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;

use super::{AttributeError, Attributes, Level};
use crate::origin::Origin;

/// The attribute that holds the tags.
const TAGS: &str = "tags";

impl Attributes {
    /// The tags; makes the list where it does not exist, and a list of a single value. Chef's `tags`.
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

    /// Adds tags that are not there yet. Chef's `tag`.
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

    /// Takes tags away. Chef's `untag`.
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
