//! `log`.

use crate::property::{Literal, Property};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// Writes to the log.
pub static LOG: ResourceType = ResourceType {
    name: "log",
    aliases: &[],
    doc: "Writes a message to the run's log. It counts as a change only where it notifies.",
    actions: &LOG_ACTIONS,
    default_action: "write",
    properties: &[&[
        Property::text("message", "The message.").name_property().identity(),
        Property::symbol(
            "level",
            &[
                Literal::Symbol("debug"),
                Literal::Symbol("info"),
                Literal::Symbol("warn"),
                Literal::Symbol("error"),
                Literal::Symbol("fatal"),
            ],
            "The message's level.",
        )
        .default(Literal::Symbol("info")),
    ]],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

static LOG_ACTIONS: [Action; 1] = [action("write", "Writes the message.")];

properties! {
    /// The properties of `log`.
    pub struct LogProperties for LOG {
        message: String,
        level: String,
    }
}
