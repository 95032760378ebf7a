//! `dpkg_package`.

use super::apt_package::{RESPONSE_FILE, RESPONSE_FILE_VARIABLES};
use super::package::{PACKAGE_ACTIONS, PACKAGE_FAMILY};
use crate::property::{Class, Deputy, Literal, Matcher, Property};
use crate::resource::{ImplementedBy, ResourceType};
use crate::typed::properties;

/// Installs packages from `.deb` files.
pub static DPKG_PACKAGE: ResourceType = ResourceType {
    name: "dpkg_package",
    aliases: &[],
    doc: "Installs packages from files on the node with dpkg, without their dependencies.",
    actions: &PACKAGE_ACTIONS,
    default_action: "install",
    properties: &[
        &PACKAGE_FAMILY,
        &[
            Property::of(
                "source",
                &[Matcher::Class(Class::Text), Matcher::Class(Class::List), Matcher::Equal(Literal::Nil)],
                "The package's file on the node, or one for each name of the list; else the name is the file.",
            )
            .deputy(Deputy::ReadPath),
            RESPONSE_FILE,
            RESPONSE_FILE_VARIABLES,
            Property::boolean("allow_downgrade", "Whether an older version may replace a newer one.")
                .default(Literal::Boolean(true))
                .no_state(),
        ],
    ],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

properties! {
    /// The properties that `dpkg_package` has beyond those of all packages.
    pub struct DpkgPackageProperties for DPKG_PACKAGE {
        source: Vec<String>,
        allow_downgrade: bool,
    }
}
