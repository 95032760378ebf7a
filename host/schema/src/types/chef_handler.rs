//! `chef_handler`.

use crate::property::{Class, Deputy, Literal, Matcher, Property};
use crate::resource::{Action, ImplementedBy, ResourceType, action};

/// Registers a handler of a Ruby cookbook.
pub static CHEF_HANDLER: ResourceType = ResourceType {
    name: "chef_handler",
    aliases: &[],
    doc: "Registers a class of the cookbook that is told how the run ended.",
    actions: &CHEF_HANDLER_ACTIONS,
    default_action: "enable",
    properties: &[&[
        Property::text("class_name", "The class.").name_property().identity(),
        Property::text("source", "The file that has the class.").deputy(Deputy::ReadPath),
        Property::of(
            "arguments",
            &[Matcher::Class(Class::List), Matcher::Class(Class::Map)],
            "What the class is made with.",
        )
        .default(Literal::List(&[])),
        Property::map(
            "type",
            "What the handler is told: `report` for runs that ended well, `exception` for others, `start`.",
        )
        .default(Literal::Map(&[
            (Literal::Text("report"), Literal::Boolean(true)),
            (Literal::Text("exception"), Literal::Boolean(true)),
        ])),
    ]],
    implemented_by: ImplementedBy::RubyLibrary,
    introduced: Some("14.0"),
};

static CHEF_HANDLER_ACTIONS: [Action; 2] =
    [action("enable", "Registers the handler."), action("disable", "Takes the handler back.")];
