//! `notify_group`: one name for several notifications. It counts as changed each time it runs, and changes nothing.

use crate::operation::Operation;
use crate::plan::{Plan, Provider, Step, View};
use contract::{Raised, Wanted};

pub(crate) struct NotifyGroup;

impl Provider for NotifyGroup {
    fn plan(&self, _wanted: &Wanted<'_>, _view: &mut View<'_>) -> Result<Plan, Raised> {
        Ok(Plan::steps(vec![Step::silent(Operation::Nothing)]))
    }

    fn settles(&self, _action: &str) -> bool {
        false
    }
}
