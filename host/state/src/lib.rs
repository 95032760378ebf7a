//! Stores the state that is kept between runs: the node object, run records, the run lock and due notifications.
//!
//! Everything is below one directory (default [`DEFAULT_PATH`]) that only its owner may enter, because attributes may contain
//! passwords:
//!
//! ```text
//! lock                     who runs now
//! nodes/NAME.json          the node object
//! changes/NAME.json        changes of a node that wait until a run has ended
//! changes.lock             who changes a node now
//! pending/NAME.v1          delayed notifications that a run has not carried out yet
//! runs/ID/run.json         what a run did
//! runs/ID/error.json       why it failed
//! dry-runs/ID/             the same of a dry run
//! surveys/ID/run.json      what `grants suggest` found out
//! reports/KEY/ID.json      reports that wait until their destination takes them
//! good-runs/NAME.json      what the last good run of a node was made of
//! agent/                   the agent's lock, its status, its pause
//! ```
//!
//! A second directory, the cache of native code, has the key that authenticates the code ([`cache_key()`]).
//!
//! This crate guarantees that the directory is usable after `kill -9` at any moment. Files are never changed in place: a
//! complete new file is renamed over the old one. The only file that grows ([`Pending`]) grows by whole lines, and its reader
//! accepts an incomplete last line. Only the directory itself is opened by its path. All other files are opened below its
//! handle and never through a link, so that an attacker gains nothing by replacing a directory.
//!
//! The size of files is limited when they are written (`limits.rs`), so that they can always be read. An unusable file is
//! renamed (`NAME.damaged-XXXXXXXX`), and the run goes on without it.
//!
//! Readers use a [`StateDirectory`]. A writer needs a [`RunLock`], which only one process can have. Only that type has the
//! methods for writing, so the compiler enforces the rule. The record of a dry run is an exception: it has a folder of its
//! own, and no other run reads it.
//!
//! Rejected: an embedded database. The state is a few files that an operator can read and repair with an editor.

mod agent;
mod cache_key;
mod changes;
mod directory;
mod error;
mod folder;
mod good_runs;
mod limits;
mod lock;
mod names;
mod nodes;
mod outbox;
mod part;
mod pending;
mod runs;

pub use agent::{AgentFile, AgentFolder, AgentLock, RunningAgent};
pub use cache_key::{CacheKey, cache_key};
pub use changes::{ChangeLock, WaitingChange};
pub use directory::{DEFAULT_PATH, StateDirectory};
pub use error::StateError;
pub use limits::MAX_LINE;
pub use lock::{Holder, LockRequest, RunLock};
pub use nodes::NODE_FORMAT;
pub use outbox::{Outbox, OutboxLock};
pub use part::part_of_reader;
pub use pending::{LeftDue, Pending, Unrecorded};
pub use runs::{NewestFirst, RunFolder, RunId};
