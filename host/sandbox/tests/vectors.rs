//! Runs each case of the notification vectors in a real component. The host implements the resources without children in the
//! first pass, and the guest in the second.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it counted"
)]

#[path = "../../converge/tests/support/entered.rs"]
mod entered;
mod support;

use contract::{Failure, Load, Outcome, Phase, Place, ROOT, Resource, Run, Stop};
use converge::Runner;
use entered::Entered;
use node::attributes::{Attributes, Level};
use node::origin::Origin;
use sandbox::{Limits, Sandbox};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use support::{Acting, BuiltinTypes, Journal, all_services, finish, fixture, sandbox_with_cache};

/// Decides for each resource whether the host or the guest implements it, and collects the resources by name.
fn give_kinds(resources: &mut Value, leaves_in_guest: bool, all: &mut HashMap<String, Value>) {
    for resource in resources.as_array_mut().unwrap() {
        let in_guest = leaves_in_guest || resource.get("children").is_some();
        resource["kind"] = if in_guest { "g" } else { "t" }.into();
        all.insert(resource["name"].as_str().unwrap().to_owned(), resource.clone());
        if let Some(children) = resource.get_mut("children") {
            give_kinds(children, leaves_in_guest, all);
        }
    }
}

fn replay(sandbox: &Sandbox, component: &[u8], case: &Value, leaves_in_guest: bool) -> Result<(), String> {
    let mut resources = case["resources"].clone();
    let mut acting = Acting::default();
    give_kinds(&mut resources, leaves_in_guest, &mut acting.case);
    let mut attributes = Attributes::new();
    let given = json!({ "vectors": { "resources": resources } }).as_object().cloned().unwrap();
    attributes.set_level(Level::RoleDefault, given, &Origin::default()).unwrap();
    let mut run = Run::new("vectors", false, attributes, Arc::new(BuiltinTypes));
    let entered = Entered::default();
    run.set_observer(Some(Box::new(entered.clone())));
    let services = all_services("vectors");
    let mut policy = finish(sandbox.open("vectors", component, &Limits::default(), services)).unwrap();
    let mut session = policy.session();
    let mut journal = Journal::default();
    let mut runner = Runner::new(&mut run, &mut session, &mut acting, &mut journal, Stop::default());
    finish(runner.phase(Phase::Load(Box::new(Load {
        policy: "vectors".into(),
        cookbooks: vec!["vectors".into()],
        ..Load::default()
    }))))
    .map_err(|failure| format!("{} load: {failure}", case["id"]))?;
    finish(runner.compile("vectors::default")).map_err(|failure| format!("{} compile: {failure}", case["id"]))?;
    let outcome = finish(runner.converge());
    finish(session.end()).map_err(|lost| format!("{} lost: {}", case["id"], lost.why))?;
    compare(case, &run, &entered, &outcome)?;
    if journal.0.is_empty() { Ok(()) } else { Err(format!("{} left {:?} in the journal", case["id"], journal.0)) }
}

fn compare(case: &Value, run: &Run, entered: &Entered, outcome: &Outcome) -> Result<(), String> {
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
        ("outcome", Value::from(outcome_lines(outcome)), &Value::from(wanted)),
    ] {
        if ours != *theirs {
            return Err(format!("{} {what}\n ours   {ours}\n theirs {theirs}", case["id"]));
        }
    }
    Ok(())
}

/// Returns the outcome in Chef's words, line by line, without the resources' places.
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
    said.into_iter().map(|line: String| without_places(&line.replace("g[", "t["))).collect()
}

/// Removes the resources' places from a line. The vectors' resources have no places.
fn without_places(line: &str) -> String {
    let line = line.split(" is defined in src/lib.rs:").collect::<Vec<_>>();
    let [first, rest @ ..] = &line[..] else { return String::new() };
    let rest = rest.iter().map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
    let line = rest.fold((*first).to_owned(), |all, part| format!("{all} is defined in{part}"));
    let mut parts = line.split(" (vectors::");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(" (dynamically defined)");
        text.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    text
}

#[test]
fn notifications_fuzz() {
    let folder = std::env::var("WRUN_VECTORS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors").into());
    let file = format!("{folder}/notifications_fuzz.json");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let vectors: Value = serde_json::from_str(&text).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    let (sandbox, component) = (sandbox_with_cache(), fixture("vectors"));
    let replays = [false, true].into_iter().flat_map(|leaves| cases.iter().map(move |case| (case, leaves)));
    let wrong: Vec<_> = replays.filter_map(|(case, leaves)| replay(&sandbox, &component, case, leaves).err()).collect();
    println!("notifications_fuzz.json: {} passed, {} failed", 2 * cases.len() - wrong.len(), wrong.len());
    assert!(!cases.is_empty() && wrong.is_empty(), "{}", wrong[..wrong.len().min(5)].join("\n"));
}
