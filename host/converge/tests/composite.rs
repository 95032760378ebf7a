//! Composite types: the host declares the resources that an action is made of, and the action is what they come to.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

mod support;

use contract::{ActionRecord, Outcome, ROOT, Run, Stop};
use converge::Runner;
use serde_json::{Value, json};
use std::sync::Arc;
use support::{AnyType, Case, FakeGuest, FakeProviders, Journal, UNIFIED, finish};

fn leaf(name: &str, more: Value) -> Value {
    let mut leaf = json!({"name": name, "action": ["run"], "notifies": [], "subscribes": []});
    leaf.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    leaf
}

/// Each action as `name status nesting`.
fn run(resources: &Value, why_run: bool) -> (Vec<String>, Outcome) {
    let setting = Case::new(resources, false);
    let mut run = Run::new("test", why_run, Default::default(), Arc::new(AnyType));
    run.define(0, "g".into(), UNIFIED).unwrap();
    let mut guest = FakeGuest::new(&setting);
    for spec in resources.as_array().unwrap() {
        guest.declare(&mut run, ROOT, spec).unwrap();
    }
    let (mut providers, mut journal) = (FakeProviders::new(&setting), Journal::default());
    let outcome = finish(Runner::new(&mut run, &mut guest, &mut providers, &mut journal, Stop::default()).converge());
    let row = |record: &ActionRecord| format!("{} {} {}", record.name, record.status.name(), record.nesting);
    (run.records().iter().map(row).collect(), outcome)
}

fn composite(children: Value) -> Value {
    json!([leaf("C", json!({ "composite": true, "children": children })), leaf("Z", json!({}))])
}

#[test]
fn an_action_is_what_its_children_come_to() {
    let changing = composite(json!([leaf("A", json!({})), leaf("B", json!({ "updates": true }))]));
    for why_run in [false, true] {
        let (rows, outcome) = run(&changing, why_run);
        outcome.unwrap();
        assert_eq!(rows, ["C updated 0", "A up-to-date 1", "B updated 1", "Z up-to-date 0"], "{why_run}");
    }
    let (rows, _) = run(&composite(json!([leaf("A", json!({}))])), false);
    assert_eq!(rows, ["C up-to-date 0", "A up-to-date 1", "Z up-to-date 0"]);
    let (rows, _) = run(&composite(json!([])), false);
    assert_eq!(rows, ["C up-to-date 0", "Z up-to-date 0"]);
}

#[test]
fn a_dry_run_shows_an_actions_own_sentences_and_plans_its_children() {
    let children = json!([
        leaf("A", json!({ "updates": true, "row": "real" })),
        leaf("B", json!({ "updates": true, "row": "never" })),
        leaf("D", json!({ "updates": true })),
    ]);
    let speaking = json!([leaf("C", json!({ "composite": true, "says": "change C", "children": children }))]);
    assert_eq!(run(&speaking, false).0, ["C updated 0", "A updated 1", "D updated 1"]);
    assert_eq!(run(&speaking, true).0, ["C updated 0", "D updated 1"]);
}

#[test]
fn a_child_without_a_row_is_a_step_of_its_owner() {
    let step = composite(json!([leaf("A", json!({ "updates": true, "row": "never" }))]));
    for why_run in [false, true] {
        assert_eq!(run(&step, why_run).0, ["C updated 0", "Z up-to-date 0"], "{why_run}");
    }
    assert_eq!(
        run(&composite(json!([leaf("A", json!({ "row": "never" }))])), false).0,
        ["C up-to-date 0", "Z up-to-date 0"]
    );
    let (rows, outcome) = run(&composite(json!([leaf("A", json!({ "fails": [0], "row": "never" }))])), false);
    assert!(outcome.unwrap_err().to_string().ends_with("RuntimeError: boom A"));
    assert_eq!(rows[..1], ["C failed 0"]);
}

#[test]
fn a_guard_that_the_host_has_decided_skips_a_child() {
    let children = |skipped: bool| composite(json!([leaf("A", json!({ "updates": true, "skipped": skipped }))]));
    assert_eq!(run(&children(true), false).0, ["C up-to-date 0", "A skipped 1", "Z up-to-date 0"]);
    assert_eq!(run(&children(false), false).0, ["C updated 0", "A updated 1", "Z up-to-date 0"]);
}

#[test]
fn a_child_that_fails_fails_the_action() {
    let failing = composite(json!([leaf("A", json!({ "fails": [0] })), leaf("B", json!({}))]));
    let (rows, outcome) = run(&failing, false);
    let error = outcome.unwrap_err().to_string();
    assert!(error.ends_with("RuntimeError: boom A"), "{error}");
    assert_eq!(rows[..2], ["C failed 0", "A failed 1"]);
}
