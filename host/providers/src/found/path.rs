//! The state that was found at a path, and the check whether it is unchanged.

use super::{Found, Thing, changed_meanwhile};
use crate::withheld::Withheld;
use contract::Raised;
use machine::digest::Digest;
use machine::root::{Entry, Fault, Held, Kind, Place, Root, Site, absent};

/// The parts of a path's state that must be unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Still {
    /// The file, directory or link is the same. Its content may have changed: a log file that is removed is still that log
    /// file.
    Itself,
    /// Also the owner, group and mode are the same.
    Access,
    /// Also the size and the time of the last change are the same.
    Whole,
}

/// The state that was found at a real path.
#[derive(Debug, Clone, Default)]
pub(crate) struct FoundPath {
    /// The entry. `None`: it did not exist.
    entry: Option<Entry>,
    /// The digest of a file's content, if planning has read it.
    content: Withheld<Option<Digest>>,
    /// The text of a symbolic link, if planning has read it.
    says: Option<String>,
    /// True if the content is a secret that an earlier sensitive resource of a dry run would write.
    is_secret: bool,
}

impl FoundPath {
    /// Returns the state of a path that did not exist.
    pub(crate) fn absent() -> Self {
        Self::default()
    }

    /// Returns the state of a path with this entry.
    pub(crate) fn of(entry: Entry) -> Self {
        Self { entry: Some(entry), ..Self::default() }
    }

    /// Reads the state of a path. A link is not followed, but its text is read.
    ///
    /// # Errors
    /// The path may not be read.
    pub(crate) fn look(root: &Root, path: &str) -> Result<Self, Fault> {
        let Some(place) = absent(root.locate(path))? else { return Ok(Self::absent()) };
        Ok(absent(place.entry())?.map(|entry| Self::at(&place, entry)).unwrap_or_default())
    }

    /// Returns the state of a place with a known entry. The text of a link is read.
    pub(crate) fn at(place: &Place, entry: Entry) -> Self {
        let found = Self::of(entry);
        if entry.kind == Kind::Link { found.saying(&place.read_link().unwrap_or_default()) } else { found }
    }

    /// Adds the digest of the file's content.
    #[must_use]
    pub(crate) fn with_content(self, digest: Option<Digest>) -> Self {
        Self { content: Withheld(digest), ..self }
    }

    /// Marks the content as secret if `is_secret` is true.
    #[must_use]
    pub(crate) fn secret_if(self, is_secret: bool) -> Self {
        Self { is_secret, ..self }
    }

    /// Adds the text of the link.
    #[must_use]
    pub(crate) fn saying(self, text: &str) -> Self {
        Self { says: Some(text.to_owned()), ..self }
    }

    /// Tells whether the path existed.
    pub(crate) fn is_there(&self) -> bool {
        self.entry.is_some()
    }

    /// Returns the size of the entry, in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.entry.map_or(0, |entry| entry.size)
    }

    /// Returns the digest of the content, if planning has read it.
    pub(crate) fn content(&self) -> Option<&Digest> {
        self.content.0.as_ref()
    }

    /// Returns the state of an operation that changes only this path.
    pub(crate) fn found(&self, real: &str) -> Found {
        Found::of([self.thing(real)]).secret_if(self.is_secret)
    }

    /// Returns the state as a thing, named by its real path.
    pub(crate) fn thing(&self, real: &str) -> Thing {
        let Some(entry) = &self.entry else { return Thing::absent("path", real) };
        let thing = Thing::new("path", real).with("presence", entry.kind.words());
        let thing = match entry.kind {
            // The kernel ignores the permission bits of a link.
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
    /// [`contract::ErrorKind::ChangedMeanwhile`]; or the path may not be read.
    pub(crate) fn hold<'a>(&self, still: Still, site: &'a Site, path: &str) -> Result<Held<'a>, Raised> {
        let held = absent(site.hold())?;
        let now = held.as_ref().map(Held::entry).transpose()?;
        self.require_entry(still, now, path)?;
        held.ok_or_else(|| changed_meanwhile(path, "there is nothing now"))
    }

    /// Fails if the present entry differs from the found one.
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
    // The content of a directory does not count as part of its own state.
    let is_directory = found.kind == Kind::Directory;
    thing(found) == thing(now)
        && (still == Still::Itself || access(found) == access(now))
        && (still != Still::Whole || is_directory || content(found) == content(now))
}
