//! Signals: one SIGINT, SIGTERM or SIGHUP finishes the current action and ends the run in order; a second stops at once.

use crate::exit::Exit;
use converge::Stop;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Hears of signals for the rest of the program.
///
/// # Errors
/// The system refuses.
pub(crate) fn listen(stop: &Stop) -> std::io::Result<()> {
    let mut heard = vec![SIGINT, SIGTERM];
    // The terminal is gone: that ends the run as SIGTERM does, unless whoever started it said so beforehand (`nohup`).
    if !std::fs::read_to_string("/proc/self/status").is_ok_and(|status| is_ignored(&status, SIGHUP)) {
        heard.push(SIGHUP);
    }
    let mut signals = signal_hook::iterator::Signals::new(heard)?;
    let stop = stop.clone();
    std::thread::Builder::new().name("signals".into()).stack_size(128 << 10).spawn(move || {
        for signal in signals.forever() {
            if stop.requested().is_some() {
                // The second: what the first would have done no longer matters.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
            stop.request(signal);
        }
    })?;
    Ok(())
}

/// How a run ends that a signal ended.
pub(crate) fn exit(signal: Option<i32>) -> Exit {
    match signal {
        Some(SIGTERM | SIGHUP) => Exit::Terminated,
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
            assert_eq!(super::exit(Some(signal)), exit);
        }
    }
}
