//! An object as flat fields.

use serde_json::{Map, Value};

use crate::deep_merge;

/// The most fields of one object that are looked at.
const MAX_FIELDS: usize = 1_000_000;

/// The most bytes of objects and lists as text: each stands once more in all that it is part of.
const MAX_CONTENTS: usize = 1 << 26;

/// An object's fields and their values as text.
#[derive(Debug, Clone, Default)]
pub struct Document {
    fields: Vec<(String, String)>,
    contents: usize,
}

impl Document {
    /// The fields of an object of an index. Of a node's levels the merged view counts, and its run list's recipes and
    /// roles are fields of their own.
    pub fn of(index: &str, name: &str, object: &Value) -> Self {
        let mut document = Self::default();
        match index {
            "node" => document.add_below(None, &Value::Object(node_view(object))),
            _ => document.add_below(None, object),
        }
        document.add("X_CHEF_id_CHEF_X", name.to_owned());
        document
    }

    /// The values of a field.
    pub(super) fn values(&self, wanted: impl Fn(&str) -> bool) -> Vec<&str> {
        let mut values: Vec<&str> = vec![];
        for (_, value) in self.fields.iter().filter(|(key, _)| wanted(key)) {
            if !values.contains(&value.as_str()) {
                values.push(value);
            }
        }
        values
    }

    fn add(&mut self, key: &str, value: String) {
        if self.fields.len() < MAX_FIELDS {
            self.fields.push((key.to_owned(), value));
        }
    }

    /// An object or a list is found under its key too, as Ruby shows it: `app:*` finds all that have an `app`.
    fn add_whole(&mut self, key: &str, value: &Value) {
        if !value.is_object() && !value.is_array() {
            self.add(key, text(value));
        } else if self.contents < MAX_CONTENTS {
            let shown = shown(value);
            self.contents += shown.len();
            self.add(key, shown);
        }
    }

    fn add_below(&mut self, path: Option<&str>, value: &Value) {
        match value {
            Value::Object(object) => {
                for (key, child) in object {
                    self.add_whole(key, child);
                    match path {
                        Some(path) => self.add_below(Some(&format!("{path}_{key}")), child),
                        None if child.is_object() || child.is_array() => self.add_below(Some(key), child),
                        None => {}
                    }
                }
            }
            Value::Array(list) => list.iter().for_each(|child| self.add_below(path, child)),
            scalar => self.add(path.unwrap_or("text"), text(scalar)),
        }
    }
}

/// Ruby's `to_s`.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Ruby's `inspect`.
fn shown(value: &Value) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        Value::Null => "nil".to_owned(),
        Value::String(text) => format!("{text:?}"),
        Value::Array(items) => format!("[{}]", list(items.iter().map(shown).collect())),
        Value::Object(object) => {
            format!("{{{}}}", list(object.iter().map(|(key, value)| format!("{key:?}=>{}", shown(value))).collect()))
        }
        scalar => scalar.to_string(),
    }
}

fn node_view(node: &Value) -> Map<String, Value> {
    let level = |key: &str| node.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
    let levels = ["default", "normal", "override", "automatic"].map(level);
    let mut view = levels.into_iter().fold(Map::new(), deep_merge::merge);
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
    let levels = ["default", "normal", "override", "automatic"];
    let rest = node.as_object().into_iter().flatten().filter(|(key, _)| !levels.contains(&key.as_str()));
    view.extend(rest.map(|(key, value)| (key.clone(), value.clone())));
    view.extend(run_list.map(|list| ("run_list".to_owned(), Value::from(list))));
    view
}

/// A run list's items: what has no brackets is a recipe.
fn run_list(list: &[Value]) -> Vec<String> {
    let bracketed = |item: &str| ["recipe[", "role["].iter().any(|kind| item.starts_with(kind) && item.ends_with(']'));
    let item = |item: &str| if bracketed(item) { item.to_owned() } else { format!("recipe[{item}]") };
    list.iter().filter_map(Value::as_str).map(item).collect()
}
