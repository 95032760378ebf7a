//! `cookbook_file`: content from a file of a cookbook.

use super::asked;
use super::cookbook_source;
use super::file_content::{self, Content, Current, Source};
use crate::plan::{Plan, Provider, View};
use contract::{Raised, Wanted};
use schema::types::cookbook_file::CookbookFileProperties;
use std::borrow::Cow;

/// The provider of `cookbook_file`: it copies a cookbook's file to the machine.
pub(crate) struct CookbookFile;

impl Provider for CookbookFile {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        file_content::plan(self, wanted, view)
    }

    fn survey(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        file_content::survey(wanted, view)
    }

    fn settles(&self, action: &str) -> bool {
        file_content::settles(action)
    }
}

impl Source for CookbookFile {
    fn content<'w>(
        &self,
        wanted: &'w Wanted<'_>,
        _current: &mut Current,
        view: &mut View<'_>,
    ) -> Result<Option<Content<'w>>, Raised> {
        let CookbookFileProperties { source, cookbook } = asked::properties(wanted)?;
        let cookbook = cookbook_source::cookbook(cookbook.as_deref(), wanted)?;
        let file = cookbook_source::read(view, cookbook, "files", &source)?;
        Ok(Some(Content::Bytes(Cow::Owned(file.bytes))))
    }
}
