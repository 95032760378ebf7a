//! The errors of reads, writes and removals of attributes.

use errors::ErrorKind;
use thiserror::Error;

use super::Level;

/// The reason why a call on attributes was refused. The attributes are unchanged then.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AttributeError {
    /// Guests may not write the level, as `automatic`.
    #[error("attribute {path} cannot be changed in the {level} level, which is read-only to policies")]
    ReadOnlyLevel {
        /// The level asked for.
        level: Level,
        /// The attribute, as `a.b.c`.
        path: String,
    },
    /// The path of a strict write leads through a value that is neither an object nor an array.
    #[error("attribute {path} leads through a value that is neither an object nor an array")]
    TypeMismatch {
        /// The attribute, as `a.b.c`.
        path: String,
    },
    /// A strict read or removal named an attribute that does not exist.
    #[error("no such attribute: {path}")]
    NoSuchAttribute {
        /// The attribute, as `a.b.c`.
        path: String,
    },
    /// A write or removal without any path.
    #[error("an attribute path needs at least one step")]
    EmptyPath,
    /// The value holds a malformed marker of a guest value, or a marker where only a running guest may write one.
    #[error("attribute {path} holds a value that only a running policy can compute")]
    GuestValueNotAccepted {
        /// The attribute, as `a.b.c`.
        path: String,
    },
    /// The host wanted to freeze a guest value, but the attribute does not hold one.
    #[error("attribute {path} is not a value that a policy computes")]
    NoGuestValue {
        /// The attribute, as `a.b.c`.
        path: String,
    },
    /// More steps than [`MAX_PATH_STEPS`](super::limits::MAX_PATH_STEPS).
    #[error("attribute path has {steps} steps, more than the {limit} allowed")]
    PathTooLong {
        /// Number of keys in the refused path.
        steps: usize,
        /// Largest number of keys that a path may have.
        limit: usize,
    },
    /// A key longer than [`MAX_KEY_BYTES`](super::limits::MAX_KEY_BYTES).
    #[error("attribute key of {bytes} bytes is longer than the {limit} bytes allowed")]
    KeyTooLong {
        /// Bytes in the key.
        bytes: usize,
        /// Largest length of a key, in bytes.
        limit: usize,
    },
    /// Nested deeper than [`MAX_DEPTH`](super::limits::MAX_DEPTH).
    #[error("attribute {path} would be nested deeper than the limit of {} levels", super::limits::MAX_DEPTH)]
    TooDeep {
        /// The attribute, as `a.b.c`.
        path: String,
    },
    /// More values than [`MAX_VALUES`](super::limits::MAX_VALUES).
    #[error("attribute {path} would bring this policy's attributes above the limit of {limit} values")]
    TooManyValues {
        /// The attribute, as `a.b.c`.
        path: String,
        /// Largest number of values that a policy may hold.
        limit: u64,
    },
    /// More bytes than [`MAX_BYTES`](super::limits::MAX_BYTES).
    #[error("attribute {path} would bring this policy's attributes above the limit of {limit} bytes")]
    TooManyBytes {
        /// The attribute, as `a.b.c`.
        path: String,
        /// Largest size of a policy's attributes, in bytes.
        limit: u64,
    },
}

impl AttributeError {
    /// Returns the kind of error that the run reports.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::ReadOnlyLevel { .. } => ErrorKind::ReadOnlyAttribute,
            Self::TypeMismatch { .. } => ErrorKind::AttributeTypeMismatch,
            Self::NoSuchAttribute { .. } => ErrorKind::NoSuchAttribute,
            Self::EmptyPath
            | Self::GuestValueNotAccepted { .. }
            | Self::NoGuestValue { .. }
            | Self::PathTooLong { .. }
            | Self::KeyTooLong { .. }
            | Self::TooDeep { .. }
            | Self::TooManyValues { .. }
            | Self::TooManyBytes { .. } => ErrorKind::InvalidArgument,
        }
    }
}
