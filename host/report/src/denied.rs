//! Collects the denials of a run, with the lines of code that asked.

use crate::error;
use converge::{PolicyOutcome, RunReport};
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
