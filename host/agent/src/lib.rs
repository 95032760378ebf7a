//! The agent: a process that converges the node again and again. This room decides when the next run begins, starts and ends
//! runs, keeps what people ask about (`wrun agent status`), and speaks to the service manager.
//!
//! A run is a child process, so that its memory, its open files and its faults end with it. The agent itself holds one small
//! file open and sleeps. It never has two runs at once, and the run lock keeps it apart from runs that people start.
//!
//! [`Agent`] is the loop. It knows clock, processes and signals only through [`Surroundings`], so that a test can let weeks pass
//! in seconds. [`Processes`] are the real ones.

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
pub use status::{Doing, FailedPolicy, LastRun, Note, RunEnd, Status, Verdict, about};
