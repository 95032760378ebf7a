//! `template`: content that the guest rendered.
//!
//! The host does not have a template engine. The guest finds and renders the template, and its text arrives as the property
//! `content`. If it does not arrive, the source is looked up here, so that a missing one gets Chef's message.

use super::asked;
use super::cookbook_source;
use super::file_content::{self, Content, Current, Source};
use crate::plan::{Plan, Provider, View};
use contract::{Certainty, ErrorKind, Known, Raised, Wanted};
use schema::types::template::TemplateProperties;
use serde_json::Value;
use std::borrow::Cow;

/// The provider of `template`: its content is the text that the guest rendered.
pub(crate) struct Template;

impl Provider for Template {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        // In a dry run, the guest did not find the source, so the rest is unknown.
        if view.why_run && matches!(wanted.get("content"), Some(Known::Json(Value::Null))) {
            let TemplateProperties { source, .. } = asked::properties(wanted)?;
            let assumed =
                format!("Template source {} does not exist. Assuming it would have been created.", source.join(", "));
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
        if let Some(text) = asked::content(wanted, "content")? {
            return Ok(Some(Content::Bytes(Cow::Borrowed(text))));
        }
        let TemplateProperties { mut source, cookbook } = asked::properties(wanted)?;
        if source.is_empty() {
            source.push(format!("{}.erb", wanted.declaration.name.rsplit('/').next().unwrap_or_default()));
        }
        let cookbook = cookbook_source::cookbook(cookbook.as_deref(), wanted)?;
        cookbook_source::read(view, cookbook, "templates", &source)?;
        Err(Raised::new(ErrorKind::Template, format!("{} came without its rendered text", wanted.declaration.key())))
    }
}
