//! Requests a run from the agent of a state directory.

use crate::{Moment, Pause};
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use state::{AgentFolder, StateError};

/// The result of a request for a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// The agent has received the request.
    Heard,
    /// The agent is paused and would not begin a run.
    Paused(Pause),
    /// No agent runs with this state directory.
    NoAgent,
    /// The agent cannot be reached, for this reason.
    Unreachable(String),
}

/// Asks the agent to start a run at once.
///
/// # Errors
/// The agent's folder cannot be read.
pub fn ask_for_run(folder: &AgentFolder, now: Moment) -> Result<Asked, StateError> {
    if let Some(pause) = Pause::holding(folder, now)? {
        return Ok(Asked::Paused(pause));
    }
    let Some(running) = folder.running()? else { return Ok(Asked::NoAgent) };
    let Some(process) = running.process else {
        return Ok(Asked::Unreachable("it runs in another container".to_owned()));
    };
    let failed = |error: rustix::io::Errno| Ok(Asked::Unreachable(error.to_string()));
    let handle = match pidfd_open(process, PidfdFlags::empty()) {
        Ok(handle) => handle,
        Err(rustix::io::Errno::SRCH) => return Ok(Asked::NoAgent),
        Err(error) => return failed(error),
    };
    // If the agent's file still names this process, the handle refers to the agent and not to a later process with the same
    // ID.
    if folder.running()? != Some(running) {
        return Ok(Asked::NoAgent);
    }
    match pidfd_send_signal(&handle, Signal::USR1) {
        Ok(()) => Ok(Asked::Heard),
        Err(error) => failed(error),
    }
}
