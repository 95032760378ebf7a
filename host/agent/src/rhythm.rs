//! Computes the time between two runs of the agent.

use std::time::Duration;

/// Largest number of times that the interval is doubled after failures. Two doublings give four intervals.
const MOST_DOUBLINGS: u32 = 2;

/// The interval between runs, and the random time that is added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rhythm {
    /// The time between the end of a run and the next one.
    pub interval: Duration,
    /// Maximum of the random time that is added to it, so that many nodes do not run at the same moment.
    pub splay: Duration,
}

impl Rhythm {
    /// Returns the time to wait after a run, without the splay. `failures` is the number of consecutive failed runs. One
    /// failure changes nothing. From the second failure on, the time doubles, up to four intervals.
    #[must_use]
    pub fn delay(self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(MOST_DOUBLINGS);
        self.interval.saturating_mul(1 << doublings)
    }

    /// Returns a random part of the splay. `random` is any number.
    #[must_use]
    pub fn splayed(self, random: u64) -> Duration {
        let most = u64::try_from(self.splay.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(most.checked_add(1).map_or(random, |values| random % values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RHYTHM: Rhythm = Rhythm { interval: Duration::from_secs(1800), splay: Duration::from_secs(300) };

    #[test]
    fn failures_in_a_row_make_the_wait_longer_up_to_four_intervals() {
        let minutes: Vec<_> = (0..6).map(|failures| RHYTHM.delay(failures).as_secs() / 60).collect();
        assert_eq!(minutes, [30, 30, 60, 120, 120, 120]);
        let endless = Rhythm { interval: Duration::MAX, ..RHYTHM };
        assert_eq!(endless.delay(9), Duration::MAX);
    }

    #[test]
    fn the_splay_is_never_more_than_it_may_be() {
        assert_eq!(RHYTHM.splayed(300_001), Duration::ZERO);
        assert_eq!(RHYTHM.splayed(300_000), Duration::from_secs(300));
        assert_eq!(Rhythm { splay: Duration::ZERO, ..RHYTHM }.splayed(u64::MAX), Duration::ZERO);
        assert!(Rhythm { splay: Duration::MAX, ..RHYTHM }.splayed(7) == Duration::from_millis(7));
    }
}
