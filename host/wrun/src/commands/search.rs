//! `wrun search`: finds nodes, roles, environments, and data bag items by a query.

use super::objects::ObjectsPlace;
use crate::arguments::SearchArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use anyhow::bail;
use assemble::{LocalNodes, NodeStore, SearchIndex, attribute_of, attribute_path, indexes, node_summary, search};
use serde_json::{Map, Value, json};
use state::StateDirectory;
use std::time::SystemTime;
use text::{escape, escape_line};

/// The version of the JSON output. It grows when the meaning of a key changes or a key is removed.
const VERSION: u32 = 1;

/// The index that is searched if the query names no index.
const USUAL_INDEX: &str = "node";

pub(crate) fn run(arguments: &SearchArguments, printer: &Printer) -> anyhow::Result<Exit> {
    let printer = *printer;
    let (index, query) = match &arguments.query {
        Some(query) => (arguments.index.as_str(), query.as_str()),
        None => (USUAL_INDEX, arguments.index.as_str()),
    };
    let place = ObjectsPlace::of(arguments.config.as_deref(), arguments.layer())?;
    let run = &place.settings.run;
    let state = StateDirectory::open_existing(&run.state_dir)?;
    let nodes = state.map(|state| LocalNodes {
        state,
        filters: &run.saved_attributes,
        command: "wrun search",
        now: SystemTime::now(),
    });
    let nodes = nodes.as_ref().map(|nodes| nodes as &dyn NodeStore);
    if arguments.query.is_none() && indexes(&place.store()).iter().any(|known| known == query) {
        bail!("say what is to be found in the index {query}: `wrun search {query} '*:*'` finds everything");
    }
    let found = search(&SearchIndex { nodes, objects: &place.store() }, index, query)?;
    let shown = found.iter().map(|(name, object)| (name, shown(arguments, index, object)));
    if arguments.format == View::Json {
        let rows = shown.map(|(name, shown)| match shown {
            None => json!(name),
            Some(value) => json!({ "name": name, "value": value }),
        });
        let rows: Vec<Value> = rows.collect();
        let all = json!({ "version": VERSION, "index": index, "query": query, "total": found.len(), "rows": rows });
        printer.json(&serde_json::to_string_pretty(&all)?);
        return Ok(Exit::Done);
    }
    printer.note(Tone::Quiet, &format!("{} found", found.len()));
    for (name, shown) in shown {
        match shown {
            None => printer.line(Tone::Plain, &escape_line(name)),
            Some(Value::Object(fields)) if is_in_fields(arguments, index) => {
                printer.line(Tone::Plain, &format!("{}:", escape_line(name)));
                for (field, value) in &fields {
                    let value = match value {
                        Value::String(text) => escape_line(text),
                        value => escape_line(&value.to_string()),
                    };
                    printer.line(Tone::Plain, &format!("  {}: {value}", escape_line(field)));
                }
                printer.line(Tone::Plain, "");
            }
            Some(value) => printer.line(Tone::Plain, &escape(&serde_json::to_string_pretty(&value)?)),
        }
    }
    Ok(Exit::Done)
}

/// Returns whether objects are shown as lines of fields rather than JSON.
fn is_in_fields(arguments: &SearchArguments, index: &str) -> bool {
    !arguments.attributes.is_empty() || index == USUAL_INDEX
}

/// Returns the displayed part of an object, or `None` if only its name is shown.
fn shown(arguments: &SearchArguments, index: &str, object: &Value) -> Option<Value> {
    if arguments.id_only {
        return None;
    }
    if arguments.run_list {
        return Some(json!({ "run_list": object.get("run_list").cloned().unwrap_or_default() }));
    }
    if !arguments.attributes.is_empty() {
        let value = |name: &String| {
            let value = attribute_of(index, object, &attribute_path(name));
            (name.clone(), value.unwrap_or_default())
        };
        return Some(Value::Object(arguments.attributes.iter().map(value).collect::<Map<_, _>>()));
    }
    match (index, arguments.format) {
        (USUAL_INDEX, View::Doc) => Some(node_summary(object)),
        _ => Some(object.clone()),
    }
}
