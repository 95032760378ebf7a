//! A survey: every action of every resource has its turn, whatever guards and the machine say.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

mod support;

use contract::{ActionRecord, ROOT, Run, RunStart, Stop};
use converge::{Runner, UNSEEN};
use serde_json::{Value, json};
use std::sync::Arc;
use support::{AnyType, Case, FakeGuest, FakeProviders, Journal, UNIFIED, finish};

fn leaf(name: &str, more: Value) -> Value {
    let mut leaf = json!({"name": name, "action": ["run"], "notifies": [], "subscribes": []});
    leaf.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    leaf
}

/// Each action of a survey as `name action status`.
fn survey(resources: &Value) -> (Run, Vec<String>) {
    let setting = Case::new(resources, false);
    let mut run = Run::new("test", true, Default::default(), Arc::new(AnyType));
    run = run.starting_with(RunStart { survey: true, ..RunStart::default() });
    run.define(0, "g".into(), UNIFIED).unwrap();
    let mut guest = FakeGuest::new(&setting);
    for spec in resources.as_array().unwrap() {
        guest.declare(&mut run, ROOT, spec).unwrap();
    }
    let mut providers = FakeProviders::new(&setting);
    let mut journal = Journal::default();
    let outcome = finish(Runner::new(&mut run, &mut guest, &mut providers, &mut journal, Stop::default()).converge());
    outcome.unwrap();
    let row = |record: &ActionRecord| format!("{} {} {}", record.name, record.action, record.status.name());
    let rows = run.records().iter().map(row).collect();
    (run, rows)
}

#[test]
fn guards_do_not_count_and_everything_notifies() {
    let told = |receiver: &str, timing: &str| json!([["go", receiver, timing]]);
    let (_, rows) = survey(&json!([
        leaf("A", json!({"only_if": false, "notifies": told("B", "immediately")})),
        leaf("B", json!({"action": ["nothing"], "notifies": told("C", "delayed")})),
        leaf("C", json!({"action": ["nothing"]})),
        leaf("D", json!({"not_if": true, "notifies": told("E", "before")})),
        leaf("E", json!({"action": ["nothing"]})),
    ]));
    for expect in ["A run updated", "B go updated", "C go updated", "D run updated", "E go updated"] {
        assert!(rows.iter().any(|row| row == expect), "{expect} in {rows:?}");
    }
}

#[test]
fn each_action_has_one_turn() {
    let (_, rows) = survey(&json!([
        leaf("A", json!({"notifies": [["run", "B", "immediately"]]})),
        leaf("B", json!({"notifies": [["run", "A", "immediately"], ["run", "A", "delayed"]]})),
    ]));
    assert_eq!(rows, ["A run updated", "B run updated"]);
}

#[test]
fn children_of_custom_resources_are_looked_at() {
    let (_, rows) = survey(&json!([
        {"name": "P", "action": ["run"], "notifies": [], "subscribes": [], "children": [leaf("K", json!({"only_if": false}))]},
    ]));
    assert!(rows.contains(&"K run updated".to_owned()), "{rows:?}");
}

#[test]
fn what_fails_behind_a_guard_is_no_failure_and_is_told() {
    let (mut run, rows) = survey(&json!([
        leaf("A", json!({"only_if": false, "would_fail": "RuntimeError"})),
        leaf("B", json!({"would_fail": "RuntimeError"})),
        leaf("C", json!({})),
    ]));
    assert_eq!(rows, ["A run updated", "B run failed", "C run updated"]);
    assert_eq!(run.records()[0].uncertain, [format!("{UNSEEN}boom A")]);
    assert!(run.take_kept().unwrap().to_string().ends_with("boom B"));
}

#[test]
fn what_an_action_that_was_not_seen_would_notify_is_asked_for() {
    let told = json!([["go", "R", "immediately"], ["go", "D", "delayed"]]);
    let (mut run, rows) = survey(&json!([
        leaf("A", json!({"would_fail": "RuntimeError", "notifies": told})),
        leaf("R", json!({"action": ["nothing"]})),
        leaf("D", json!({"action": ["nothing"]})),
    ]));
    assert_eq!(rows, ["A run failed", "R go updated", "R nothing skipped", "D nothing skipped", "D go updated"]);
    assert!(run.take_kept().unwrap().to_string().ends_with("boom A"));
}
