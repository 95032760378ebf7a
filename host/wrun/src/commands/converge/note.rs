//! Notes of a run for the agent that started it. `wrun agent status` shows them. A failure to write a note does not fail the
//! run.

use agent::{FailedPolicy, Note};
use assemble::AssembleError;
use converge::{PolicyOutcome, RunReport};
use state::{AgentFile, StateDirectory, StateError};
use std::path::Path;
use text::error_chain;

/// Notes the identifier of the run that has begun.
pub(super) fn begun(state_dir: &Path, run_id: &str) {
    keep(state_dir, Note { run_id: Some(run_id.to_owned()), ..Note::default() });
}

/// Notes why no run began.
pub(super) fn not_begun(state_dir: &Path, error: &anyhow::Error) {
    let holder = error.downcast_ref::<AssembleError>().and_then(AssembleError::holder).map(ToString::to_string);
    keep(state_dir, Note { error: Some(format!("{error:#}")), holder, ..Note::default() });
}

/// Notes that the run was skipped, and the earlier run that made it unnecessary.
pub(super) fn skipped(state_dir: &Path, earlier: &str) {
    keep(state_dir, Note { skipped: Some(earlier.to_owned()), ..Note::default() });
}

/// Notes the policies that failed.
pub(super) fn ended(state_dir: &Path, report: &RunReport) {
    let failed = report.policies.iter().filter_map(|policy| match &policy.outcome {
        PolicyOutcome::Failed(failure) => {
            Some(FailedPolicy { policy: policy.name.clone(), message: failure.to_string() })
        }
        _ => None,
    });
    let (run_id, failed) = (Some(report.run_id.clone()), failed.collect());
    keep(state_dir, Note { run_id, failed, ..Note::default() });
}

fn keep(state_dir: &Path, note: Note) {
    let kept: Result<(), StateError> =
        StateDirectory::open(state_dir).and_then(|state| state.agent()?.save(AgentFile::Note, &note.bounded()));
    if let Err(error) = kept {
        tracing::warn!("the agent cannot be told of this run: {}", error_chain(&error));
    }
}
