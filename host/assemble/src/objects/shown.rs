//! Selects parts of objects to show, and creates new objects.

use super::{ObjectKind, ObjectStore, ObjectsError, Shelf};
use node::deep_merge;
use node::run_list::RunListEdit;
use resolve::objects::{change_run_list, empty_object};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The levels of a saved node, the lowest first.
const LEVELS: [&str; 4] = ["default", "normal", "override", "automatic"];

/// Facts by which people know a node.
const KNOWN_BY: [&str; 4] = ["fqdn", "ipaddress", "platform", "platform_version"];

/// Returns a new role or environment. `run_list`: that of a role.
///
/// # Errors
/// An item of the run list is invalid.
pub fn new_object(
    kind: ObjectKind,
    name: &str,
    description: &str,
    run_list: Vec<String>,
) -> Result<Value, ObjectsError> {
    let mut object = empty_object(kind, name, description);
    if !run_list.is_empty() {
        change_run_list(&mut object, None, &RunListEdit::Set(run_list))?;
    }
    Ok(object)
}

/// Returns a data bag item with nothing but its name.
pub fn empty_item(name: &str) -> Map<String, Value> {
    Map::from_iter([("id".to_owned(), json!(name))])
}

/// Returns the version constraints of environments: for each cookbook, the constraint of each environment that names it.
///
/// # Errors
/// The environment does not exist, or cannot be read.
pub fn cookbook_versions(
    store: &dyn ObjectStore,
    environments: &[String],
) -> Result<BTreeMap<String, Vec<Option<String>>>, ObjectsError> {
    let mut all: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
    for (at, name) in environments.iter().enumerate() {
        let kept = store.object(&Shelf::Environments, name)?;
        for (cookbook, constraint) in
            kept.value.get("cookbook_versions").and_then(Value::as_object).into_iter().flatten()
        {
            let row = all.entry(cookbook.clone()).or_insert_with(|| vec![None; environments.len()]);
            if let Some(cell) = row.get_mut(at) {
                *cell = constraint.as_str().map(str::to_owned);
            }
        }
    }
    Ok(all)
}

/// Returns the value at a path of an object. For a node it is the merged attribute.
pub fn attribute_of(index: &str, object: &Value, path: &[String]) -> Option<Value> {
    let at = |whole: &Value| {
        path.iter()
            .try_fold(whole, |here, key| match here {
                Value::Array(all) => all.get(key.parse::<usize>().ok()?),
                here => here.get(key),
            })
            .cloned()
    };
    if index == "node" {
        let level = |key: &str| object.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
        let merged = LEVELS.map(level).into_iter().fold(Map::new(), deep_merge::hash_only_merge);
        return at(&Value::Object(merged)).or_else(|| at(object));
    }
    at(object)
}

/// Returns a summary of a node: environment or policies, name, address, run list, platform and tags.
pub fn node_summary(node: &Value) -> Value {
    let mut summary = Map::new();
    let mut add = |key: &str, value: Option<Value>| {
        let is_empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        if let Some(value) = value.filter(|value| !is_empty(value)) {
            let value = match value.as_array().map(|all| all.iter().map(Value::as_str).collect::<Option<Vec<_>>>()) {
                Some(Some(texts)) => Value::from(texts.join(", ")),
                _ => value,
            };
            summary.insert(key.to_owned(), value);
        }
    };
    match node.get("policy_name") {
        Some(policies) => {
            add("policies", Some(policies.clone()));
            add("policy_group", node.get("policy_group").cloned());
        }
        None => add("environment", node.get("chef_environment").cloned()),
    }
    add("run_list", node.get("run_list").cloned());
    for key in KNOWN_BY {
        add(key, node.get("automatic").and_then(|facts| facts.get(key)).cloned());
    }
    add("tags", node.get("normal").and_then(|normal| normal.get("tags")).cloned());
    Value::Object(summary)
}
