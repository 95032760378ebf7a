//! Identifiers and revisions against those that Chef's own code computed.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "vector tests say how many rows passed")]

use std::collections::BTreeMap;

use artifact::lock::{AttributeKey, AttributeValue, CookbookIdentifier, FileChecksum, RevisionParts};
use serde_json::Value;

/// One file of vectors; a missing one is a failure.
fn vectors(file: &str) -> Value {
    let folder = std::env::var("WRUN_VECTORS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors").to_owned());
    let path = std::path::Path::new(&folder).join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// Runs all checks of a file and says how many passed.
fn report(file: &str, results: Vec<Result<(), String>>) {
    let failed: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    println!("{file}: {} passed, {} failed", results.len() - failed.len(), failed.len());
    assert!(failed.is_empty() && !results.is_empty(), "{failed:#?}");
}

fn same(what: &str, got: &str, expect: &Value) -> Result<(), String> {
    let expect = expect.as_str().unwrap();
    if got == expect { Ok(()) } else { Err(format!("{what}: {got}\nis not {expect}")) }
}

#[test]
fn cookbook_identifiers() {
    let vectors = vectors("cookbook_identifiers.json");
    let mut results = vec![];
    for fixture in vectors["fixtures"].as_array().unwrap() {
        let files = fixture["files_md5"].as_array().unwrap().iter();
        let mut files: Vec<FileChecksum> = files
            .map(|file| FileChecksum { path: file[0].as_str().unwrap().into(), md5: file[1].as_str().unwrap().into() })
            .collect();
        // The order of the list must not matter.
        files.reverse();
        let identifier = CookbookIdentifier::of(&files);
        let name = fixture["name"].as_str().unwrap();
        results.push(same(name, identifier.as_str(), &fixture["identifier"]));
        results.push(same(name, &identifier.dotted_decimal(), &fixture["dotted_decimal_identifier"]));
    }
    for row in vectors["dotted_decimal"].as_array().unwrap() {
        let text = row["identifier"].as_str().unwrap();
        results.push(same(text, &CookbookIdentifier::parse(text).unwrap().dotted_decimal(), &row["dotted"]));
    }
    report("cookbook_identifiers.json", results);
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

#[test]
fn policy_revision_ids() {
    let vectors = vectors("policy_revision_id.json");
    let mut results = vec![];
    for case in vectors["cases"].as_array().unwrap() {
        let run_list = texts(&case["run_list"]);
        let named = case["named_run_lists"].as_object().unwrap().iter();
        let named_run_lists: Vec<(String, Vec<String>)> =
            named.map(|(name, list)| (name.clone(), texts(list))).collect();
        let locks = case["cookbook_locks"].as_object().unwrap().iter();
        let cookbooks: BTreeMap<&str, &str> =
            locks.map(|(name, lock)| (name.as_str(), lock["identifier"].as_str().unwrap())).collect();
        let parts = RevisionParts {
            name: case["name"].as_str().unwrap(),
            run_list: &run_list,
            named_run_lists: &named_run_lists,
            cookbooks,
            default_attributes: &AttributeValue::from(&case["default_attributes"]),
            override_attributes: &AttributeValue::from(&case["override_attributes"]),
        };
        let id = case["id"].as_str().unwrap();
        results.push(same(id, &parts.canonical_text().unwrap(), &case["canonical_revision_string"]));
        results.push(same(id, &parts.revision_id().unwrap(), &case["revision_id"]));
    }
    for case in vectors["invalid"].as_array().unwrap() {
        let what = case["what"].as_str().unwrap();
        let error = invalid_value(what, case["message"].as_str().unwrap()).canonical().unwrap_err();
        results.push(same(what, &error.to_string(), &case["message"]));
    }
    report("policy_revision_id.json", results);
}

/// The value that a row is about: JSON cannot hold it, so the row only describes it, and its message shows what Ruby
/// calls it.
fn invalid_value(what: &str, message: &str) -> AttributeValue {
    let (_, given) = message.split_once("You gave").unwrap();
    let foreign = || {
        let (shown, class) = given.trim_start_matches([':', ' ']).strip_suffix(')').unwrap().rsplit_once(" (").unwrap();
        let shown = if given.starts_with(" :") { format!(":{shown}") } else { shown.to_owned() };
        (shown, class.to_owned())
    };
    let value = match what {
        "inf" => AttributeValue::Float(f64::INFINITY),
        "symbol value" | "time" => {
            let (shown, class) = foreign();
            AttributeValue::Foreign { shown, class }
        }
        "non-string key" => {
            let (shown, class) = foreign();
            return AttributeValue::Map(vec![(AttributeKey::Foreign { shown, class }, AttributeValue::Null)]);
        }
        other => panic!("a row about {other:?} needs a value here"),
    };
    AttributeValue::Map(vec![(AttributeKey::Text("a".into()), value)])
}
