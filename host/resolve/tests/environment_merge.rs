//! Ordered environment files, combined as Heat does it.

#![cfg(test)]

#[path = "../../node/tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;

use resolve::layers::{CombineError, Kind, ParameterFile, Strategies, Strategy, combine};
use serde_json::{Map, Value, json};
use support::{run_vectors, same};

fn object(value: Option<&Value>) -> Map<String, Value> {
    value.and_then(Value::as_object).cloned().unwrap_or_default()
}

/// A file of the vectors.
fn parameter_file(name: &str, file: &Value) -> ParameterFile {
    let mut strategies = Strategies::default();
    for (key, word) in object(file.get("parameter_merge_strategies")) {
        let strategy = Strategy::of_word(word.as_str().unwrap_or_default());
        match key.as_str() {
            "default" => strategies.default = Some(strategy),
            _ => drop(strategies.named.insert(vec![key], strategy)),
        }
    }
    ParameterFile {
        name: name.to_owned(),
        overrides: object(file.get("parameters")),
        defaults: object(file.get("parameter_defaults")),
        registry: object(file.get("resource_registry")),
        strategies,
    }
}

fn check(case: &Value) -> Result<(), String> {
    let names = case["environment_files"].as_array().cloned().unwrap_or_default();
    let initial = parameter_file("", &case["initial"]);
    if initial != ParameterFile::default() {
        return Err("initial values are not supported".to_owned());
    }
    let names = names.iter().map(|name| name.as_str().ok_or("a name is not text"));
    let files = names.map(|name| name.map(|name| parameter_file(name, &case["files"][name])));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    let kinds = object(case.get("param_types")).into_iter().map(|(name, kind)| {
        let kind = kind_of(kind.as_str().unwrap_or_default()).ok_or("an unknown type")?;
        Ok::<_, String>((name, kind))
    });
    let kinds = kinds.collect::<Result<BTreeMap<_, _>, _>>()?;
    match (combine(&files, &kinds), case.get("raises")) {
        (Ok(combined), None) => {
            same("parameters", &Value::Object(combined.overrides), &case["result"]["parameters"])?;
            same("parameter_defaults", &Value::Object(combined.defaults), &case["result"]["parameter_defaults"])?;
            same("resource_registry", &Value::Object(combined.registry), &case["result"]["resource_registry"])
        }
        (Err(error), Some(class)) => {
            same("class", &json!(error.heat_class()), class)?;
            match (&error, case.get("detail")) {
                (CombineError::ConflictingStrategies { path, strategy, file, .. }, Some(detail)) => {
                    let found = json!({ "strategy": strategy.as_str(), "param": path.join("."), "env_file": file });
                    same("detail", &found, detail)
                }
                (_, None) => Ok(()),
                (error, Some(detail)) => Err(format!("found {error:?}, expected {detail}")),
            }
        }
        (found, _) => Err(format!("found {found:?}")),
    }
}

/// The kind that Heat calls by this name.
fn kind_of(heat_type: &str) -> Option<Kind> {
    Some(match heat_type {
        "String" => Kind::Text,
        "CommaDelimitedList" => Kind::List,
        "Json" => Kind::Object,
        "Number" => Kind::Number,
        "Boolean" => Kind::Boolean,
        _ => return None,
    })
}

#[test]
fn heat_spec() {
    run_vectors("heat_environment_merge.json", "spec", check);
}

#[test]
fn heat_fuzz() {
    run_vectors("heat_environment_merge.json", "fuzz", check);
}
