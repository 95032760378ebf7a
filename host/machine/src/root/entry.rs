//! File system entries: their kind and attributes.

use cap_std::fs::{FileTypeExt as _, Metadata, MetadataExt as _};
use rustix::fd::AsFd;
use rustix::fs::{FileType, Stat};
use std::io;

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file, with content.
    File,
    /// A directory, which has entries.
    Directory,
    /// A symbolic link that was not followed.
    Link,
    /// A block device, such as a disk.
    BlockDevice,
    /// A character device, such as a terminal.
    CharacterDevice,
    /// A named pipe, also called a FIFO.
    Pipe,
    /// A socket of the local machine.
    Socket,
    /// A kind that wrun does not know.
    Unknown,
}

impl Kind {
    /// Returns the kind in Chef's words, as in its messages.
    pub fn words(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Link => "symlink",
            Self::BlockDevice => "block device",
            Self::CharacterDevice => "char device",
            Self::Pipe => "pipe",
            Self::Socket => "socket",
            Self::Unknown => "unknown filetype",
        }
    }

    /// Returns the kind from a directory listing, or `Unknown` if the listing does not contain it.
    pub(super) fn of_entry(file_type: &cap_std::fs::FileType) -> Self {
        if file_type.is_file() {
            Self::File
        } else if file_type.is_dir() {
            Self::Directory
        } else if file_type.is_symlink() {
            Self::Link
        } else if file_type.is_fifo() {
            Self::Pipe
        } else if file_type.is_socket() {
            Self::Socket
        } else if file_type.is_block_device() {
            Self::BlockDevice
        } else if file_type.is_char_device() {
            Self::CharacterDevice
        } else {
            Self::Unknown
        }
    }

    pub fn of(file_type: FileType) -> Self {
        match file_type {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            FileType::BlockDevice => Self::BlockDevice,
            FileType::CharacterDevice => Self::CharacterDevice,
            FileType::Fifo => Self::Pipe,
            FileType::Socket => Self::Socket,
            FileType::Unknown => Self::Unknown,
        }
    }
}

/// An entry of the file system with its attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The kind of the entry, such as a directory.
    pub kind: Kind,
    /// Permission bits, including set-id and sticky bits.
    pub mode: u32,
    /// Numeric id of the owner.
    pub uid: u32,
    /// Numeric id of the group.
    pub gid: u32,
    /// Size of the content, in bytes.
    pub size: u64,
    /// Time of the last change of the content, in seconds since 1970.
    pub modified: i64,
    /// The fraction of a second of that time, in nanoseconds.
    pub modified_nanos: u64,
    /// Device and inode numbers, which together identify it on this machine.
    pub identity: (u64, u64),
    /// The number of its names (hard links).
    pub links: u64,
}

#[cfg(test)]
impl Entry {
    /// An empty directory of root's.
    pub(crate) fn directory() -> Self {
        Self {
            kind: Kind::Directory,
            mode: 0o755,
            uid: 0,
            gid: 0,
            size: 0,
            modified: 0,
            modified_nanos: 0,
            identity: (0, 0),
            links: 2,
        }
    }
}

/// The permission bits that let users other than the owner write.
const OTHERS_WRITE: u32 = 0o022;

impl Entry {
    /// Tells whether a group or everybody may write to it. For a link the bits have no meaning.
    pub fn others_may_write(&self) -> bool {
        self.kind != Kind::Link && self.mode & OTHERS_WRITE != 0
    }

    /// Returns the entry behind an open handle.
    ///
    /// # Errors
    /// The kernel refuses the call.
    pub fn of_handle(handle: impl AsFd) -> io::Result<Self> {
        Ok(Self::of(&rustix::fs::fstat(handle)?))
    }

    /// Converts the metadata of cap-std.
    pub(super) fn of_metadata(metadata: &Metadata) -> Self {
        Self {
            kind: Kind::of(FileType::from_raw_mode(metadata.mode())),
            mode: metadata.mode() & 0o7777,
            uid: metadata.uid(),
            gid: metadata.gid(),
            size: metadata.size(),
            modified: metadata.mtime(),
            modified_nanos: u64::try_from(metadata.mtime_nsec()).unwrap_or_default(),
            identity: (metadata.dev(), metadata.ino()),
            links: metadata.nlink(),
        }
    }

    #[expect(clippy::useless_conversion, reason = "the widths of these fields differ between architectures")]
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            kind: Kind::of(FileType::from_raw_mode(stat.st_mode)),
            mode: u32::from(stat.st_mode) & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: i64::try_from(stat.st_mtime).unwrap_or_default(),
            modified_nanos: u64::try_from(stat.st_mtime_nsec).unwrap_or_default(),
            identity: (u64::from(stat.st_dev), u64::from(stat.st_ino)),
            links: u64::from(stat.st_nlink),
        }
    }
}
