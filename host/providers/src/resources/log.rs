//! `log`: a line in the run's log.
//!
//! As in Chef, it changes nothing and never counts as a change, so it sends no notification. A dry run writes the line too.
//! Unlike in Chef, a sensitive one does not show its message.

use crate::plan::{Plan, Provider, View};
use crate::resources::asked;
use contract::{ErrorKind, Limit, LogLevel, Raised, Wanted};
use schema::types::log::LogProperties;

/// The line of a sensitive resource whose message is not its name.
const SUPPRESSED: &str = "the message is not shown, since the resource is sensitive";

pub(crate) struct Log;

impl Provider for Log {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let LogProperties { message, level } = asked::properties(wanted)?;
        let level = LogLevel::from_name(&level).ok_or_else(|| {
            Raised::new(ErrorKind::InvalidValue, "Option level must be one of debug, info, warn, error, fatal")
        })?;
        let is_secret = wanted.declaration.sensitive && message != wanted.declaration.name;
        let message = if is_secret { SUPPRESSED.to_owned() } else { message };
        if let Some(log) = &view.settings.log {
            // The line goes into the record of the run, so it is charged as disk space.
            let charged = view.settings.account.spend(Limit::Disk, message.len() as u64);
            charged.map_err(|ended| Raised::new(ErrorKind::InputOutput, ended.to_string()))?;
            log(level, &message);
        }
        Ok(Plan::up_to_date())
    }
}
