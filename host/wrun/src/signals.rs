//! Signals. One SIGINT, SIGTERM or SIGHUP finishes the current action and ends the run in order. A second ends the commands
//! and the policy's code that run, has the run recorded, and the program dies of it; package managers are left to finish. A third waits for
//! nothing. Each says at once what it does, and what the next one would do.

use crate::activity::Activity;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::terminal;
use contract::{Stop, StopReason};
use report::due::DueNotification;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use text::escape_line;

/// How long the run may take after the second signal to end by itself, beside what it is asked to wait for: commands have
/// five seconds, and what kills them some more; the record is written in milliseconds.
const PATIENCE: Duration = Duration::from_secs(12);

/// How often is looked, after the second signal, what there is to wait for.
const TICK: Duration = Duration::from_millis(50);

/// The most due notifications that the words after the first signal name.
const MAX_NAMED: usize = 5;

/// Records a run from outside of it, for a signal that it can no longer answer.
type Record = Box<dyn FnOnce(i32) + Send>;

/// What the program needs to know of a run to end it.
#[derive(Clone, Default)]
pub(crate) struct Interruption {
    /// Asks the run to end.
    pub(crate) stop: Stop,
    /// What the run does right now.
    pub(crate) activity: Activity,
    /// `None`: no run has begun, or it was recorded.
    record: Arc<Mutex<Option<Record>>>,
}

impl Interruption {
    /// The same with the activity that is shown.
    #[must_use]
    pub(crate) fn with_activity(self, activity: Activity) -> Self {
        Self { activity, ..self }
    }

    /// From now on there is a run that has to be recorded whatever happens.
    pub(crate) fn begin(&self, record: impl FnOnce(i32) + Send + 'static) {
        *self.record.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(record));
    }

    /// The run is recorded, or is about to be by whoever calls this.
    pub(crate) fn end(&self) {
        self.take_record();
    }

    fn take_record(&self) -> Option<Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn has_begun(&self) -> bool {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Dies of the signal that ended the run at once, if one did.
    pub(crate) fn die_if_at_once(&self) {
        if let Some(signal) = self.stop.requested_at_once() {
            die(signal);
        }
    }
}

/// Hears of signals for the rest of the program.
///
/// # Errors
/// The system refuses.
pub(crate) fn listen(interruption: &Interruption, printer: Printer) -> std::io::Result<()> {
    let mut heard = vec![SIGINT, SIGTERM];
    // The terminal is gone: that ends the run as SIGTERM does, unless whoever started it said so beforehand (`nohup`).
    if !std::fs::read_to_string("/proc/self/status").is_ok_and(|status| is_ignored(&status, SIGHUP)) {
        heard.push(SIGHUP);
    }
    let mut signals = signal_hook::iterator::Signals::new(heard)?;
    let interruption = interruption.clone();
    std::thread::Builder::new().name("signals".into()).stack_size(512 << 10).spawn(move || {
        let Some(first) = signals.forever().next() else { return };
        interruption.stop.request(StopReason::Signal(first));
        let activity = &interruption.activity;
        note_of(first, printer, &after_the_action(first, activity.action().as_deref(), &activity.all_due()));
        let Some(second) = signals.forever().next() else { return };
        end_at_once(&interruption, second, || signals.pending().next().is_some(), printer);
    })?;
    Ok(())
}

/// Says what a signal does, on a line of its own: a terminal shows the key that sent SIGINT.
fn note_of(signal: i32, printer: Printer, text: &str) {
    if signal == SIGINT {
        terminal::end_typed_row();
    }
    printer.note(Tone::Warning, text);
}

/// The words after the first signal.
fn after_the_action(signal: i32, action: Option<&str>, due: &[DueNotification]) -> String {
    let doing = action.map(|action| format!("finishing {}, then ", escape_line(action))).unwrap_or_default();
    let (word, again) = match signal {
        SIGINT => ("Interrupted", "Press Ctrl-C again"),
        SIGHUP => ("Terminated (SIGHUP)", "Send a second signal"),
        _ => ("Terminated (SIGTERM)", "Send a second signal"),
    };
    let due = left_due(due).map(|sentence| format!(" {sentence}")).unwrap_or_default();
    format!("{word}: {doing}stopping.{due} {again} to stop at once; commands and code that still run are then ended.")
}

/// The sentence about notifications that a stopped run leaves to the next one. `None`: nothing is due.
fn left_due(due: &[DueNotification]) -> Option<String> {
    let (first, rest) = due.split_first()?;
    let named: Vec<_> = due.iter().take(MAX_NAMED).map(|one| one.action.as_str()).collect();
    let more = due.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(match rest {
        [] => format!("1 notification is due and will run at the end of the next run: {}.", first.action),
        _ => format!(
            "{} notifications are due and will run at the end of the next run: {}{more}.",
            due.len(),
            named.join(", ")
        ),
    })
}

/// The second signal: what runs is ended, what cannot be is recorded from here.
fn end_at_once(interruption: &Interruption, signal: i32, mut another: impl FnMut() -> bool, printer: Printer) {
    let stop = &interruption.stop;
    stop.request_at_once(signal);
    if !interruption.has_begun() {
        die(signal);
    }
    note_of(signal, printer, "Stopping at once: ending the commands and the code that run, then recording the run.");
    let mut until = Instant::now() + PATIENCE;
    let mut said = None;
    while Instant::now() < until && interruption.has_begun() {
        let held = stop.held();
        if held.is_some() {
            until = Instant::now() + PATIENCE;
        }
        if let Some(process) = held.as_ref().filter(|_| held != said) {
            let again = if signal == SIGINT { "Press Ctrl-C again" } else { "Send another signal" };
            let text = format!(
                "Waiting for {process}, which must not be cut off. {again} to leave it running and wait for nothing."
            );
            printer.note(Tone::Warning, &escape_line(&text));
            said.clone_from(&held);
        }
        if another() {
            stop.request_without_waiting();
            if let Some(process) = held {
                note_of(signal, printer, &escape_line(&format!("{process} is left running.")));
                // It may end in this very moment; what was said stays true.
                stop.hold(None);
            }
            until = Instant::now() + PATIENCE;
        }
        std::thread::sleep(TICK);
    }
    match interruption.take_record() {
        // The run does not come to its end: it waits for a server or a file system.
        Some(record) => {
            record(signal);
            die(signal);
        }
        // The run records itself, and dies of the signal when it has.
        None => std::thread::sleep(PATIENCE),
    }
    die(signal);
}

/// Does something before a signal ends the program, in a program that nothing else hears of signals. Once is enough.
///
/// # Errors
/// The system refuses.
pub(crate) fn die_after(last: fn()) -> std::io::Result<()> {
    static LISTENS: OnceLock<()> = OnceLock::new();
    if LISTENS.set(()).is_err() {
        return Ok(());
    }
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let die_of_next = move || {
        if let Some(signal) = signals.forever().next() {
            last();
            die(signal);
        }
    };
    std::thread::Builder::new().name("signals".into()).stack_size(512 << 10).spawn(die_of_next)?;
    Ok(())
}

/// Ends the program by a signal's own effect: whoever started it sees which one.
fn die(signal: i32) {
    terminal::hide_status();
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

/// The exit code of a run that a signal ended.
pub(crate) fn exit(reason: Option<StopReason>) -> Exit {
    match reason {
        Some(StopReason::Signal(SIGTERM | SIGHUP)) => Exit::Terminated,
        _ => Exit::Interrupted,
    }
}

/// Whether a process ignores a signal, as the kernel tells in its `status`.
fn is_ignored(status: &str, signal: i32) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    ignored.is_some_and(|set| set >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_found_in_the_kernels_words() {
        let status = "Name:\twrun\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000002\n";
        assert!(is_ignored(status, SIGHUP));
        assert!(!is_ignored(status, SIGINT) && !is_ignored(status, SIGTERM));
        assert!(!is_ignored("", SIGHUP));
    }

    #[test]
    fn a_lost_terminal_ends_a_run_as_sigterm_does() {
        for (signal, exit) in [(SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated), (SIGHUP, Exit::Terminated)] {
            assert_eq!(super::exit(Some(StopReason::Signal(signal))), exit);
        }
    }

    #[test]
    fn the_first_signal_says_what_is_finished_and_what_a_second_one_does() {
        let said = after_the_action(SIGINT, Some("package[nginx] install"), &[]);
        assert!(said.starts_with("Interrupted: finishing package[nginx] install, then stopping. Press Ctrl-C again"));
        assert!(
            after_the_action(SIGTERM, None, &[]).starts_with("Terminated (SIGTERM): stopping. Send a second signal")
        );
    }

    #[test]
    fn what_is_due_is_counted_and_named() {
        let due = |count: u32| -> Vec<_> {
            (0..count).map(|at| DueNotification::new("web", &format!("service[s{at}]"), "restart")).collect()
        };
        assert_eq!(left_due(&[]), None);
        let said = |count| left_due(&due(count)).unwrap();
        assert_eq!(said(1), "1 notification is due and will run at the end of the next run: service[s0] restart.");
        let expect = "2 notifications are due and will run at the end of the next run: service[s0] restart, service[s1] restart.";
        assert_eq!(said(2), expect);
        assert!(said(7).ends_with("service[s4] restart and 2 more."), "{}", said(7));
    }
}
