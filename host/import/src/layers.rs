//! Converts environments to layers for the policy groups with the same names.

use node::layers::LayerFormat;
use resolve::environment::Environment;
use resolve::layers::{LayerSource, read_layer};
use serde_json::{Map, Value, json};

use crate::repository::Repository;
use crate::{NewFile, Note};

/// Returns the layer of each environment, with its name. `_default` becomes a layer only if it has content.
pub(crate) fn layers(repository: &Repository, notes: &mut Vec<Note>) -> Vec<(String, NewFile)> {
    let mut found = vec![];
    for (name, (place, value)) in &repository.environments {
        let environment = match Environment::from_json(name, value) {
            Ok(environment) => environment,
            Err(error) => {
                notes.push(Note::problem(place, format!("the environment was not taken: {error}")));
                continue;
            }
        };
        let is_empty = environment.default_attributes.is_empty()
            && environment.override_attributes.is_empty()
            && environment.cookbook_versions.is_empty();
        if is_empty && name == node::object::DEFAULT_ENVIRONMENT {
            continue;
        }
        let mut layer = Map::from_iter([("name".to_owned(), json!(name))]);
        for key in ["description", "default_attributes", "override_attributes"] {
            if let Some(value) = value.get(key).filter(|value| is_something(value)) {
                layer.insert(key.to_owned(), value.clone());
            }
        }
        if !environment.cookbook_versions.is_empty() {
            layer.insert("cookbook_versions".to_owned(), json!(environment.cookbook_versions));
        }
        let text = format!("{}\n", serde_json::to_string_pretty(&Value::Object(layer)).unwrap_or_default());
        let source = LayerSource { file: place, digest: "", stem: name };
        match read_layer(&source, LayerFormat::Json, &text) {
            Ok(_) => found.push((name.clone(), NewFile { path: format!("layers/{name}.json").into(), text })),
            Err(error) => notes.push(Note::problem(place, format!("the environment was not taken: {}", error.reason))),
        }
    }
    found
}

fn is_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    }
}
