//! Requests to end a run early, in three steps: after the running action, at once, and without waiting for anything.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A request to end a run, shared with the code that receives signals.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    asked: Arc<Asked>,
    /// True if the first step is ignored.
    only_at_once: bool,
}

#[derive(Debug, Default)]
struct Asked {
    /// The request as one number, since it is read before every action; see [`Request::packed`].
    request: AtomicU64,
    held: Mutex<Option<String>>,
}

/// The steps of ending a run. Each step goes further than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopStep {
    /// The running action is finished, and nothing starts after it.
    AfterTheAction,
    /// No further command starts, and running commands are ended. Package managers may finish, because an interrupted one
    /// would leave a broken machine: they are held.
    AtOnce,
    /// The run waits for nothing, not even for a held process.
    WithoutWaiting,
}

/// The reason why a run ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// A signal, by its number.
    Signal(i32),
    /// A resource ended the run for a reboot of the node.
    Reboot,
}

/// Returns the name of a signal that ends runs, with the key that sends it: `Ctrl-C (SIGINT)`, `SIGTERM`.
pub fn signal_name(signal: i32) -> Cow<'static, str> {
    match signal {
        1 => "SIGHUP".into(),
        2 => "Ctrl-C (SIGINT)".into(),
        15 => "SIGTERM".into(),
        other => format!("signal {other}").into(),
    }
}

/// The number of [`StopReason::Reboot`] among the numbers of signals, which are small.
const REBOOT: u32 = 1 << 31;

impl StopReason {
    /// Returns the reason as a nonzero number, for storage that is read often.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Signal(signal) => signal.unsigned_abs() & !REBOOT,
            Self::Reboot => REBOOT,
        }
    }

    /// Returns the reason with this number, or `None` for 0.
    pub(crate) fn of_number(number: u32) -> Option<Self> {
        match number {
            0 => None,
            REBOOT => Some(Self::Reboot),
            signal => Some(Self::Signal(signal.cast_signed())),
        }
    }
}

/// The requests so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Request {
    step: Option<StopStep>,
    /// The reason of the first step.
    reason: Option<StopReason>,
    /// The signal of the second step, or 0.
    at_once: u16,
}

impl Request {
    /// Packs the request into one number. The step is in the uppermost byte, the second step's signal below it, and the first
    /// step's reason in the lower half.
    fn packed(self) -> u64 {
        let step = match self.step {
            None => 0,
            Some(StopStep::AfterTheAction) => 1,
            Some(StopStep::AtOnce) => 2,
            Some(StopStep::WithoutWaiting) => 3,
        };
        step << 56 | u64::from(self.at_once) << 32 | u64::from(self.reason.map_or(0, StopReason::number))
    }

    fn unpacked(packed: u64) -> Self {
        let [step, _, high, low, first @ ..] = packed.to_be_bytes();
        let step = match step {
            0 => None,
            1 => Some(StopStep::AfterTheAction),
            2 => Some(StopStep::AtOnce),
            _ => Some(StopStep::WithoutWaiting),
        };
        Self {
            step,
            reason: StopReason::of_number(u32::from_be_bytes(first)),
            at_once: u16::from_be_bytes([high, low]),
        }
    }

    /// Raises the step to at least this one.
    fn at_least(self, step: StopStep) -> Self {
        Self { step: self.step.max(Some(step)), ..self }
    }
}

impl Stop {
    /// Requests the run to end after the running action.
    pub fn request(&self, reason: StopReason) {
        self.change(|asked| Request { reason: Some(reason), ..asked.at_least(StopStep::AfterTheAction) });
    }

    /// Requests the run to end at once, by this signal.
    pub fn request_at_once(&self, signal: i32) {
        let at_once = u16::try_from(signal).unwrap_or(u16::MAX);
        self.change(|asked| Request { at_once, ..asked.at_least(StopStep::AtOnce) });
    }

    /// Requests the run to wait for nothing, not even for a held process.
    pub fn request_without_waiting(&self) {
        self.change(|asked| asked.at_least(StopStep::WithoutWaiting));
    }

    /// Returns a handle for the same requests that ignores the first step, for work such as the handlers at a run's end.
    #[must_use]
    pub fn only_at_once(&self) -> Self {
        Self { asked: Arc::clone(&self.asked), only_at_once: true }
    }

    /// Returns the requested step, or `None` if the run continues.
    pub fn step(&self) -> Option<StopStep> {
        self.asked().step.filter(|step| !self.only_at_once || *step >= StopStep::AtOnce)
    }

    /// Returns the reason, if the run must end.
    pub fn requested(&self) -> Option<StopReason> {
        self.step().and(self.asked().reason)
    }

    /// Returns the signal of the request to end at once, or `None`.
    pub fn requested_at_once(&self) -> Option<i32> {
        Some(i32::from(self.asked().at_once)).filter(|signal| *signal != 0)
    }

    /// Sets the held process, which may finish, as `apt-get (process 123)`. `None` means that it has ended.
    pub fn hold(&self, process: Option<String>) {
        *self.asked.held.lock().unwrap_or_else(PoisonError::into_inner) = process;
    }

    /// Returns the held process, for which the run waits although it must end at once.
    pub fn held(&self) -> Option<String> {
        self.asked.held.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn asked(&self) -> Request {
        Request::unpacked(self.asked.request.load(Ordering::Relaxed))
    }

    fn change(&self, change: impl Fn(Request) -> Request) {
        let changed = |packed| Some(change(Request::unpacked(packed)).packed());
        // The update always succeeds, because the function always returns a value.
        let _ = self.asked.request.fetch_update(Ordering::Relaxed, Ordering::Relaxed, changed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_goes_further_and_none_goes_back() {
        let stop = Stop::default();
        assert_eq!((stop.step(), stop.requested(), stop.requested_at_once()), (None, None, None));
        stop.request(StopReason::Signal(15));
        assert_eq!((stop.step(), stop.requested()), (Some(StopStep::AfterTheAction), Some(StopReason::Signal(15))));
        stop.clone().request_at_once(2);
        assert_eq!(
            (stop.step(), stop.requested(), stop.requested_at_once()),
            (Some(StopStep::AtOnce), Some(StopReason::Signal(15)), Some(2))
        );
        stop.request_without_waiting();
        stop.request(StopReason::Reboot);
        let asked = (stop.step(), stop.requested(), stop.requested_at_once());
        assert_eq!(asked, (Some(StopStep::WithoutWaiting), Some(StopReason::Reboot), Some(2)));
    }

    #[test]
    fn work_at_the_end_hears_of_the_second_step_alone() {
        let stop = Stop::default();
        let late = stop.only_at_once();
        stop.request(StopReason::Signal(2));
        assert_eq!((late.step(), late.requested()), (None, None));
        stop.request_at_once(2);
        assert_eq!((late.step(), late.requested()), (Some(StopStep::AtOnce), Some(StopReason::Signal(2))));
    }
}
