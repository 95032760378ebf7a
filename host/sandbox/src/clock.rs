//! Measures the guest's own processor time over all its turns. The engine's epochs only trigger a check.
//!
//! The host's work does not count, and neither does the time of other programs. The kernel knows each thread's exact
//! processor time. But a query costs as much as a small host call, and a guest has thousands of turns. So the clock queries
//! at most once per [`WINDOW`]. For each window it knows two upper bounds of the guest's time. One is the processor time of
//! the whole thread, the other the wall time of the guest's turns. It counts the smaller one.

use crate::limits::{LimitSource, Limits};
use crate::rules::ProtocolViolation;
use contract::Account;
use rustix::fs::{Mode, OFlags};
use rustix::time::{ClockId, clock_gettime};
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// The minimum time between two queries of the processor clock, except for checks near the budget. If the thread loses the
/// processor, the guest's count for a window is too high by at most this time.
const WINDOW: Duration = Duration::from_micros(200);

/// The policy's budget of processor time, which all its guests share, and the time that this guest has used.
pub(crate) struct Clock {
    budget: Duration,
    budget_from: LimitSource,
    /// The account gets the guest's time, because the rest of the thread's time is the host's.
    account: Account,
    /// This guest's processor time in the earlier windows. The account has that of all guests of the policy.
    spent: Duration,
    window: Window,
    /// The beginning of the guest's present turn, or `None` while the host has the turn.
    since: Option<Instant>,
}

/// The time since the last query of the processor clock.
struct Window {
    began: Instant,
    /// The thread's processor time at the beginning.
    processor: Duration,
    /// The thread of this processor time. A guest's turn ends on the thread on which it began, but the next turn may run on
    /// another thread.
    thread: ThreadId,
    /// Wall time of the guest's turns in this window.
    turns: Duration,
}

impl Window {
    fn new(now: Instant) -> Self {
        Self { began: now, processor: processor_time(), thread: std::thread::current().id(), turns: Duration::ZERO }
    }
}

impl Clock {
    /// Creates a clock with the time budget of `limits`.
    pub(crate) fn new(limits: &Limits, account: Account) -> Self {
        let (budget, budget_from) = (limits.guest_time, limits.guest_time_from);
        Self { budget, budget_from, account, spent: Duration::ZERO, window: Window::new(Instant::now()), since: None }
    }

    /// Begins a turn of the guest.
    pub(crate) fn start(&mut self) {
        let now = Instant::now();
        if now.duration_since(self.window.began) > WINDOW {
            self.close_window(now);
        }
        self.since = Some(now);
    }

    /// Ends a turn of the guest.
    pub(crate) fn stop(&mut self) {
        let now = Instant::now();
        self.count_turn(now);
        self.since = None;
        if now.duration_since(self.window.began) > WINDOW {
            self.close_window(now);
        }
    }

    /// Reports the guest's time in its present turn to the account. It must be called before the account checks the host's
    /// time. Unreported time of the guest would count as the host's.
    pub(crate) fn settle(&mut self) {
        let now = Instant::now();
        self.count_turn(now);
        if now.duration_since(self.window.began) > WINDOW {
            self.close_window(now);
        }
    }

    /// Returns the processor time of all guests of the policy so far.
    pub(crate) fn spent(&mut self) -> Duration {
        let now = Instant::now();
        self.count_turn(now);
        self.close_window(now);
        self.spent_before()
    }

    /// Returns the processor time of all guests of the policy in their earlier windows.
    fn spent_before(&self) -> Duration {
        self.account.guest_time().max(self.spent)
    }

    /// Ends the guest if its budget is used up.
    pub(crate) fn check(&mut self) -> wasmtime::Result<()> {
        // Wall time is never less than processor time. So below the budget, a query of the kernel is unnecessary.
        let running = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        let at_most = self.spent_before() + self.window.turns + running;
        if at_most > self.budget && self.spent() > self.budget {
            return Err(ProtocolViolation::OutOfTime(self.budget, self.budget_from).into());
        }
        Ok(())
    }

    fn count_turn(&mut self, now: Instant) {
        if let Some(since) = &mut self.since {
            self.window.turns += now.duration_since(*since);
            *since = now;
        }
    }

    fn close_window(&mut self, now: Instant) {
        let next = Window::new(now);
        let turns = self.window.turns;
        let spent = match next.thread == self.window.thread {
            true => turns.min(next.processor.saturating_sub(self.window.processor)),
            false => turns,
        };
        self.spent += spent;
        self.account.guest_worked(spent);
        self.window = next;
    }
}

/// Returns the processor time of the present thread since its start.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Returns the resident memory of the process in bytes, without mapped files, or `None` if it is unknown. It comes from
/// `/proc/self/statm`.
pub fn resident_memory() -> Option<u64> {
    static STATM: OnceLock<Option<OwnedFd>> = OnceLock::new();
    let open = || rustix::fs::open("/proc/self/statm", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok();
    let mut line = [0; 128];
    let length = rustix::io::pread(STATM.get_or_init(open).as_ref()?, &mut line, 0).ok()?;
    let mut pages = std::str::from_utf8(line.get(..length)?).ok()?.split_ascii_whitespace().skip(1);
    let mut next = || pages.next()?.parse::<u64>().ok();
    let (resident, of_files) = (next()?, next()?);
    Some(resident.saturating_sub(of_files).saturating_mul(rustix::param::page_size() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Duration = Duration::from_millis(50);

    fn limits() -> Limits {
        Limits { guest_time: BUDGET, ..Limits::default() }
    }

    /// Uses the given processor time on the present thread.
    fn work(time: Duration) {
        let begin = processor_time();
        while processor_time() - begin < time {
            std::hint::black_box(());
        }
    }

    #[test]
    fn resident_memory_grows_with_what_is_written_to() {
        let before = resident_memory().unwrap();
        let pages = std::hint::black_box(vec![1_u8; 64 << 20]);
        let after = resident_memory().unwrap();
        assert!(after > before + (48 << 20), "{before} {after} {}", pages.len());
    }

    #[test]
    fn a_guest_whose_thread_waits_for_the_processor_spends_nothing() {
        let mut clock = Clock::new(&limits(), Account::default());
        clock.start();
        // A sleeping thread uses no processor time, like a thread that waits for the processor.
        std::thread::sleep(3 * BUDGET);
        assert!(clock.check().is_ok());
        assert!(clock.spent() < BUDGET / 2, "{:?}", clock.spent());
        work(BUDGET);
        assert!(clock.check().is_err());
        clock.stop();
        assert!(clock.check().is_err());
    }

    #[test]
    fn work_of_the_host_between_turns_is_not_the_guests() {
        let mut clock = Clock::new(&limits(), Account::default());
        for _ in 0..100 {
            clock.start();
            clock.stop();
            work(BUDGET / 50);
        }
        assert!(clock.check().is_ok());
        assert!(clock.spent() < BUDGET / 2, "{:?}", clock.spent());
    }

    #[test]
    fn short_turns_add_up() {
        let mut clock = Clock::new(&limits(), Account::default());
        let mut turns = 0;
        while clock.check().is_ok() {
            clock.start();
            work(BUDGET / 1000);
            clock.stop();
            turns += 1;
            assert!(turns < 10_000, "{:?}", clock.spent());
        }
        assert!(turns > 100, "{turns} turns used up the budget of a thousand");
    }

    #[test]
    fn turns_on_several_threads_add_up() {
        let mut clock = Clock::new(&limits(), Account::default());
        for _ in 0..2 {
            clock = std::thread::spawn(move || {
                clock.start();
                work(BUDGET / 2 + WINDOW);
                clock.stop();
                clock
            })
            .join()
            .unwrap();
        }
        assert!(clock.check().is_err());
    }
}
