//! `apt_package`.

use super::package::{PACKAGE_ACTIONS, PACKAGE_FAMILY};
use crate::property::{Deputy, Literal, Property};
use crate::resource::{ImplementedBy, ResourceType};
use crate::typed::properties;

/// Manages packages with apt.
pub static APT_PACKAGE: ResourceType = ResourceType {
    name: "apt_package",
    aliases: &[],
    doc: "Manages packages with apt. A list of names is handled in one transaction.",
    actions: &PACKAGE_ACTIONS,
    default_action: "install",
    properties: &[&PACKAGE_FAMILY, &APT_PROPERTIES],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

/// Answers to debconf's questions, taken from a file of the cookbook.
pub(crate) const RESPONSE_FILE: Property =
    Property::text("response_file", "A template of the cookbook with answers to debconf's questions.")
        .no_state()
        .deputy(Deputy::LaterCommand);

/// The variables of the response file's template.
pub(crate) const RESPONSE_FILE_VARIABLES: Property =
    Property::map("response_file_variables", "What the response file's template sees as its variables.")
        .default(Literal::Map(&[]))
        .no_state();

/// The properties of apt beyond those of all packages.
pub(crate) static APT_PROPERTIES: [Property; 5] = [
    Property::text("default_release", "The release that versions are taken from, as `-t` of apt-get.")
        .no_state()
        .deputy(Deputy::Options),
    Property::boolean(
        "overwrite_config_files",
        "Whether the package's configuration replaces files changed on the node.",
    )
    .default(Literal::Boolean(false))
    .since("14.0"),
    RESPONSE_FILE,
    RESPONSE_FILE_VARIABLES,
    Property::boolean("anchor_package_regex", "Whether a name that apt takes as a pattern must match whole names.")
        .default(Literal::Boolean(false))
        .since("18.3"),
];

properties! {
    /// The properties that `apt_package` has beyond those of all packages.
    pub struct AptPackageProperties for APT_PACKAGE {
        source: Option<String>,
        default_release: Option<String>,
        overwrite_config_files: bool,
    }
}

properties! {
    /// The answers to debconf's questions, which `dpkg_package` has too.
    pub struct ResponseFileProperties for APT_PACKAGE {
        response_file: Option<String>,
    }
}
