//! A run's report as JSON and as words, without a run.

#![cfg(test)]

use contract::{ErrorKind, Event, Failure, Moment, Observer, Raised};
use converge::{PolicyOutcome, PolicyReport, RunReport};
use grants::Grants;
use report::error::{self, Frames};
use report::json::{Parts, Run};
use report::{Block, Outline, json, paused, recap};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A run of two policies, of which the first failed.
fn failed_run() -> RunReport {
    let frames = ["wasm: in ?".to_owned(), "site/recipes/default.rb:3: in site::default".to_owned()];
    let raised = Raised { backtrace: frames.to_vec(), ..Raised::new(ErrorKind::Failed, "no disk") };
    let failed = PolicyReport { outcome: PolicyOutcome::Failed(raised.into()), ..PolicyReport::not_run("web".into()) };
    RunReport {
        run_id: "r1".into(),
        why_run: false,
        started: Moment { seconds: 1_700_000_000, nanoseconds: 0 },
        seconds: 0.25,
        policies: vec![failed, PolicyReport::not_run("db".into())],
        stopped: None,
        conflicts: vec![],
        conflicts_left_out: 0,
        shared_cookbooks: vec![],
    }
}

fn parts<'a>(report: &'a RunReport, errors: &'a [(String, Value)]) -> Parts<'a> {
    Parts {
        report,
        node: "n",
        errors,
        denials: &[],
        denials_left_out: 0,
        unseen: &[],
        asked: json::asked(Grants::nothing().journal()),
        layers: &Value::Null,
        releases: &Value::Null,
        grants: None,
        paused: None,
        skipped: None,
        log: json!([]),
        without_policies: false,
        compile_seconds: 0.0,
        compiled_is_kept: true,
    }
}

/// Without a word, a conflict that was not looked for passed for one that is not there.
#[test]
fn attack_things_that_were_not_compared_are_told_without_a_conflict() {
    let report = RunReport { conflicts_left_out: 2, ..failed_run() };
    let said = lines(report::conflicts::block(&report).into_iter().collect());
    assert_eq!(said, ["2 things could not be compared between the policies: one of them has too many"]);
    assert!(report::conflicts::block(&failed_run()).is_none());
}

#[test]
fn a_pause_of_the_agent_is_in_every_report() {
    let report = failed_run();
    assert_eq!(serde_json::to_value(Run(&parts(&report, &[]))).unwrap()["paused"], Value::Null);
    let sentence = "paused until 2026-11-23T20:00:00Z by alice: the disk\u{1b}[2J".to_owned();
    let paused = paused::Paused { json: json!({ "by": "alice" }), sentence };
    let said = lines(vec![paused::block(&paused)]);
    assert_eq!(said, ["The agent is paused until 2026-11-23T20:00:00Z by alice: the disk\\u{1b}[2J"]);
    let parts = Parts { paused: Some(paused), ..parts(&report, &[]) };
    assert_eq!(serde_json::to_value(Run(&parts)).unwrap()["paused"], json!({ "by": "alice" }));
    assert_eq!(serde_json::to_value(Run(&parts)).unwrap()["skipped"], Value::Null);
}

fn lines(blocks: Vec<Block>) -> Vec<String> {
    blocks.into_iter().flat_map(Block::into_lines).map(|line| line.text).collect()
}

#[test]
fn a_failed_policy_has_its_error_in_the_json_and_in_the_recap() {
    let report = failed_run();
    let errors = error::of_run(&report, &BTreeMap::new(), Frames::WithPlaces);
    let [(policy, error)] = errors.as_slice() else { panic!("{errors:?}") };
    assert_eq!(
        (policy.as_str(), &error["class"], &error["message"]),
        ("web", &json!("RuntimeError"), &json!("no disk"))
    );
    assert_eq!(error["backtrace"], json!(["site/recipes/default.rb:3: in site::default"]));
    assert_eq!((&error["origin"]["cookbook"], &error["origin"]["recipe"]), (&Value::Null, &Value::Null));
    let all = error::of_run(&report, &BTreeMap::new(), Frames::All);
    assert_eq!(all[0].1["backtrace"].as_array().unwrap().len(), 2);

    let parts = parts(&report, &errors);
    let run = serde_json::to_value(Run(&parts)).unwrap();
    assert_eq!((&run["run_id"], &run["outcome"], &run["node_name"]), (&json!("r1"), &json!("failure"), &json!("n")));
    let said = lines(recap::blocks(&parts));
    let expect = [
        "Run failed in 0.25 s: 0 of 0 resources updated",
        "db   not run   (use --keep-going to run policies after a failure)",
        "web  FAILED    0 of 0 updated        0.00 s",
        "    RuntimeError: no disk",
        "    from site/recipes/default.rb:3: in site::default",
    ];
    assert_eq!(said, expect);
}

#[test]
fn a_run_that_is_ended_from_outside_is_recorded_as_far_as_it_is_known() {
    let mut outline = Outline::new(Moment::default(), Grants::nothing().journal().clone());
    let policies = ["core".to_owned(), "web".to_owned(), "db".to_owned()];
    outline.notice(&Event::RunStarted { run_id: "r2", node: "n", policies: &policies, why_run: false });
    outline.notice(&Event::PolicyFinished { policy: "core", tally: contract::Tally::default() });
    let mut kept = None;
    outline.record(15, Some("package[nginx] install"), false, |run, error| {
        kept = Some((serde_json::to_value(run).unwrap(), error.cloned().unwrap()));
    });
    let (run, error) = kept.unwrap();
    assert_eq!(
        (&run["run_id"], &run["outcome"], &run["interrupted"]),
        (&json!("r2"), &json!("interrupted"), &json!(true))
    );
    let outcomes: Vec<_> = run["policies"].as_array().unwrap().iter().map(|policy| &policy["outcome"]).collect();
    assert_eq!(outcomes, [&json!("success"), &json!("interrupted"), &json!("not-run")]);
    assert_eq!((&error["policy"], &error["class"]), (&json!("web"), &json!("SignalException")));
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("stopped by SIGTERM in the middle of package[nginx] install"), "{message}");
}

#[test]
fn an_event_is_one_object_with_its_version() {
    let failure = Failure::raised(ErrorKind::Failed, "no disk");
    let event = report::events::as_json(&Event::PolicyFailed { policy: "web", failure: &failure }).unwrap();
    let error = json!({ "class": "RuntimeError", "message": "no disk", "hint": null });
    let expect =
        json!({ "version": report::events::VERSION, "event": "policy_failed", "policy": "web", "error": error });
    assert_eq!(event, expect);
}

#[test]
fn a_run_that_keeps_no_native_code_says_so() {
    let said = |compiled_is_kept: bool| {
        let report = failed_run();
        let parts = Parts { compile_seconds: 2.0, compiled_is_kept, ..parts(&report, &[]) };
        lines(recap::blocks(&parts)).first().unwrap().contains("of compiling native code (not kept): ")
    };
    assert_eq!([said(false), said(true)], [true, false]);
}
