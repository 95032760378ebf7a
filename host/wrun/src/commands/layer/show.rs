//! Shows layers as text and JSON.

use super::VERSION;
use super::sources::{LayerSource, SourcedLayer, Sources};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use crate::table::Table;
use node::layers::Layer;
use serde_json::{Map, Value, json};
use text::{counted, escape_line};

/// Number of digits of a digest that are shown to people.
const DIGITS: usize = 12;

/// The numeric column of the table.
const NUMBERS: [usize; 1] = [0];

/// Lists the layers of a node's next run. An error in a group's files does not hide other layers.
pub(super) fn list(sources: &Sources, format: View, printer: Printer) -> anyhow::Result<Exit> {
    let groups = sources.groups();
    let (mut layers, mut wrong) = (vec![], 0_usize);
    for group in &groups {
        match sources.of_group(group) {
            Ok(found) => layers.extend(found),
            Err(error) => {
                wrong += 1;
                printer.note(Tone::Warning, &escape_line(&format!("group {group}: {error:#}")));
            }
        }
    }
    layers.extend(sources.of_node());
    if format == View::Json {
        let all = layers.iter().map(json_of);
        printer.json(&json!({ "version": VERSION, "layers": all.collect::<Vec<_>>() }).to_string());
    } else {
        table(&layers).print(printer);
        if layers.is_empty() && wrong == 0 {
            printer.note(Tone::Quiet, &format!("the node {} has no layers", sources.node.name()));
        }
    }
    sources.note_unknown(printer);
    if wrong > 0 {
        anyhow::bail!("the layers of {} cannot be used", counted(wrong, "group"));
    }
    Ok(Exit::Done)
}

/// Returns a table with a row for each layer. Only the node's own layers have numbers, since commands change only those.
fn table(layers: &[SourcedLayer<'_>]) -> Table {
    let mut table = Table::new().with_numbers(&NUMBERS);
    let mut number = 0_usize;
    for SourcedLayer { from, layer } in layers {
        let (shown_number, from) = match from {
            LayerSource::Group(_) => ("-".to_owned(), from.to_string()),
            LayerSource::Node => {
                number += 1;
                (number.to_string(), String::new())
            }
        };
        let digest = layer.digest.get(..DIGITS).unwrap_or(&layer.digest);
        let file = layer.file.as_deref().unwrap_or("-");
        let policies = layer.policies.as_ref().map(|names| format!("for {}", names.join(", ")));
        let about: Vec<_> = [Some(from).filter(|from| !from.is_empty()), policies].into_iter().flatten().collect();
        table.row(Tone::Plain, [shown_number.as_str(), &layer.name, digest, file, &about.join(", ")]);
    }
    table
}

fn json_of(one: &SourcedLayer<'_>) -> Value {
    let SourcedLayer { from, layer } = one;
    json!({
        "from": from.to_string(), "name": layer.name, "file": layer.file, "digest": layer.digest,
        "format": layer.format.as_str(), "policies": layer.policies,
    })
}

/// Prints a layer as an environment in JSON.
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
