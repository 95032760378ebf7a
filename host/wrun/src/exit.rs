//! The exit codes of all commands, based on Chef's RFC 062.

use assemble::{AssembleError, ObjectsError, StoreError};
use std::process::ExitCode;

/// The exit code of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Code 0: the command succeeded.
    Done,
    /// 1: the run failed.
    Failed,
    /// 2: ended by SIGINT.
    Interrupted,
    /// 3: ended by SIGTERM.
    Terminated,
    /// 4: a dry run with `--detailed-exitcode` found changes, or something that it could not determine.
    ChangesPending,
    /// 35: success, and a reboot of the node is scheduled.
    RebootScheduled,
    /// 37: success, and the node needs a reboot, which wrun does not do itself.
    RebootNeeded,
    /// 41: success, but the requested reboot failed.
    RebootFailed,
    /// 43: bad usage, configuration or input; nothing was changed.
    Usage,
    /// 75: another run holds the lock; nothing was changed, and a later attempt may succeed.
    Busy,
    /// 101: a bug in wrun.
    Bug,
}

impl Exit {
    /// Returns the exit code for an error. Such an error occurs before any change; later failures are part of a report.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        let is_locked = error.downcast_ref::<AssembleError>().is_some_and(AssembleError::is_locked)
            || error.downcast_ref::<StoreError>().is_some_and(StoreError::is_locked)
            || error.downcast_ref::<ObjectsError>().is_some_and(ObjectsError::is_busy);
        if is_locked { Self::Busy } else { Self::Usage }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Interrupted => 2,
            Exit::Terminated => 3,
            Exit::ChangesPending => 4,
            Exit::RebootScheduled => 35,
            Exit::RebootNeeded => 37,
            Exit::RebootFailed => 41,
            Exit::Usage => 43,
            Exit::Busy => 75,
            Exit::Bug => 101,
        })
    }
}
