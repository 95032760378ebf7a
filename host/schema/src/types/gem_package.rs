//! `gem_package` and `chef_gem`: packages of the Ruby language.

use super::package::PACKAGE_FAMILY;
use crate::property::{Class, Default, Literal, Matcher, Property, TEXT_OR_LIST};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// Manages Ruby gems of the node.
pub static GEM_PACKAGE: ResourceType = ResourceType {
    name: "gem_package",
    aliases: &[],
    doc: "Manages gems for the node's own Ruby.",
    actions: &GEM_ACTIONS,
    default_action: "install",
    properties: &[&PACKAGE_FAMILY, &GEM_PROPERTIES],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

/// Manages Ruby gems for cookbooks.
pub static CHEF_GEM: ResourceType = ResourceType {
    name: "chef_gem",
    aliases: &[],
    doc: "Manages gems for the Ruby that runs cookbooks.",
    actions: &GEM_ACTIONS,
    default_action: "install",
    properties: &[&PACKAGE_FAMILY, &GEM_PROPERTIES],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

/// Gems whose commonly used parts are built into the Ruby runtime, under the same names. A policy's artifact need not contain
/// them.
pub const RUNTIME_GEMS: [&str; 6] = ["deepsort", "docker-api", "inifile", "iniparse", "ipaddress", "toml-rb"];

static GEM_ACTIONS: [Action; 4] = [
    action("install", "Installs the gem; with a version, exactly that one."),
    action("upgrade", "Installs the gem or brings it to the newest version."),
    action("remove", "Removes the gem."),
    action("purge", "Removes the gem."),
];

static GEM_PROPERTIES: [Property; 7] = [
    Property::text("package_name", "The gem's name.").default_to(Default::Name).identity(),
    Property::text("version", "The version."),
    Property::of("source", TEXT_OR_LIST, "The file or the servers of the gem."),
    Property::of(
        "clear_sources",
        &[Matcher::Class(Class::True), Matcher::Class(Class::False), Matcher::Equal(Literal::Nil)],
        "Whether only `source` is asked.",
    )
    .default_to(Default::Described("as configured"))
    .no_state(),
    Property::text("gem_binary", "The gem program.").no_state(),
    Property::of(
        "include_default_source",
        &[Matcher::Class(Class::True), Matcher::Class(Class::False), Matcher::Equal(Literal::Nil)],
        "Whether the usual server is asked too.",
    )
    .default(Literal::Nil)
    .since("13.0"),
    Property::of(
        "options",
        &[
            Matcher::Class(Class::Text),
            Matcher::Class(Class::Map),
            Matcher::Class(Class::List),
            Matcher::Equal(Literal::Nil),
        ],
        "Further arguments for the gem program.",
    )
    .no_state(),
];

properties! {
    /// The properties of `gem_package` and `chef_gem`, as far as the host needs them.
    pub struct GemPackageProperties for GEM_PACKAGE {
        package_name: String,
        version: Option<String>,
    }
}
