//! Pairs of trees and what Chef merges them to.

#![cfg(test)]

mod support;

use node::deep_merge;
use serde_json::{Map, Value};
use support::{run_vectors, same_order};

#[test]
fn deep_merge_fuzz() {
    run_vectors("deep_merge_fuzz.json", "cases", |case| {
        let object = |name: &str| -> Map<String, Value> { case[name].as_object().cloned().unwrap_or_default() };
        let merged = deep_merge::merge(object("first"), object("second"));
        same_order("merge", &Value::Object(merged), &case["merge"])?;
        let merged = deep_merge::hash_only_merge(object("first"), object("second"));
        same_order("hash_only_merge", &Value::Object(merged), &case["hash_only_merge"])
    });
}
