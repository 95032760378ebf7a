//! `reboot`: requests a reboot of the node after a successful run, or ends the run for it.
//!
//! This module does not reboot: [`crate::Reboots`] keeps the request until the run is recorded.

use crate::Reboot;
use crate::operation::Operation;
use crate::plan::{Plan, Provider, Step, View, Writer};
use crate::resources::asked;
use contract::{Change, Raised, StopReason, Wanted};
use machine::denied::denied;
use schema::types::reboot::RebootProperties;

/// The provider of `reboot`.
pub(crate) struct RebootResource;

impl Provider for RebootResource {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let policy = view.grants.policy().to_owned();
        if wanted.action == "cancel" {
            let change = Change::new("cancel any existing end-of-run reboot request");
            return Ok(Plan::steps(vec![Step::new(change, Operation::CancelReboot(CancelReboot { policy }))]));
        }
        let now = wanted.action == "reboot_now";
        let granted = view.grants.reboot().map_err(denied)?;
        let RebootProperties { reason, delay_mins } = asked::properties(wanted)?;
        let minutes = u32::try_from(delay_mins.max(0)).unwrap_or(u32::MAX);
        let reboot = Reboot::new(granted, minutes, &reason, &wanted.declaration.name);
        let sentence = if now {
            "rebooting the system immediately"
        } else {
            "request a system reboot to occur if the run succeeds"
        };
        let operation = RequestReboot { policy, reboot, now };
        Ok(Plan::steps(vec![Step::new(Change::new(sentence), Operation::RequestReboot(Box::new(operation)))]))
    }

    fn settles(&self, _action: &str) -> bool {
        false
    }
}

/// A policy's request for a reboot.
#[derive(Debug)]
pub(crate) struct RequestReboot {
    policy: String,
    reboot: Reboot,
    /// True if the run must end at once for the reboot.
    now: bool,
}

impl RequestReboot {
    /// Records the request, and stops the run if the reboot is urgent.
    ///
    /// # Errors
    /// Never: the request is only recorded.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        writer.settings.reboots.request(&self.policy, self.reboot);
        if self.now {
            writer.settings.stop.request(StopReason::Reboot);
        }
        Ok(())
    }
}

/// The withdrawal of a policy's request for a reboot.
#[derive(Debug)]
pub(crate) struct CancelReboot {
    policy: String,
}

impl CancelReboot {
    /// Withdraws the policy's own request.
    ///
    /// # Errors
    /// Never: withdrawing a request that was not made is not an error.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        writer.settings.reboots.cancel(&self.policy);
        Ok(())
    }
}
