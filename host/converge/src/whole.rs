//! One run from start to end: the policies in order, what goes on from one to the next, what is saved when, and the
//! handlers after the last.
//!
//! Each policy loads and compiles after the one before it has converged, in its own instance. Nothing but the node object
//! goes on. Every instance stays alive until the end, so that callbacks which outlive a converge still answer: no policy
//! is special.

mod declared;
mod policy;
mod questions;
mod report;

pub use policy::{Instance, PolicyInput};
pub use questions::Questions;
pub use report::{NodeState, PolicyOutcome, PolicyReport, RunReport, SharedCookbook};

use crate::claims::Claims;
use contract::{Account, Event, Failure, Memory, Moment, Observer, Stop, StopStep, Types};
use node::object::NodeObject;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// Everything that a run needs of the rest of the program.
pub trait RunHost {
    /// A policy's instance with its providers.
    type Instance: Instance;

    /// Opens a policy's account: what it may cost the host.
    fn account(&self, policy: &PolicyInput) -> Account;

    /// Makes a policy's instance and its providers, which charge what they do to the account.
    ///
    /// # Errors
    /// The component is damaged, wants what it is not granted, or does not start.
    fn open(&mut self, policy: &PolicyInput, account: &Account) -> Result<Self::Instance, Failure>;

    /// Tells how much of what other policies left, in this run or in `normal`, a policy may read.
    fn visible<'all>(&self, policy: &PolicyInput, left: &'all Value) -> Cow<'all, Value>;

    /// Tells how much of what the operator gave the node in `normal` a policy may read.
    fn visible_given<'all>(&self, policy: &PolicyInput, given: &'all Value) -> Cow<'all, Value>;

    /// Tells whether a policy's writes at a path of `normal` replace what others wrote there.
    fn overwrites(&self, policy: &PolicyInput, path: &[String]) -> bool;

    /// Tells how much of the machine's facts a policy may read.
    fn visible_facts<'all>(&self, policy: &PolicyInput, facts: &'all Value) -> Cow<'all, Value>;

    /// Keeps the node object: called after each policy that succeeded and changed it, never in a dry run.
    ///
    /// # Errors
    /// The state cannot be written. The run ends: what could not be saved must not be built on.
    fn save(&mut self, node: &NodeObject) -> Result<(), Failure>;

    /// Tells what a person could do about a failure of a policy, as far as its cookbooks' files say it.
    fn advice(&self, policy: &PolicyInput, failure: &Failure) -> Option<String>;

    /// What must outlive the run.
    fn memory(&mut self) -> &mut dyn Memory;
}

/// How a run is to be done.
pub struct RunOptions {
    /// Identifies the run in its record and in the log.
    pub run_id: String,
    /// The moment at which the run began, for all its policies.
    pub started: Moment,
    /// A dry run: nothing on the machine is changed.
    pub why_run: bool,
    /// Run the policies after one that failed.
    pub keep_going: bool,
    /// Do not save the node (an override run list).
    pub without_saving: bool,
    /// Stop once all recipes are compiled, before anything converges.
    pub compile_only: bool,
    /// A dry run that asks for everything that a real run could come to, whatever the machine looks like now: guards do not
    /// count, every action notifies, and guests carry out what they would only announce.
    pub survey: bool,
    /// Backtraces show frames of a language's runtime too, not only the cookbooks'.
    pub all_frames: bool,
    /// The report has the resources as the recipes declared them.
    pub lists_declared: bool,
}

impl RunOptions {
    /// Nothing may be changed: a cookbook may run resources while it compiles, and then they are run dry too.
    fn is_dry(&self) -> bool {
        self.why_run || self.compile_only
    }
}

/// A run that goes on, from policy to policy.
pub struct WholeRun<'a, H: RunHost> {
    run_host: &'a mut H,
    options: RunOptions,
    builtin: Arc<dyn Types>,
    /// What the machine is, under Ohai's keys.
    facts: Map<String, Value>,
    observer: Option<Box<dyn Observer>>,
    stop: Stop,
    /// The policies that have run, alive until the end.
    finished: Vec<policy::FinishedPolicy<H::Instance>>,
    /// What the policies claim; `None`: a real run of only one.
    claims: Option<Claims>,
    /// Cookbooks that several policies have.
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
            facts,
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
        // A dry run also finds what earlier resources of one policy would change.
        self.claims = (names.len() > 1 || why_run).then(Claims::default);
        let mut outcomes = Vec::new();
        let mut failed = false;
        for policy in policies {
            // A dry run tells of all policies.
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
            // It was asked for between two policies: nothing of theirs failed, the run did.
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

    /// Report handlers after a run that succeeded, exception handlers after one that failed: of every policy whose
    /// instance still answers.
    async fn late_handlers(&mut self, node: &str, outcomes: &[(String, PolicyOutcome)], failed: bool, began: Instant) {
        if self.stop.step() >= Some(StopStep::AtOnce) {
            return;
        }
        let status = self.status(node, outcomes, failed, began);
        let end = if failed { policy::RunEnd::Failed } else { policy::RunEnd::Succeeded };
        let mut finished = std::mem::take(&mut self.finished);
        for one in finished.iter_mut().filter(|one| one.listens(end)) {
            one.run.set_observer(self.observer.take());
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

    /// What handlers hear of the run; see docs/events.md.
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
        // A signal that came when everything was done has ended nothing.
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
