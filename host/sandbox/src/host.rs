//! Implements the host's side of the contract, with one file for each interface or package. It converts a guest's values to
//! the host's types. Other crates do the work and check the values.

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
use crate::clock::Clock;
use crate::policy::State;
use crate::rules::ProtocolViolation;
use contract::{Ended, Failure, GuestLost, Receipt, Run};
use wasmtime::Result;

impl types::Host for State {}
impl machine_types::Host for State {}

impl State {
    /// Returns the run, or fails if it is not this guest's turn.
    fn run(&mut self) -> Result<&mut Run> {
        let violation = if self.rules.closed() { ProtocolViolation::AfterDone } else { ProtocolViolation::NotReady };
        let run = self.run.as_deref_mut().ok_or(violation)?;
        on_call(&mut self.calls, &mut self.clock, run)?;
        Ok(run)
    }

    /// Charges the policy for host memory until the returned receipt is dropped, at the end of the guest's call.
    fn pay_for_call(&mut self, bytes: u64) -> Result<Receipt> {
        let run = self.run()?;
        let paid = run.account().keep(bytes, || run.here());
        paid.map_err(|ended| trap(Failure::from(ended)))
    }

    /// Returns the run and the policy's services, or fails if it is not this guest's turn.
    fn run_and_services(&mut self) -> Result<(&mut Run, &mut contract::Services)> {
        let violation = if self.rules.closed() { ProtocolViolation::AfterDone } else { ProtocolViolation::NotReady };
        match self.run.as_deref_mut() {
            Some(run) => {
                on_call(&mut self.calls, &mut self.clock, run)?;
                Ok((run, &mut self.services))
            }
            None => Err(violation.into()),
        }
    }

    /// Traps if the guest's policy may not continue.
    ///
    /// Without a run, the guest's start code runs, or code after the end of its session. A first signal ends start code, since
    /// nothing has begun. After the session, all has been done, so only a second one ends the code.
    pub(crate) fn may_go_on(&mut self) -> Result<()> {
        if let Some(run) = self.run.as_deref() {
            return may_go_on(&mut self.clock, run);
        }
        self.clock.settle();
        match self.services.account.check() {
            Err(exceeded @ Ended::Exceeded(_)) => Err(trap(exceeded.into())),
            Err(Ended::Stopped(_)) if !self.rules.closed() || self.services.account.ends_at_once() => {
                Err(interrupted(&self.policy))
            }
            Ok(()) | Err(Ended::Stopped(_)) => Ok(()),
        }
    }

    /// Counts a call that needs no run, and traps if the guest's policy may not continue.
    fn call(&mut self) -> Result<()> {
        match self.run.as_deref() {
            Some(run) => on_call(&mut self.calls, &mut self.clock, run),
            None => self.may_go_on(),
        }
    }

    /// Does the host's work within the guest's turn. Its time does not count as the guest's.
    fn on_host_time<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.clock.stop();
        let done = work(self);
        self.clock.start();
        done
    }
}

/// The number of a guest's calls between two checks of the clock and of the process's memory. The calls in between only check
/// limits that the account counts. Their own costs are charged to the account.
const CALLS_BETWEEN_LOOKS: u32 = 8;

/// Traps if the guest's policy has exceeded a limit. A look at the clock costs as much as a small call, so only some calls do
/// it.
fn on_call(calls: &mut u32, clock: &mut Clock, run: &Run) -> Result<()> {
    *calls = calls.wrapping_add(1);
    if calls.is_multiple_of(CALLS_BETWEEN_LOOKS) {
        return may_go_on(clock, run);
    }
    run.account().verdict().map_err(|exceeded| trap(exceeded.or_at(|| run.here()).into()))
}

/// Traps if the guest's policy has exceeded a limit, or if a signal may end its code at this point. At other points, the
/// guest first finishes its work.
fn may_go_on(clock: &mut Clock, run: &Run) -> Result<()> {
    clock.settle();
    match run.account().check() {
        Err(exceeded @ Ended::Exceeded(_)) => Err(trap(exceeded.or_at(|| run.here()).into())),
        // The runner reports why the guest was ended.
        Err(Ended::Stopped(_)) if run.may_be_interrupted() => Err(interrupted(run.policy())),
        Ok(()) | Err(Ended::Stopped(_)) => Ok(()),
    }
}

/// Returns the trap of a guest that a signal ends.
fn interrupted(policy: &str) -> wasmtime::Error {
    let (policy, why) = (policy.to_owned(), "was interrupted".to_owned());
    trap(Failure::from(GuestLost { policy, why, ..GuestLost::default() }))
}

/// Turns a failure that ends the policy into a trap, so that guest code cannot rescue it.
pub(crate) fn trap(failure: Failure) -> wasmtime::Error {
    match failure {
        Failure::GuestLost(lost) => wasmtime::Error::from(*lost),
        other => wasmtime::Error::from(other),
    }
}

/// Returns an outcome for the guest. A failure that ends its policy becomes a trap.
pub(crate) fn heard<T>(outcome: Result<T, Failure>) -> Result<Result<T, Failure>> {
    match outcome {
        Err(failure @ Failure::GuestLost(_)) => Err(trap(failure)),
        other => Ok(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::processor_time;
    use contract::{Account, AccountLimits, Meters, Stop};
    use std::time::Duration;

    /// Regression test: a guest that computed long without a call used up the host's time. The report said that the host had
    /// used no time.
    #[test]
    fn what_a_guest_computes_is_not_the_hosts_time() {
        const TIME: Duration = Duration::from_millis(40);
        let meters = Meters { processor: Some(processor_time), ..Meters::default() };
        let account = Account::new("web", AccountLimits { host_time: TIME, ..AccountLimits::default() }, meters);
        let mut run = Run::default();
        run.charge_to(account.clone());
        account.begin_turn(Stop::default());
        let limits = crate::Limits { guest_time: Duration::from_secs(60), ..crate::Limits::default() };
        let mut clock = Clock::new(&limits, account.clone());
        let compute = |time: Duration| {
            let begin = processor_time();
            while processor_time() - begin < time {
                std::hint::black_box(());
            }
        };
        clock.start();
        compute(3 * TIME);
        assert!(may_go_on(&mut clock, &run).is_ok(), "{:?}", account.usage());
        // The host's work within the turn counts as host time while it runs.
        compute(2 * TIME);
        assert!(account.check().is_err());
        clock.stop();
        account.end_turn();
        assert!(account.usage().host_time > TIME, "the report does not contradict the error: {:?}", account.usage());
    }
}
