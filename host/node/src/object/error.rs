//! The errors of reading, changing and saving a node object.

use errors::ErrorKind;
use thiserror::Error;

use crate::attributes::{AttributeError, Level};
use crate::run_list::RunListError;

/// A node object, or a part of one, that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// The name has characters that a node's name cannot have.
    #[error("node name {name:?} may only have letters, digits, '-', '_', ':' and '.'")]
    InvalidName {
        /// The name that was refused, as given.
        name: String,
    },
    /// The environment's name has characters that it cannot have.
    #[error("environment name {environment:?} may only have letters, digits, '-' and '_'")]
    InvalidEnvironment {
        /// The name that was refused, as given.
        environment: String,
    },
    /// A saved node, or JSON attributes, with the wrong kind of value under a key.
    #[error("{document}: {key} must be {expected}")]
    WrongKind {
        /// "saved node" or "JSON attributes".
        document: &'static str,
        /// The key, as `policies.core.default`.
        key: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A saved node, or JSON attributes, without a key that must be there.
    #[error("{document}: {key} is missing")]
    Missing {
        /// "saved node" or "JSON attributes".
        document: &'static str,
        /// The key that is missing, with the keys above it: `policies.core.default`.
        key: String,
    },
    /// An invalid run list in a saved node, or in JSON attributes.
    #[error("{document}: {key}: {reason}")]
    RunList {
        /// "saved node" or "JSON attributes".
        document: &'static str,
        /// The key of the run list, such as `run_list`.
        key: String,
        /// What is wrong with it. Part of the message, hence no `source`.
        reason: RunListError,
    },
    /// Both `run_list` and its old name `recipes` are given. The message is Chef's.
    #[error("please set the node's run list using the 'run_list' attribute only.")]
    AmbiguousRunList,
    /// A saved node, or JSON attributes, that hold a marker which only a running policy may store.
    #[error("{document}: {key} holds a value that only a running policy can compute")]
    GuestValueNotAccepted {
        /// "saved node" or "JSON attributes".
        document: &'static str,
        /// The key whose value is refused.
        key: String,
    },
    /// Attributes that cannot be set up for a policy.
    #[error("{level} attributes: {reason}")]
    Attributes {
        /// The level they are for.
        level: Level,
        /// What is wrong with them. Part of the message, hence no `source`.
        reason: AttributeError,
    },
    /// A policy ended while an attribute still held a value that only the policy can compute.
    #[error("attribute {path} in the {level} level still holds a value that only the policy can compute")]
    GuestValueLeft {
        /// The level that holds the value.
        level: Level,
        /// The attribute, as `a.b.c`.
        path: String,
    },
    /// A policy has added more to `normal` than it may.
    #[error(
        "the normal attributes that the policy has added, in all its runs, take more than {limit} bytes as they are saved"
    )]
    NormalTooLarge {
        /// Largest size that is allowed, in bytes of saved JSON.
        limit: u64,
    },
    /// A policy's levels are larger than may be saved.
    #[error("the attributes that the policy leaves take more than {limit} bytes as they are saved")]
    PolicyTooLarge {
        /// Largest size that is allowed, in bytes of saved JSON.
        limit: u64,
    },
}

impl ObjectError {
    /// Returns what went wrong, as the kind of the failure that it becomes.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::InvalidName { .. } | Self::InvalidEnvironment { .. } => ErrorKind::InvalidValue,
            Self::AmbiguousRunList => ErrorKind::AmbiguousRunList,
            Self::Attributes { reason, .. } => reason.kind(),
            Self::RunList { reason, .. } => reason.kind(),
            Self::WrongKind { .. }
            | Self::Missing { .. }
            | Self::GuestValueNotAccepted { .. }
            | Self::GuestValueLeft { .. }
            | Self::NormalTooLarge { .. }
            | Self::PolicyTooLarge { .. } => ErrorKind::InvalidArgument,
        }
    }
}
