//! Carries a run out and records it, while observers watch it.

use crate::error::AssembleError;
use crate::node_changes::take_waiting;
use crate::own_state::{self, DryRecord};
use crate::questions::ask;
use crate::releases::Releases;
use crate::run_host::{AssembledHost, BuiltinTypes, Keeper, Kept};
use crate::runtime::Runtime;
use crate::settings::Settings;
use crate::unchanged::Given;
use crate::watchers::Watchers;
use contract::{CookbookFiles, Failure, Question, Raised};
use converge::{PolicyInput, PolicyOutcome, RunOptions, RunReport, WholeRun};
use grants::{Journal, PolicyGrants};
use node::object::NodeObject;
use pollster::block_on;
use serde::Serialize;
use serde_json::{Map, Value};
use state::{RunFolder, RunId, StateDirectory, StateError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A run that is about to begin.
pub struct OpenRun<'a> {
    pub(crate) run_host: AssembledHost<'a>,
    pub(crate) options: RunOptions,
    pub(crate) policies: Vec<PolicyInput>,
    pub(crate) facts: Map<String, Value>,
    pub(crate) watchers: Watchers,
    pub(crate) node: NodeObject,
    /// The layers of the run, for its record.
    pub(crate) layers: Value,
    pub(crate) releases: Option<Releases>,
    pub(crate) journal: Journal,
    pub(crate) folder: Option<Arc<RunFolder>>,
    pub(crate) id: RunId,
    /// The input of the run, if later runs may be skipped because of it.
    pub(crate) given: Option<Given>,
}

/// A run that has ended, and is not recorded yet.
pub struct EndedRun<'a> {
    /// The report of all policies.
    pub report: RunReport,
    /// The journal of what the policies asked for.
    pub journal: Journal,
    /// The node as the run left it.
    pub node: NodeObject,
    /// The layers of environment files, in order: `[{from, name, digest, file}]`.
    pub layers: Value,
    /// The releases of the run: `{repository, policies: [{policy, team, group, revision, artifact, stale}]}`, or `null`.
    pub releases: Value,
    /// Everything that the end of the run needs: its lock, its record, its policies' code.
    pub ending: Ending<'a>,
}

/// The end of a run: writes its record, and releases its lock.
pub struct Ending<'a> {
    run_host: AssembledHost<'a>,
    folder: Option<Arc<RunFolder>>,
    id: RunId,
    /// The node's name, and its `normal` attributes when the run began.
    before: (String, Map<String, Value>),
    releases: Option<Releases>,
    /// The policies that succeeded.
    converged: Vec<String>,
    /// The input of the run, if later runs may be skipped because of it.
    given: Option<Given>,
}

/// The result of a policy's request to reboot the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartedAgain {
    /// No policy asked for it.
    NotAsked,
    /// The machine will be started again.
    Scheduled,
    /// The node is not this machine, so somebody else has to reboot it.
    Elsewhere,
}

impl<'a> OpenRun<'a> {
    /// Carries the run out. Failures are in the report.
    ///
    /// A deeply nested run needs the stack that [`spawn`](crate::spawn) gives.
    pub fn carry_out(self) -> EndedRun<'a> {
        let Self {
            mut run_host,
            options,
            policies,
            facts,
            watchers,
            mut node,
            layers,
            releases,
            journal,
            folder,
            id,
            mut given,
        } = self;
        let before = (node.name().to_owned(), node.normal().clone());
        let stop = run_host.stop.clone();
        let whole = WholeRun::new(&mut run_host, options, Arc::new(BuiltinTypes), facts, Box::new(watchers), stop);
        let report = block_on(whole.run(&mut node, policies));
        let succeeded = report.policies.iter().filter(|one| matches!(one.outcome, PolicyOutcome::Succeeded));
        let converged: Vec<_> = succeeded.map(|one| one.name.clone()).collect();
        run_host.deny_ungranted(&converged);
        run_host.grants.values().for_each(|grants| grants.end_audit());
        if let Some(given) = &mut given {
            given.ended(&report, !run_host.reboots.all().is_empty());
        }
        let shown = releases.as_ref().map_or(Value::Null, Releases::summary);
        let ending = Ending { run_host, folder, id, before, releases, converged, given };
        EndedRun { report, journal, node, layers, releases: shown, ending }
    }
}

/// The processor time for questions about one policy's files after the run. Honest files take milliseconds.
const ASKED_AFTERWARDS: Duration = Duration::from_secs(5);

impl Ending<'_> {
    /// The cookbooks' files of each policy, for excerpts of their sources.
    pub fn files(&self) -> BTreeMap<String, Arc<dyn CookbookFiles>> {
        let sources = self.run_host.sources.iter();
        sources.map(|(name, source)| (name.clone(), source.files(self.run_host.settings))).collect()
    }

    /// Tells whether a policy's cookbook is in Ruby.
    pub fn is_in_ruby(&self, policy: &str, cookbook: &str) -> bool {
        self.run_host.sources.get(policy).is_some_and(|source| source.has_ruby(cookbook))
    }

    /// The runtime of a policy's Ruby cookbooks, if it has any.
    pub fn runtime(&self, policy: &str) -> Option<Arc<Runtime>> {
        self.run_host.sources.get(policy)?.shared_runtime()
    }

    /// The grants of a policy.
    pub fn grants(&self, policy: &str) -> Option<&Arc<PolicyGrants>> {
        self.run_host.grants.get(policy)
    }

    /// Asks an instance of a runtime about files after the run; see [`ask`]. The run's own signals end it, and so does a
    /// limit of a few seconds of processor time, because the policy has used its own time in the run.
    ///
    /// # Errors
    /// The instance cannot be opened.
    pub fn ask<T>(
        &self,
        runtime: Arc<Runtime>,
        files: Arc<dyn CookbookFiles>,
        questions: impl FnOnce(&mut dyn FnMut(Question) -> Result<Value, Failure>) -> T,
    ) -> Result<T, AssembleError> {
        let settings = self.run_host.settings;
        let settings = Settings { guest_time: settings.guest_time.min(ASKED_AFTERWARDS), ..settings.clone() };
        ask(&settings, self.run_host.program, &self.run_host.stop, runtime, files, questions)
    }

    /// Returns the time that was spent on compiling native code.
    pub fn compile_time(&self) -> Duration {
        self.run_host.sandbox.compile_time()
    }

    /// Returns true if later runs find the compiled native code.
    pub fn keeps_compiled(&self) -> bool {
        self.run_host.sandbox.keeps_compiled()
    }

    /// Writes the record of a dry run to the state directory, or else to the user's own folder.
    ///
    /// # Errors
    /// Neither can be written to.
    pub fn record_dry_run(&self, record: &impl Serialize, error: Option<&Value>) -> Result<(), StateError> {
        DryRecord { settings: self.run_host.settings.clone(), id: self.id.clone() }.keep(record, error)
    }

    /// Writes the record of a survey to the state directory, or else to the user's own folder.
    ///
    /// # Errors
    /// Neither can be written to.
    pub fn record_survey(&self, record: &Value) -> Result<(), StateError> {
        own_state::keep_survey(self.run_host.settings, &self.id, record)
    }

    /// Writes the record of a real run and releases the lock. Does nothing after a dry run.
    ///
    /// # Errors
    /// The state directory cannot be written to, or a notification could not be recorded in the course of the run.
    pub fn record(&mut self, record: &impl Serialize, error: Option<&Value>) -> Result<(), StateError> {
        let left = Keeper::Unrecorded(state::Unrecorded::new(Vec::new()));
        let Keeper::Kept(kept) = std::mem::replace(&mut self.run_host.keeper, left) else { return Ok(()) };
        let Kept { lock, pending, filters } = *kept;
        let kept = keep(&lock, self.folder.as_deref(), record, error, self.run_host.settings);
        let finished = pending.finish();
        if let Some(Err(error)) = self.releases.as_ref().map(|releases| releases.note_converged(&self.converged)) {
            tracing::warn!("the revisions that converged cannot be noted: {}", text::error_chain(&error));
        }
        let (name, normal) = &self.before;
        let settings = self.run_host.settings;
        let given = self.given.take().filter(|_| kept.is_ok() && finished.is_ok());
        let changed = StateDirectory::open_keeping_free(&settings.state_dir, settings.min_free).and_then(|state| {
            // This comes before the deferred changes are applied, because the run has not seen them.
            if let Some(Err(error)) = given.map(|given| given.keep(&lock, &state, name, &self.id)) {
                tracing::warn!("later runs cannot be left out: {}", text::error_chain(&error));
            }
            take_waiting(&state, lock, name, normal, &filters)
        });
        kept.and(finished).and(changed)
    }

    /// Reboots the node, if a policy asked for it.
    ///
    /// # Errors
    /// The machine refuses.
    pub fn start_again(&self) -> Result<StartedAgain, Raised> {
        Ok(match self.run_host.reboots.carry_out(&self.run_host.settings.root)? {
            None => StartedAgain::NotAsked,
            Some(true) => StartedAgain::Scheduled,
            Some(false) => StartedAgain::Elsewhere,
        })
    }
}

/// Keeps the run's record, and its error.
fn keep(
    lock: &state::RunLock,
    folder: Option<&RunFolder>,
    record: &impl Serialize,
    error: Option<&Value>,
    settings: &Settings,
) -> Result<(), StateError> {
    let Some(folder) = folder else { return Ok(()) };
    folder.save_record(record)?;
    if let Some(error) = error {
        folder.save_error(error)?;
    }
    lock.prune_runs(settings.runs_kept, settings.runs_size, Some(folder.id()))
}
