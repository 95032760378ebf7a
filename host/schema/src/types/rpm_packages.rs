//! `dnf_package`, `yum_package` and `rpm_package`.

use super::package::{PACKAGE_ACTIONS, PACKAGE_FAMILY};
use crate::property::{Coercion, Default, Literal, Property, TEXT_OR_LIST};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

const ALLOW_DOWNGRADE: Property =
    Property::boolean("allow_downgrade", "Whether an older version may replace a newer one.")
        .default(Literal::Boolean(true))
        .no_state();

const FLUSH_CACHE: Property =
    Property::map("flush_cache", "Whether the index is fetched again before or after the action.")
        .coerce(Coercion::BeforeAndAfter)
        .default(Literal::Map(&[
            (Literal::Text("before"), Literal::Boolean(false)),
            (Literal::Text("after"), Literal::Boolean(false)),
        ]));

const ARCH: Property = Property::of("arch", TEXT_OR_LIST, "The architecture, or one for each name of the list.")
    .coerce(Coercion::Flattened);

/// Manages packages with dnf.
pub static DNF_PACKAGE: ResourceType = ResourceType {
    name: "dnf_package",
    aliases: &[],
    doc: "Manages packages with dnf. A list of names is handled in one transaction.",
    actions: &DNF_ACTIONS,
    default_action: "install",
    properties: &[&PACKAGE_FAMILY, &[ARCH, FLUSH_CACHE, ALLOW_DOWNGRADE]],
    implemented_by: ImplementedBy::Host,
    introduced: Some("12.18"),
};

/// Manages packages with yum.
pub static YUM_PACKAGE: ResourceType = ResourceType {
    name: "yum_package",
    aliases: &[],
    doc: "Manages packages with yum. A list of names is handled in one transaction.",
    actions: &YUM_ACTIONS,
    default_action: "install",
    properties: &[
        &PACKAGE_FAMILY,
        &[ARCH, FLUSH_CACHE, ALLOW_DOWNGRADE, Property::text("yum_binary", "The yum program: `yum` or `dnf`.")],
    ],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

/// Installs packages from `.rpm` files.
pub static RPM_PACKAGE: ResourceType = ResourceType {
    name: "rpm_package",
    aliases: &[],
    doc: "Installs packages from files on the node with rpm, without their dependencies.",
    actions: &RPM_ACTIONS,
    default_action: "install",
    properties: &[
        &PACKAGE_FAMILY,
        &[
            Property::text("package_name", "The package's name.").default_to(Default::Name).identity(),
            Property::text("version", "The version."),
            ALLOW_DOWNGRADE,
        ],
    ],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

static DNF_ACTIONS: [Action; 8] = [
    PACKAGE_ACTIONS[0],
    PACKAGE_ACTIONS[1],
    PACKAGE_ACTIONS[2],
    PACKAGE_ACTIONS[3],
    PACKAGE_ACTIONS[4],
    PACKAGE_ACTIONS[5],
    PACKAGE_ACTIONS[6],
    action("flush_cache", "Fetches the index again."),
];

static YUM_ACTIONS: [Action; 6] = [
    PACKAGE_ACTIONS[0],
    PACKAGE_ACTIONS[1],
    PACKAGE_ACTIONS[2],
    PACKAGE_ACTIONS[3],
    PACKAGE_ACTIONS[5],
    PACKAGE_ACTIONS[6],
];

static RPM_ACTIONS: [Action; 3] = [
    action("install", "Installs the package."),
    action("upgrade", "Installs the package or brings it to this version."),
    action("remove", "Removes the package."),
];

properties! {
    /// The properties that `dnf_package`, `yum_package` and `rpm_package` have beyond those of all packages.
    pub struct RpmPackageProperties for RPM_PACKAGE {
        source: Option<String>,
        allow_downgrade: bool,
    }
}

properties! {
    /// The architectures, which `dnf_package` and `yum_package` have.
    pub struct ArchitectureProperties for DNF_PACKAGE {
        arch: Vec<String>,
    }
}

properties! {
    /// The property that `yum_package` has beyond those of `dnf_package`.
    pub struct YumPackageProperties for YUM_PACKAGE {
        yum_binary: Option<String>,
    }
}
