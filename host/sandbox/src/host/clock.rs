//! What time it is: the real time where that is granted, else when the run began.

use crate::bindings::wrun::cookbook::clock as wit;
use crate::limits::{SLEEP, SLEEP_TOTAL};
use crate::policy::State;
use crate::rules::Lie;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wasmtime::Result;

impl wit::Host for State {
    fn now(&mut self) -> Result<(i64, u32)> {
        let started = self.services.started;
        if !self.services.clock {
            return Ok((started.seconds, started.nanoseconds));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok((i64::try_from(now.as_secs()).unwrap_or(i64::MAX), now.subsec_nanos()))
    }

    fn monotonic(&mut self) -> Result<u64> {
        static BEGAN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        if !self.services.clock {
            return Ok(0);
        }
        let began = BEGAN.get_or_init(Instant::now);
        Ok(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn sleep(&mut self, milliseconds: u32) -> Result<()> {
        if !self.run()?.why_run {
            let wait = Duration::from_millis(milliseconds.into()).min(SLEEP);
            self.slept += wait;
            if self.slept > SLEEP_TOTAL {
                return Err(Lie::Slept(SLEEP_TOTAL).into());
            }
            self.on_host_time(|_| std::thread::sleep(wait));
        }
        Ok(())
    }

    fn zone(&mut self, seconds: i64) -> Result<(i32, String)> {
        Ok((self.services.zone)(seconds))
    }
}
