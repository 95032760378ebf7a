//! One run from start to end: the order of policies, the data passed from one to the next, the time of saving, and the
//! handlers after the last policy.
//!
//! Each policy loads and compiles after the one before it has converged, in its own instance. Only the node object is passed
//! on. Every instance stays alive until the end of the run, because its handlers run after the last policy.

mod declared;
mod policy;
mod questions;
mod report;

pub use policy::{Instance, PolicyInput};
pub use questions::Questions;
pub use report::{NodeState, PolicyOutcome, PolicyReport, RunReport, SharedCookbook};

use crate::claims::Claims;
use contract::{Account, Event, Failure, Memory, Moment, Observer, Stop, StopStep, Types};
use node::attributes::SharedFacts;
use node::object::NodeObject;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// The interface of a run to the rest of the program.
pub trait RunHost {
    /// A policy's instance with its providers.
    type Instance: Instance;

    /// Opens a policy's account, with the limits of its costs.
    fn account(&self, policy: &PolicyInput) -> Account;

    /// Creates a policy's instance and its providers, which charge their work to the account.
    ///
    /// # Errors
    /// The component is damaged or does not start.
    fn open(&mut self, policy: &PolicyInput, account: &Account) -> Result<Self::Instance, Failure>;

    /// Returns the attributes of other policies, from this run or in `normal`, that a policy may read.
    fn visible<'all>(&self, policy: &PolicyInput, left: &'all Value) -> Cow<'all, Value>;

    /// Returns the operator's values in `normal` that a policy may read.
    fn visible_given<'all>(&self, policy: &PolicyInput, given: &'all Value) -> Cow<'all, Value>;

    /// Tells whether a policy's writes at a path of `normal` replace the values of other policies there.
    fn overwrites(&self, policy: &PolicyInput, path: &[String]) -> bool;

    /// Returns the machine's facts that a policy may read.
    fn visible_facts<'all>(&self, policy: &PolicyInput, facts: &'all Value) -> Cow<'all, Value>;

    /// Saves the node object. Called after each successful policy that changed it, never in a dry run.
    ///
    /// # Errors
    /// The state cannot be written. The run then ends, because later policies must not rely on unsaved data.
    fn save(&mut self, node: &NodeObject) -> Result<(), Failure>;

    /// Tells what a person could do about a failure of a policy, as far as its cookbooks' files say it.
    fn advice(&self, policy: &PolicyInput, failure: &Failure) -> Option<String>;

    /// Returns the store of notifications that must outlive the run.
    fn memory(&mut self) -> &mut dyn Memory;
}

/// The options of a run.
pub struct RunOptions {
    /// Identifies the run in its record and in the log.
    pub run_id: String,
    /// The moment at which the run began, for all its policies.
    pub started: Moment,
    /// True for a dry run, which changes nothing on the machine.
    pub why_run: bool,
    /// True if the policies after a failed one also run.
    pub keep_going: bool,
    /// True if the node is not saved (with an override run list).
    pub without_saving: bool,
    /// True if the run stops after compiling all recipes.
    pub compile_only: bool,
    /// True for a survey: a dry run that checks all grants that a real run could need. Guards do not count, every action
    /// notifies, and guests carry out steps that they would only announce in a dry run.
    pub survey: bool,
    /// True if backtraces also show frames of a language's runtime, not only those of cookbooks.
    pub all_frames: bool,
    /// True if the report has the resources as the recipes declared them.
    pub lists_declared: bool,
}

impl RunOptions {
    /// Tells whether nothing may be changed. A cookbook may run resources while it compiles, so compile-only runs are dry,
    /// too.
    fn is_dry(&self) -> bool {
        self.why_run || self.compile_only
    }
}

/// The state of a run over all its policies.
pub struct WholeRun<'a, H: RunHost> {
    run_host: &'a mut H,
    options: RunOptions,
    builtin: Arc<dyn Types>,
    /// The facts of the machine, under Ohai's keys.
    facts: SharedFacts,
    observer: Option<Box<dyn Observer>>,
    stop: Stop,
    /// The policies that have run; their instances stay alive until the end.
    finished: Vec<policy::FinishedPolicy<H::Instance>>,
    /// The claims of the policies. `None` in a real run of one policy.
    claims: Option<Claims>,
    /// Cookbooks that several policies contain.
    shared_cookbooks: Vec<SharedCookbook>,
}

impl<'a, H: RunHost> WholeRun<'a, H> {
    /// Prepares a run; nothing happens before [`run`](Self::run).
    pub fn new(
        run_host: &'a mut H,
        options: RunOptions,
        builtin: Arc<dyn Types>,
        facts: Map<String, Value>,
        observer: Box<dyn Observer>,
        stop: Stop,
    ) -> Self {
        Self {
            run_host,
            options,
            builtin,
            facts: facts.into(),
            observer: Some(observer),
            stop,
            finished: vec![],
            claims: None,
            shared_cookbooks: vec![],
        }
    }

    /// Runs all policies, then the late handlers. Failures are in the report.
    pub async fn run(mut self, node: &mut NodeObject, policies: Vec<PolicyInput>) -> RunReport {
        let began = Instant::now();
        let names: Vec<_> = policies.iter().map(|policy| policy.name.clone()).collect();
        let (run_id, why_run) = (self.options.run_id.clone(), self.options.why_run);
        let node_name = node.name().to_owned();
        self.notice(&Event::RunStarted { run_id: &run_id, node: &node_name, policies: &names, why_run });
        self.shared_cookbooks = SharedCookbook::of(&policies);
        // A dry run also detects resources of one policy that its earlier resources would change.
        self.claims = (names.len() > 1 || why_run).then(Claims::default);
        let mut outcomes = Vec::new();
        let mut failed = false;
        for policy in policies {
            // A dry run reports all policies.
            let goes_on = self.options.keep_going || self.options.why_run;
            let skipped = (failed && !goes_on) || self.stop.requested().is_some();
            if skipped {
                outcomes.push((policy.name.clone(), PolicyOutcome::NotRun));
                continue;
            }
            let name = policy.name.clone();
            let outcome = match self.run_policy(node, policy).await {
                Ok(()) => PolicyOutcome::Succeeded,
                Err(failure) => {
                    failed = true;
                    self.notice(&Event::PolicyFailed { policy: &name, failure: &failure });
                    PolicyOutcome::Failed(failure)
                }
            };
            outcomes.push((name, outcome));
        }
        if let Some(reason) = self.stop.requested().filter(|_| !failed) {
            failed = true;
            // The stop came between two policies. No policy failed, but the run did.
            if let Some((_, outcome)) =
                outcomes.iter_mut().find(|(_, outcome)| matches!(outcome, PolicyOutcome::NotRun))
            {
                *outcome = PolicyOutcome::Failed(Failure::Stopped(reason));
            }
        }
        self.late_handlers(&node_name, &outcomes, failed, began).await;
        if let Some(observer) = &mut self.observer {
            for run in self.finished.iter().map(|one| &one.run).filter(|run| !run.reads().hidden.is_empty()) {
                observer.notice(&Event::HiddenReads { policy: run.policy(), reads: &run.reads().hidden });
            }
        }
        let report = self.report(outcomes, began);
        let (tally, seconds) = (report.tally(), report.seconds);
        self.notice(&Event::RunFinished { failed, outcome: report.outcome(), tally, seconds });
        report
    }

    fn notice(&mut self, event: &Event<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.notice(event);
        }
    }

    /// Runs the report handlers after a successful run, or the exception handlers after a failed one. It does so for every
    /// policy whose instance still answers.
    async fn late_handlers(&mut self, node: &str, outcomes: &[(String, PolicyOutcome)], failed: bool, began: Instant) {
        if self.stop.step() >= Some(StopStep::AtOnce) {
            return;
        }
        let status = self.status(node, outcomes, failed, began);
        let end = if failed { policy::RunEnd::Failed } else { policy::RunEnd::Succeeded };
        let mut finished = std::mem::take(&mut self.finished);
        for one in finished.iter_mut().filter(|one| one.listens(end)) {
            one.run.set_observer(self.observer.take());
            let policy = one.run.policy().to_owned();
            one.run.notice(&Event::HandlersStarted { policy: &policy });
            let mut input = status.clone();
            if let Some(object) = input.as_object_mut() {
                object.insert("exception".into(), report::exception(one.run.policy(), outcomes));
                object.insert("policy".into(), one.run.policy().into());
            }
            one.handle(end, input, self.run_host.memory(), &self.stop).await;
            self.observer = one.run.take_observer();
        }
        self.finished = finished;
    }

    /// Returns the run's data for handlers; see docs/events.md.
    fn status(&self, node: &str, outcomes: &[(String, PolicyOutcome)], failed: bool, began: Instant) -> Value {
        let started = self.options.started;
        let seconds = began.elapsed().as_secs_f64();
        let policies: Vec<_> =
            outcomes.iter().map(|(name, outcome)| json!({ "name": name, "status": outcome.name() })).collect();
        json!({
            "run_id": self.options.run_id,
            "node": node,
            "success": !failed,
            "why_run": self.options.why_run,
            "start_time": started.seconds,
            "elapsed": seconds,
            "policies": policies,
            "exception": null,
        })
    }

    fn report(&mut self, outcomes: Vec<(String, PolicyOutcome)>, began: Instant) -> RunReport {
        let mut finished = std::mem::take(&mut self.finished);
        let policies: Vec<_> = outcomes
            .into_iter()
            .map(|(name, outcome)| {
                let at = finished.iter().position(|one| one.run.policy() == name);
                let one = at.map(|at| finished.remove(at));
                PolicyReport::new(name, outcome, one.map(policy::FinishedPolicy::ended))
            })
            .collect();
        // A signal after the end of all policies did not interrupt anything.
        let is_cut_short = policies.iter().any(|policy| !matches!(policy.outcome, PolicyOutcome::Succeeded));
        let (conflicts, conflicts_left_out) = self.claims.take().map(Claims::into_conflicts).unwrap_or_default();
        RunReport {
            conflicts,
            conflicts_left_out,
            stopped: self.stop.requested().filter(|_| is_cut_short),
            run_id: self.options.run_id.clone(),
            why_run: self.options.why_run,
            started: self.options.started,
            seconds: began.elapsed().as_secs_f64(),
            policies,
            shared_cookbooks: std::mem::take(&mut self.shared_cookbooks),
        }
    }
}
