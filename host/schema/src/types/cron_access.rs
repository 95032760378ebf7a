//! `cron_access`.

use crate::property::Property;
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// Manages which users may have a crontab.
pub static CRON_ACCESS: ResourceType = ResourceType {
    name: "cron_access",
    aliases: &["cron_manage"],
    doc: "Says whether a user may have a crontab.",
    actions: &CRON_ACCESS_ACTIONS,
    default_action: "allow",
    properties: &[&[Property::text("user", "The user.").name_property().identity()]],
    implemented_by: ImplementedBy::Children,
    introduced: Some("14.4"),
};

static CRON_ACCESS_ACTIONS: [Action; 2] =
    [action("allow", "Enters the user in cron.allow."), action("deny", "Enters the user in cron.deny.")];

properties! {
    /// The properties of `cron_access`.
    pub struct CronAccessProperties for CRON_ACCESS {
        user: String,
    }
}
