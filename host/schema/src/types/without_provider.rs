//! Chef's types without an implementation in wrun: those of programs that few machines have. Cookbooks for several platforms
//! declare them, mostly under conditions. Their actions fail.

pub mod chef_client;
pub mod devices;
pub mod habitat;
pub mod packages;
pub mod red_hat;
pub mod security;

use crate::property::{Property, TEXT_OR_INTEGER, TEXT_OR_LIST};
use crate::resource::{Action, ImplementedBy, ResourceType, action};

/// The properties of packages, by the names that all package managers share.
static PACKAGE: [Property; 5] = [
    Property::of("package_name", TEXT_OR_LIST, "The names of the packages.").name_property().identity(),
    Property::of("version", TEXT_OR_LIST, "The versions of the packages."),
    Property::of("options", TEXT_OR_LIST, "Further options of the command."),
    Property::text("source", "The file that it is installed from.").no_state(),
    Property::of("timeout", TEXT_OR_INTEGER, "The longest time that it may take, in seconds.").no_state(),
];

/// The actions of most package managers.
static PACKAGE_ACTIONS: [Action; 4] = [
    action("install", "Installs it."),
    action("upgrade", "Installs the newest version."),
    action("remove", "Removes it."),
    action("purge", "Removes it with its settings."),
];

/// What all of these types have in common.
const NOBODY: ResourceType = ResourceType {
    name: "",
    aliases: &[],
    doc: "",
    actions: &[],
    default_action: "",
    properties: &[],
    implemented_by: ImplementedBy::Nobody,
    introduced: None,
};
