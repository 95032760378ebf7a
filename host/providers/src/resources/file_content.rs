//! What `file`, `cookbook_file`, `template` and `remote_file` have in common: everything but where the content comes from.
//!
//! A file that is as wanted costs four system calls (open, stat, read, close): it is opened in one call that refuses links,
//! so the path written is the real one, and compared with the wanted content as it is read. Only what differs is looked at
//! again, through the path's parent.
//!
//! The order in which things are checked, the sentences and the classes of failures are Chef's
//! (`Chef::Provider::File` and `Chef::FileAccessControl`). What is done is not: Chef makes an empty file, then moves
//! content over it, then changes owner, group and mode; here all of it is in place at once.

mod access;
mod backup;
mod content;
mod create;
mod inspect;
mod json_check;
mod remove;
mod staging;
mod unit_check;
mod verify;
pub(crate) mod wish;

pub(crate) use access::{Access, Account, Numbers, assumption};
pub(crate) use content::Content;
pub(crate) use create::{SetAccess, Touch, WriteFile, access_step, plan_create};
pub(crate) use inspect::Current;
pub(crate) use remove::{RemoveFile, delete_step, plan_delete};
pub(crate) use staging::{Rejection, Staging};
pub(crate) use wish::FileWish;

use crate::plan::{Plan, View};
use crate::resources::asked;
use contract::{Raised, Wanted};
use schema::types::file::FileProperties;
use std::borrow::Cow;

/// Where the content of a file comes from.
pub(crate) trait Source {
    /// The wanted content; none: it is left alone. Asked only where a file is to be made or compared.
    ///
    /// # Errors
    /// The source does not exist, or may not be read.
    fn content<'w>(
        &self,
        wanted: &'w Wanted<'_>,
        current: &mut Current,
        view: &mut View<'_>,
    ) -> Result<Option<Content<'w>>, Raised>;
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

/// Asks for the commands that must accept the content, also where it needs no writing now.
pub(crate) fn survey(wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
    let properties: FileProperties = asked::properties(wanted)?;
    let wish = FileWish::of(&properties, wanted);
    if wanted.action != "delete" {
        verify::ask(&wish, view)?;
    }
    Ok(())
}

/// Whether the content matters, and what is wrong without it: its directory is missing, say.
pub(crate) fn needs_content(wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<bool, Raised> {
    let properties: FileProperties = asked::properties(wanted)?;
    let wish = FileWish::of(&properties, wanted);
    if wanted.action == "delete" {
        return Ok(false);
    }
    create::needs_content(&wish, view)
}

/// `touch` does something each time.
pub(crate) fn settles(action: &str) -> bool {
    action != "touch"
}

/// Text that a provider has composed, as content.
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
