//! The agent's signals. Each signal sets a flag and wakes the agent.

use agent::Signals;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::{flag, low_level::pipe};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Starts to listen for signals, for the rest of the process.
///
/// # Errors
/// The system refuses.
pub(super) fn listen() -> std::io::Result<Signals> {
    let (wake, send) = UnixStream::pair()?;
    let unset = || Arc::new(AtomicBool::new(false));
    let (run_now, reload, end) = (unset(), unset(), unset());
    for (signal, flag) in [(SIGUSR1, &run_now), (SIGHUP, &reload), (SIGINT, &end), (SIGTERM, &end)] {
        flag::register(signal, Arc::clone(flag))?;
    }
    // These are registered after the flags, so that a flag is set before the agent wakes.
    for signal in [SIGUSR1, SIGHUP, SIGINT, SIGTERM, SIGCHLD] {
        pipe::register(signal, send.try_clone()?)?;
    }
    Ok(Signals { wake, run_now, reload, end })
}
