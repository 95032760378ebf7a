//! Signals: one SIGINT or SIGTERM finishes the current action and ends the run in order; a second stops at once.

use converge::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};

/// Hears of signals for the rest of the program.
///
/// # Errors
/// The system refuses.
pub(crate) fn listen(stop: &Stop) -> std::io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
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
