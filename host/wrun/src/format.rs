//! Output formats that show a run while it is in progress: for people (`doc`, `minimal`), or for programs (`ndjson`).

pub(crate) mod doc;
pub(crate) mod minimal;
pub(crate) mod ndjson;

use contract::{Event, Observer};

/// Several observers of one run.
pub(crate) struct All(pub(crate) Vec<Box<dyn Observer>>);

impl Observer for All {
    fn notice(&mut self, event: &Event<'_>) {
        self.0.iter_mut().for_each(|one| one.notice(event));
    }
}
