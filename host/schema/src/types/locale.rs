//! `locale`.

use crate::property::{Literal, Pattern, Property};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

static LANGUAGE: Pattern = Pattern::new(r"/\A\S+/", r"\A\S+");

/// Sets the system's language.
pub static LOCALE: ResourceType = ResourceType {
    name: "locale",
    aliases: &[],
    doc: "Sets the language and the regional settings of the system.",
    actions: &LOCALE_ACTIONS,
    default_action: "update",
    properties: &[&[
        Property::text("lang", "The language, such as `en_GB.UTF-8`.").regex(&[&LANGUAGE]).validation_message(
            "The provided lang is not valid. It should be a non-empty string without any leading whitespace.",
        ),
        Property::map("lc_env", "Regional settings: names beginning with LC_ and their values.")
            .default(Literal::Map(&[])),
    ]],
    implemented_by: ImplementedBy::Children,
    introduced: Some("14.5"),
};

static LOCALE_ACTIONS: [Action; 1] = [action("update", "Sets the language and the settings.")];

properties! {
    /// The properties of `locale`.
    pub struct LocaleProperties for LOCALE {
        lang: Option<String>,
        lc_env: crate::typed::TextMap,
    }
}
