//! Opens an instance of the Ruby runtime that answers questions about cookbooks in folders, or an instance of a policy's
//! component that answers questions about itself. It does not have any grants: it sees only these files and nothing of the
//! machine.

use crate::error::AssembleError;
use crate::native_cache;
use crate::program::Program;
use crate::run_host::{AssembledHost, BuiltinTypes, Keeper, compiler};
use crate::runtime::Runtime;
use crate::settings::Settings;
use crate::source::{Folders, Released, Source};
use artifact::Artifact;
use contract::{CookbookFiles, ErrorKind, Failure, Moment, Question, Stop};
use converge::{PolicyInput, Questions, RunHost as _};
use grants::Grants;
use machine::guest::LeftOut;
use node::file_specificity::NodeIdentity;
use pollster::block_on;
use providers::Reboots;
use sandbox::{Sandbox, processor_time};
use serde_json::Value;
use state::Unrecorded;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The policy name under which questions are asked.
const AUTHOR: &str = "author";

/// All questions to an instance may take this many times the processor time of one policy. A stranger's folder may have any
/// number of files that take long.
const QUESTIONS: u32 = 5;

/// Opens an instance and calls `questions` with a function that asks one question and returns the answer. `stop`: a signal
/// ends the current question, and each later one fails.
///
/// # Errors
/// No instance could be opened.
pub fn ask<T>(
    settings: &Settings,
    program: &Program,
    stop: &Stop,
    runtime: Arc<Runtime>,
    files: Arc<dyn CookbookFiles>,
    questions: impl FnOnce(&mut dyn FnMut(Question) -> Result<Value, Failure>) -> T,
) -> Result<T, AssembleError> {
    let source = Source::Folders(Folders::new(runtime, files));
    // Native code of earlier runs is used, but the node's cache folder is not created. Without a cache the answers only take
    // longer.
    let cache = native_cache::open(settings, false, &|_| {});
    let sandbox = Sandbox::new(cache, compiler(settings, program, stop))?;
    ask_in(sandbox, settings, program, stop, AUTHOR, source, questions)
}

/// Opens an instance of a policy's own component, which is granted nothing, and asks it.
///
/// # Errors
/// It cannot be opened.
pub fn ask_component<T>(
    settings: &Settings,
    program: &Program,
    artifact: &Artifact,
    questions: impl FnOnce(&mut dyn FnMut(Question) -> Result<Value, Failure>) -> T,
) -> Result<T, AssembleError> {
    // Only the component is asked, not the cookbooks in Ruby.
    let source = Source::Released(Released::for_questions(artifact.clone()));
    let policy = artifact.manifest().name.as_str();
    let stop = Stop::default();
    let sandbox = Sandbox::quick_to_compile(None, compiler(settings, program, &stop))?;
    ask_in(sandbox, settings, program, &stop, policy, source, questions)
}

/// Returns the failure of a question that comes after the others have used up the time.
fn too_late(question: &Question, settings: &Settings) -> Failure {
    let seconds = (settings.guest_time * QUESTIONS).as_secs();
    let message =
        format!("{}: not asked, since the files took more than {seconds} s of processor time", question.name());
    Failure::raised(ErrorKind::TooLarge, message)
}

fn ask_in<T>(
    sandbox: Sandbox,
    settings: &Settings,
    program: &Program,
    stop: &Stop,
    policy: &str,
    source: Source,
    questions: impl FnOnce(&mut dyn FnMut(Question) -> Result<Value, Failure>) -> T,
) -> Result<T, AssembleError> {
    let grants = Grants::nothing().policy(policy, &[]);
    let mut run_host = AssembledHost {
        settings,
        program,
        sandbox: Arc::new(sandbox),
        sources: BTreeMap::from([(policy.to_owned(), source)]),
        ungranted: BTreeMap::new(),
        grants: BTreeMap::from([(policy.to_owned(), grants)]),
        node: NodeIdentity::default(),
        started: Moment::default(),
        why_run: true,
        survey: false,
        stop: stop.clone(),
        log: Arc::new(|_, _, _| {}),
        live: None,
        reboots: Reboots::default(),
        left_out: LeftOut::default(),
        // The cookbooks belong to an author, so facts of this machine are not collected.
        given_facts: true,
        stand_in: None,
        keeper: Keeper::Unrecorded(Unrecorded::new(Vec::new())),
    };
    let input = PolicyInput { name: policy.to_owned(), ..PolicyInput::default() };
    let account = run_host.account(&input);
    let mut opened = run_host.open(&input, &account)?;
    let mut asking = Questions::new(&mut opened, policy, Arc::new(BuiltinTypes), account, stop.clone());
    let end = processor_time() + settings.guest_time * QUESTIONS;
    let answered = questions(&mut |question| match processor_time() < end {
        true => block_on(asking.ask(question)),
        false => Err(too_late(&question, settings)),
    });
    // All questions are answered, so an error at the end does not matter.
    let _ = block_on(asking.end());
    Ok(answered)
}
