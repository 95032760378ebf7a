//! Every limit of what is kept, in one place. What would be too large is refused when it is written, and never when it is read.

/// The largest file, in bytes. Policies' shares of a node and of a record are bounded one by one before they come here.
pub(crate) const MAX_FILE: u64 = 1 << 30;

/// Notifications that one policy may have due at a time.
pub(crate) const MAX_DUE: usize = 10_000;

/// Bytes of the journal's lines that one policy may have due at a time.
pub(crate) const MAX_DUE_BYTES: usize = 2 << 20;

/// Bytes by which the journal of a run may grow beyond what is due, before it is rewritten.
pub(crate) const JOURNAL_SLACK: u64 = 4 << 20;

/// The longest line of the journal, in bytes. Names of resources come from guests; a longer one is refused.
pub const MAX_LINE: usize = 64 << 10;
