//! `alternatives`.

use crate::property::{Coercion, Default, Deputy, Property, TEXT_OR_INTEGER};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// Chooses between programs for one command.
pub static ALTERNATIVES: ResourceType = ResourceType {
    name: "alternatives",
    aliases: &[],
    doc: "Chooses which of several programs answers to one command.",
    actions: &ALTERNATIVES_ACTIONS,
    default_action: "install",
    properties: &[&[
        Property::text("link_name", "The command's name.").name_property().identity(),
        Property::text("link", "The path of the command.")
            .default_to(Default::Described("/usr/bin and the command's name"))
            .deputy(Deputy::Path),
        Property::text("path", "The program's path.").deputy(Deputy::Path),
        Property::of("priority", TEXT_OR_INTEGER, "The program's rank: the highest is chosen by itself.")
            .coerce(Coercion::LeadingInteger),
    ]],
    implemented_by: ImplementedBy::Children,
    introduced: Some("16.0"),
};

static ALTERNATIVES_ACTIONS: [Action; 5] = [
    action("install", "Adds the program to the choices."),
    action("set", "Chooses the program."),
    action("remove", "Removes the program from the choices."),
    action("auto", "Lets the rank decide."),
    action("refresh", "Makes the links anew."),
];

properties! {
    /// The properties of `alternatives`.
    pub struct AlternativesProperties for ALTERNATIVES {
        link_name: String,
        link: Option<String>,
        path: Option<String>,
        priority: Option<i64>,
    }
}
