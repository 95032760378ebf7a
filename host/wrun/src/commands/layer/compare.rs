//! `wrun layer diff`: compares layers with the current content of their files.

use super::{VERSION, read, stored};
use crate::arguments::StoredNode;
use crate::commands::store::Place;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use anyhow::Context as _;
use contract::dotted_path;
use node::layers::{Layer, LayerTree};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use text::{counted, error_chain, escape_line};

/// A difference between a layer and its file.
struct Change {
    /// The level of an attribute. `None`: the difference is not in an attribute.
    level: Option<&'static str>,
    /// The keys of the attribute, or the top-level key of the file.
    path: Vec<String>,
    before: Option<Value>,
    after: Option<Value>,
}

pub(super) fn run(node: &StoredNode, name: Option<&str>, format: View, printer: Printer) -> anyhow::Result<Exit> {
    let target = Place::of(node)?;
    let kept = stored(node)?;
    let all: Vec<&Layer> = match name {
        Some(name) => vec![kept.layers().get(name)?],
        None => kept.layers().all().iter().filter(|layer| layer.file.is_some()).collect(),
    };
    let (mut unread, mut documents) = (0_usize, vec![]);
    for layer in all {
        let changes = of_file(&target, layer).map(|file| changes(layer, &file));
        match (changes, format) {
            (Err(error), _) if name.is_some() => return Err(error),
            (changes, View::Json) => {
                unread += usize::from(changes.is_err());
                documents.push(json_of(layer, &changes));
            }
            (Ok(changes), View::Doc) => print(layer, &changes, printer),
            (Err(error), View::Doc) => {
                unread += 1;
                printer.note(Tone::Warning, &escape_line(&format!("{error:#}")));
            }
        }
    }
    if format == View::Json {
        printer.json(&json!({ "version": VERSION, "layers": documents }).to_string());
    }
    if unread > 0 {
        anyhow::bail!("{} could not be compared", counted(unread, "layer"));
    }
    Ok(Exit::Done)
}

/// Reads the current content of a layer's file.
fn of_file(target: &Place, layer: &Layer) -> anyhow::Result<Layer> {
    let file = layer.file.as_deref().with_context(|| format!("layer {} does not come from a file", layer.name))?;
    read(target, Path::new(file))
}

/// Returns the differences between a layer and its current file.
fn changes(kept: &Layer, file: &Layer) -> Vec<Change> {
    let mut found = Vec::new();
    let trees = [
        ("default", &kept.default_attributes, &file.default_attributes),
        ("override", &kept.override_attributes, &file.override_attributes),
    ];
    for (level, kept, file) in trees {
        let (kept, file) = (leaves(kept), leaves(file));
        for path in kept.keys().chain(file.keys().filter(|path| !kept.contains_key(*path))) {
            let (before, after) = (kept.get(path).cloned(), file.get(path).cloned());
            if before != after {
                found.push(Change { level: Some(level), path: path.clone(), before, after });
            }
        }
    }
    let rest = |layer: &Layer| {
        let versions = layer.cookbook_versions.iter().map(|one| (one.cookbook.clone(), json!(one.constraint)));
        [
            ("cookbook_versions", Value::Object(versions.collect())),
            ("merge_strategies", Value::Object(layer.merge_strategies.clone())),
            ("policies", json!(layer.policies)),
        ]
    };
    for ((key, before), (_, after)) in rest(kept).into_iter().zip(rest(file)).filter(|(before, after)| before != after)
    {
        found.push(Change { level: None, path: vec![key.to_owned()], before: Some(before), after: Some(after) });
    }
    found
}

/// Returns all values of a tree that are not objects, by their paths.
fn leaves(tree: &LayerTree) -> BTreeMap<Vec<String>, Value> {
    let mut found = BTreeMap::new();
    tree.walk(&mut |path, value, _| {
        if !matches!(value, Value::Object(members) if !members.is_empty()) {
            found.insert(path.to_vec(), value.clone());
        }
        true
    });
    found
}

fn print(layer: &Layer, changes: &[Change], printer: Printer) {
    if changes.is_empty() {
        printer.note(Tone::Quiet, &escape_line(&format!("{layer}: no difference")));
        return;
    }
    printer.line(Tone::Plain, &escape_line(&layer.to_string()));
    for change in changes {
        let level = change.level.map(|level| format!("{level} ")).unwrap_or_default();
        for (sign, value) in [('-', &change.before), ('+', &change.after)] {
            let Some(value) = value else { continue };
            let shown = match (change.level, value) {
                (None, Value::Null) => "all".to_owned(),
                (_, value) => value.to_string(),
            };
            printer.line(Tone::Plain, &escape_line(&format!("{sign} {level}{} = {shown}", dotted_path(&change.path))));
        }
    }
}

fn json_of(layer: &Layer, changes: &anyhow::Result<Vec<Change>>) -> Value {
    let one = |change: &Change| {
        let mut shown = json!({ "level": change.level, "path": change.path });
        if let Some(shown) = shown.as_object_mut() {
            let sides = [("before", &change.before), ("after", &change.after)];
            shown.extend(sides.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value.clone()?))));
        }
        shown
    };
    match changes {
        Ok(changes) => json!({
            "name": layer.name, "file": layer.file, "changes": changes.iter().map(one).collect::<Vec<_>>(),
        }),
        Err(error) => json!({ "name": layer.name, "file": layer.file, "error": error_chain(error.as_ref()) }),
    }
}
