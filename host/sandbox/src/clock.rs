//! Time that the guest itself spent, over all its turns. The engine's epochs only say "look at the clock": wall time that
//! the host spent is not the guest's.

use crate::rules::Lie;
use std::time::{Duration, Instant};

pub(crate) struct Clock {
    budget: Duration,
    spent: Duration,
    since: Option<Instant>,
}

impl Clock {
    pub(crate) fn new(budget: Duration) -> Self {
        Self { budget, spent: Duration::ZERO, since: None }
    }

    pub(crate) fn start(&mut self) {
        self.since = Some(Instant::now());
    }

    pub(crate) fn stop(&mut self) {
        self.spent = self.spent();
        self.since = None;
    }

    /// Does work of the host's in the middle of a guest's turn.
    pub(crate) fn spent(&self) -> Duration {
        self.spent + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    pub(crate) fn check(&self) -> wasmtime::Result<()> {
        if self.spent() > self.budget { Err(Lie::OutOfTime(self.budget).into()) } else { Ok(()) }
    }
}
