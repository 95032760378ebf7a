//! Resources that are parts of another one's action (a file of a `remote_directory`), as the report shows them.

use crate::plan::{Plan, Step};
use contract::{Change, Part, PartStatus, Raised};

/// The part of a plan that a step's sentences belong to. `None`: they are the whole resource's.
fn part_of(step: &Step, plan: &Plan, why_run: bool) -> Option<usize> {
    step.part().filter(|at| plan.parts.get(*at).is_some_and(|part| part.in_dry_run || !why_run))
}

/// The sentences that belong to no part.
pub(crate) fn own_changes(plan: &Plan, why_run: bool) -> Vec<Change> {
    let own = plan.steps.iter().filter(|step| part_of(step, plan, why_run).is_none());
    own.flat_map(|step| step.changes().iter().cloned()).collect()
}

/// The parts as a plan foresees them.
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
    /// All of them, nothing done yet.
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

    /// Takes the sentences of a step that was done. Gives them back if it is not a part's.
    pub(crate) fn done(&mut self, part: Option<usize>, changes: Vec<Change>) -> Vec<Change> {
        let Some(part) = part.and_then(|at| self.0.get_mut(at)) else { return changes };
        part.outcome = Ok(PartStatus::Updated);
        part.changes.extend(changes);
        vec![]
    }

    /// All parts, once every step is done.
    pub(crate) fn all(self) -> Vec<Part> {
        self.0
    }

    /// The parts up to a step that failed.
    pub(crate) fn until(mut self, failed: Option<usize>, raised: &Raised) -> Vec<Part> {
        let begun = self.0.iter().rposition(|part| part.outcome == Ok(PartStatus::Updated)).map_or(0, |last| last + 1);
        self.0.truncate(failed.map_or(begun, |at| at + 1));
        if let Some(part) = failed.and_then(|at| self.0.get_mut(at)) {
            part.outcome = Err(raised.clone());
        }
        self.0
    }
}
