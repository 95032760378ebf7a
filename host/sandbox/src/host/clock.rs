//! Implements the guest's clock. With the grant `clock` it returns the real time, else the time at which the run began.

use super::trap;
use crate::bindings::wrun::clock::clock as wit;
use crate::limits::{SLEEP, SLEEP_TICK};
use crate::policy::State;
use contract::{Failure, Limit, OutsideInput};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wasmtime::Result;

impl State {
    /// Sleeps, but ends early if the policy or the run must end.
    fn sleep_for(&self, wait: Duration) {
        let end = Instant::now() + wait;
        while self.services.account.check().is_ok() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(SLEEP_TICK));
        }
    }
}

impl wit::Host for State {
    fn now(&mut self) -> Result<wit::Moment> {
        self.call()?;
        let started = self.services.started;
        if !self.services.clock {
            self.services.attributes.refuse_outside(OutsideInput::Clock);
            return Ok(wit::Moment { seconds: started.seconds, nanoseconds: started.nanoseconds });
        }
        self.services.attributes.uses_outside(OutsideInput::Clock);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(wit::Moment { seconds: i64::try_from(now.as_secs()).unwrap_or(i64::MAX), nanoseconds: now.subsec_nanos() })
    }

    fn monotonic(&mut self) -> Result<u64> {
        self.call()?;
        static BEGAN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        if !self.services.clock {
            return Ok(0);
        }
        // This use is not recorded for suggested grants, because CRuby itself reads this clock in every policy.
        let began = BEGAN.get_or_init(Instant::now);
        Ok(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn sleep(&mut self, milliseconds: u32) -> Result<()> {
        if !self.run()?.why_run() {
            let wait = Duration::from_millis(milliseconds.into()).min(SLEEP);
            let run = self.run()?;
            let milliseconds = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let paid = run.account().spend(Limit::Pauses, milliseconds);
            paid.map_err(|ended| trap(Failure::from(ended.or_at(|| run.here()))))?;
            self.on_host_time(|state| state.sleep_for(wait));
        }
        self.may_go_on()
    }

    fn zone(&mut self, seconds: i64) -> Result<wit::ZoneOffset> {
        self.call()?;
        let (seconds, name) = (self.services.zone)(seconds);
        Ok(wit::ZoneOffset { seconds, name })
    }
}
