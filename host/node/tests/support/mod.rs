//! Reads the test vectors and counts what passes.
//!
//! The folder is the one that `WRUN_VECTORS` names, else the checkout's own copy. A file that is missing is a failure.

use std::path::PathBuf;

use serde_json::Value;

/// Runs `check` on every case of `file` and fails if any of them did; prints `N passed, M failed`.
pub(crate) fn run_vectors(file: &str, list: &str, check: impl Fn(&Value) -> Result<(), String>) {
    let document = read(file);
    let cases = document[list].as_array().unwrap_or_else(|| panic!("{file} has no list {list:?}"));
    assert!(!cases.is_empty(), "{file} has no cases");
    let mut failures = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        if let Err(why) = check(case) {
            let name = case["id"].as_str().map_or_else(|| number.to_string(), str::to_owned);
            failures.push(format!("{file} case {name}: {why}"));
        }
    }
    println!("{file}: {} passed, {} failed", cases.len() - failures.len(), failures.len());
    for failure in failures.iter().take(20) {
        println!("{failure}");
    }
    assert!(failures.is_empty(), "{file}: {} of {} cases failed", failures.len(), cases.len());
}

/// Reads a file of vectors.
pub(crate) fn read(file: &str) -> Value {
    let path = folder().join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Fails unless both are the same, keys in any order.
#[allow(dead_code, reason = "each test file uses a part of this module")]
pub(crate) fn same(what: &str, found: &Value, expected: &Value) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: found {found}, expected {expected}")) }
}

/// Fails unless both are the same, keys in the same order.
#[allow(dead_code, reason = "each test file uses a part of this module")]
pub(crate) fn same_order(what: &str, found: &Value, expected: &Value) -> Result<(), String> {
    let (found, expected) = (found.to_string(), expected.to_string());
    if found == expected { Ok(()) } else { Err(format!("{what}: found {found}, expected {expected}")) }
}

fn folder() -> PathBuf {
    std::env::var_os("WRUN_VECTORS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors")), PathBuf::from)
}
