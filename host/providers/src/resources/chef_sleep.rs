//! `chef_sleep`: waits.

use super::asked;
use crate::Settings;
use crate::operation::Operation;
use crate::plan::{Plan, Provider, Step, View, Writer};
use contract::{Change, ErrorKind, Limit, Raised, Wanted};
use schema::types::chef_sleep::ChefSleepProperties;
use std::time::{Duration, Instant};

/// The interval for checking whether the run must stop.
const TICK: Duration = Duration::from_millis(50);

/// The provider of `chef_sleep`; the waiting is its only effect.
pub(crate) struct ChefSleep;

impl Provider for ChefSleep {
    fn plan(&self, wanted: &Wanted<'_>, _view: &mut View<'_>) -> Result<Plan, Raised> {
        let ChefSleepProperties { seconds } = asked::properties(wanted)?;
        let change = Change::new(format!("sleep {seconds} seconds"));
        Ok(Plan::steps(vec![Step::new(change, Operation::Sleep(Sleep { seconds }))]))
    }

    fn settles(&self, _action: &str) -> bool {
        false
    }
}

/// A pause of the policy.
#[derive(Debug)]
pub(crate) struct Sleep {
    seconds: u32,
}

impl Sleep {
    /// Waits until the time is over or the run must stop.
    ///
    /// # Errors
    /// The policy's pauses are used up.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        wait(self.seconds, writer.settings)
    }
}

/// Charges the policy for the pause and waits. Returns early when the run must stop.
fn wait(seconds: u32, settings: &Settings) -> Result<(), Raised> {
    let charged = settings.account.spend(Limit::Pauses, u64::from(seconds).saturating_mul(1_000));
    charged.map_err(|ended| Raised::new(ErrorKind::InputOutput, ended.to_string()))?;
    let end = Instant::now() + Duration::from_secs(seconds.into());
    while settings.stop.requested().is_none() && settings.account.check().is_ok() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        std::thread::sleep(left.min(TICK));
    }
    Ok(())
}
