//! `systemd_unit`.

use crate::property::{Class, Deputy, Literal, Matcher, Property};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// Manages a unit of systemd.
pub static SYSTEMD_UNIT: ResourceType = ResourceType {
    name: "systemd_unit",
    aliases: &[],
    doc: "Manages a unit file of systemd and the unit's state.",
    actions: &SYSTEMD_UNIT_ACTIONS,
    default_action: "nothing",
    properties: &[&[
        Property::text("unit_name", "The unit's name with its suffix, such as `collectd.service`.")
            .name_property()
            .identity()
            .since("13.7"),
        Property::text("user", "The user whose own systemd is meant.").no_state().deputy(Deputy::Account),
        Property::of(
            "content",
            &[Matcher::Class(Class::Text), Matcher::Class(Class::Map)],
            "The unit file: its text, or a map of sections to maps of keys to values.",
        )
        .included_in("the file"),
        Property::boolean("triggers_reload", "Whether systemd reads its units again after a change.")
            .default(Literal::Boolean(true))
            .no_state(),
        Property::boolean("verify", "Whether systemd-analyze must accept the unit first.")
            .default(Literal::Boolean(true))
            .no_state(),
    ]],
    implemented_by: ImplementedBy::Host,
    introduced: Some("12.11"),
};

static SYSTEMD_UNIT_ACTIONS: [Action; 16] = [
    action("create", "Writes the unit file, or corrects it."),
    action("delete", "Removes the unit file."),
    action("preset", "Enables or disables the unit as the distribution's presets say."),
    action("revert", "Goes back to the distribution's version of the unit."),
    action("enable", "Makes the unit start with the system."),
    action("disable", "Keeps the unit from starting with the system."),
    action("reenable", "Disables the unit and enables it again."),
    action("mask", "Makes the unit impossible to start."),
    action("unmask", "Undoes `mask`."),
    action("start", "Starts the unit unless it is active."),
    action("stop", "Stops the unit if it is active."),
    action("restart", "Stops the unit and starts it again."),
    action("reload", "Makes the unit read its configuration again."),
    action("try_restart", "Restarts the unit if it is active."),
    action("reload_or_restart", "Reloads the unit if it can, else restarts it."),
    action("reload_or_try_restart", "Reloads the unit if it can, else restarts it if it is active."),
];

properties! {
    /// The properties of `systemd_unit`.
    pub struct SystemdUnitProperties for SYSTEMD_UNIT {
        unit_name: String,
        user: Option<String>,
        content: serde_json::Value,
        triggers_reload: bool,
        verify: bool,
    }
}
