//! Types for package managers of other distributions, without an implementation.

use super::{NOBODY, PACKAGE, PACKAGE_ACTIONS};
use crate::property::{Literal, Property, TEXT_OR_INTEGER, TEXT_OR_LIST};
use crate::resource::{ResourceType, action};

/// Manages packages by snap, in a store's channel.
pub static SNAP_PACKAGE: ResourceType = ResourceType {
    name: "snap_package",
    doc: "Manages packages by snap, in a store's channel.",
    actions: &PACKAGE_ACTIONS,
    default_action: "install",
    properties: &[
        &PACKAGE,
        &[Property::text("channel", "The channel of the store.")
            .equal_to(&[
                Literal::Text("edge"),
                Literal::Text("beta"),
                Literal::Text("candidate"),
                Literal::Text("stable"),
            ])
            .default(Literal::Text("stable"))
            .no_state()],
    ],
    ..NOBODY
};

/// Manages packages by zypper.
pub static ZYPPER_PACKAGE: ResourceType = ResourceType {
    name: "zypper_package",
    doc: "Manages packages by zypper.",
    actions: &[
        action("install", "Installs it."),
        action("upgrade", "Installs the newest version."),
        action("remove", "Removes it."),
        action("purge", "Removes it with its settings."),
        action("lock", "Keeps its version."),
        action("unlock", "Lets its version change."),
    ],
    default_action: "install",
    properties: &[
        &PACKAGE,
        &[
            Property::boolean("gpg_check", "Whether signatures are checked."),
            Property::boolean("allow_downgrade", "Whether an older version may be installed.")
                .default(Literal::Boolean(true))
                .no_state(),
            Property::of("global_options", TEXT_OR_LIST, "Options of zypper itself."),
        ],
    ],
    ..NOBODY
};

/// Manages a repository of zypper.
pub static ZYPPER_REPOSITORY: ResourceType = ResourceType {
    name: "zypper_repository",
    aliases: &["zypper_repo"],
    doc: "Manages a repository of zypper.",
    actions: &[
        action("create", "Makes it, or brings it up to date."),
        action("remove", "Removes it."),
        action("add", "Adds it."),
        action("refresh", "Fetches its lists."),
    ],
    default_action: "create",
    properties: &[&[
        Property::text("repo_name", "The name of the repository.").name_property(),
        Property::text("description", "The description of the repository."),
        Property::text("type", "The kind of the repository.").default(Literal::Text("NONE")),
        Property::boolean("enabled", "Whether it is used.").default(Literal::Boolean(true)),
        Property::boolean("autorefresh", "Whether it is refreshed automatically.").default(Literal::Boolean(true)),
        Property::boolean("gpgcheck", "Whether signatures are checked.").default(Literal::Boolean(true)),
        Property::of("gpgkey", TEXT_OR_LIST, "The addresses of its keys.").default(Literal::List(&[])),
        Property::text("baseurl", "The address of the repository."),
        Property::text("mirrorlist", "The address of a list of mirrors."),
        Property::text("path", "The path within the address."),
        Property::integer("priority", "The priority; a smaller number goes first.").default(Literal::Integer(99)),
        Property::boolean("keeppackages", "Whether downloaded packages are kept.").default(Literal::Boolean(false)),
        Property::of("mode", TEXT_OR_INTEGER, "The file's permission bits.").default(Literal::Text("0644")),
        Property::boolean("refresh_cache", "Whether its lists are fetched.").default(Literal::Boolean(true)),
        Property::text("source", "The template of the file."),
        Property::text("cookbook", "The cookbook that has the template.").no_state(),
        Property::boolean("gpgautoimportkeys", "Whether its keys are imported.").default(Literal::Boolean(true)),
    ]],
    ..NOBODY
};

/// Manages packages by pacman.
pub static PACMAN_PACKAGE: ResourceType = ResourceType {
    name: "pacman_package",
    doc: "Manages packages by pacman.",
    actions: &PACKAGE_ACTIONS,
    default_action: "install",
    properties: &[&PACKAGE],
    ..NOBODY
};

/// The properties of package managers that compile: one version for all packages, and a long timeout.
static COMPILED_PACKAGE: [Property; 2] = [
    Property::text("version", "The version of the package."),
    Property::of("timeout", TEXT_OR_INTEGER, "The longest time that it may take, in seconds.")
        .default(Literal::Integer(3600))
        .no_state(),
];

/// Manages packages by portage.
pub static PORTAGE_PACKAGE: ResourceType = ResourceType {
    name: "portage_package",
    doc: "Manages packages by portage.",
    actions: &PACKAGE_ACTIONS,
    default_action: "install",
    properties: &[&PACKAGE, &COMPILED_PACKAGE],
    ..NOBODY
};

/// Manages packages by paludis.
pub static PALUDIS_PACKAGE: ResourceType = ResourceType {
    name: "paludis_package",
    doc: "Manages packages by paludis.",
    actions: &[
        action("install", "Installs it."),
        action("remove", "Removes it."),
        action("upgrade", "Installs the newest version."),
    ],
    default_action: "install",
    properties: &[&PACKAGE, &COMPILED_PACKAGE],
    ..NOBODY
};
