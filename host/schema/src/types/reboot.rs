//! `reboot`.

use crate::property::{Literal, Property};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// Declares a reboot of the node.
pub static REBOOT: ResourceType = ResourceType {
    name: "reboot",
    aliases: &[],
    doc: "Starts the node again, at once or after the run.",
    actions: &REBOOT_ACTIONS,
    default_action: "nothing",
    properties: &[&[
        Property::text("reason", "The reason, for the log.").default(Literal::Text("Reboot by Chef Infra Client")),
        Property::integer("delay_mins", "Minutes to wait.").default(Literal::Integer(0)),
    ]],
    implemented_by: ImplementedBy::Host,
    introduced: Some("12.0"),
};

static REBOOT_ACTIONS: [Action; 3] = [
    action("request_reboot", "Starts the node again when the run has ended well."),
    action("reboot_now", "Ends the run and starts the node again."),
    action("cancel", "Takes back a request."),
];

properties! {
    /// The properties of `reboot`.
    pub struct RebootProperties for REBOOT {
        reason: String,
        delay_mins: i64,
    }
}
