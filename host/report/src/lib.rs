//! Makes the reports of a run: its JSON and record, its events, its errors, and the texts for people.
//!
//! This crate is pure: it makes text and JSON from a run's report and events. Its callers print, send or store them.
//!
//! ```text
//! json        the run as one document, which is also its record
//! error       the error of a policy, and of a run that never began
//! events      what happens, one object per event
//! block       lines for people: denials, conflicts, what is due, the recap
//! outline     the record of a run that was ended from outside
//! record      the record of an earlier run, read back; difference: two of them compared
//! ```

mod block;
mod bounded;
mod compiled;
pub mod conflicts;
pub mod denials;
pub mod denied;
mod difference;
pub mod due;
pub mod error;
pub mod events;
pub mod hidden_reads;
pub mod json;
mod kept_log;
mod new_thing;
mod outline;
pub mod paused;
pub mod recap;
mod record;
pub mod sentence;
pub mod shared;
pub mod survey;
pub mod unseen;
mod words;

pub use block::{Block, End, Line, Tone};
pub use bounded::{Bounded, MAX_SHOWN};
pub use compiled::lines as compiled_lines;
pub use difference::Difference;
pub use kept_log::KeptLog;
pub use new_thing::{NewThing, shortened};
pub use outline::Outline;
pub use record::{AskedFor, FOLDERS_POLICY, Record, RecordError, RecordedPolicy, status};
pub use words::{by_code, place, ran, would, would_do};
