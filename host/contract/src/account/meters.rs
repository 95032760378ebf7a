//! The counters and clocks of an account.

use crate::Stop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// The minimum time between two queries of processor time and memory. A query is a system call.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// The functions that measure the process's own use. The default measures nothing.
#[derive(Debug, Clone, Copy)]
pub struct Meters {
    /// Returns the bytes of the process's own memory, without mapped files, or `None` if unknown.
    pub resident: Option<fn() -> Option<u64>>,
    /// Returns the processor time of the present thread.
    pub processor: Option<fn() -> Duration>,
    /// The bytes by which the process may grow in a policy's turn in addition to the policy's limit.
    pub slack: u64,
}

impl Meters {
    /// The default slack: space for the host's own buffers and copies of the node.
    pub const SLACK: u64 = 256 << 20;
}

impl Default for Meters {
    fn default() -> Self {
        Self { resident: None, processor: None, slack: Self::SLACK }
    }
}

/// The usage of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Bytes of the host's memory that are in use now.
    pub host_memory: u64,
    /// The maximum number of bytes in use at a time.
    pub host_memory_peak: u64,
    /// Processor time of the host's own work.
    pub host_time: Duration,
    /// Processor time of the guest itself.
    pub guest_time: Duration,
    /// Bytes written to the disk.
    pub disk: u64,
    /// Files, directories and links made.
    pub entries: u64,
    /// The maximum number of open files at a time.
    pub open_files: u64,
    /// The maximum number of processes of one command.
    pub processes: u64,
    /// Users and groups made.
    pub accounts: u64,
    /// Time in which the policy waited.
    pub pauses: Duration,
    /// Units of work that the host did: items of lists, and pieces of 64 bytes of content.
    pub work: u64,
}

/// A charged amount and its peak.
#[derive(Debug, Default)]
pub(super) struct Counter {
    used: AtomicU64,
    peak: AtomicU64,
}

impl Counter {
    /// Adds an amount and returns true, unless the sum would exceed `most`.
    pub(super) fn add(&self, amount: u64, most: u64) -> bool {
        let added = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(amount).filter(|sum| *sum <= most)
        });
        if let Ok(before) = added {
            self.peak.fetch_max(before.saturating_add(amount), Ordering::Relaxed);
        }
        added.is_ok()
    }

    /// Adds an amount without a limit, and returns the sum.
    pub(super) fn add_all(&self, amount: u64) -> u64 {
        let sum = self.used.fetch_add(amount, Ordering::Relaxed).saturating_add(amount);
        self.saw(sum);
        sum
    }

    /// Records a measured amount in the peak.
    pub(super) fn saw(&self, amount: u64) {
        self.peak.fetch_max(amount, Ordering::Relaxed);
    }

    pub(super) fn give_back(&self, amount: u64) {
        let _never_below_zero =
            self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| Some(used.saturating_sub(amount)));
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }
}

/// The turn of a policy, during which its time runs.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) stop: Stop,
    pub(super) deadline: Option<Instant>,
    /// The maximum bytes of the process without the guest's own memory, and its bytes at the start of the turn.
    memory: Option<(u64, u64)>,
    /// The start of the measurement on the turn's thread. `None` outside of the policy's turn.
    since: Option<Since>,
    /// The host's processor time in earlier turns.
    pub(super) before: Duration,
    /// The host's time according to an error. Later the turn may count part of it as the guest's, but a report must not
    /// contradict the error.
    pub(super) told: Duration,
    /// The time and the result of the last query of the host's processor time.
    last: Option<(Instant, Duration)>,
}

#[derive(Debug, Clone, Copy)]
struct Since {
    thread: ThreadId,
    processor: Duration,
    /// The guest's own time at that moment, in nanoseconds.
    guest: u64,
}

impl Turn {
    pub(super) fn begin(&mut self, stop: Stop, wall: Duration, budget: u64, meters: &Meters, guest: u64) {
        self.end(meters, guest);
        self.stop = stop;
        self.deadline = Instant::now().checked_add(wall);
        self.memory = meters.resident.map(|resident| {
            let now = resident().unwrap_or(0);
            (now.saturating_add(budget).saturating_add(meters.slack), now)
        });
        self.since = meters.processor.map(|processor| Since::now(processor, guest));
        self.last = None;
    }

    pub(super) fn end(&mut self, meters: &Meters, guest: u64) {
        self.before += self.of_this_turn(meters, guest);
        self.last = None;
        self.since = None;
        self.deadline = None;
        self.memory = None;
    }

    /// Returns true if the last query is old enough to query the kernel again.
    pub(super) fn looks_again(&self, now: Instant) -> bool {
        self.last.is_none_or(|(at, _)| now.saturating_duration_since(at) >= BETWEEN_LOOKS)
    }

    /// Returns the growth of the process in this turn without the guest's own memory, in bytes, if it is too much. Memory
    /// that cannot be measured counts as too much.
    pub(super) fn grown_too_much(&self, meters: &Meters, guest_memory: u64) -> Option<u64> {
        let (most, at_first) = self.memory?;
        let now = meters.resident?().unwrap_or(u64::MAX).saturating_sub(guest_memory);
        (now > most).then(|| now.saturating_sub(at_first))
    }

    /// Returns the host's processor time for the policy.
    pub(super) fn host_time(&mut self, now: Instant, meters: &Meters, guest: u64) -> Duration {
        if let Some((_, known)) = self.last.filter(|_| !self.looks_again(now)) {
            return known;
        }
        if self.since.is_some_and(|since| since.thread != std::thread::current().id()) {
            // The turn runs on another thread now, whose clock cannot be compared. So the measurement starts again.
            self.since = meters.processor.map(|processor| Since::now(processor, guest));
        }
        let time = self.before + self.of_this_turn(meters, guest);
        self.last = Some((now, time));
        time
    }

    /// Makes the next check query the kernel again.
    #[cfg(test)]
    pub(super) fn forget_last_look(&mut self) {
        self.last = None;
    }

    fn of_this_turn(&self, meters: &Meters, guest: u64) -> Duration {
        let (Some(since), Some(processor)) = (self.since, meters.processor) else { return Duration::ZERO };
        if since.thread != std::thread::current().id() {
            return Duration::ZERO;
        }
        let all = processor().saturating_sub(since.processor);
        all.saturating_sub(Duration::from_nanos(guest.saturating_sub(since.guest)))
    }
}

impl Since {
    fn now(processor: fn() -> Duration, guest: u64) -> Self {
        Self { thread: std::thread::current().id(), processor: processor(), guest }
    }
}
