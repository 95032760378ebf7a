//! What a file system has left, and how much of it policies leave to others.

/// What a file system has left for whoever is not root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpace {
    /// Bytes that may still be written.
    pub bytes: u64,
    /// Files, directories and links that may still be made. `None`: it does not count them.
    pub entries: Option<FreeEntries>,
}

impl FreeSpace {
    /// Bytes that a file, a directory or a link counts for besides its content.
    pub const ENTRY: u64 = 4_096;

    /// So many bytes, and any number of entries.
    #[must_use]
    pub fn bytes(bytes: u64) -> Self {
        Self { bytes, entries: None }
    }
}

/// The entries (inodes) that a file system has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeEntries {
    /// Those that may still be made.
    pub left: u64,
    /// All that it can have at once.
    pub all: u64,
}

impl FreeEntries {
    /// Of a large file system so many entries are always left, of a small one a twentieth.
    const LEAST: u64 = 10_000;

    /// Returns how many entries are always left.
    #[must_use]
    pub fn least(self) -> u64 {
        Self::LEAST.min(self.all / 20)
    }

    /// Returns how many entries policies may still make.
    #[must_use]
    pub fn spare(self) -> u64 {
        self.left.saturating_sub(self.least())
    }
}
