//! What a plan would leave behind, for those who look at the machine later in the same dry run.
//!
//! Operations on files, directories and links say what they leave at which real path. What a program would change is not
//! known: the plan's assumptions name the paths that an action may make so, and these are unknown from then on.

use crate::operation::Operation;
use crate::plan::{Assumption, Plan};
use machine::guest::Planned;
use std::collections::BTreeSet;

/// Paths, and what would be left there, in the order of the plan.
pub(crate) type Outcomes = Vec<(String, Planned)>;

/// The outcomes of a plan.
pub(crate) fn of(plan: &Plan) -> Outcomes {
    let mut known = Outcomes::new();
    if plan.is_done_before {
        return known;
    }
    for step in &plan.steps {
        step.operation().foresee(&mut known);
    }
    let named: BTreeSet<&str> = known.iter().map(|(path, _)| path.as_str()).collect();
    let assumed = plan.assumptions.iter().filter_map(|assumption| match assumption {
        Assumption::Path(path) | Assumption::Directory(path) => Some(path),
        Assumption::User(_) | Assumption::Group(_) | Assumption::Package(_) | Assumption::ServiceAtBoot(..) => None,
    });
    let unknown = assumed.filter(|path| !named.contains(path.as_str()));
    let mut all: Outcomes = unknown.map(|path| (path.clone(), Planned::Unknown)).collect();
    all.append(&mut known);
    all
}

impl Operation {
    /// Adds what the operation would leave behind, as far as it is one on files, directories or links.
    fn foresee(&self, outcomes: &mut Outcomes) {
        match self {
            Self::WriteFile(operation) => operation.foresee(outcomes),
            Self::SetAccess(operation) => operation.foresee(outcomes),
            Self::Touch(operation) => operation.foresee(outcomes),
            Self::RemoveFile(operation) => operation.foresee(outcomes),
            Self::MakeDirectory(operation) => operation.foresee(outcomes),
            Self::RemoveDirectory(operation) => operation.foresee(outcomes),
            Self::PurgeDirectory(operation) => operation.foresee(outcomes),
            Self::MakeLink(operation) => operation.foresee(outcomes),
            Self::RemoveLink(operation) => operation.foresee(outcomes),
            Self::Sequence(operation) => {
                operation.operations().iter().for_each(|operation| operation.foresee(outcomes));
            }
            // Programs, services and servers, whose work nobody can foresee.
            _ => {}
        }
    }
}
