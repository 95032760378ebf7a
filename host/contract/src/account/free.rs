//! The free space of a file system, and the part that policies must leave free.

/// The free space of a file system, for users other than root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpace {
    /// Bytes that may still be written.
    pub bytes: u64,
    /// Files, directories and links that may still be created. `None` if the file system does not count them.
    pub entries: Option<FreeEntries>,
}

impl FreeSpace {
    /// The bytes that a file, a directory or a link counts in addition to its content.
    pub const ENTRY: u64 = 4_096;

    /// Creates a free space of `bytes` bytes and unlimited entries.
    #[must_use]
    pub fn bytes(bytes: u64) -> Self {
        Self { bytes, entries: None }
    }
}

/// The entries (inodes) that a file system has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeEntries {
    /// The number of entries that may still be created.
    pub left: u64,
    /// The maximum number of entries of the file system.
    pub all: u64,
}

impl FreeEntries {
    /// The number of entries that must stay free on a large file system. On a small one, it is a twentieth.
    const LEAST: u64 = 10_000;

    /// Returns the number of entries that must stay free.
    #[must_use]
    pub fn least(self) -> u64 {
        Self::LEAST.min(self.all / 20)
    }

    /// Returns the number of entries that policies may still create.
    #[must_use]
    pub fn spare(self) -> u64 {
        self.left.saturating_sub(self.least())
    }
}
