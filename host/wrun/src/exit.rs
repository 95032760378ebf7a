//! Exit codes, one table for all commands, after Chef's RFC 062.

use assemble::{AssembleError, ObjectsError, StoreError};
use std::process::ExitCode;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Code 0: all is done.
    Done,
    /// 1: the run failed.
    Failed,
    /// 2: ended by SIGINT.
    Interrupted,
    /// 3: ended by SIGTERM.
    Terminated,
    /// 4: a dry run with `--detailed-exitcode` found something to change, or could not know.
    ChangesPending,
    /// 35: done, and the node will be started again.
    RebootScheduled,
    /// 37: done, and the node must be started again, which is for others to do.
    RebootNeeded,
    /// 41: done, but the node could not be started again as it should be.
    RebootFailed,
    /// 43: bad usage, configuration or input; nothing was changed.
    Usage,
    /// 75: another run holds the lock; nothing was changed, and a later attempt may succeed.
    Busy,
    /// 101: a bug of ours.
    Bug,
}

impl Exit {
    /// How the program ends after an error. It comes before anything was changed: whatever fails later ends in a report.
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
