//! `build_essential`.

use crate::property::{Literal, Property};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// Installs what is needed to compile C programs.
pub static BUILD_ESSENTIAL: ResourceType = ResourceType {
    name: "build_essential",
    aliases: &[],
    doc: "Installs the packages that are needed to compile C programs.",
    actions: &BUILD_ESSENTIAL_ACTIONS,
    default_action: "install",
    properties: &[&[Property::boolean("raise_if_unsupported", "Whether an unknown platform is an error.")
        .default(Literal::Boolean(false))
        .no_state()
        .since("15.5")]],
    implemented_by: ImplementedBy::Children,
    introduced: Some("14.0"),
};

static BUILD_ESSENTIAL_ACTIONS: [Action; 2] =
    [action("install", "Installs the packages."), action("upgrade", "Brings the packages to their newest versions.")];

properties! {
    /// The properties of `build_essential`.
    pub struct BuildEssentialProperties for BUILD_ESSENTIAL {
        raise_if_unsupported: bool,
    }
}
