//! `ohai` and `ohai_hint`.

use crate::property::{Literal, Property};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// The type that gathers the node's facts again.
pub static OHAI: ResourceType = ResourceType {
    name: "ohai",
    aliases: &[],
    doc: "Gathers the node's facts again, for instance after a user was created.",
    actions: &OHAI_ACTIONS,
    default_action: "reload",
    properties: &[&[Property::text("plugin", "The group of facts to gather; all if unset.")]],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

/// Leaves a hint for the gathering of facts.
pub static OHAI_HINT: ResourceType = ResourceType {
    name: "ohai_hint",
    aliases: &[],
    doc: "Leaves a file that tells the gathering of facts what it cannot find out, such as the cloud's name.",
    actions: &OHAI_HINT_ACTIONS,
    default_action: "create",
    properties: &[&[
        Property::text("hint_name", "The hint's name.").name_property().identity(),
        Property::map("content", "What the hint says."),
        Property::boolean("compile_time", "Whether the hint is left at once when the resource is declared.")
            .default(Literal::Boolean(true))
            .no_state(),
    ]],
    implemented_by: ImplementedBy::Children,
    introduced: Some("14.0"),
};

static OHAI_ACTIONS: [Action; 1] = [action("reload", "Gathers the facts.")];

static OHAI_HINT_ACTIONS: [Action; 2] = [action("create", "Writes the hint."), action("delete", "Removes the hint.")];

properties! {
    /// The properties of `ohai_hint`.
    pub struct OhaiHintProperties for OHAI_HINT {
        hint_name: String,
        content: Option<serde_json::Value>,
    }
}

properties! {
    /// The properties of `ohai`.
    pub struct OhaiProperties for OHAI {
        plugin: Option<String>,
    }
}
