//! Attributes of included policies, and constraints, against what Chef's own code made of them.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use policyfile::attributes::{Attributes, conflicts, merged};
use policyfile::constraint::{Constraint, version};
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

/// Constraints of Policyfiles and locks know forms that those of metadata do not: `!=`, `~`, versions of one number, and a text that is
/// empty. For these Chef's errors say nothing about them; everything else is as Chef has it.
#[test]
fn version_constraints() {
    let vectors = vectors("version_constraints.json");
    let cases = vectors["cases"].as_array().unwrap();
    let (mut failed, mut other_forms) = (vec![], 0);
    for case in cases {
        let text = case["constraint"].as_str().unwrap_or_default();
        let constraint = Constraint::parse(text);
        let found = constraint.as_ref().ok().zip(version(case["version"].as_str().unwrap()).ok());
        let found = found.map(|(constraint, version)| constraint.includes(version));
        let expected = case["include"].as_bool().filter(|_| case.get("raises").is_none());
        let number = text.trim_start_matches(|one: char| !one.is_ascii_digit());
        let is_other_form = text.starts_with("!=") || text.is_empty() || (!number.is_empty() && !number.contains('.'));
        match (found == expected, is_other_form && expected.is_none()) {
            (true, _) => {}
            (false, true) => other_forms += 1,
            (false, false) => failed.push(format!("{case}: {found:?}")),
        }
    }
    println!("version_constraints.json: {} passed, {} failed", cases.len() - failed.len(), failed.len());
    assert!(failed.is_empty() && other_forms < cases.len() / 4, "{failed:#?}");
}
