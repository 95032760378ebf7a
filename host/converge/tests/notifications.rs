//! Every case of the notification vectors, through the runner alone, with leaves on the host and in the guest.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/entered.rs"]
mod entered;
mod support;

use contract::{Failure, Outcome, Place, ROOT, Resource, Run, Stop};
use converge::Runner;
use entered::Entered;
use serde_json::{Value, json};
use std::sync::Arc;
use support::{AnyType, Case, FakeGuest, FakeProviders, Journal, UNIFIED, finish};

fn run(case: &Value, leaves_in_guest: bool, entered: &Entered) -> Result<(Run, Outcome, Journal), String> {
    let setting = Case::new(&case["resources"], leaves_in_guest);
    let mut run = Run::new("test", false, Default::default(), Arc::new(AnyType));
    run.set_observer(Some(Box::new(entered.clone())));
    run.define(0, "g".into(), UNIFIED).unwrap();
    let mut guest = FakeGuest::new(&setting);
    for spec in case["resources"].as_array().unwrap() {
        guest.declare(&mut run, ROOT, spec).map_err(|failure| failure.to_string())?;
    }
    let mut providers = FakeProviders::new(&setting);
    let mut journal = Journal::default();
    let outcome = finish(Runner::new(&mut run, &mut guest, &mut providers, &mut journal, Stop::default()).converge());
    Ok((run, outcome, journal))
}

/// What upstream says about the outcome, line by line.
fn outcome_lines(outcome: &Outcome) -> Vec<String> {
    let said = match outcome {
        Ok(()) => vec!["success".into()],
        Err(Failure::Many(all)) => {
            let place = |place: &Place| match place {
                Place::Converge => "Chef Infra Client run",
                Place::DelayedNotification => "delayed notification",
            };
            let line = |(at, failure): &(Place, Failure)| {
                format!("* {} occurred in {}: {failure}", failure.class(), place(at))
            };
            [vec!["multiple_failures".into(), "Multiple failures occurred:".into()], all.iter().map(line).collect()]
                .concat()
        }
        Err(failure) => vec!["failure".into(), failure.class().into(), failure.to_string()],
    };
    said.into_iter().map(|line: String| line.replace("g[", "t[")).collect()
}

fn check(case: &Value, leaves_in_guest: bool) -> Result<(), String> {
    let entered = Entered::default();
    let (run, outcome, journal) = run(case, leaves_in_guest, &entered)?;
    let name = |key: &str| key[2..key.len() - 1].to_owned();
    let expected = &case["expected"];
    let root = || run.all(ROOT).into_iter().map(|id| &run.resources()[id as usize]);
    let names =
        |of: fn(&Resource) -> bool| Value::from(root().filter(|it| of(it)).map(|it| name(&it.key)).collect::<Vec<_>>());
    let mut wanted = vec![expected["outcome"].as_str().unwrap().to_owned()];
    wanted.extend(expected["error_class"].as_str().map(String::from));
    wanted.extend(expected["error"].as_str().map(String::from));
    wanted.extend(expected["error"].as_array().into_iter().flatten().map(|line| line.as_str().unwrap().to_owned()));
    for (what, ours, theirs) in [
        ("log", entered.log(run.records()), &expected["log"]),
        ("updated", names(|it| it.updated), &expected["updated"]),
        ("executed", names(|it| it.executed), &expected["executed"]),
        ("outcome", Value::from(outcome_lines(&outcome)), &Value::from(wanted)),
    ] {
        if ours != *theirs {
            return Err(format!("{} {what}\n ours   {ours}\n theirs {theirs}", case["id"]));
        }
    }
    if !journal.0.is_empty() {
        return Err(format!("{} left {:?} in the journal", case["id"], journal.0));
    }
    Ok(())
}

#[test]
fn notifications_fuzz() {
    let folder = std::env::var("WRUN_VECTORS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors").into());
    let file = format!("{folder}/notifications_fuzz.json");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let vectors: Value = serde_json::from_str(&text).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    let wrong: Vec<_> =
        [false, true].iter().flat_map(|leaves| cases.iter().filter_map(|case| check(case, *leaves).err())).collect();
    println!("notifications_fuzz.json: {} passed, {} failed", 2 * cases.len() - wrong.len(), wrong.len());
    assert!(!cases.is_empty() && wrong.is_empty(), "{}", wrong[..wrong.len().min(5)].join("\n"));
}

/// Cases that the vectors lack; real Chef (18.11) gave the expected logs.
#[test]
fn notifications_beside_the_vectors() {
    let leaf = |name: &str, actions: &[&str], more: Value| {
        let mut leaf = json!({"name": name, "action": actions, "updates": true, "notifies": [], "subscribes": []});
        leaf.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        leaf
    };
    let parent = |actions: &[&str], retries: u32, children: Value| json!({"name": "A", "action": actions, "notifies": [], "subscribes": [], "retries": retries, "children": children});
    let did = |names: &[(&str, &str)]| {
        let lines = names.iter().map(|(name, action)| json!({"do": name, "action": action, "why_run": false}));
        Value::from(lines.collect::<Vec<_>>())
    };
    let cases = [
        // B is told of by its key, and again when it is there: once.
        json!({"id": "told by key and by resource",
            "resources": [parent(&["run"], 0, json!([
                leaf("B", &["run"], json!({"notifies": [["run", "C", "delayed"]], "subscribes": [["stop", "C", "delayed"]]})),
                leaf("C", &["go"], json!({}))]))],
            "expected": {"outcome": "success", "updated": ["A"], "executed": ["A"],
                "log": did(&[("A", "run"), ("B", "run"), ("C", "go"), ("C", "run"), ("B", "stop")])}}),
        json!({"id": "tried again with its children",
            "resources": [parent(&["run"], 1, json!([leaf("B", &["run"], json!({"fails": [0]}))]))],
            "expected": {"outcome": "failure", "error_class": "RuntimeError", "updated": [], "executed": ["A"],
                "error": "t[A] (dynamically defined) had an error: RuntimeError: t[B] (dynamically defined) had an error: \
                    RuntimeError: boom B",
                "log": did(&[("A", "run"), ("B", "run"), ("A", "run"), ("B", "run")])}}),
    ];
    for (case, leaves) in cases.iter().flat_map(|case| [(case, false), (case, true)]) {
        check(case, leaves).unwrap();
    }
}

/// With each resource sending two notifications to the next one, the number of actions doubles with each resource.
#[test]
fn notifications_that_multiply_end_the_policy() {
    for timing in ["before", "immediately"] {
        let resource = |number: usize| {
            let next = format!("R{}", number + 1);
            let notifies = json!([["run", next, timing], ["stop", next, timing]]);
            let notifies = if number < 29 { notifies } else { json!([]) };
            let actions = if number == 0 { json!(["run"]) } else { json!(["nothing"]) };
            json!({"name": format!("R{number}"), "action": actions, "updates": true, "notifies": notifies, "subscribes": []})
        };
        let case = json!({"id": timing, "resources": (0..30).map(resource).collect::<Vec<_>>()});
        let (run, outcome, _) = run(&case, false, &Entered::default()).unwrap();
        let failure = outcome.unwrap_err();
        assert!(failure.to_string().contains("more than 50000 actions that `:before` and `:immediately`"), "{failure}");
        assert!(!failure.is_standard(), "a rescue clause must not catch it");
        assert!(run.records().len() < 200_000, "{}", run.records().len());
    }
}
