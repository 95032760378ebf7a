//! Handles signals. After the first SIGINT, SIGTERM, or SIGHUP, the run finishes the current action and ends normally. The
//! second signal ends running commands and the policy's code, lets the run be recorded, and then ends the program. Package
//! managers may still finish. After a third signal, the program waits for nothing. At each signal, a message says what
//! happens now and what the next signal would do.

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

/// Time for the run to end by itself after the second signal, not counting package managers. Commands have five seconds, and
/// killing them takes a little longer. The record takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(12);

/// Time between two checks, after the second signal, of the processes that wrun waits for.
const TICK: Duration = Duration::from_millis(50);

/// Largest number of due notifications in the message after the first signal.
const MAX_NAMED: usize = 5;

/// Writes the record of a run that no longer reacts to signals.
type Record = Box<dyn FnOnce(i32) + Send>;

/// The data that signal handling needs to end a run.
#[derive(Clone, Default)]
pub(crate) struct Interruption {
    /// Asks the run to end.
    pub(crate) stop: Stop,
    /// The current activity of the run.
    pub(crate) activity: Activity,
    /// The function that records the run. `None`: no run has begun, or it is already recorded.
    record: Arc<Mutex<Option<Record>>>,
}

impl Interruption {
    /// Sets the activity that messages show.
    #[must_use]
    pub(crate) fn with_activity(self, activity: Activity) -> Self {
        Self { activity, ..self }
    }

    /// Registers a run that must be recorded in any case.
    pub(crate) fn begin(&self, record: impl FnOnce(i32) + Send + 'static) {
        *self.record.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(record));
    }

    /// Removes the registered run, because the caller has recorded it or will do so now.
    pub(crate) fn end(&self) {
        self.take_record();
    }

    fn take_record(&self) -> Option<Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn has_begun(&self) -> bool {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Ends the program with the signal that ended the run early, if there was one.
    pub(crate) fn die_if_at_once(&self) {
        if let Some(signal) = self.stop.requested_at_once() {
            die(signal);
        }
    }
}

/// Starts to handle signals, for the rest of the process.
///
/// # Errors
/// The system refuses.
pub(crate) fn listen(interruption: &Interruption, printer: Printer) -> std::io::Result<()> {
    let mut heard = vec![SIGINT, SIGTERM];
    // SIGHUP means that the terminal was closed. It ends the run like SIGTERM, unless the parent process has set it to be
    // ignored (`nohup`).
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

/// Returns the message after the first signal.
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

/// Returns a sentence about notifications that a stopped run leaves for the next run, or `None` if none are due.
fn left_due(due: &[DueNotification]) -> Option<String> {
    let (first, rest) = due.split_first()?;
    let named: Vec<_> = due.iter().take(MAX_NAMED).map(|one| one.action.as_str()).collect();
    let more = due.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(match rest {
        [] => format!("1 notification is due and will run at the end of the policy's next run: {}.", first.action),
        _ => format!(
            "{} notifications are due and will run at the end of their policy's next run: {}{more}.",
            due.len(),
            named.join(", ")
        ),
    })
}

/// Handles the second signal: ends the running work. If the run still does not end, this function writes its record.
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
                // The process may end at this moment, but the message is still correct.
                stop.hold(None);
            }
            until = Instant::now() + PATIENCE;
        }
        std::thread::sleep(TICK);
    }
    match interruption.take_record() {
        // The run does not end, for example because it waits for a server or a file system.
        Some(record) => {
            record(signal);
            die(signal);
        }
        // The run writes its own record now, and then ends the program with the signal.
        None => std::thread::sleep(PATIENCE),
    }
    die(signal);
}

/// Calls `last` before a signal ends the program. It is for commands that do not handle signals otherwise. Later calls have
/// no effect.
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

/// Ends the program with the default effect of a signal, so that the parent process sees the signal.
fn die(signal: i32) {
    terminal::hide_status();
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

/// Returns the exit code of a run that a signal ended.
pub(crate) fn exit(reason: Option<StopReason>) -> Exit {
    match reason {
        Some(StopReason::Signal(SIGTERM | SIGHUP)) => Exit::Terminated,
        _ => Exit::Interrupted,
    }
}

/// Returns whether a process ignores a signal, according to its `status` file in `/proc`.
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
        assert_eq!(
            said(1),
            "1 notification is due and will run at the end of the policy's next run: service[s0] restart."
        );
        let expect = "2 notifications are due and will run at the end of their policy's next run: service[s0] restart, service[s1] restart.";
        assert_eq!(said(2), expect);
        assert!(said(7).ends_with("service[s4] restart and 2 more."), "{}", said(7));
    }
}
