//! What this room needs of others, as traits and plain data: a guest that answers, providers that act, services that a
//! guest may call, a memory that keeps what is due.

mod conversation;
mod providers;
mod services;

pub use conversation::{Answer, Call, Callback, Errand, Got, Guest, Request, Said, Tell};
pub use providers::{
    Certainty, Change, CommandLine, CommandTest, Expected, Known, Memory, Prepared, Providers, Truth, Types, Wanted,
};
pub use services::{
    AttributeRights, CommandOutcome, CookbookFiles, Data, DataError, FileError, HttpRequest, HttpResponse, Interfaces,
    Machine, MachineChange, MachineError, MachineGroup, MachineUser, Moment, Services, Stat, StatKind, TypeTexts,
};
