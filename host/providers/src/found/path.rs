//! What was found at a path, and whether it is still there.

use super::{Found, Thing, changed_meanwhile};
use crate::withheld::Withheld;
use contract::Raised;
use machine::digest::Digest;
use machine::root::{Entry, Fault, Held, Kind, Place, Root, Site, absent};

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

    /// Opens what was found at the path, so that nobody can exchange it any more.
    ///
    /// # Errors
    /// [`contract::ErrorKind::ChangedMeanwhile`]; or it may not be looked at.
    pub(crate) fn hold<'a>(&self, still: Still, site: &'a Site, path: &str) -> Result<Held<'a>, Raised> {
        let held = absent(site.hold())?;
        let now = held.as_ref().map(Held::entry).transpose()?;
        self.require_entry(still, now, path)?;
        held.ok_or_else(|| changed_meanwhile(path, "there is nothing now"))
    }

    /// Fails unless what is at the path now is what was found.
    ///
    /// # Errors
    /// [`contract::ErrorKind::ChangedMeanwhile`]; or it may not be looked at.
    pub(crate) fn require(&self, still: Still, now: Result<Entry, Fault>, path: &str) -> Result<(), Raised> {
        self.require_entry(still, absent(now)?, path)
    }

    fn require_entry(&self, still: Still, now: Option<Entry>, path: &str) -> Result<(), Raised> {
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
    // What lies in a directory is not part of its own state.
    let is_directory = found.kind == Kind::Directory;
    thing(found) == thing(now)
        && (still == Still::Itself || access(found) == access(now))
        && (still != Still::Whole || is_directory || content(found) == content(now))
}
