//! `apt_update`.

use crate::property::{Literal, Property};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// The type that fetches apt's lists of packages again.
pub static APT_UPDATE: ResourceType = ResourceType {
    name: "apt_update",
    aliases: &[],
    doc: "Refreshes apt's index of packages.",
    actions: &APT_UPDATE_ACTIONS,
    default_action: "periodic",
    properties: &[&[Property::integer(
        "frequency",
        "How old, in seconds, the index may be before `periodic` refreshes it.",
    )
    .default(Literal::Integer(86_400))]],
    implemented_by: ImplementedBy::Children,
    introduced: Some("12.7"),
};

static APT_UPDATE_ACTIONS: [Action; 2] =
    [action("periodic", "Refreshes the index if it is too old."), action("update", "Refreshes the index.")];

properties! {
    /// The properties of `apt_update`.
    pub struct AptUpdateProperties for APT_UPDATE {
        frequency: i64,
    }
}
