//! `file`: content given in the declaration.

use super::asked;
use super::file_content::{self, Content, Current, Source};
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
        _view: &mut View<'_>,
    ) -> Result<Option<Content<'w>>, Raised> {
        if let Some(OwnPart::SwapSpace { size, timeout, .. }) = wanted.declaration.own {
            return Ok(Some(Content::SwapSpace { size, timeout: Duration::from_secs(timeout) }));
        }
        Ok(asked::content(wanted, "content")?.map(|bytes| Content::Bytes(Cow::Borrowed(bytes))))
    }
}
