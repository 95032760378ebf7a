//! A plan within a plan: a resource whose one sentence stands for what another provider does.

use crate::operation::Operation;
use crate::plan::{Plan, Step, Writer};
use contract::{Change, Raised};

/// The inner plan's steps as one step under a sentence of its own, with the inner sentences below it. Nothing to do inside:
/// nothing to do.
pub(super) fn around(sentence: String, inner: Plan) -> Plan {
    let Plan { steps, .. } = inner;
    if steps.is_empty() {
        return Plan { steps, ..inner };
    }
    // The step's own first sentence has the fingerprint of all.
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
    /// One of them fails; those after it are not begun.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        self.operations.into_iter().try_for_each(|operation| operation.carry_out(writer))
    }
}
