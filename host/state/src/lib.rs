//! What outlives a run: the node object, run records, the run lock, notifications that are due.
//!
//! Everything lies below one directory (default [`DEFAULT_PATH`]) that only its owner may enter, since attributes may
//! hold passwords:
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
//! A second directory, of native code that was cached, has the key that authenticates it ([`cache_key()`]).
//!
//! The one promise of this room: the directory is usable after `kill -9` at any moment. Files are replaced by renaming a
//! complete one over them, never changed in place; the one file that grows ([`Pending`]) grows by whole lines and its
//! reader tolerates half of one at the end. Nothing is opened by a path from the root but the directory itself: all else
//! is opened below its handle and never through a link, so that swapping a directory leads nowhere.
//!
//! What is kept is bounded when it is written (`limits.rs`), so that it can always be read. A file that cannot be used all the
//! same is renamed beside (`NAME.damaged-XXXXXXXX`), and the run goes on without it.
//!
//! Whoever only looks has a [`StateDirectory`]. Whoever writes has a [`RunLock`] and can be only one; that the writing
//! methods are found there and nowhere else is how the compiler keeps it so. The exception is the record of a dry run, which
//! has a folder of its own and which no other run reads.
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
pub use pending::{Pending, Unrecorded};
pub use runs::{NewestFirst, RunFolder, RunId};
