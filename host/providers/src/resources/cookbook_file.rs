//! `cookbook_file`: content that a cookbook brings along.

use super::cookbook_source;
use super::file_content::{self, Content, Current, Source, wish};
use crate::plan::{Plan, Provider, View};
use contract::{Raised, Wanted};
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
        let mut names = wish::texts(wanted, "source");
        if names.is_empty() {
            names.push(base_name(&wanted.declaration.name));
        }
        let bytes = cookbook_source::read(view, cookbook_source::cookbook(wanted)?, "files", &names)?;
        Ok(Some(Content::Bytes(Cow::Owned(bytes))))
    }
}

/// The last component of a name.
fn base_name(name: &str) -> &str {
    name.trim_end_matches('/').rsplit('/').next().unwrap_or(name)
}
