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

use crate::withheld::Withheld;
use contract::{ABSENT, ErrorKind, Fingerprint, Raised};
use machine::digest::Digest;
use machine::root::{Entry, Fault, Kind, Place, Root, absent};
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
    /// Aspects with their values. `None`: there is no such value.
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

/// How much of what is at a path must still be as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Still {
    /// It is the same file, directory or link. Others may have written to it: a log that is removed is still that log.
    Itself,
    /// Its owner, group and mode are the same, too.
    Access,
    /// So are its size, and the time of its last change.
    Whole,
}

/// What was found at a real path.
#[derive(Debug, Clone, Default)]
pub(crate) struct FoundPath {
    /// `None`: nothing was there.
    entry: Option<Entry>,
    /// The digest of a file's content, where planning has read it.
    content: Withheld<Option<Digest>>,
    /// The text of a symbolic link, where planning has read it.
    says: Option<String>,
    /// The content is a secret, which an earlier sensitive resource of a dry run would write.
    is_secret: bool,
}

impl FoundPath {
    /// Nothing was at the path.
    pub(crate) fn absent() -> Self {
        Self::default()
    }

    /// Something was at the path.
    pub(crate) fn of(entry: Entry) -> Self {
        Self { entry: Some(entry), ..Self::default() }
    }

    /// Looks at a path; a link is not followed, but read.
    ///
    /// # Errors
    /// It may not be looked at.
    pub(crate) fn look(root: &Root, path: &str) -> Result<Self, Fault> {
        let Some(place) = absent(root.locate(path))? else { return Ok(Self::absent()) };
        Ok(absent(place.entry())?.map(|entry| Self::at(&place, entry)).unwrap_or_default())
    }

    /// What is at a place that was looked at; a link is read.
    pub(crate) fn at(place: &Place, entry: Entry) -> Self {
        let found = Self::of(entry);
        if entry.kind == Kind::Link { found.saying(&place.read_link().unwrap_or_default()) } else { found }
    }

    /// The same file, whose content has this digest.
    #[must_use]
    pub(crate) fn with_content(self, digest: Option<Digest>) -> Self {
        Self { content: Withheld(digest), ..self }
    }

    /// The same file, whose content is secret if `is_secret` says so.
    #[must_use]
    pub(crate) fn secret_if(self, is_secret: bool) -> Self {
        Self { is_secret, ..self }
    }

    /// The same link, which says this.
    #[must_use]
    pub(crate) fn saying(self, text: &str) -> Self {
        Self { says: Some(text.to_owned()), ..self }
    }

    /// Whether something was there.
    pub(crate) fn is_there(&self) -> bool {
        self.entry.is_some()
    }

    /// The size of what was there, in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.entry.map_or(0, |entry| entry.size)
    }

    /// The digest of the content that was there, where planning has read it.
    pub(crate) fn content(&self) -> Option<&Digest> {
        self.content.0.as_ref()
    }

    /// As the only thing that an operation changes, by its real path.
    pub(crate) fn found(&self, real: &str) -> Found {
        Found::of([self.thing(real)]).secret_if(self.is_secret)
    }

    /// As a thing, by its real path.
    pub(crate) fn thing(&self, real: &str) -> Thing {
        let Some(entry) = &self.entry else { return Thing::absent("path", real) };
        let thing = Thing::new("path", real).with("presence", entry.kind.words());
        let thing = match entry.kind {
            // The kernel ignores the bits of a link.
            Kind::Link => thing.with_any("to", self.says.clone()),
            _ => thing.with("mode", format!("{:o}", entry.mode)),
        };
        let thing = thing.with("owner", entry.uid.to_string()).with("group", entry.gid.to_string());
        match &self.content.0 {
            Some(digest) => thing.with("content", digest.text()),
            None => thing,
        }
    }

    /// Fails unless what is at the path now is what was found.
    ///
    /// # Errors
    /// [`ErrorKind::ChangedMeanwhile`]; or it may not be looked at.
    pub(crate) fn require(&self, still: Still, now: Result<Entry, Fault>, path: &str) -> Result<(), Raised> {
        let now = absent(now)?;
        let how = match (&self.entry, &now) {
            (None, None) => return Ok(()),
            (Some(found), Some(now)) if is_still(still, found, now) => return Ok(()),
            (None, Some(now)) => format!("there was nothing, and there is a {} now", now.kind.words()),
            (Some(found), None) => format!("there was a {}, and there is nothing now", found.kind.words()),
            (Some(found), Some(now)) if found.kind != now.kind => {
                format!("it was a {}, and is a {} now", found.kind.words(), now.kind.words())
            }
            (Some(found), Some(now)) if found.identity != now.identity => {
                format!("another {} has taken its place", now.kind.words())
            }
            (Some(found), Some(now)) if !is_still(Still::Access, found, now) => {
                let shown = |entry: &Entry| format!("{}:{} {:o}", entry.uid, entry.gid, entry.mode);
                format!("its owner, group and mode were {}, and are {} now", shown(found), shown(now))
            }
            (Some(_), Some(_)) => "its content changed".to_owned(),
        };
        Err(changed_meanwhile(path, &how))
    }
}

fn is_still(still: Still, found: &Entry, now: &Entry) -> bool {
    let thing = |entry: &Entry| (entry.kind, entry.identity);
    let access = |entry: &Entry| (entry.uid, entry.gid, entry.mode);
    let content = |entry: &Entry| (entry.size, entry.modified, entry.modified_nanos);
    // What is in a directory is none of its own.
    let is_directory = found.kind == Kind::Directory;
    thing(found) == thing(now)
        && (still == Still::Itself || access(found) == access(now))
        && (still != Still::Whole || is_directory || content(found) == content(now))
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
