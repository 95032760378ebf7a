//! Splits a changed document of a node into single changes, and checks its keys.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::edit::MAX_STEPS;
use super::normal::TAGS;
use super::{EditError, NodeEdit, NodeObject};

/// The parts of a node that an operator may change in its document.
const EDITABLE: [&str; 4] = ["name", "chef_environment", "run_list", "normal"];

/// Other keys that Chef's tools and wrun write to a node's document. An operator cannot change them there.
const PASSED_OVER: [&str; 11] = [
    "automatic",
    "default",
    "override",
    "json_class",
    "chef_type",
    "policy_name",
    "policy_group",
    "policies",
    "assigned_policies",
    "layers",
    "_rev",
];

/// How wrun's own keys of a saved node begin.
const OWN: &str = "wrun_";

/// Refuses a document with a key that would be ignored. `is_edited`: a person has edited the document, so only the editable
/// keys are allowed.
pub(super) fn check_keys(document: &Map<String, Value>, is_edited: bool) -> Result<(), EditError> {
    let is_known =
        |key: &str| EDITABLE.contains(&key) || (!is_edited && (PASSED_OVER.contains(&key) || key.starts_with(OWN)));
    match document.keys().find(|key| !is_known(key)) {
        None => Ok(()),
        Some(key) => Err(EditError::UnknownKey { key: key.clone(), known: EDITABLE.join(", ") }),
    }
}

impl NodeEdit {
    /// Splits the change into parts. Each part can be applied even if a run has changed other parts of the node meanwhile.
    /// `node`: the node at the time when the operator asked for the change.
    pub fn parts(&self, node: &NodeObject) -> Vec<Self> {
        let Self::Replace { expected, new } = self else { return vec![self.clone()] };
        let before = expected.as_deref().cloned().unwrap_or_else(|| node.editable());
        parts_of(&before, new).unwrap_or_else(|| vec![self.clone()])
    }
}

/// Splits a changed document into single changes. Returns `None` if that is impossible.
fn parts_of(before: &Value, new: &Value) -> Option<Vec<NodeEdit>> {
    let mut parts = vec![];
    let changed = |key: &str| {
        let new = new.get(key).filter(|value| !value.is_null())?;
        (before.get(key) != Some(new)).then_some(new)
    };
    if let Some(list) = changed("run_list") {
        let items = texts(list)?;
        // A node with policies does not have a run list; its document may have an empty one.
        if before.get("run_list").is_some() || !items.is_empty() {
            parts.push(NodeEdit::SetRunList(items));
        }
    }
    if let Some(name) = changed("chef_environment") {
        parts.push(NodeEdit::SetEnvironment(name.as_str()?.to_owned()));
    }
    if let Some(normal) = changed("normal") {
        let empty = Map::new();
        let old = before.get("normal").and_then(Value::as_object).unwrap_or(&empty);
        let (mut old, mut new) = (old.clone(), normal.as_object()?.clone());
        let (old_tags, new_tags) = (old.shift_remove(TAGS), new.shift_remove(TAGS));
        if old_tags != new_tags {
            let list = |tags: Option<Value>| tags.map_or_else(|| Some(vec![]), |tags| texts(&tags));
            let (old, new) = (list(old_tags)?, list(new_tags)?);
            let missing = |from: &[String], of: &[String]| -> Vec<String> {
                let from: HashSet<&String> = from.iter().collect();
                of.iter().filter(|tag| !from.contains(tag)).cloned().collect()
            };
            let (gone, added) = (missing(&new, &old), missing(&old, &new));
            parts.extend((!gone.is_empty()).then_some(NodeEdit::RemoveTags(gone)));
            parts.extend((!added.is_empty()).then_some(NodeEdit::AddTags(added)));
        }
        differences(&mut vec![], &old, &new, &mut parts);
    }
    Some(parts)
}

fn texts(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Collects a change for each attribute that differs. Objects on both sides are compared member by member.
fn differences(path: &mut Vec<String>, old: &Map<String, Value>, new: &Map<String, Value>, parts: &mut Vec<NodeEdit>) {
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        path.push(key.clone());
        parts.push(NodeEdit::UnsetAttribute { path: path.clone() });
        path.pop();
    }
    for (key, value) in new {
        let before = old.get(key);
        if before == Some(value) {
            continue;
        }
        path.push(key.clone());
        match (before.and_then(Value::as_object), value.as_object()) {
            (Some(old), Some(new)) if path.len() < MAX_STEPS && can_be_named(old) && can_be_named(new) => {
                differences(path, old, new, parts);
            }
            _ => parts.push(NodeEdit::SetAttribute { path: path.clone(), value: value.clone() }),
        }
        path.pop();
    }
}

/// Whether each key of an object can be part of a path.
fn can_be_named(object: &Map<String, Value>) -> bool {
    object.keys().all(|key| !key.is_empty() && !key.contains('\0'))
}
