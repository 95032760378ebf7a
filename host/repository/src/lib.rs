//! The repository of signed releases: teams write to it, and nodes read and verify it.
//!
//! A repository is a folder of small repositories in the format of The Update Framework (TUF 1.0): one of the platform and
//! one of each team, so that errors of one team do not affect others. docs/releases.md has the layout. The modules:
//!
//! ```text
//! names        names of teams and groups, which policies a team owns, paths of targets
//! canonical    the one form of a JSON value that is signed
//! keys         Ed25519 keys; key_file keeps them, with a passphrase; keyring finds them
//! metadata     root, targets, snapshot, timestamp: parsed, checked, verified; envelope: their signatures
//! store        where a repository lies; directory is the embedded one; files writes whole files
//! chain        from one root to the next
//! update       from what is trusted and what the store has to what is trusted now: rollback, freeze, mix-and-match
//! trust        what a node or an author trusts, kept between runs, one file per repository; first: how trust begins
//! teams        which team owns a policy
//! released     which revision a group runs
//! prefetch     asks a store for several files at once
//! node         which revision of which policy a node runs; cache keeps it
//! lifetimes    how long documents are valid
//! writer       publishes: targets first, the timestamp last; pending waits for signatures; renewal renews what expires
//! admin        starts a repository, says who the teams are
//! release      what a push and a promotion release
//! maintain     checks a repository, exchanges keys of the platform, removes what nobody runs
//! ```
//!
//! A store is not trusted: the size of every file is limited, every file is verified before it is used, and files that cannot
//! be verified are refused. This crate does not read a clock: callers pass the time.

pub mod admin;
mod cache;
pub mod canonical;
mod chain;
mod directory;
mod envelope;
mod error;
mod files;
pub mod first;
pub mod key_file;
pub mod keyring;
pub mod keys;
mod lifetimes;
pub mod maintain;
pub mod metadata;
pub mod names;
pub mod node;
pub mod pending;
mod prefetch;
pub mod release;
mod released;
mod renewal;
pub mod store;
pub mod teams;
pub mod trust;
pub mod update;
pub mod writer;

pub use directory::DirectoryStore;
pub use error::{RepositoryError, Role};
pub use released::Release;
