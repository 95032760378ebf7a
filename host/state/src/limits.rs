//! All limits of stored files. A file that would be too large is refused when it is written, and never when it is read.

/// The largest file, in bytes. Each policy's share of a node and of a record has been limited before.
pub(crate) const MAX_FILE: u64 = 1 << 30;

/// Largest number of due notifications of one policy.
pub(crate) const MAX_DUE: usize = 10_000;

/// Largest size of the journal lines for due notifications of one policy, in bytes.
pub(crate) const MAX_DUE_BYTES: usize = 2 << 20;

/// Bytes by which a run's journal may exceed the size of its due notifications before it is rewritten.
pub(crate) const JOURNAL_SLACK: u64 = 4 << 20;

/// The longest line of the journal, in bytes. Names of resources come from guests; a longer one is refused.
pub const MAX_LINE: usize = 64 << 10;
