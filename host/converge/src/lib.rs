//! One run from start to end, and the runner: order, guards, notifications, retries, reports.
//!
//! This room decides *what happens when*. What it needs of others are traits in [`contract`]: a guest that answers,
//! providers that act, a memory that keeps what is due. It knows no engine and no file system, so that all of it can be
//! tested in memory against what Chef does.
//!
//! Control is inverted once, for all languages: the runner is one async function; whenever it needs guest code it hands
//! the turn to the guest with a [`Request`](contract::Request) and awaits the [`Answer`](contract::Answer). Its own call stack is the nesting: there is no
//! stack of runners. Rejected: a trait with a method per kind of guest code, where an errand in the middle of an action
//! would have to call back into the runner that is borrowed.

mod claims;
mod runner;
mod whole;

pub use runner::{Runner, UNSEEN};
pub use whole::{
    Instance, NodeState, PolicyInput, PolicyOutcome, PolicyReport, Questions, RunHost, RunOptions, RunReport,
    SharedCookbook, WholeRun,
};
