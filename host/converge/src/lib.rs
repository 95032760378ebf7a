//! One run from start to end, and the runner: order, guards, notifications, retries, reports.
//!
//! This room decides *what happens when*. It states what it needs as traits ([`contract`]): a guest that answers,
//! providers that act, a memory that keeps what is due. It knows no engine and no file system, so that all of it can be
//! tested in memory against what Chef does.
//!
//! Control is inverted once, for all languages: the runner is one async function; whenever it needs guest code it hands
//! the turn to the guest with a [`Request`] and awaits the [`Answer`]. Its own call stack is the nesting: there is no
//! stack of runners. Rejected: a trait with a method per kind of guest code, where an errand in the middle of an action
//! would have to call back into the runner that is borrowed.

mod claims;
mod contract;
mod events;
mod failure;
mod run;
mod runner;
mod whole;

pub use claims::{ABSENT, Claim, Claimant, Conflict, Identity, PRESENCE};
pub use contract::{
    Answer, AttributeRights, Call, Callback, Certainty, Change, CommandLine, CommandOutcome, CommandTest,
    CookbookFiles, Data, DataError, Errand, Expected, FileError, Got, Guest, HttpRequest, HttpResponse, Interfaces,
    Known, Machine, MachineChange, MachineError, MachineGroup, MachineUser, Memory, Moment, Prepared, Providers,
    Request, Said, Services, Stat, StatKind, Tell, Truth, TypeTexts, Types, Wanted,
};
pub use events::{Event, LogLevel, LogSource, Observer, Status};
pub use failure::{Excerpt, Failure, Lost, Outcome, Place, Raised};
pub use run::{
    ActionRecord, Amendment, ContextId, Declaration, FailureMode, Guard, GuestType, HiddenRead, MAX_ACTIONS, MAX_DEPTH,
    MAX_HIDDEN_READS, MAX_READ_PATHS, MAX_RECORDS, MAX_RESOURCES, Notified, OwnRunList, Party, Property, ROOT,
    ReadKind, Reads, Resource, ResourceId, Run, Speaker, Tally, Test, Timing, Wish, dotted_path, grant_lines,
};
pub use runner::{Runner, Stop, UNSEEN};
pub use whole::{
    House, Instance, NodeState, PolicyInput, PolicyOutcome, PolicyReport, Questions, RunOptions, RunReport, WholeRun,
};
