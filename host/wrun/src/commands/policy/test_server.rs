//! `wrun policy test-server`: builds a policy and answers requests from the author's tests. The tests start it; users do not.
//!
//! One JSON value a line. It writes `{"ready": 1}` when the policy is built. Then it answers each line `{"id", "case"}` with
//! a line `{"id", "run", "declared", "contents", "notices"}`, or `{"id", "error"}` if the case cannot be run. It exits when
//! its standard input ends.

use super::build;
use super::test::hinted;
use crate::arguments::TestServerArguments;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::settings::Layer;
use anyhow::Context as _;
use assemble::{PolicyTests, TestCase};
use author::Options;
use author::build::Profile;
use contract::Stop;
use plain_files::HeldFolder;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::BufRead as _;
use std::path::Path;
use std::sync::Arc;
use text::error_chain;

/// The version of the protocol. It grows when the meaning of a line changes.
const VERSION: u32 = 1;

/// The folder of the artifact, relative to the policy's folder. It differs from that of `wrun policy build`, so that the
/// artifact for nodes is not overwritten.
const ARTIFACTS: &str = ".wrun/test";

/// A request from the tests.
#[derive(Debug, Deserialize)]
struct Question {
    id: u64,
    case: TestCase,
}

pub(super) fn run(arguments: &TestServerArguments, printer: Printer) -> anyhow::Result<Exit> {
    let prepared = author::open_policy(&arguments.folder).map_err(anyhow::Error::from);
    let prepared = prepared.and_then(|home| prepare(&home, arguments.target_dir.as_deref(), printer));
    let tests = prepared.map_err(|error| hinted(error, &arguments.folder))?;
    printer.json(&json!({ "ready": VERSION }).to_string());
    for line in std::io::stdin().lock().lines() {
        let line = line.context("standard input cannot be read")?;
        printer.json(&answer(&tests, &line).to_string());
        if printer.lost().is_some() {
            break;
        }
    }
    Ok(Exit::Done)
}

/// Builds a policy, so that it can be tested.
///
/// # Errors
/// The policy cannot be built.
pub(super) fn prepare(home: &HeldFolder, target: Option<&Path>, printer: Printer) -> anyhow::Result<PolicyTests> {
    let target = build::target_folder(home.path(), target);
    let options = Options { gems: None, target_folder: &target, profile: Profile::Dev };
    let artifact = build::built(home, &options, printer)?;
    let policies = author::below_policy(home, ARTIFACTS)?;
    author::store_in(&artifact, &policies)?;
    let policies = policies.path().to_owned();
    let settings = crate::commands::settings(None, Layer::default())?;
    let program = crate::program::program();
    let mut tests = PolicyTests {
        policy: artifact.manifest().name.clone(),
        policies,
        settings: settings.run,
        program,
        prepared: Arc::default(),
    };
    tests.keep_native_code();
    Ok(tests)
}

fn answer(tests: &PolicyTests, line: &str) -> Value {
    let question: Question = match serde_json::from_str(line) {
        Ok(question) => question,
        Err(error) => {
            let id = serde_json::from_str::<Value>(line).ok().and_then(|line| line.get("id").cloned());
            return json!({ "id": id, "error": format!("what the test gives is invalid: {error}") });
        }
    };
    match tests.run(&question.case, &Stop::default()) {
        Ok(outcome) => json!({
            "id": question.id,
            "run": outcome.run,
            "declared": outcome.declared,
            "contents": outcome.contents,
            "notices": outcome.notices,
        }),
        Err(error) => json!({ "id": question.id, "error": error_chain(&error) }),
    }
}
