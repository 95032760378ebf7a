//! The agent: a process that converges the node regularly. This crate decides when the next run begins, starts and ends runs,
//! stores the data for `wrun agent status`, and notifies the service manager.
//!
//! A run is a child process, so that its memory, its open files, and its faults end with it. The agent itself keeps one small
//! file open and sleeps. It never starts two runs at once. The run lock prevents overlap with runs that people start.
//!
//! [`Agent`] is the loop. It accesses the clock, processes, and signals only through [`Surroundings`], so that a test can
//! simulate weeks in seconds. [`Processes`] is the real implementation.

mod agent;
mod moment;
mod notifier;
mod pause;
mod processes;
mod request;
mod rhythm;
mod status;

pub use agent::{Agent, Happening, Surroundings, Tell};
pub use moment::Moment;
pub use notifier::{Notifier, Word};
pub use pause::{MAX_REASON, Pause, PauseError};
pub use processes::{Clock, MachineClock, MakeCommand, Processes, ReadRhythm, Signals, TellLog};
pub use request::{Asked, ask_for_run};
pub use rhythm::Rhythm;
pub use status::{Blocked, Doing, FailedPolicy, LastRun, Note, RunEnd, Status, Verdict, about};
