//! What planning found about the things that an operation changes, as values.
//!
//! An operation holds what it was planned against, and two things come of that. One is its *fingerprint*, by which a later
//! plan can tell whether it would begin from the same state. It covers exactly what the plan depended on: the content of a
//! file that is written, but not of one that is removed, which nobody reads. The other is a last look right before the
//! effect: a thing that somebody else has changed since is left as it is, and the operation fails with
//! [`ErrorKind::ChangedMeanwhile`]. A delayed notification plans anew, so that it meets no such failure.
//!
//! A fingerprint has no key, so the same state has the same one in every run. Whoever reads a record could test guesses of a
//! secret with it. So the changes of sensitive resources have none, and neither have those of operations whose state holds
//! a secret, such as the hash of a password.
//!
//! Rejected: fingerprints with a key. A key of one run makes them useless to every other run; a key that lasts cannot be
//! made in a dry run, which writes nothing but its record.

mod path;

pub(crate) use path::{FoundPath, Still};

use contract::{ABSENT, ErrorKind, Fingerprint, Raised};
use machine::digest::Digest;
use machine::root::Fault;
use std::fmt::Display;

/// The version of the text that fingerprints are made of. A change of it changes every fingerprint.
const VERSION: u32 = 1;

/// What planning found about the things that an operation changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// The operation does the same whatever the machine is like.
    Nothing,
    /// Things, in an order that depends on the resource alone.
    Things {
        /// The things as they were found.
        things: Vec<Thing>,
        /// The state holds a secret, which guesses could be tested against.
        is_secret: bool,
    },
}

/// One thing of the machine as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thing {
    kind: &'static str,
    name: String,
    /// Aspects with their values. `None`: the thing does not have this aspect.
    state: Vec<(&'static str, Option<String>)>,
}

impl Thing {
    /// A thing that no aspect is known of yet.
    pub(crate) fn new(kind: &'static str, name: impl Into<String>) -> Self {
        Self { kind, name: name.into(), state: vec![] }
    }

    /// A thing that is not there.
    pub(crate) fn absent(kind: &'static str, name: impl Into<String>) -> Self {
        Self::new(kind, name).with("presence", ABSENT)
    }

    /// The same thing with a value of it.
    #[must_use]
    pub(crate) fn with(self, aspect: &'static str, value: impl Into<String>) -> Self {
        self.with_any(aspect, Some(value.into()))
    }

    /// The same thing with a value of it, or without one.
    #[must_use]
    pub(crate) fn with_any(mut self, aspect: &'static str, value: Option<String>) -> Self {
        self.state.push((aspect, value));
        self
    }

    /// The same thing, which is so or is not.
    #[must_use]
    pub(crate) fn is(self, aspect: &'static str, is_so: bool) -> Self {
        self.with(aspect, if is_so { "yes" } else { "no" })
    }
}

impl Found {
    /// What was found of some things.
    pub(crate) fn of(things: impl IntoIterator<Item = Thing>) -> Self {
        Self::Things { things: things.into_iter().collect(), is_secret: false }
    }

    /// The same, secret if `is_secret` says so.
    #[must_use]
    pub(crate) fn secret_if(self, is_secret: bool) -> Self {
        match self {
            Self::Things { things, is_secret: was } => Self::Things { things, is_secret: was || is_secret },
            Self::Nothing => Self::Nothing,
        }
    }

    /// What was found by both, one after the other.
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

    /// The digest of it. `None`: there is nothing that could be compared, or it is secret.
    pub(crate) fn fingerprint(&self) -> Option<Fingerprint> {
        let Self::Things { things, is_secret: false } = self else { return None };
        // Lists in lists: JSON writes the same lists in one way only.
        let things: Vec<_> = things.iter().map(|thing| (thing.kind, &thing.name, &thing.state)).collect();
        let text = serde_json::to_vec(&("found", VERSION, things)).ok()?;
        Some(Fingerprint::of_digest(Digest::of(&text).text()))
    }
}

/// The failure of an operation whose thing is no longer as it was when the operation was planned. `how`: what is different.
pub(crate) fn changed_meanwhile(what: impl Display, how: &str) -> Raised {
    let message = format!("{what} changed after this action was planned, and was left as it is now: {how}");
    Raised::new(ErrorKind::ChangedMeanwhile, message)
        .with_hint("run again: wrun looks at it anew; if this happens often, find out who else changes it")
}

/// The refusal of a call that makes something under a name that was free: somebody else has made something there.
pub(crate) fn taken(fault: Fault, path: &str) -> Raised {
    if fault.errno != rustix::io::Errno::EXIST {
        return fault.into();
    }
    changed_meanwhile(path, "there was nothing, and there is something now")
}

#[cfg(test)]
mod tests;
