//! Dry runs: what a doubt comes to, whom it is passed on to, and that a failure does not end them.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

mod support;

use contract::{ActionRecord, Certainty, Change, Expected, Outcome, Prepared, ROOT, Run, Stop, Tally};
use converge::Runner;
use serde_json::{Value, json};
use std::sync::Arc;
use support::{AnyType, Case, FakeGuest, FakeProviders, Journal, UNIFIED, finish};

/// A resource without children.
fn leaf(name: &str, more: Value) -> Value {
    let mut leaf = json!({"name": name, "action": ["run"], "notifies": [], "subscribes": []});
    leaf.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    leaf
}

fn run(resources: &Value, why_run: bool) -> (Run, Outcome) {
    let (run, outcome, _) = run_with_pauses(resources, why_run);
    (run, outcome)
}

/// The same with the seconds of each pause.
fn run_with_pauses(resources: &Value, why_run: bool) -> (Run, Outcome, Vec<u32>) {
    let setting = Case::new(resources, false);
    let mut run = Run::new("test", why_run, Default::default(), Arc::new(AnyType));
    run.define(0, "g".into(), UNIFIED).unwrap();
    let mut guest = FakeGuest::new(&setting);
    for spec in resources.as_array().unwrap() {
        guest.declare(&mut run, ROOT, spec).unwrap();
    }
    let mut providers = FakeProviders::new(&setting);
    let mut journal = Journal::default();
    let outcome = finish(Runner::new(&mut run, &mut guest, &mut providers, &mut journal, Stop::default()).converge());
    (run, outcome, providers.pauses)
}

/// Each action as `name status`, with a mark where something about it is uncertain.
fn rows(run: &Run) -> Vec<String> {
    let row = |record: &ActionRecord| {
        let mark = if record.uncertain.is_empty() { "" } else { " ?" };
        format!("{} {}{mark}", record.name, record.status.name())
    };
    run.records().iter().map(row).collect()
}

#[track_caller]
fn check(resources: Value, expect: &[&str], error: Option<&str>) -> Run {
    let (mut run, outcome) = run(&resources, true);
    outcome.unwrap();
    assert_eq!(rows(&run), expect);
    assert_eq!(run.kept().map(ToString::to_string).as_deref(), error);
    assert_eq!(run.take_kept().map(|failure| failure.to_string()).as_deref(), error);
    assert!(run.take_kept().is_none());
    run
}

#[test]
fn a_doubt_without_a_plan_is_never_nothing_to_do() {
    let (assumed, unknown) = (Certainty::Assumed("a".into()), Certainty::Unknown("u".into()));
    let expected = |plan, certainty: &[&Certainty]| {
        let certainty = certainty.iter().map(|one| (*one).clone()).collect();
        Prepared::new(plan, vec![Change::new("c")], certainty).expected().0
    };
    assert_eq!(expected(None::<u8>, &[]), Expected::Nothing);
    assert_eq!(expected(None::<u8>, &[&unknown]), Expected::Unknown);
    assert_eq!(expected(None::<u8>, &[&assumed]), Expected::Change(None));
    assert_eq!(expected(None::<u8>, &[&unknown, &assumed]), Expected::Change(None));
    for certainty in [&[][..], &[&unknown], &[&assumed], &[&assumed, &unknown]] {
        assert_eq!(expected(Some(1), certainty), Expected::Change(Some(1)));
    }
}

#[test]
fn what_is_unknown_notifies_and_its_receivers_say_so() {
    let told = |receiver: &str, timing: &str| json!([["go", receiver, timing]]);
    let receiver = |name: &str| leaf(name, json!({"action": ["nothing"], "updates": true}));
    let run = check(
        json!([
            leaf("U", json!({"doubt": "unknown", "notifies": told("R", "immediately")})),
            leaf("A", json!({"doubt": "assumed", "notifies": told("S", "immediately")})),
            leaf("Q", json!({"doubt": "unknown", "notifies": told("L", "delayed")})),
            receiver("R"),
            receiver("S"),
            leaf("L", json!({"action": ["nothing"], "updates": true, "notifies": told("M", "immediately")})),
            receiver("M"),
        ]),
        &[
            "U unknown ?",
            "R updated ?",
            "A updated ?",
            "S updated",
            "Q unknown ?",
            "R skipped",
            "S skipped",
            "L skipped",
            "M skipped",
            "L updated ?",
            "M updated ?",
        ],
        None,
    );
    let said: Vec<_> = run.records().get(2).unwrap().changes.iter().map(|change| change.what.as_str()).collect();
    assert_eq!(said, ["run t[A]"], "what counts as a change has a line");
    let why = |at: usize| run.records().get(at).unwrap().uncertain.join("; ");
    assert_eq!(why(1), "notified by t[U], and whether that would change is not known");
    assert_eq!(why(9), "notified by t[Q], and whether that would change is not known");
    assert_eq!(why(10), "notified by t[L], and whether that would change is not known");
    assert_eq!(Tally::of(run.records()), Tally { updated: 5, unknown: 2, failed: 0, total: 11 });
}

/// Of several senders one that surely changes is enough.
#[test]
fn a_sure_sender_makes_its_receiver_sure() {
    let told = json!([["go", "R", "delayed"]]);
    for order in [["U", "S"], ["S", "U"]] {
        let sender = |name: &str| match name {
            "U" => leaf("U", json!({"doubt": "unknown", "notifies": told})),
            _ => leaf("S", json!({"updates": true, "notifies": told})),
        };
        let receiver = leaf("R", json!({"action": ["nothing"], "updates": true}));
        let (run, _) = run(&json!([sender(order[0]), sender(order[1]), receiver]), true);
        assert_eq!(rows(&run).last().unwrap(), "R updated", "{order:?}");
    }
}

/// A receiver that has nothing to do has nothing to do, whatever its sender does.
#[test]
fn nothing_to_do_is_sure() {
    check(
        json!([
            leaf("U", json!({"doubt": "unknown", "notifies": [["go", "R", "immediately"]]})),
            leaf("R", json!({"action": ["nothing"]})),
        ]),
        &["U unknown ?", "R up-to-date", "R skipped"],
        None,
    );
}

#[test]
fn a_custom_resource_is_as_unknown_as_its_children() {
    let parent = |children: Value| json!({"name": "P", "action": ["run"], "notifies": [["go", "R", "immediately"]], "subscribes": [], "children": children});
    let receiver = leaf("R", json!({"action": ["nothing"], "updates": true}));
    check(
        json!([parent(json!([leaf("C", json!({"doubt": "unknown"})), leaf("D", json!({}))])), receiver]),
        &["P unknown", "C unknown ?", "D up-to-date", "R updated ?", "R skipped"],
        None,
    );
    check(
        json!([parent(json!([leaf("C", json!({"doubt": "unknown"})), leaf("D", json!({"updates": true}))])), receiver]),
        &["P updated", "C unknown ?", "D updated", "R updated", "R skipped"],
        None,
    );
}

#[test]
fn a_dry_run_goes_on_after_failures() {
    let boom = "t[F] (dynamically defined) had an error: RuntimeError: boom F";
    let fails =
        |name: &str| leaf(name, json!({"would_fail": "RuntimeError", "notifies": [["go", "R", "immediately"]]}));
    let receiver = leaf("R", json!({"updates": true}));
    check(json!([fails("F"), fails("G"), receiver]), &["F failed", "G failed", "R updated"], Some(boom));
    // What is not a StandardError, which ends a real run in the middle of the action.
    let exits = leaf("F", json!({"would_fail": "SystemExit"}));
    check(json!([exits, receiver]), &["F unprocessed", "R updated"], Some("boom F"));
    // A receiver that is not there is said, and the others still have their turn.
    let lost = leaf("L", json!({"updates": true, "notifies": [["go", "G", "delayed"]]}));
    let (run, _) = run(
        &json!([lost, receiver, {"name": "P", "action": ["run"], "notifies": [], "subscribes": [],
        "children": [fails("G")]}]),
        true,
    );
    assert_eq!(rows(&run), ["L unprocessed", "R updated", "P failed", "G failed"]);
    assert_eq!(run.kept().unwrap().class(), "Chef::Exceptions::ResourceNotFound");
}

#[test]
fn the_children_after_one_that_failed_have_their_turn_and_the_parent_fails_of_it() {
    let fails = leaf("F", json!({"would_fail": "RuntimeError"}));
    let parent = |more: Value| {
        let mut parent = leaf("P", more);
        let children =
            json!([fails, leaf("C", json!({"updates": true})), leaf("G", json!({"would_fail": "TypeError"}))]);
        parent.as_object_mut().unwrap().insert("children".into(), children);
        parent
    };
    let receiver = leaf("R", json!({"action": ["nothing"], "updates": true}));
    let rows = ["P failed", "F failed", "C updated", "G failed", "R skipped"];
    let error = "g[P] (dynamically defined) had an error: RuntimeError: t[F] (dynamically defined) had an error: \
        RuntimeError: boom F";
    let told = json!([["go", "R", "immediately"]]);
    check(json!([parent(json!({"notifies": told})), receiver]), &rows, Some(error));
    // Forgiven by the parent, it is not a failure of the run.
    let forgiven = check(json!([parent(json!({"ignore_failure": true})), receiver]), &rows, None);
    assert!(forgiven.records().first().unwrap().ignored);
    assert_eq!(Tally::of(forgiven.records()).failed, 2);
}

/// A trial run inside a real one is not a dry run: a failure in it ends the run as ever.
#[test]
fn a_trial_in_a_real_run_ends_with_its_failure() {
    let resources = json!([
        leaf("F", json!({"would_fail": "RuntimeError", "notifies": [["go", "R", "before"]]})),
        leaf("R", json!({"updates": true})),
    ]);
    let (run, outcome) = run(&resources, false);
    assert_eq!(outcome.unwrap_err().class(), "RuntimeError");
    assert!(run.kept().is_none());
    assert_eq!(rows(&run), ["F failed", "R unprocessed"]);
}

#[test]
fn a_denial_is_not_tried_again_and_a_dry_run_waits_for_nothing() {
    let tried = json!({"retries": 2, "retry_delay": 3, "fails": [0, 1, 2], "would_fail": "RuntimeError"});
    let failing = |more: Value| {
        let mut one = leaf("A", tried.clone());
        one.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([one])
    };
    let denied = json!({"denied": true, "would_fail": "Wrun::Denied"});
    for (more, why_run, retried, pauses) in [
        (json!({}), false, 2, vec![3, 3]),
        (json!({}), true, 2, vec![]),
        (denied.clone(), false, 0, vec![]),
        (denied, true, 0, vec![]),
    ] {
        let (run, _, paused) = run_with_pauses(&failing(more.clone()), why_run);
        assert_eq!((run.records()[0].retried, paused), (retried, pauses), "{more} {why_run}");
    }
}
