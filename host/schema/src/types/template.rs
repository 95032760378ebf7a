//! `template`.

use super::cookbook_file::COOKBOOK;
use super::file::{FILE_ACTIONS, FILE_FAMILY};
use super::securable::SECURABLE;
use crate::property::{Default, Deputy, Literal, Property, TEXT_OR_LIST};
use crate::resource::{ImplementedBy, ResourceType};
use crate::typed::properties;

/// Writes a file from a template.
pub static TEMPLATE: ResourceType = ResourceType {
    name: "template",
    aliases: &[],
    doc: "Writes a file whose content the cookbook renders from one of its templates.",
    actions: &FILE_ACTIONS,
    default_action: "create",
    properties: &[
        &SECURABLE,
        &FILE_FAMILY,
        &[
            Property::of(
                "source",
                TEXT_OR_LIST,
                "The template's path below `templates`; of a list, the first that exists.",
            )
            .default_to(Default::Described("the last component of the name, with .erb behind it (in Rust .j2)")),
            COOKBOOK,
            Property::boolean("local", "Whether the source is a path on the node instead of one in a cookbook.")
                .default(Literal::Boolean(false))
                .no_state()
                .deputy(Deputy::ReadPath),
            Property::map("variables", "What the template sees as its variables.").default(Literal::Map(&[])),
        ],
    ],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

properties! {
    /// The properties that `template` has beyond those of a file, as far as the host needs them.
    pub struct TemplateProperties for TEMPLATE {
        source: Vec<String>,
        cookbook: Option<String>,
    }
}
