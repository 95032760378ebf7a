//! `notify_group`.

use crate::resource::{Action, ImplementedBy, ResourceType, action};

/// Carries notifications and nothing else.
pub static NOTIFY_GROUP: ResourceType = ResourceType {
    name: "notify_group",
    aliases: &[],
    doc: "Does nothing itself and always counts as changed: one name for several notifications.",
    actions: &NOTIFY_GROUP_ACTIONS,
    default_action: "nothing",
    properties: &[],
    implemented_by: ImplementedBy::Host,
    introduced: Some("15.8"),
};

static NOTIFY_GROUP_ACTIONS: [Action; 1] = [action("run", "Sends the notifications.")];
