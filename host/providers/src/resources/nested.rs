//! A plan within a plan: a resource whose one sentence stands for what another provider does.

use crate::plan::{Plan, Step, Writer};
use contract::{Change, Raised};

/// The inner plan's steps as one step under a sentence of its own, with the inner sentences below it; `after` follows once
/// they are done. Nothing to do inside: nothing to do.
pub(super) fn around(
    sentence: String,
    inner: Plan,
    after: impl FnOnce(&mut Writer<'_>) -> Result<(), Raised> + Send + 'static,
) -> Plan {
    let Plan { steps, .. } = inner;
    if steps.is_empty() {
        return Plan { steps, ..inner };
    }
    let changes: Vec<Change> = steps.iter().flat_map(|step| step.changes().to_vec()).collect();
    let step = Step::new(Change::new(sentence), move |writer| {
        for step in steps {
            step.run(writer)?;
        }
        after(writer)
    });
    Plan { steps: vec![changes.into_iter().fold(step, Step::also)], ..inner }
}
