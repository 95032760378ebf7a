//! Flattens an object to the fields that a query asks for.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::meter::Meter;
use super::query::Fields;
use crate::deep_merge;

/// Largest total size of objects and lists as text, in bytes; nested ones count several times. Objects and lists beyond it
/// are found only by their parts.
const MAX_CONTENTS: usize = 1 << 24;

/// Levels of an object that are looked at.
const MAX_DEPTH: usize = 256;

/// The levels of a saved node, the lowest first.
const LEVELS: [&str; 4] = ["default", "normal", "override", "automatic"];

/// The fields of an object that a query asks for, with their values as text.
#[derive(Debug, Default)]
pub(super) struct Document {
    fields: HashMap<String, Vec<String>>,
}

impl Document {
    /// Collects the fields of an object of an index. For a node it uses the merged attributes, and adds fields for the
    /// recipes and roles of its run list.
    ///
    /// # Errors
    /// Nobody pays for it.
    pub(super) fn of<E>(
        index: &str,
        name: &str,
        object: &Value,
        wanted: &Fields,
        meter: &mut Meter<'_, E>,
    ) -> Result<Self, E> {
        let mut collecting = Collecting { wanted, document: Self::default(), contents: 0, meter };
        let mut path = String::new();
        match index {
            "node" => collecting.add_below(&mut path, &Value::Object(node_view(object)), 0)?,
            _ => collecting.add_below(&mut path, object, 0)?,
        }
        collecting.add("X_CHEF_id_CHEF_X", || name.to_owned())?;
        Ok(collecting.document)
    }

    /// Returns the fields with the values of each.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.fields.iter().map(|(name, values)| (name.as_str(), values.as_slice()))
    }

    /// Returns the values of a field.
    pub(super) fn values(&self, name: &str) -> &[String] {
        self.fields.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// An object that is being looked through.
struct Collecting<'a, 'pay, E> {
    wanted: &'a Fields,
    document: Document,
    /// Bytes of objects and lists as text.
    contents: usize,
    meter: &'a mut Meter<'pay, E>,
}

impl<E> Collecting<'_, '_, E> {
    fn add(&mut self, key: &str, value: impl FnOnce() -> String) -> Result<(), E> {
        if self.wanted.has(key, self.meter)? {
            let value = value();
            self.meter.step(value.len() as u64)?;
            self.document.fields.entry(key.to_owned()).or_default().push(value);
        }
        Ok(())
    }

    /// An object or a list is found under its key too, as Ruby shows it: `app:*` finds all that have an `app`.
    fn add_whole(&mut self, key: &str, value: &Value) -> Result<(), E> {
        if !value.is_object() && !value.is_array() {
            return self.add(key, || text(value));
        }
        let left = MAX_CONTENTS.saturating_sub(self.contents);
        let mut length = 0;
        self.add(key, || {
            let mut shown = String::new();
            show(value, &mut shown, left);
            length = shown.len();
            shown
        })?;
        self.contents += length;
        Ok(())
    }

    fn add_below(&mut self, path: &mut String, value: &Value, depth: usize) -> Result<(), E> {
        if depth > MAX_DEPTH {
            return Ok(());
        }
        match value {
            Value::Object(object) => {
                for (key, child) in object {
                    self.add_whole(key, child)?;
                    if depth == 0 && !child.is_object() && !child.is_array() {
                        continue;
                    }
                    let length = path.len();
                    if depth > 0 {
                        path.push('_');
                    }
                    path.push_str(key);
                    let added = self.add_below(path, child, depth + 1);
                    path.truncate(length);
                    added?;
                }
                Ok(())
            }
            Value::Array(list) => list.iter().try_for_each(|child| self.add_below(path, child, depth + 1)),
            scalar => self.add(path, || text(scalar)),
        }
    }
}

/// Returns a scalar's text as Ruby's `to_s` writes it.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Ruby's `inspect`, up to a length.
fn show(value: &Value, shown: &mut String, limit: usize) {
    if shown.len() >= limit {
        return;
    }
    match value {
        Value::Null => shown.push_str("nil"),
        Value::String(text) => shown.push_str(&format!("{text:?}")),
        Value::Array(items) => {
            shown.push('[');
            for (at, item) in items.iter().enumerate() {
                shown.push_str(if at > 0 { ", " } else { "" });
                show(item, shown, limit);
            }
            shown.push(']');
        }
        Value::Object(object) => {
            shown.push('{');
            for (at, (key, value)) in object.iter().enumerate() {
                shown.push_str(if at > 0 { ", " } else { "" });
                shown.push_str(&format!("{key:?}=>"));
                show(value, shown, limit);
            }
            shown.push('}');
        }
        scalar => shown.push_str(&scalar.to_string()),
    }
}

fn node_view(node: &Value) -> Map<String, Value> {
    let level = |key: &str| node.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
    let mut view = LEVELS.map(level).into_iter().fold(Map::new(), deep_merge::merge);
    let (mut recipes, mut roles) = (vec![], vec![]);
    let run_list = node.get("run_list").and_then(Value::as_array).map(|list| run_list(list));
    for item in run_list.iter().flatten() {
        if let Some(name) = item.strip_prefix("recipe[").and_then(|rest| rest.strip_suffix(']')) {
            recipes.push(Value::from(name));
        } else if let Some(name) = item.strip_prefix("role[").and_then(|rest| rest.strip_suffix(']')) {
            roles.push(Value::from(name));
        }
    }
    view.insert("recipe".to_owned(), Value::Array(recipes));
    view.insert("role".to_owned(), Value::Array(roles));
    // The levels already contain each policy's visible attributes.
    let is_rest = |key: &str| !LEVELS.contains(&key) && key != "policies";
    let rest = node.as_object().into_iter().flatten().filter(|(key, _)| is_rest(key));
    view.extend(rest.map(|(key, value)| (key.clone(), value.clone())));
    view.extend(run_list.map(|list| ("run_list".to_owned(), Value::from(list))));
    let policies = node.get("policies").and_then(Value::as_object);
    for (key, field) in [("group", "policy_group"), ("revision", "policy_revision")] {
        let each = policies.into_iter().flatten().filter_map(|(_, policy)| policy.get(key)?.as_str());
        let mut all: Vec<&str> = each.collect();
        all.sort_unstable();
        all.dedup();
        if !all.is_empty() {
            view.insert(field.to_owned(), Value::from(all));
        }
    }
    view
}

/// Returns the items of a run list. An item without brackets is a recipe.
fn run_list(list: &[Value]) -> Vec<String> {
    let bracketed = |item: &str| ["recipe[", "role["].iter().any(|kind| item.starts_with(kind) && item.ends_with(']'));
    let item = |item: &str| if bracketed(item) { item.to_owned() } else { format!("recipe[{item}]") };
    list.iter().filter_map(Value::as_str).map(item).collect()
}
