//! `template`: content that the guest rendered.
//!
//! The host has no template engine: the guest finds and renders the template, and its text arrives as the property
//! `content`. Only where it does not is the source looked for here, so that a missing one gets Chef's message.

use super::cookbook_source;
use super::file_content::{self, Content, Current, Source, wish};
use crate::plan::{Plan, Provider, View};
use contract::{Certainty, Known, Raised, Wanted};
use serde_json::Value;
use std::borrow::Cow;

/// The provider of `template`: its content is what the guest rendered.
pub(crate) struct Template;

impl Provider for Template {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        // A dry run's guest found no source: nothing can be said of the rest.
        if view.why_run && matches!(wanted.get("content"), Some(Known::Json(Value::Null))) {
            let source = wish::text(wanted, "source").unwrap_or_default();
            let assumed = format!("Template source {source} does not exist. Assuming it would have been created.");
            return Ok(Plan::uncertain(Certainty::Assumed(assumed)));
        }
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

impl Source for Template {
    fn content<'w>(
        &self,
        wanted: &'w Wanted<'_>,
        _current: &mut Current,
        view: &mut View<'_>,
    ) -> Result<Option<Content<'w>>, Raised> {
        if let Some(text) = wish::bytes(wanted, "content") {
            return Ok(Some(Content::Bytes(Cow::Borrowed(text))));
        }
        let mut names = wish::texts(wanted, "source");
        let default = format!("{}.erb", wanted.declaration.name.rsplit('/').next().unwrap_or_default());
        if names.is_empty() {
            names.push(&default);
        }
        cookbook_source::read(view, cookbook_source::cookbook(wanted)?, "templates", &names)?;
        Err(Raised::new(
            "Chef::Mixin::Template::TemplateError",
            format!("{} came without its rendered text", wanted.declaration.key()),
        ))
    }
}
