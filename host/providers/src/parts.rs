//! Parts of a resource's action in the report: resources within it, such as a file of a `remote_directory`.

use crate::plan::{Plan, Step};
use contract::{Change, Part, PartStatus, Raised};

/// Returns the part that a step's sentences belong to, or `None` if they belong to the whole resource.
fn part_of(step: &Step, plan: &Plan, why_run: bool) -> Option<usize> {
    step.part().filter(|at| plan.parts.get(*at).is_some_and(|part| part.in_dry_run || !why_run))
}

/// Returns the sentences that do not belong to a part.
pub(crate) fn own_changes(plan: &Plan, why_run: bool) -> Vec<Change> {
    let own = plan.steps.iter().filter(|step| part_of(step, plan, why_run).is_none());
    own.flat_map(|step| step.changes().iter().cloned()).collect()
}

/// Returns the parts with their planned changes.
pub(crate) fn foreseen(plan: &Plan, why_run: bool) -> Vec<Part> {
    let mut parts = Parts::of(plan).0;
    for step in &plan.steps {
        if let Some(part) = step.part().and_then(|at| parts.get_mut(at)) {
            part.outcome = Ok(PartStatus::Updated);
            part.changes.extend(step.changes().iter().cloned());
        }
    }
    let shown = plan.parts.iter().map(|part| part.in_dry_run || !why_run);
    parts.into_iter().zip(shown).filter_map(|(part, shown)| shown.then_some(part)).collect()
}

/// The parts of a plan while it is carried out.
pub(crate) struct Parts(Vec<Part>);

impl Parts {
    /// Creates the list of all parts, before any step.
    pub(crate) fn of(plan: &Plan) -> Self {
        let begin = |part: &crate::plan::PlannedPart| Part {
            kind: part.kind,
            name: part.name.clone(),
            action: part.action,
            cookbook: part.cookbook.clone(),
            changes: vec![],
            outcome: Ok(PartStatus::UpToDate),
        };
        Self(plan.parts.iter().map(begin).collect())
    }

    /// Records the sentences of a finished step. Returns them if the step does not belong to a part.
    pub(crate) fn done(&mut self, part: Option<usize>, changes: Vec<Change>) -> Vec<Change> {
        let Some(part) = part.and_then(|at| self.0.get_mut(at)) else { return changes };
        part.outcome = Ok(PartStatus::Updated);
        part.changes.extend(changes);
        vec![]
    }

    /// Returns all parts after the last step.
    pub(crate) fn all(self) -> Vec<Part> {
        self.0
    }

    /// Returns the parts up to the failed step.
    pub(crate) fn until(mut self, failed: Option<usize>, raised: &Raised) -> Vec<Part> {
        let begun = self.0.iter().rposition(|part| part.outcome == Ok(PartStatus::Updated)).map_or(0, |last| last + 1);
        self.0.truncate(failed.map_or(begun, |at| at + 1));
        if let Some(part) = failed.and_then(|at| self.0.get_mut(at)) {
            part.outcome = Err(raised.clone());
        }
        self.0
    }
}
