//! `link`.

use super::securable::{group, owner};
use crate::property::{Coercion, Literal, Property, TEXT_OR_SYMBOL};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::{AccountName, properties};

/// The type that manages a symbolic or hard link.
pub static LINK: ResourceType = ResourceType {
    name: "link",
    aliases: &[],
    doc: "Manages a symbolic or hard link.",
    actions: &LINK_ACTIONS,
    default_action: "create",
    properties: &[&[
        Property::text("target_file", "The path of the link itself.").name_property().identity(),
        Property::text("to", "What the link points to. A hard link needs the right to that file too.")
            .included_in("the link"),
        Property::of("link_type", TEXT_OR_SYMBOL, "A symbolic or a hard link.")
            .coerce(Coercion::Symbol)
            .equal_to(&[Literal::Symbol("symbolic"), Literal::Symbol("hard")])
            .default(Literal::Symbol("symbolic")),
        owner(),
        group(),
    ]],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

static LINK_ACTIONS: [Action; 2] = [
    action("create", "Creates the link, or points it elsewhere."),
    action("delete", "Removes the link, never what it points to."),
];

properties! {
    /// The properties of `link`.
    pub struct LinkProperties for LINK {
        target_file: String,
        to: Option<String>,
        link_type: String,
        owner: Option<AccountName>,
        group: Option<AccountName>,
    }
}
