//! Nested plans: one sentence of a resource combines the steps that another provider plans.

use crate::operation::Operation;
use crate::plan::{Plan, Step, Writer};
use contract::{Change, Raised};

/// Combines the inner plan's steps into one step with its own sentence, followed by the inner sentences. If the inner plan
/// has no steps, the result has none.
pub(super) fn around(sentence: String, inner: Plan) -> Plan {
    let Plan { steps, .. } = inner;
    if steps.is_empty() {
        return Plan { steps, ..inner };
    }
    // The first sentence of the new step has the fingerprint of all steps.
    let inner_changes = steps.iter().flat_map(Step::changes);
    let changes: Vec<Change> = inner_changes.map(|change| Change { planned_against: None, ..change.clone() }).collect();
    let operations = steps.into_iter().map(Step::into_operation).collect();
    let step = Step::new(Change::new(sentence), Operation::Sequence(Sequence { operations }));
    Plan { steps: vec![changes.into_iter().fold(step, Step::also)], ..inner }
}

/// Operations that one step carries out together.
#[derive(Debug)]
pub(crate) struct Sequence {
    operations: Vec<Operation>,
}

impl Sequence {
    /// Returns the operations in their order.
    pub(crate) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Carries the operations out in their order.
    ///
    /// # Errors
    /// One of them fails; the later ones are not started.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        self.operations.into_iter().try_for_each(|operation| operation.carry_out(writer))
    }
}
