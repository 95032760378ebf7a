//! Layers as text and JSON.

use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use crate::table::Table;
use assemble::merge_layers;
use contract::dotted_path;
use node::attributes::WrittenValue;
use node::layers::{Layer, LayerAttributes, LayerTree};
use node::object::NodeObject;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use text::escape_line;

/// The version of JSON output; it grows when a key changes its meaning or goes away.
const VERSION: u32 = 1;

/// Digits of a digest that people see.
const DIGITS: usize = 12;

/// The column of numbers.
const NUMBERS: [usize; 1] = [0];

pub(super) fn list(node: &NodeObject, format: View, printer: Printer) -> anyhow::Result<Exit> {
    let layers = node.layers().all();
    if format == View::Json {
        let shown = layers.iter().map(|layer| {
            json!({
                "name": layer.name, "file": layer.file, "digest": layer.digest, "format": layer.format.as_str(),
                "policies": layer.policies,
            })
        });
        printer.json(&json!({ "version": VERSION, "layers": shown.collect::<Vec<_>>() }).to_string());
        return Ok(Exit::Done);
    }
    let mut table = Table::new().with_numbers(&NUMBERS);
    for (number, layer) in (1..).zip(layers) {
        let digest = layer.digest.get(..DIGITS).unwrap_or(&layer.digest);
        let file = layer.file.as_deref().unwrap_or("-");
        let policies = layer.policies.as_ref().map(|names| format!("for {}", names.join(", "))).unwrap_or_default();
        table.row(Tone::Plain, [number.to_string().as_str(), &layer.name, digest, file, &policies]);
    }
    table.print(printer);
    if layers.is_empty() {
        printer.note(Tone::Quiet, &format!("the node {} has no layers", node.name()));
    }
    Ok(Exit::Done)
}

/// A layer as an environment in JSON.
pub(super) fn one(layer: &Layer, printer: Printer) -> anyhow::Result<Exit> {
    let versions = layer.cookbook_versions.iter().map(|one| (one.cookbook.clone(), json!(one.constraint)));
    let mut shown = Map::new();
    let mut set = |key: &str, value: Value| drop(shown.insert(key.to_owned(), value));
    set("name", json!(layer.name));
    set("default_attributes", json!(layer.default_attributes.values()));
    set("override_attributes", json!(layer.override_attributes.values()));
    set("cookbook_versions", Value::Object(versions.collect()));
    if !layer.merge_strategies.is_empty() {
        set("merge_strategies", json!(layer.merge_strategies));
    }
    if let Some(policies) = &layer.policies {
        set("policies", json!(policies));
    }
    printer.json(&serde_json::to_string_pretty(&shown)?);
    Ok(Exit::Done)
}

/// What all layers come to, or those that a policy sees.
pub(super) fn merged(
    node: &NodeObject,
    policy: Option<&str>,
    with_origin: bool,
    printer: Printer,
) -> anyhow::Result<Exit> {
    let is_seen = |layer: &&Layer| policy.is_none() || layer.is_for(policy);
    let layers: Vec<&Layer> = node.layers().all().iter().filter(is_seen).collect();
    let levels = merge_layers(&layers, None)?;
    if !with_origin {
        let both = json!({
            "default_attributes": levels.default.values, "override_attributes": levels.r#override.values,
        });
        printer.json(&serde_json::to_string_pretty(&both)?);
        return Ok(Exit::Done);
    }
    for (level, attributes) in [("default", &levels.default), ("override", &levels.r#override)] {
        for line in with_origins(attributes) {
            printer.line(Tone::Plain, &escape_line(&format!("{level} {line}")));
        }
    }
    Ok(Exit::Done)
}

/// A line for each attribute: its value, and the layers that set it; of several, the last one wins.
fn with_origins(attributes: &LayerAttributes) -> Vec<String> {
    let mut by_path: BTreeMap<&[String], Vec<(String, bool)>> = BTreeMap::new();
    for write in &attributes.writes {
        let (layer, file) = (&write.origin.policy, write.origin.file.as_deref());
        let line = write.origin.line.map(|line| format!(":{line}")).unwrap_or_default();
        let place = file.map(|file| format!(" ({file}{line})")).unwrap_or_default();
        by_path.entry(&write.path).or_default().push((format!("layer {layer}{place}"), write.joins));
    }
    let line = |(path, mut layers): (&[String], Vec<(String, bool)>)| {
        let value = value_at(&attributes.values, path)?;
        // What later layers were joined with is a part of the value; what came before that was replaced.
        let first = layers.iter().rposition(|(_, joins)| !joins).unwrap_or(0);
        let places =
            |layers: &[(String, bool)]| layers.iter().map(|(layer, _)| layer.as_str()).collect::<Vec<_>>().join(", ");
        let parts = places(layers.get(first..)?);
        layers.truncate(first);
        let earlier = if layers.is_empty() { String::new() } else { format!("; before: {}", places(&layers)) };
        let last = parts;
        let is_whole = !matches!(WrittenValue::summary(value), WrittenValue::Object(members) if members > 0);
        is_whole.then(|| format!("{} = {value}  {last}{earlier}", dotted_path(path)))
    };
    by_path.into_iter().filter_map(line).collect()
}

fn value_at<'all>(all: &'all Map<String, Value>, path: &[String]) -> Option<&'all Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(all.get(first)?, |here, key| here.get(key))
}

/// Prints how a file differs from the layer that was read from it.
pub(super) fn difference(kept: &Layer, file: &Layer, printer: Printer) {
    let mut lines = Vec::new();
    let trees = [
        ("default", &kept.default_attributes, &file.default_attributes),
        ("override", &kept.override_attributes, &file.override_attributes),
    ];
    for (level, kept, file) in trees {
        let (kept, file) = (leaves(kept), leaves(file));
        for path in kept.keys().chain(file.keys().filter(|path| !kept.contains_key(*path))) {
            let (old, new) = (kept.get(path), file.get(path));
            if old != new {
                lines.extend(old.map(|old| format!("- {level} {path} = {old}")));
                lines.extend(new.map(|new| format!("+ {level} {path} = {new}")));
            }
        }
    }
    let rest = |layer: &Layer| {
        let versions = layer.cookbook_versions.iter().map(|one| format!("{} {}", one.cookbook, one.constraint));
        let strategies = Value::Object(layer.merge_strategies.clone());
        [
            format!("cookbook_versions = {}", versions.collect::<Vec<_>>().join(", ")),
            format!("merge_strategies = {strategies}"),
            format!("policies = {}", layer.policies.as_ref().map_or_else(|| "all".to_owned(), |all| all.join(", "))),
        ]
    };
    for (old, new) in rest(kept).into_iter().zip(rest(file)).filter(|(old, new)| old != new) {
        lines.extend([format!("- {old}"), format!("+ {new}")]);
    }
    if lines.is_empty() {
        printer.note(Tone::Quiet, &escape_line(&format!("{kept}: no difference")));
        return;
    }
    printer.line(Tone::Plain, &escape_line(&kept.to_string()));
    lines.iter().for_each(|line| printer.line(Tone::Plain, &escape_line(line)));
}

/// The values of a tree that are not objects, by their names with dots.
fn leaves(tree: &LayerTree) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    tree.walk(&mut |path, value, _| {
        if !matches!(value, Value::Object(members) if !members.is_empty()) {
            found.insert(dotted_path(path), value.clone());
        }
        true
    });
    found
}
