//! How a run is asked to end before its end, in three steps: after the running action, at once, and without waiting for
//! anything.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Asks a run to end, shared with whoever receives signals.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    asked: Arc<Asked>,
    /// Less than the second step is not heard.
    only_at_once: bool,
}

#[derive(Debug, Default)]
struct Asked {
    /// The request as one number, since it is read before every action; see [`Request::packed`].
    request: AtomicU64,
    held: Mutex<Option<String>>,
}

/// How far a run goes on once it was asked to end. Each step follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopStep {
    /// The running action is finished, and nothing is begun after it.
    AfterTheAction,
    /// No command is started, and those that run are ended, except package managers, which leave a broken machine if they
    /// are cut off: they are held.
    AtOnce,
    /// Nothing is waited for, not even a process that is held.
    WithoutWaiting,
}

/// Why a run ends before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// A signal, by its number.
    Signal(i32),
    /// A resource ended the run so that the node is started again.
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
    /// Returns the reason as a number other than 0, for places that are read often.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Signal(signal) => signal.unsigned_abs() & !REBOOT,
            Self::Reboot => REBOOT,
        }
    }

    /// Returns the reason that has a number; `None` for 0.
    pub(crate) fn of_number(number: u32) -> Option<Self> {
        match number {
            0 => None,
            REBOOT => Some(Self::Reboot),
            signal => Some(Self::Signal(signal.cast_signed())),
        }
    }
}

/// What was asked for until now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Request {
    step: Option<StopStep>,
    /// The reason of the first step.
    reason: Option<StopReason>,
    /// The signal of the second step; 0 if it has not come.
    at_once: u16,
}

impl Request {
    /// The step in the uppermost byte, the signal of the second step below it, the reason of the first one in the lower half.
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

    /// The same, at least this far.
    fn at_least(self, step: StopStep) -> Self {
        Self { step: self.step.max(Some(step)), ..self }
    }
}

impl Stop {
    /// Asks the run to end after what it is doing.
    pub fn request(&self, reason: StopReason) {
        self.change(|asked| Request { reason: Some(reason), ..asked.at_least(StopStep::AfterTheAction) });
    }

    /// Asks the run to end at once, and to die of this signal.
    pub fn request_at_once(&self, signal: i32) {
        let at_once = u16::try_from(signal).unwrap_or(u16::MAX);
        self.change(|asked| Request { at_once, ..asked.at_least(StopStep::AtOnce) });
    }

    /// Asks the run to wait for nothing any more, not even for a process that is held.
    pub fn request_without_waiting(&self) {
        self.change(|asked| asked.at_least(StopStep::WithoutWaiting));
    }

    /// The same requests for work that the first step does not end, such as the handlers at a run's end.
    #[must_use]
    pub fn only_at_once(&self) -> Self {
        Self { asked: Arc::clone(&self.asked), only_at_once: true }
    }

    /// How the run is to end. `None`: it goes on.
    pub fn step(&self) -> Option<StopStep> {
        self.asked().step.filter(|step| !self.only_at_once || *step >= StopStep::AtOnce)
    }

    /// The reason, if the run is to end.
    pub fn requested(&self) -> Option<StopReason> {
        self.step().and(self.asked().reason)
    }

    /// The signal that the run is to end at once for.
    pub fn requested_at_once(&self) -> Option<i32> {
        Some(i32::from(self.asked().at_once)).filter(|signal| *signal != 0)
    }

    /// Tells that a process is left to finish, as `apt-get (process 123)`; `None`: it has ended.
    pub fn hold(&self, process: Option<String>) {
        *self.asked.held.lock().unwrap_or_else(PoisonError::into_inner) = process;
    }

    /// The process that the run waits for although it is to end at once.
    pub fn held(&self) -> Option<String> {
        self.asked.held.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn asked(&self) -> Request {
        Request::unpacked(self.asked.request.load(Ordering::Relaxed))
    }

    fn change(&self, change: impl Fn(Request) -> Request) {
        let changed = |packed| Some(change(Request::unpacked(packed)).packed());
        // It is changed in any case: the function always gives a value.
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
