//! The host's side of the contract, one file per interface. Thin: it brings a guest's words into the host's own form,
//! and the rooms behind it do the work and check the values.

mod clock;
mod cookbooks;
mod data;
mod machine;
mod node;
mod output;
mod random;
mod reading;
mod resources;
mod schema;
mod turns;

use crate::bindings::wrun::{machine::types as machine_types, types::types};
use crate::policy::State;
use crate::rules::ProtocolViolation;
use contract::{Ended, Failure, GuestLost, Receipt, Run};
use wasmtime::Result;

impl types::Host for State {}
impl machine_types::Host for State {}

impl State {
    /// The run, if it is this guest's turn.
    fn run(&mut self) -> Result<&mut Run> {
        let violation = if self.rules.closed() { ProtocolViolation::AfterDone } else { ProtocolViolation::NotReady };
        let run = self.run.as_deref_mut().ok_or(violation)?;
        on_call(&mut self.calls, run)?;
        Ok(run)
    }

    /// Pays for what is in the host's memory while a call of the guest's lasts.
    fn pay_for_call(&mut self, bytes: u64) -> Result<Receipt> {
        let run = self.run()?;
        let paid = run.account().keep(bytes, || run.here());
        paid.map_err(|ended| trap(Failure::from(ended)))
    }

    /// The run and the services beside it.
    fn run_and_services(&mut self) -> Result<(&mut Run, &mut contract::Services)> {
        let violation = if self.rules.closed() { ProtocolViolation::AfterDone } else { ProtocolViolation::NotReady };
        match self.run.as_deref_mut() {
            Some(run) => {
                on_call(&mut self.calls, run)?;
                Ok((run, &mut self.services))
            }
            None => Err(violation.into()),
        }
    }

    /// Ends a guest whose policy may not go on.
    pub(crate) fn may_go_on(&self) -> Result<()> {
        self.run.as_deref().map_or(Ok(()), may_go_on)
    }

    /// Does work of the host's in the middle of the guest's turn: its time is not the guest's.
    fn on_host_time<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.clock.stop();
        let done = work(self);
        self.clock.start();
        done
    }
}

/// How many calls of a guest go by between two looks at the clock and at the memory of the process. Between them a call
/// hears of limits that were exceeded, and exceeds none of another kind: what it costs is charged to the account.
const CALLS_BETWEEN_LOOKS: u32 = 8;

/// Ends the guest if its policy has exceeded a limit. Looking at the clock costs as much as a small call, so only some calls
/// do.
fn on_call(calls: &mut u32, run: &Run) -> Result<()> {
    *calls = calls.wrapping_add(1);
    if calls.is_multiple_of(CALLS_BETWEEN_LOOKS) {
        return may_go_on(run);
    }
    run.account().verdict().map_err(|exceeded| trap(exceeded.or_at(|| run.here()).into()))
}

/// Ends the guest if its policy has exceeded a limit. A signal does not: what the guest is doing is finished.
fn may_go_on(run: &Run) -> Result<()> {
    match run.account().check() {
        Err(exceeded @ Ended::Exceeded(_)) => Err(trap(exceeded.or_at(|| run.here()).into())),
        // The runner tells why the guest was ended.
        Err(Ended::Stopped(_)) if run.may_be_interrupted() => {
            let (policy, why) = (run.policy().to_owned(), "was interrupted".to_owned());
            Err(trap(Failure::from(GuestLost { policy, why, backtrace: vec![], recipe: None })))
        }
        Ok(()) | Err(Ended::Stopped(_)) => Ok(()),
    }
}

/// A failure that no guest code hears of, because its policy is at its end.
pub(crate) fn trap(failure: Failure) -> wasmtime::Error {
    match failure {
        Failure::GuestLost(lost) => wasmtime::Error::from(*lost),
        other => wasmtime::Error::from(other),
    }
}

/// An outcome as the guest hears of it. The end of its policy is a trap.
pub(crate) fn heard<T>(outcome: Result<T, Failure>) -> Result<Result<T, Failure>> {
    match outcome {
        Err(failure @ Failure::GuestLost(_)) => Err(trap(failure)),
        other => Ok(other),
    }
}
