//! Makes the reduced form of a report, for servers that refuse large ones and for the queue. A policy that does a lot must
//! not prevent the delivery of other teams' reports.
//!
//! It is the same JSON with the key `reduced`. It has the run's outcome, numbers, errors and denials. Long lists are empty
//! and have a count, as in a record without enough room (docs/run-json.md). The report is read piece by piece, so omitted
//! parts do not take memory.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// The lists that are left out.
const LONG_LISTS: [&str; 8] =
    ["resources", "writes", "commands", "collection", "facts_read", "attributes_read", "attributes_written", "log"];

/// The objects that are left out.
const OBJECTS: [&str; 2] = ["node", "asked"];

/// The lists that keep as many items as fit.
const LISTS: [&str; 8] =
    ["recipes", "expanded_run_list", "roles", "conflicts", "notices", "hidden_reads", "unseen_recipes", "denials"];

/// Suffix of the keys that count omitted items.
const LEFT_OUT: &str = "_left_out";

/// Largest size of a list's items, in bytes for each policy that they are about.
const LIST: usize = 16 << 10;

/// Largest size of an error, in bytes.
const ERROR: usize = 16 << 10;

/// Largest length of each text in a shortened error, in characters.
const TEXT: usize = 1 << 10;

/// Returns the reduced form of a report as a line, or `None` if it is reduced already or is not a report.
pub(super) fn form(report: &[u8]) -> Option<Vec<u8>> {
    let Part(mut run) = serde_json::from_slice(report).ok()?;
    if run.insert("reduced".into(), true.into()).is_some() {
        return None;
    }
    let mut line = serde_json::to_vec(&run).ok()?;
    line.push(b'\n');
    Some(line)
}

/// A run, or one of its policies, without the omitted parts.
struct Part(Map<String, Value>);

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PartVisitor)
    }
}

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = Part;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Part, A::Error> {
        let mut part = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            match key.as_str() {
                name if LONG_LISTS.contains(&name) => {
                    let Count(absent) = members.next_value()?;
                    insert_list(&mut part, key, Vec::new(), absent);
                }
                name if LISTS.contains(&name) => {
                    let (items, absent) = fitting(members.next_value()?);
                    insert_list(&mut part, key, items, absent);
                }
                name if OBJECTS.contains(&name) => {
                    let _: IgnoredAny = members.next_value()?;
                    let left_out = format!("{key}{LEFT_OUT}");
                    part.insert(key, json!({}));
                    part.insert(left_out, true.into());
                }
                "policies" => {
                    let policies: Vec<Self::Value> = members.next_value()?;
                    let policies: Vec<_> = policies.into_iter().map(|Part(policy)| Value::Object(policy)).collect();
                    part.insert(key, policies.into());
                }
                "error" => {
                    part.insert(key, short_error(members.next_value()?));
                }
                name if name.ends_with(LEFT_OUT) => match members.next_value::<Value>()? {
                    Value::Number(absent) => add(&mut part, key, absent.as_u64().unwrap_or_default()),
                    other => drop(part.insert(key, other)),
                },
                _ => drop(part.insert(key, members.next_value()?)),
            }
        }
        Ok(Part(part))
    }
}

/// The number of a list's items.
struct Count(u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(CountVisitor)
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = Count;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Count, A::Error> {
        let mut count = 0;
        while items.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Count(count))
    }
}

/// Stores a list, and the number of its omitted items under another key.
fn insert_list(part: &mut Map<String, Value>, key: String, items: Vec<Value>, absent: u64) {
    let left_out = format!("{key}{LEFT_OUT}");
    part.insert(key, items.into());
    add(part, left_out, absent);
}

/// Counts more items as absent.
fn add(part: &mut Map<String, Value>, key: String, absent: u64) {
    let before = part.get(&key).and_then(Value::as_u64).unwrap_or_default();
    if before + absent > 0 {
        part.insert(key, (before + absent).into());
    }
}

/// Returns the items of a list that fit, and the number of the others. Each policy has its own budget, so that one policy
/// cannot use up that of another.
fn fitting(items: Vec<Value>) -> (Vec<Value>, u64) {
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    let mut absent = 0;
    let mut kept = items;
    kept.retain(|item| {
        let policy = item.get("policy").and_then(Value::as_str).unwrap_or_default();
        let used = used.entry(policy.to_owned()).or_default();
        let bytes = used.saturating_add(size(item));
        let fits = bytes <= LIST;
        if fits {
            *used = bytes;
        } else {
            absent += 1;
        }
        fits
    });
    (kept, absent)
}

/// An error, shortened where it is long.
fn short_error(error: Value) -> Value {
    let Value::Object(mut members) = error else { return error };
    if size(&members) <= ERROR {
        return Value::Object(members);
    }
    for value in members.values_mut() {
        match value {
            Value::String(text) => *text = text.chars().take(TEXT).collect(),
            Value::Array(_) => *value = json!([]),
            Value::Object(_) if size(&*value) > TEXT => *value = Value::Null,
            _ => {}
        }
    }
    members.insert(LEFT_OUT.trim_start_matches('_').to_owned(), true.into());
    Value::Object(members)
}

/// The bytes of a value as JSON.
fn size(value: &impl serde::Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |text| text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduced(report: &Value) -> Value {
        serde_json::from_slice(&form(report.to_string().as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn long_lists_are_counted_and_the_outcome_stays() {
        let report = json!({
            "version": 1,
            "run_id": "r",
            "outcome": "failure",
            "total": 3,
            "error": { "class": "RuntimeError", "message": "no" },
            "policies": [{
                "name": "p",
                "outcome": "failure",
                "recipes": ["a::b"],
                "resources": [{ "diffs": ["x"] }, {}, {}],
                "resources_left_out": 4,
                "writes": [],
                "node": { "normal": { "a": [1, { "b": null }] } },
            }],
            "denials": [{ "policy": "p", "message": "may not" }],
            "denials_left_out": 2,
            "asked": { "p": {} },
            "log": [{ "message": "x" }],
        });
        let expected = json!({
            "version": 1,
            "run_id": "r",
            "outcome": "failure",
            "total": 3,
            "error": { "class": "RuntimeError", "message": "no" },
            "policies": [{
                "name": "p",
                "outcome": "failure",
                "recipes": ["a::b"],
                "resources": [],
                "resources_left_out": 7,
                "writes": [],
                "node": {},
                "node_left_out": true,
            }],
            "denials": [{ "policy": "p", "message": "may not" }],
            "denials_left_out": 2,
            "asked": {},
            "asked_left_out": true,
            "log": [],
            "log_left_out": 1,
            "reduced": true,
        });
        assert_eq!(reduced(&report), expected);
        assert_eq!(form(expected.to_string().as_bytes()), None, "it is reduced already");
        assert_eq!(form(b"[]"), None);
    }

    #[test]
    fn no_policy_takes_the_room_of_another() {
        let denial = |policy: &str, length: usize| json!({ "policy": policy, "message": "x".repeat(length) });
        let long = json!({
            "class": "RuntimeError",
            "message": "m".repeat(1 << 20),
            "backtrace": ["x".repeat(1 << 20)],
            "origin": { "policy": "evil", "line": 1 },
            "resource": { "name": "x".repeat(1 << 20) },
        });
        let denials: Vec<_> = (0..100).map(|_| denial("evil", 1_000)).chain([denial("good", 10_000)]).collect();
        let run = reduced(&json!({ "error": long, "denials": denials, "recipes": ["r".repeat(1 << 20)] }));
        let kept = run["denials"].as_array().unwrap();
        assert_eq!(kept.last().unwrap()["policy"], "good");
        assert_eq!(run["denials_left_out"], 101 - kept.len());
        assert_eq!((&run["recipes"], &run["recipes_left_out"]), (&json!([]), &json!(1)));
        let error = json!({
            "class": "RuntimeError",
            "message": "m".repeat(TEXT),
            "backtrace": [],
            "origin": { "policy": "evil", "line": 1 },
            "resource": null,
            "left_out": true,
        });
        assert_eq!(run["error"], error);
        assert!(size(&run) < 2 * LIST + 20_000, "{}", size(&run));
    }
}
