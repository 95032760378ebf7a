//! The common code of `file`, `cookbook_file`, `template` and `remote_file`: everything except the origin of the content.
//!
//! A file that is already as declared costs four system calls (open, stat, read, close). It is opened in one call that
//! refuses links, so the written path is the real one. It is compared with the declared content while it is read. Only a file
//! that differs is inspected further, through the path's parent.
//!
//! The order of checks, the sentences and the classes of failures are those of Chef (`Chef::Provider::File` and
//! `Chef::FileAccessControl`). The actions differ: Chef creates an empty file, moves content over it, then changes owner,
//! group and mode. Here one rename puts all of it in place.

mod access;
mod backup;
mod content;
mod create;
mod inspect;
mod json_check;
mod key_check;
mod operations;
mod remove;
mod staging;
mod unit_check;
mod verify;
pub(crate) mod wish;

pub(crate) use access::{Access, Account, Numbers, assumption};
pub(crate) use content::Content;
pub(crate) use create::plan_create;
pub(crate) use inspect::Current;
pub(crate) use operations::{SetAccess, Touch, WriteFile, access_step};
pub(crate) use remove::{RemoveFile, delete_step, plan_delete};
pub(crate) use staging::{Rejection, Staging};
pub(crate) use wish::FileWish;

use crate::plan::{Plan, View};
use crate::resources::asked;
use contract::{Raised, Wanted};
use machine::digest::Digest;
use schema::types::file::FileProperties;
use std::borrow::Cow;

/// A source of the content of files.
pub(crate) trait Source {
    /// Returns the wanted content, or `None` to leave it unchanged. Called only if a file must be created or compared.
    ///
    /// # Errors
    /// The source does not exist, or may not be read.
    fn content<'w>(
        &self,
        wanted: &'w Wanted<'_>,
        current: &mut Current,
        view: &mut View<'_>,
    ) -> Result<Option<Content<'w>>, Raised>;

    /// Returns the digest of the content that this source has returned. A source may know it from before.
    fn digest(&self, content: &Content<'_>, _view: &mut View<'_>) -> Digest {
        content.digest()
    }
}

/// Plans any action of a resource that writes one file.
pub(crate) fn plan(source: &dyn Source, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
    let properties: FileProperties = asked::properties(wanted)?;
    let wish = FileWish::of(&properties, wanted);
    match wanted.action {
        "delete" => plan_delete(&wish, view),
        _ => plan_create(&wish, source, wanted, view),
    }
}

/// Asks for the right to the file, and looks at nothing else.
pub(crate) fn ask(wanted: &Wanted<'_>, view: &View<'_>) -> Result<(), Raised> {
    let properties: FileProperties = asked::properties(wanted)?;
    let wish = FileWish::of(&properties, wanted);
    wish.granted(view, &view.root.asked_about(wish.path)).map(drop)
}

/// Checks the grants of the commands that verify the content, even if it needs no change now.
pub(crate) fn survey(wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
    let properties: FileProperties = asked::properties(wanted)?;
    let wish = FileWish::of(&properties, wanted);
    if wanted.action != "delete" {
        verify::ask(&wish, view)?;
    }
    Ok(())
}

/// Tells whether the content is needed. Returns an error that does not depend on the content, such as a missing directory.
pub(crate) fn needs_content(wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<bool, Raised> {
    let properties: FileProperties = asked::properties(wanted)?;
    let wish = FileWish::of(&properties, wanted);
    if wanted.action == "delete" {
        return Ok(false);
    }
    create::needs_content(&wish, view)
}

/// Tells whether a second plan is empty; `touch` changes the file in every run.
pub(crate) fn settles(action: &str) -> bool {
    action != "touch"
}

/// Content that a provider has composed itself.
pub(crate) struct Text(pub(crate) String);

impl Source for Text {
    fn content<'w>(
        &self,
        _wanted: &'w Wanted<'_>,
        _current: &mut Current,
        _view: &mut View<'_>,
    ) -> Result<Option<Content<'w>>, Raised> {
        Ok(Some(Content::Bytes(Cow::Owned(self.0.clone().into_bytes()))))
    }
}
