//! What can go wrong with an attribute.

use errors::ErrorKind;
use thiserror::Error;

use super::Level;

/// A refused attribute call. Nothing has changed when one of these is returned.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AttributeError {
    /// The level belongs to the host.
    #[error("attribute {path} cannot be changed in the {level} level, which is read-only to policies")]
    ReadOnlyLevel {
        /// The level asked for.
        level: Level,
        /// The attribute, as `a.b.c`.
        path: String,
    },
    /// A strict write met something that is neither object nor array on its way.
    #[error("attribute {path} leads through a value that is neither an object nor an array")]
    TypeMismatch {
        /// The attribute, as `a.b.c`.
        path: String,
    },
    /// A strict read or removal found nothing.
    #[error("no such attribute: {path}")]
    NoSuchAttribute {
        /// The attribute, as `a.b.c`.
        path: String,
    },
    /// A write or removal without any path.
    #[error("an attribute path needs at least one step")]
    EmptyPath,
    /// A marker of a guest value in data that did not come from a running guest, or a malformed marker.
    #[error("attribute {path} holds a value that only a running policy can compute")]
    GuestValueNotAccepted {
        /// The attribute, as `a.b.c`.
        path: String,
    },
    /// The host wanted to freeze a guest value where none stands.
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
    /// Returns what went wrong, as the kind of the failure that it becomes.
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
