//! `package`, and the properties that all package types share.

use crate::property::{Coercion, Default, Deputy, Literal, Property, TEXT_OR_INTEGER, TEXT_OR_LIST};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::{TextMap, properties};

/// Manages packages with the platform's package manager.
pub static PACKAGE: ResourceType = ResourceType {
    name: "package",
    aliases: &[],
    doc: "Manages packages with the package manager of the node's platform. A list of names is handled in one transaction.",
    actions: &PACKAGE_ACTIONS,
    default_action: "install",
    // In Chef, `package` is the platform's own type. On Debian that is apt_package, so it has the properties of that type.
    properties: &[&PACKAGE_FAMILY, &super::apt_package::APT_PROPERTIES],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

/// Actions of `package`, which most package types share.
pub(crate) static PACKAGE_ACTIONS: [Action; 7] = [
    action("install", "Installs the package; with a version, exactly that one."),
    action("upgrade", "Installs the package or brings it to the newest version."),
    action("remove", "Removes the package and leaves its configuration."),
    action("purge", "Removes the package and its configuration."),
    action("reconfig", "Configures the package again from its response file."),
    action("lock", "Keeps the package at its version."),
    action("unlock", "Lets the package be upgraded again."),
];

/// Properties of all package types.
pub(crate) static PACKAGE_FAMILY: [Property; 6] = [
    Property::of("package_name", TEXT_OR_LIST, "The package's name, or several.").default_to(Default::Name).identity(),
    Property::of("version", TEXT_OR_LIST, "The version, or one for each name of the list."),
    Property::of("options", TEXT_OR_LIST, "Further arguments for the package manager.")
        .coerce(Coercion::ShellWords)
        .deputy(Deputy::Options),
    Property::text("source", "A package file on the node.").no_state().deputy(Deputy::ReadPath),
    Property::of("timeout", TEXT_OR_INTEGER, "Seconds after which the package manager is ended.")
        .default_to(Default::Described("900"))
        .no_state(),
    Property::map("environment", "Environment variables for the package manager.")
        .default(Literal::Map(&[]))
        .no_state()
        .since("18.8")
        .deputy(Deputy::Environment),
];

/// The default time limit of a transaction, in seconds: Chef's default.
pub const TRANSACTION_SECONDS: u64 = 900;

properties! {
    /// The properties that all package types share.
    pub struct PackageProperties for PACKAGE {
        package_name: Vec<String>,
        version: Vec<String>,
        options: Vec<String>,
        timeout: Option<u64>,
        environment: TextMap,
    }
}
