//! Collects the denials of a run, with the lines of code that asked.

use crate::error;
use contract::Status;
use converge::{PolicyOutcome, PolicyReport, RunReport};
use grants::{Denial, Journal};

/// Returns the denials of a run, and the number of those that were not kept.
///
/// A request of a cookbook's own code does not have a line. If the denial ended the policy, the line is taken from its
/// backtrace.
pub fn of(report: &RunReport, journal: &Journal) -> (Vec<Denial>, usize) {
    let (mut denials, left_out) = journal.denials();
    for denial in &mut denials {
        if denial.by.as_ref().is_some_and(|by| by.line.is_some()) {
            continue;
        }
        let policy = report.policies.iter().find(|policy| policy.name == denial.policy);
        let Some(PolicyOutcome::Failed(failure)) = policy.map(|policy| &policy.outcome) else { continue };
        let place = error::place(failure).filter(|_| denial.is_told_in(&failure.to_string()));
        let Some(place) = place else { continue };
        let by = denial.by.get_or_insert_default();
        (by.file, by.line) = (place.file, place.line);
        by.cookbook = place.cookbook.or_else(|| by.cookbook.take());
    }
    (denials, left_out)
}

/// Tells whether a run may not have asked for everything that its policies need, because denials or other failures ended it
/// before.
pub fn is_cut_short(report: &RunReport) -> bool {
    report.policies.iter().any(ends_early)
}

fn ends_early(policy: &PolicyReport) -> bool {
    // The code of a type of the policy's own ends with the first failure inside it. Others are asked for all that they need.
    let is_own_type = |kind: &str| schema::find(kind).is_none();
    match policy.outcome {
        PolicyOutcome::Succeeded => false,
        PolicyOutcome::NotRun => true,
        PolicyOutcome::Failed(_) => {
            let is_unseen = |status: Status, has_failed: bool, kind: &str| match has_failed {
                true => is_own_type(kind),
                false => status == Status::Unprocessed,
            };
            let mut records = policy.records.iter();
            !policy.converged || records.any(|one| is_unseen(one.status, one.failure.is_some(), &one.kind))
        }
    }
}
