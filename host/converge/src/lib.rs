//! One run from start to end, and the runner: order, guards, notifications, retries, reports.
//!
//! This crate decides *what happens when*. It accesses everything else through traits in [`contract`]: a guest that answers,
//! providers that act, and a memory of due notifications. It knows no engine and no file system. So it can be tested in
//! memory against Chef's behaviour.
//!
//! Control is inverted once, for all languages. The runner is one async function. Whenever it needs guest code, it sends the
//! guest a [`Request`](contract::Request) and awaits the [`Answer`](contract::Answer). Nested requests are nested calls of
//! that function, without a separate stack of runners. Rejected: a trait with a method for each kind of guest code. In the
//! middle of an action, a task of the guest would then have to call back into the runner, which is already borrowed.

mod claims;
mod runner;
mod whole;

pub use runner::{Runner, UNSEEN};
pub use whole::{
    Instance, NodeState, PolicyInput, PolicyOutcome, PolicyReport, Questions, RunHost, RunOptions, RunReport,
    SharedCookbook, WholeRun,
};
