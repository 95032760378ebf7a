//! Sequences of attribute operations, as Chef answers them.

#![cfg(test)]

#[path = "support/attributes.rs"]
mod calls;
mod support;

use node::attributes::{AttributeError, Attributes, Level};
use node::origin::Origin;
use serde_json::{Map, Value, json};
use support::{run_vectors, same, same_order};

#[test]
fn attributes_fuzz() {
    run_vectors("attributes_fuzz.json", "cases", check);
}

fn check(case: &Value) -> Result<(), String> {
    let mut attributes = Attributes::new();
    for (number, operation) in case["ops"].as_array().ok_or("no ops")?.iter().enumerate() {
        let what = format!("operation {number} {operation}");
        match (apply(&mut attributes, operation), operation.get("raises")) {
            (Ok(found), None) => operation.get("returns").map_or(Ok(()), |expected| same(&what, &found, expected))?,
            (Err(error), Some(class)) => same(&what, &json!(errors::chef::class(&error.kind())), class)?,
            (Ok(found), Some(class)) => return Err(format!("{what}: found {found}, expected {class}")),
            (Err(error), None) => return Err(format!("{what}: {error}")),
        }
    }
    let levels: Map<String, Value> = Level::ALL
        .into_iter()
        .map(|level| (level.as_str().to_owned(), attributes.level(level).into_owned()))
        .filter(|(_, tree)| *tree != json!({}))
        .collect();
    same("levels", &Value::Object(levels), &case["levels"])?;
    let none: [&str; 0] = [];
    let combined_default = attributes.combined_default(&none).unwrap_or_default();
    same_order("combined_default", &combined_default, &case["combined_default"])?;
    let combined_override = attributes.combined_override(&none).unwrap_or_default();
    same_order("combined_override", &combined_override, &case["combined_override"])?;
    same_order("merged", &Value::Object(attributes.merged()), &case["merged"])?;
    for read in case["reads"].as_array().ok_or("no reads")? {
        let path = path_of(read);
        same(&format!("exist? {path:?}"), &json!(calls::exist(&attributes, &path)), &read["exist?"])?;
        same_order(&format!("read {path:?}"), &attributes.read(&path).unwrap_or_default(), &read["read"])?;
        same(&format!("debug_value {path:?}"), &calls::debug_value(&attributes, &path), &read["debug_value"])?;
    }
    Ok(())
}

fn path_of(operation: &Value) -> Vec<String> {
    let steps = operation["path"].as_array().map(Vec::as_slice).unwrap_or_default();
    steps.iter().map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned)).collect()
}

/// Applies one operation of the file. Levels that are closed to guests are written as the host writes them.
fn apply(attributes: &mut Attributes, operation: &Value) -> Result<Value, AttributeError> {
    let origin = Origin::policy("fuzz");
    let path = path_of(operation);
    let value = operation["value"].clone();
    let level = operation["level"].as_str().and_then(Level::from_name).unwrap_or(Level::Automatic);
    let is_host = !level.is_guest_writable();
    let nothing = |()| Value::Null;
    match operation["op"].as_str().unwrap_or_default() {
        "set_level" => attributes.set_level(level, value.as_object().unwrap().clone(), &origin).map(nothing),
        "write" if is_host => attributes.host_write(level, &path, value, &origin).map(nothing),
        "write" => attributes.write(level, &path, value, &origin).map(nothing),
        "write!" if is_host => calls::host_write_strict(attributes, level, &path, value, &origin).map(nothing),
        "write!" => attributes.write_strict(level, &path, value, &origin).map(nothing),
        "unlink" if is_host => attributes.host_unlink(level, &path, &origin).map(Option::unwrap_or_default),
        "unlink" => attributes.unlink(level, &path, &origin).map(Option::unwrap_or_default),
        "unlink!" if is_host => attributes.host_unlink_strict(level, &path, &origin).map(Option::unwrap_or_default),
        "unlink!" => attributes.unlink_strict(level, &path, &origin).map(Option::unwrap_or_default),
        "default!" => attributes.write(Level::Default, &path, value, &origin).map(nothing),
        "normal!" => attributes.write(Level::Normal, &path, value, &origin).map(nothing),
        "override!" => attributes.write(Level::Override, &path, value, &origin).map(nothing),
        "force_default!" => attributes.force_default(&path, value, &origin).map(nothing),
        "force_override!" => attributes.force_override(&path, value, &origin).map(nothing),
        "default_unless" => attributes.write_unless(Level::Default, &path, value, &origin).map(Value::Bool),
        "normal_unless" => attributes.write_unless(Level::Normal, &path, value, &origin).map(Value::Bool),
        "override_unless" => attributes.write_unless(Level::Override, &path, value, &origin).map(Value::Bool),
        "rm" => attributes.remove(&path, &origin).map(Option::unwrap_or_default),
        "rm_default" => attributes.remove_default(&path, &origin).map(Option::unwrap_or_default),
        "rm_normal" => attributes.remove_normal(&path, &origin).map(Option::unwrap_or_default),
        "rm_override" => attributes.remove_override(&path, &origin).map(Option::unwrap_or_default),
        "read" => Ok(attributes.read(&path).unwrap_or_default()),
        "read!" => calls::read_strict(attributes, &path),
        "exist?" => Ok(json!(calls::exist(attributes, &path))),
        other => panic!("unknown operation {other}"),
    }
}
