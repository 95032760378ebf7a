//! `file`: content given in the declaration.

use super::file_content::{self, Content, Current, Source};
use super::{asked, mount};
use crate::plan::{Plan, Provider, View};
use contract::{OwnPart, Raised, Wanted};
use std::borrow::Cow;
use std::time::Duration;

/// The provider of `file`: its content is a property.
pub(crate) struct File;

impl Provider for File {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        file_content::plan(self, wanted, view)
    }

    fn survey(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        file_content::survey(wanted, view)
    }

    fn needs(&self, wanted: &Wanted<'_>, property: &str, view: &mut View<'_>) -> Result<bool, Raised> {
        if property == "content" { file_content::needs_content(wanted, view) } else { Ok(true) }
    }

    fn settles(&self, action: &str) -> bool {
        file_content::settles(action)
    }
}

impl Source for File {
    fn content<'w>(
        &self,
        wanted: &'w Wanted<'_>,
        _current: &mut Current,
        view: &mut View<'_>,
    ) -> Result<Option<Content<'w>>, Raised> {
        match &wanted.declaration.own {
            Some(OwnPart::SwapSpace { size, timeout, .. }) => {
                return Ok(Some(Content::SwapSpace { size: *size, timeout: Duration::from_secs(*timeout) }));
            }
            Some(OwnPart::SwapLine { swap_file, .. }) => {
                let table = mount::table_with_swap_file(swap_file, view)?;
                return Ok(Some(Content::Bytes(Cow::Owned(table.into_bytes()))));
            }
            _ => {}
        }
        Ok(asked::content(wanted, "content")?.map(|bytes| Content::Bytes(Cow::Borrowed(bytes))))
    }
}
