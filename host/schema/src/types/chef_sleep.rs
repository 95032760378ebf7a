//! `chef_sleep` and `breakpoint`, which pause the run.

use crate::property::{Coercion, Property, TEXT_OR_INTEGER};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// The type that waits for some seconds.
pub static CHEF_SLEEP: ResourceType = ResourceType {
    name: "chef_sleep",
    aliases: &[],
    doc: "Waits for some seconds.",
    actions: &CHEF_SLEEP_ACTIONS,
    default_action: "sleep",
    properties: &[&[Property::of("seconds", TEXT_OR_INTEGER, "How long, in seconds.")
        .coerce(Coercion::Integer)
        .name_property()
        .identity()]],
    implemented_by: ImplementedBy::Host,
    introduced: Some("15.5"),
};

/// The type that stops recipes in Chef's interactive shell.
pub static BREAKPOINT: ResourceType = ResourceType {
    name: "breakpoint",
    aliases: &[],
    doc: "Stops where the recipes run in an interactive shell; does nothing in a run.",
    actions: &BREAKPOINT_ACTIONS,
    default_action: "break",
    properties: &[],
    implemented_by: ImplementedBy::RubyLibrary,
    introduced: Some("12.0"),
};

static CHEF_SLEEP_ACTIONS: [Action; 1] = [action("sleep", "Waits.")];

static BREAKPOINT_ACTIONS: [Action; 1] = [action("break", "Stops.")];

properties! {
    /// The properties of `chef_sleep`.
    pub struct ChefSleepProperties for CHEF_SLEEP {
        seconds: u32,
    }
}
