//! The writers of `normal` attributes, saved between runs.
//!
//! The saved node has one merged tree of these attributes. A document beside it names the writers: `{"version": 1, "written":
//! [POLICY, ..], "by": TREE, "beside": [{"by": POLICY or null, "values": {..}}, ..]}`. `TREE` has the name of a policy where
//! that policy wrote everything from there on, an object where writers differ, and nothing where the operator gave all of it.
//! `beside` has the values that the merged tree hides, and each writer's tags.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::normal::{Normal, TAGS, list, set};
use super::{COMMAND_LINE, NodeObject, ObjectError};
use crate::attributes::gaps;
use crate::attributes::guest_values::mentions_guest_values;
use crate::attributes::{Change, History, Level};
use crate::saved_filter::{FilterError, SavedFilters};

/// Version of the document.
const VERSION: u64 = 1;

const DOCUMENT: &str = "writers of normal attributes";

impl NodeObject {
    /// The document to store beside the saved node.
    ///
    /// # Errors
    /// An item of the filters that leads through something without keys.
    pub fn normal_writers_to_json(&self, filters: &SavedFilters) -> Result<Value, FilterError> {
        let filtered = |tree: &Map<String, Value>| filters.normal.apply(tree);
        let written = self.normal.written.iter().map(|(name, tree)| Ok((name.clone(), filtered(tree)?)));
        let normal = Normal::of(filtered(&self.normal.given)?, written.collect::<Result<_, _>>()?);
        Ok(to_json(&normal))
    }

    /// Takes the stored document back.
    ///
    /// # Errors
    /// Another version, or what is no such document. The node object has not changed then.
    pub fn set_normal_writers_from_json(&mut self, json: &Value) -> Result<(), ObjectError> {
        let wrong = |key: &str, expected| ObjectError::WrongKind { document: DOCUMENT, key: key.to_owned(), expected };
        if json.get("version").and_then(Value::as_u64) != Some(VERSION) {
            return Err(wrong("version", "1"));
        }
        if mentions_guest_values(json) {
            return Err(ObjectError::GuestValueNotAccepted { document: DOCUMENT, key: "an attribute".to_owned() });
        }
        let read = from_json(self.normal.merged(), json);
        self.normal = read.ok_or_else(|| wrong("by", "names of policies below the paths that they wrote"))?;
        Ok(())
    }

    /// Finds the writers for a node that was saved without the document. Attributes that a policy wrote according to its
    /// history belong to it, and all others to the operator.
    pub fn normal_writers_from_histories(&mut self) {
        let (mut given, mut written) = (self.normal.merged().clone(), Vec::new());
        // The latest writer's value is the one that was saved.
        for (name, history) in self.histories.all().rev() {
            let own = written_by(name, history, &mut given);
            if !own.is_empty() {
                written.insert(0, (name.to_owned(), own));
            }
        }
        gaps::close(&mut given);
        self.normal = Normal::of(given, written);
    }
}

/// Moves a policy's attributes out of the tree. Tags stay, because the history does not tell which policy added which tag.
fn written_by(policy: &str, history: &History, given: &mut Map<String, Value>) -> Map<String, Value> {
    let mut own = Map::new();
    let writes = history.all().into_iter().filter(|record| {
        record.level == Level::Normal
            && !matches!(record.change, Change::Removed)
            && record.origin.policy != COMMAND_LINE
            && (policy.is_empty() || record.origin.policy == policy)
            && record.path.first().is_some_and(|first| first != TAGS)
    });
    for record in writes {
        let path = down_to_a_value(given, &record.path);
        if let Some(value) = take(given, path) {
            set(&mut own, path, value);
        }
    }
    own
}

/// Returns the path, cut at the first array or other value without keys, because writers of single elements are not recorded.
/// Empty if nothing exists at the path.
fn down_to_a_value<'path>(tree: &Map<String, Value>, path: &'path [String]) -> &'path [String] {
    let mut all = tree;
    for (at, step) in path.iter().enumerate() {
        match all.get(step) {
            Some(Value::Object(below)) => all = below,
            Some(_) => return path.get(..=at).unwrap_or_default(),
            // It was removed since.
            None => return &[],
        }
    }
    path
}

/// Takes the value at a path out of a tree; objects that are empty then go too.
fn take(tree: &mut Map<String, Value>, path: &[String]) -> Option<Value> {
    let (first, rest) = path.split_first()?;
    if rest.is_empty() {
        return gaps::remove(tree, first);
    }
    let Value::Object(below) = tree.get_mut(first)? else { return None };
    let found = take(below, rest);
    if below.is_empty() {
        gaps::remove(tree, first);
    }
    found
}

fn to_json(normal: &Normal) -> Value {
    let merged = without_tags(normal.merged());
    let trees: Vec<_> = normal.written.iter().map(|(name, tree)| (name.as_str(), without_tags(tree))).collect();
    let parts: Vec<_> = trees.iter().map(|(name, tree)| (*name, tree)).collect();
    let by = match writers(&merged, &parts) {
        Some(by) => by,
        None => Value::Object(Map::new()),
    };
    let shown = split(&merged, &by).unwrap_or_default();
    let of = |name: Option<&str>| shown.iter().find(|(known, _)| known.as_deref() == name).map(|(_, tree)| tree);
    let all = std::iter::once((None, &normal.given));
    let all = all.chain(normal.written.iter().map(|(name, tree)| (Some(name.as_str()), tree)));
    let beside = all.filter_map(|(name, tree)| {
        let mut rest = unequal(&plain(tree), of(name).unwrap_or(&Map::new()));
        if let Some(tags) = tree.get(TAGS).filter(|_| name.is_some()) {
            rest.insert(TAGS.to_owned(), tags.clone());
        }
        (!rest.is_empty()).then(|| json!({ "by": name, "values": rest }))
    });
    let written: Vec<_> = normal.written.iter().map(|(name, _)| name).collect();
    json!({ "version": VERSION, "written": written, "by": by, "beside": beside.collect::<Vec<_>>() })
}

fn from_json(merged: &Map<String, Value>, json: &Value) -> Option<Normal> {
    let names = json.get("written")?.as_array()?.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?;
    let parts = split(&without_tags(merged), json.get("by")?)?;
    let mut given = Map::new();
    let mut written: Vec<(String, Map<String, Value>)> =
        names.into_iter().map(|name| (name.to_owned(), Map::new())).collect();
    for (name, tree) in parts {
        match name {
            None => given = tree,
            Some(name) => written.iter_mut().find(|(known, _)| *known == name)?.1 = tree,
        }
    }
    let mut tags = merged.get(TAGS).map(list);
    for beside in json.get("beside")?.as_array()? {
        let values = beside.get("values")?.as_object()?.clone();
        let tree = match beside.get("by")?.as_str() {
            None => &mut given,
            Some(name) => {
                let own = values.get(TAGS).map(list).unwrap_or_default();
                let own: HashSet<&Value> = own.iter().collect();
                tags.iter_mut().for_each(|tags| tags.retain(|tag| !own.contains(tag)));
                &mut written.iter_mut().find(|(known, _)| known == name)?.1
            }
        };
        *tree = crate::deep_merge::hash_only_merge(std::mem::take(tree), values);
    }
    if let Some(tags) = tags {
        given.insert(TAGS.to_owned(), Value::Array(tags));
    }
    Some(Normal::of(given, written))
}

fn without_tags(tree: &Map<String, Value>) -> Value {
    Value::Object(plain(tree))
}

fn plain(tree: &Map<String, Value>) -> Map<String, Value> {
    tree.iter().filter(|(key, _)| *key != TAGS).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Returns the writers of a tree, given each policy's part; the first part that has an attribute counts. `None`: the operator
/// gave all of it.
fn writers(merged: &Value, parts: &[(&str, &Value)]) -> Option<Value> {
    let Value::Object(members) = merged else { return parts.first().map(|(name, _)| json!(name)) };
    if members.is_empty() {
        return parts.first().map(|(name, _)| json!(name));
    }
    let mut by = Map::new();
    for (key, member) in members {
        let below: Vec<_> = parts.iter().filter_map(|(name, tree)| Some((*name, tree.get(key)?))).collect();
        if let Some(writer) = writers(member, &below) {
            by.insert(key.clone(), writer);
        }
    }
    let first = by.values().next()?;
    let is_one = first.is_string() && by.len() == members.len() && by.values().all(|writer| writer == first);
    if is_one { by.into_iter().next().map(|(_, writer)| writer) } else { Some(Value::Object(by)) }
}

/// A policy's name (`None`: the operator) and its part of a tree.
type Part = (Option<String>, Map<String, Value>);

/// Splits a tree into its writers' parts. Returns `None` if `by` is not a valid tree of writers.
fn split(merged: &Value, by: &Value) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    deal(merged, Some(by), &mut vec![], &mut parts)?;
    Some(parts)
}

fn deal(value: &Value, by: Option<&Value>, path: &mut Vec<String>, parts: &mut Vec<Part>) -> Option<()> {
    let name = match (by, value) {
        (Some(Value::Object(by)), Value::Object(members)) => {
            for (key, member) in members {
                path.push(key.clone());
                deal(member, by.get(key), path, parts)?;
                path.pop();
            }
            return Some(());
        }
        (None, _) => None,
        (Some(Value::String(name)), _) => Some(name.clone()),
        (Some(_), _) => return None,
    };
    let at = parts.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
        parts.push((name, Map::new()));
        parts.len() - 1
    });
    let (_, tree) = parts.get_mut(at)?;
    match (path.is_empty(), value) {
        (true, Value::Object(all)) => tree.clone_from(all),
        _ => set(tree, path, value.clone()),
    }
    Some(())
}

/// Returns the members of a tree that differ from those of another one.
fn unequal(tree: &Map<String, Value>, other: &Map<String, Value>) -> Map<String, Value> {
    let rest = tree.iter().filter_map(|(key, value)| match (value, other.get(key)) {
        (value, Some(same)) if value == same => None,
        (Value::Object(value), Some(Value::Object(other))) => {
            let rest = unequal(value, other);
            (!rest.is_empty()).then(|| (key.clone(), Value::Object(rest)))
        }
        (value, _) => Some((key.clone(), value.clone())),
    });
    rest.collect()
}
