//! `timezone`.

use crate::property::Property;
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// Sets the time zone.
pub static TIMEZONE: ResourceType = ResourceType {
    name: "timezone",
    aliases: &[],
    doc: "Sets the node's time zone.",
    actions: &TIMEZONE_ACTIONS,
    default_action: "set",
    properties: &[&[Property::text("timezone", "The zone's name, such as `Europe/Berlin`.")
        .name_property()
        .identity()]],
    implemented_by: ImplementedBy::Children,
    introduced: Some("14.6"),
};

static TIMEZONE_ACTIONS: [Action; 1] = [action("set", "Sets the time zone.")];

properties! {
    /// The properties of `timezone`.
    pub struct TimezoneProperties for TIMEZONE {
        timezone: String,
    }
}
