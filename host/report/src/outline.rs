//! Observes a run from outside, for the record of a run that is ended while it does not respond: the outcomes of its
//! policies, and the current action.

use crate::error::{self, Frames};
use crate::json::{Parts, Run, asked};
use contract::{ErrorKind, Event, Failure, Moment, Observer, StopReason, signal_name};
use converge::{PolicyOutcome, PolicyReport, RunReport};
use grants::Journal;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Observes a run. Clones share their data.
#[derive(Clone)]
pub struct Outline(Arc<Mutex<Seen>>, Journal);

struct Seen {
    began: Instant,
    started: Moment,
    run_id: String,
    node: String,
    why_run: bool,
    policies: Vec<PolicyReport>,
}

impl Outline {
    /// The outline of a run that begins now.
    pub fn new(started: Moment, journal: Journal) -> Self {
        let (run_id, node) = (String::new(), String::new());
        let seen = Seen { began: Instant::now(), started, run_id, node, why_run: false, policies: vec![] };
        Self(Arc::new(Mutex::new(seen)), journal)
    }

    /// Passes the record of the run, as far as it is known, and its first error to `keep`. The error names the signal and the
    /// current action, such as `package[nginx] install`.
    pub fn record(
        &self,
        signal: i32,
        doing: Option<&str>,
        without_policies: bool,
        keep: impl FnOnce(&Run<'_>, Option<&Value>),
    ) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let doing = doing.map(|doing| format!(" in the middle of {doing}")).unwrap_or_default();
        let message =
            format!("stopped by {}{doing}; the resources of this policy are not recorded", signal_name(signal));
        let running = seen.policies.iter_mut().find(|policy| matches!(policy.outcome, PolicyOutcome::NotRun));
        let mut errors = Vec::new();
        if let Some(policy) = running {
            let failure = Failure::raised(ErrorKind::Signalled, message);
            errors.push((policy.name.clone(), error::json(policy, &failure, None, Frames::WithPlaces)));
            policy.outcome = PolicyOutcome::Failed(failure);
        }
        let report = RunReport {
            run_id: seen.run_id.clone(),
            why_run: seen.why_run,
            started: seen.started,
            seconds: seen.began.elapsed().as_secs_f64(),
            policies: std::mem::take(&mut seen.policies),
            stopped: Some(StopReason::Signal(signal)),
            conflicts: vec![],
            conflicts_left_out: 0,
            shared_cookbooks: vec![],
        };
        let (node, log) = (seen.node.as_str(), json!([]));
        let (denials, denials_left_out) = self.1.denials();
        let asked = asked(&self.1);
        let parts = Parts {
            report: &report,
            node,
            errors: &errors,
            denials: &denials,
            denials_left_out,
            unseen: &[],
            asked,
            layers: &Value::Null,
            releases: &Value::Null,
            grants: None,
            paused: None,
            skipped: None,
            log,
            without_policies,
            compile_seconds: 0.0,
            compiled_is_kept: true,
        };
        keep(&Run(&parts), errors.first().map(|(_, error)| error));
    }
}

impl Observer for Outline {
    fn notice(&mut self, event: &Event<'_>) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ended = |name: &str, outcome| {
            if let Some(policy) = seen.policies.iter_mut().find(|policy| policy.name == name) {
                policy.outcome = outcome;
            }
        };
        match event {
            Event::RunStarted { run_id, node, policies, why_run } => {
                (seen.run_id, seen.node, seen.why_run) = ((*run_id).to_owned(), (*node).to_owned(), *why_run);
                seen.policies = policies.iter().map(|name| PolicyReport::not_run(name.clone())).collect();
            }
            Event::PolicyFinished { policy, .. } => ended(policy, PolicyOutcome::Succeeded),
            Event::PolicyFailed { policy, failure } => ended(policy, PolicyOutcome::Failed((*failure).clone())),
            _ => {}
        }
    }
}
