//! The state that planning found for the things that an operation changes, as values.
//!
//! An operation keeps the state that it was planned for. This has two uses. One is its *fingerprint*: a later plan can tell
//! whether it would start from the same state. A fingerprint covers exactly the state that the plan depends on: the content
//! of a file to be written, but not of one to be removed. The other use is a last check right before the effect. If somebody
//! else has changed the thing since, it stays as it is, and the operation fails with [`ErrorKind::ChangedMeanwhile`]. A
//! delayed notification plans again, so it does not fail in this way.
//!
//! A fingerprint has no key, so the same state gives the same fingerprint in every run. A reader of a record could therefore
//! use it to test guesses of a secret. So changes of sensitive resources have no fingerprint, and neither do operations whose
//! state contains a secret, such as a password hash.
//!
//! Rejected: fingerprints with a key. A key for one run makes them useless to every other run. A permanent key cannot be
//! created in a dry run, which writes nothing but its record.

mod path;

pub(crate) use path::{FoundPath, Still};

use contract::{ABSENT, ErrorKind, Fingerprint, Raised};
use machine::digest::Digest;
use machine::root::Fault;
use std::fmt::Display;

/// The version of the text behind fingerprints. Changing it changes every fingerprint.
const VERSION: u32 = 1;

/// The state that planning found for the things that an operation changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// The operation does not depend on the machine's state.
    Nothing,
    /// Some things, in an order that depends only on the resource.
    Things {
        /// The things as they were found.
        things: Vec<Thing>,
        /// True if the state contains a secret that guesses could be tested against.
        is_secret: bool,
    },
}

/// One thing of the machine, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thing {
    kind: &'static str,
    name: String,
    /// Aspects with their values. `None` means that the thing does not have the aspect.
    state: Vec<(&'static str, Option<String>)>,
}

impl Thing {
    /// Creates a thing without aspects.
    pub(crate) fn new(kind: &'static str, name: impl Into<String>) -> Self {
        Self { kind, name: name.into(), state: vec![] }
    }

    /// Creates an absent thing.
    pub(crate) fn absent(kind: &'static str, name: impl Into<String>) -> Self {
        Self::new(kind, name).with("presence", ABSENT)
    }

    /// Adds an aspect with its value.
    #[must_use]
    pub(crate) fn with(self, aspect: &'static str, value: impl Into<String>) -> Self {
        self.with_any(aspect, Some(value.into()))
    }

    /// Adds an aspect, with or without a value.
    #[must_use]
    pub(crate) fn with_any(mut self, aspect: &'static str, value: Option<String>) -> Self {
        self.state.push((aspect, value));
        self
    }

    /// Adds an aspect with the value `yes` or `no`.
    #[must_use]
    pub(crate) fn is(self, aspect: &'static str, is_so: bool) -> Self {
        self.with(aspect, if is_so { "yes" } else { "no" })
    }
}

impl Found {
    /// Creates the state of some things.
    pub(crate) fn of(things: impl IntoIterator<Item = Thing>) -> Self {
        Self::Things { things: things.into_iter().collect(), is_secret: false }
    }

    /// Marks the state as secret if `is_secret` is true.
    #[must_use]
    pub(crate) fn secret_if(self, is_secret: bool) -> Self {
        match self {
            Self::Things { things, is_secret: was } => Self::Things { things, is_secret: was || is_secret },
            Self::Nothing => Self::Nothing,
        }
    }

    /// Joins two states in order.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, other) => other,
            (found, Self::Nothing) => found,
            (Self::Things { mut things, is_secret }, Self::Things { things: more, is_secret: also }) => {
                things.extend(more);
                Self::Things { things, is_secret: is_secret || also }
            }
        }
    }

    /// Returns the digest of the state, or `None` if it is empty or secret.
    pub(crate) fn fingerprint(&self) -> Option<Fingerprint> {
        let Self::Things { things, is_secret: false } = self else { return None };
        // Lists in lists: JSON has only one way to write the same lists.
        let things: Vec<_> = things.iter().map(|thing| (thing.kind, &thing.name, &thing.state)).collect();
        let text = serde_json::to_vec(&("found", VERSION, things)).ok()?;
        Some(Fingerprint::of_digest(Digest::of(&text).text()))
    }
}

/// Returns the failure of an operation whose thing has changed since the operation was planned. `how` describes the
/// difference.
pub(crate) fn changed_meanwhile(what: impl Display, how: &str) -> Raised {
    let message = format!("{what} changed after this action was planned, and was left as it is now: {how}");
    Raised::new(ErrorKind::ChangedMeanwhile, message)
        .with_hint("run again: wrun looks at it anew; if this happens often, find out who else changes it")
}

/// Returns the failure of a call that creates an entry. If the name was free when planned and now exists, somebody else has
/// created it.
pub(crate) fn taken(fault: Fault, path: &str) -> Raised {
    if fault.errno != rustix::io::Errno::EXIST {
        return fault.into();
    }
    changed_meanwhile(path, "there was nothing, and there is something now")
}

#[cfg(test)]
mod tests;
