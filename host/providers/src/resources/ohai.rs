//! `ohai`: gathers the node's facts again, so that later resources see the changes of earlier ones.
//!
//! Gathering changes nothing on the machine; the facts are stored in the node after the action.

use crate::operation::Operation;
use crate::plan::{Plan, Provider, Step, View, Writer};
use crate::resources::asked;
use contract::{Change, ErrorKind, Raised, Wanted};
use schema::types::ohai::OhaiProperties;

/// The provider of `ohai`.
pub(crate) struct Ohai;

impl Provider for Ohai {
    fn plan(&self, wanted: &Wanted<'_>, _view: &mut View<'_>) -> Result<Plan, Raised> {
        let OhaiProperties { plugin } = asked::properties(wanted)?;
        let change = Change::new("re-run ohai and merge results into node attributes");
        Ok(Plan::steps(vec![Step::new(change, Operation::GatherFacts(GatherFacts { plugin }))]))
    }

    fn settles(&self, _action: &str) -> bool {
        false
    }
}

/// A new gathering of the node's facts.
#[derive(Debug)]
pub(crate) struct GatherFacts {
    /// The facts to gather. `None`: all.
    plugin: Option<String>,
}

impl GatherFacts {
    /// Gathers the facts and keeps them for the node.
    ///
    /// # Errors
    /// They cannot be gathered.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let Some(gather) = &writer.settings.facts else { return Ok(()) };
        let facts = gather(self.plugin.as_deref()).map_err(|why| Raised::new(ErrorKind::FactsNotGathered, why))?;
        writer.gathered.get_or_insert_default().extend(facts);
        Ok(())
    }
}
