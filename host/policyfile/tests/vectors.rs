//! Attributes of included policies against what Chef's own code made of them.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use policyfile::attributes::{Attributes, conflicts, merged};
use serde_json::{Map, Value};

/// One file of vectors; a missing one is a failure.
fn vectors(file: &str) -> Value {
    let folder = std::env::var("WRUN_VECTORS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors").to_owned());
    let path = std::path::Path::new(&folder).join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn include_attribute_conflicts() {
    let vectors = vectors("include_attribute_conflicts.json");
    let cases = vectors["cases"].as_array().unwrap();
    let failed: Vec<String> =
        cases.iter().filter_map(|case| problem(case).map(|what| format!("{case}: {what}"))).collect();
    println!("include_attribute_conflicts.json: {} passed, {} failed", cases.len() - failed.len(), failed.len());
    assert!(failed.is_empty() && !cases.is_empty(), "{failed:#?}");
}

/// How our result differs from the recorded one. Where Chef itself crashes, there must be a conflict.
fn problem(case: &Value) -> Option<String> {
    let sources: Vec<(&str, &Map<String, Value>)> = case["sources"].as_array().unwrap().iter().map(source).collect();
    let sources: Vec<Attributes<'_>> =
        sources.into_iter().map(|(source, values)| Attributes { source, values }).collect();
    let found = conflicts(&sources);
    if !case["crashes"].is_null() {
        return found.is_empty().then(|| "no conflict".to_owned());
    }
    if case["conflict"].is_null() {
        // As text: the order of keys counts.
        let (got, expect) = (Value::Object(merged(&sources)).to_string(), case["merged"].to_string());
        let same = found.is_empty() && got == expect;
        return (!same).then(|| format!("{found:?}, {got}"));
    }
    let expect = &case["conflict"];
    let by = |index: usize| sources[index].source;
    let is_it = found.iter().any(|conflict| {
        let (first, second) = conflict.sources;
        expect["path"] == conflict.shown_path() && expect["provided_by"] == Value::from(vec![by(first), by(second)])
    });
    (!is_it).then(|| format!("{found:?}"))
}

fn source(pair: &Value) -> (&str, &Map<String, Value>) {
    (pair[0].as_str().unwrap(), pair[1].as_object().unwrap())
}
