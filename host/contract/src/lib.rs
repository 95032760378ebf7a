//! The types and traits that the host's crates share.
//!
//! It defines the traits [`Guest`], [`Providers`] and [`Memory`], and the data that they exchange: declarations, requests,
//! failures, events. [`Run`] is the state of one policy's run. It is passed along with the turn, so the runner in `converge`
//! and the guests in `sandbox` both use it. This crate does not run a policy and does no I/O.

mod account;
mod claims;
mod conversation;
mod events;
mod failure;
mod providers;
mod run;
mod services;
mod stop;

pub use account::{
    Account, AccountLimits, Ended, Exceeded, FreeEntries, FreeSpace, Limit, Meters, OpenFile, Receipt, Remark, Usage,
    claim_bytes, json_text_bytes, value_bytes,
};
pub use claims::{ABSENT, CONTENT, Claim, Claimant, Conflict, Identity, LINES, PATH, PRESENCE};
pub use conversation::{
    Answer, Call, Callback, ClosureValue, Errand, FileCheck, Guest, GuestMessage, HostMessage, Load, Phase, Question,
    Request, RubyDocument, StartPhase,
};
pub use errors::{ErrorKind, FileCall, SystemError};
pub use events::{Event, GuestEvent, LogLevel, LogSource, NOTHING_CONDITIONAL, Observer, Status};
pub use failure::{Excerpt, Failure, GuestLost, LostRecipe, Outcome, Place, Raised, Resolved};
pub use providers::{
    Certainty, Change, Child, ChildRow, CommandLine, CommandTest, Composition, Expected, Fingerprint, GuardResult,
    Known, Memory, Part, PartStatus, Prepared, Providers, Purpose, Shared, SharedLine, Types, ValueChange, Wanted,
};
pub use run::{
    ActionRecord, Amendment, AttributeChange, BUILTIN_PREFIX, Chosen, CommandEffect, Context, ContextId, Declaration,
    Due, EndedRecipe, FailureMode, Guard, GuestCommand, GuestId, GuestType, GuestWrite, HOST_AS_GUEST, HiddenRead,
    MAX_ACTIONS, MAX_DELAYED, MAX_DEPTH, MAX_HIDDEN_READS, MAX_NOTIFIED_AT_ONCE, MAX_OPEN_CONTEXTS, MAX_READ_PATHS,
    MAX_RECORDS, MAX_RESOURCES, Notification, Notified, OwnPart, Parts, Property, ROOT, ReadKind, Reads, Resource,
    ResourceId, ResourceRef, Run, RunResults, RunStart, SensitiveMessage, Tally, Test, Timing, Wish, dotted_path,
    grant_entries,
};
pub use services::{
    Applied, AttributeRights, CommandOutcome, CookbookFiles, Data, DataError, FileError, HttpRequest, HttpResponse,
    Machine, MachineChange, MachineError, MachineGroup, MachineUser, Moment, OutsideInput, Services, Stat, StatKind,
    TypeTexts,
};
pub use stop::{Stop, StopReason, StopStep, signal_name};

/// The common version of the contract's packages in `wit/`.
pub const CONTRACT_VERSION: &str = "0.2.0";

/// The package of the contract's world, which each artifact names. It identifies the contract between this program and
/// components.
pub const CONTRACT: &str = "wrun:policy@0.2.0";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_is_the_one_in_its_folder() {
        let world = include_str!("../../../wit/policy.wit");
        assert!(world.contains(&format!("package {CONTRACT};")));
        assert_eq!(CONTRACT.rsplit_once('@').unwrap().1, CONTRACT_VERSION);
    }
}
