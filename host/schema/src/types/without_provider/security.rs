//! Types for SELinux, which Debian does not use, without an implementation.

use super::NOBODY;
use crate::property::{Class, INTEGER_OR_TEXT, Literal, Matcher, Property, TEXT_OR_LIST};
use crate::resource::{Action, ResourceType, action};

/// The actions of contexts of files and ports.
static MAPPING_ACTIONS: [Action; 5] = [
    action("manage", "Adds it, or brings it up to date."),
    action("addormodify", "Adds it, or changes it."),
    action("add", "Adds it."),
    action("modify", "Changes it."),
    action("delete", "Deletes it."),
];

/// The actions of logins and users.
static ACCOUNT_ACTIONS: [Action; 4] = [
    action("manage", "Adds it, or brings it up to date."),
    action("add", "Adds it."),
    action("modify", "Changes it."),
    action("delete", "Deletes it."),
];

/// The levels of a login or a user.
const RANGE: Property = Property::text("range", "The range of levels.");

/// Whether a setting is kept after a reboot.
const PERSISTENT: Property =
    Property::boolean("persistent", "Whether it outlives the next start.").default(Literal::Boolean(true));

/// Sets a boolean of SELinux.
pub static SELINUX_BOOLEAN: ResourceType = ResourceType {
    name: "selinux_boolean",
    doc: "Sets a boolean of SELinux.",
    actions: &[action("set", "Sets the value.")],
    default_action: "set",
    properties: &[&[
        Property::text("boolean", "The name of the boolean.").name_property(),
        Property::of(
            "value",
            &[
                Matcher::Class(Class::Integer),
                Matcher::Class(Class::Text),
                Matcher::Class(Class::True),
                Matcher::Class(Class::False),
            ],
            "The value of the boolean.",
        )
        .required(),
        PERSISTENT.no_state(),
    ]],
    ..NOBODY
};

/// Sets the context of files for SELinux.
pub static SELINUX_FCONTEXT: ResourceType = ResourceType {
    name: "selinux_fcontext",
    doc: "Sets the context of files for SELinux.",
    actions: &MAPPING_ACTIONS,
    default_action: "manage",
    properties: &[&[
        Property::text("file_spec", "The pattern of paths.").name_property(),
        Property::text("secontext", "The context of the files.").required_for(&["add", "modify", "manage"]),
        Property::text("file_type", "The kind of the files.")
            .equal_to(&[
                Literal::Text("a"),
                Literal::Text("f"),
                Literal::Text("d"),
                Literal::Text("c"),
                Literal::Text("b"),
                Literal::Text("s"),
                Literal::Text("l"),
                Literal::Text("p"),
            ])
            .default(Literal::Text("a")),
    ]],
    ..NOBODY
};

/// Installs the tools of SELinux.
pub static SELINUX_INSTALL: ResourceType = ResourceType {
    name: "selinux_install",
    doc: "Installs the tools of SELinux.",
    actions: &[
        action("install", "Installs it."),
        action("upgrade", "Installs the newest version."),
        action("remove", "Removes it."),
    ],
    default_action: "install",
    properties: &[&[Property::of("packages", TEXT_OR_LIST, "The packages of the tools.")]],
    ..NOBODY
};

/// Maps a login to a user of SELinux.
pub static SELINUX_LOGIN: ResourceType = ResourceType {
    name: "selinux_login",
    doc: "Maps a login to a user of SELinux.",
    actions: &ACCOUNT_ACTIONS,
    default_action: "manage",
    properties: &[&[
        Property::text("login", "The name of the login.").name_property(),
        Property::text("user", "The user of SELinux."),
        RANGE,
    ]],
    ..NOBODY
};

/// Manages a module of SELinux's policy.
pub static SELINUX_MODULE: ResourceType = ResourceType {
    name: "selinux_module",
    doc: "Manages a module of SELinux's policy.",
    actions: &[
        action("create", "Makes it, or brings it up to date."),
        action("delete", "Deletes it."),
        action("install", "Installs it."),
        action("remove", "Removes it."),
    ],
    default_action: "create",
    properties: &[&[
        Property::text("module_name", "The name of the module.").name_property(),
        Property::text("source", "The file of the cookbook that has it."),
        Property::text("content", "The text of the module."),
        Property::text("cookbook", "The cookbook that has the file.").no_state(),
        Property::text("base_dir", "The folder of its files.").default(Literal::Text("/etc/selinux/local")),
    ]],
    ..NOBODY
};

/// Makes a domain of SELinux permissive.
pub static SELINUX_PERMISSIVE: ResourceType = ResourceType {
    name: "selinux_permissive",
    doc: "Makes a domain of SELinux permissive.",
    actions: &[action("add", "Adds it."), action("delete", "Deletes it.")],
    default_action: "add",
    properties: &[&[Property::text("context", "The name of the domain.").name_property()]],
    ..NOBODY
};

/// Sets the context of a port for SELinux.
pub static SELINUX_PORT: ResourceType = ResourceType {
    name: "selinux_port",
    doc: "Sets the context of a port for SELinux.",
    actions: &MAPPING_ACTIONS,
    default_action: "manage",
    properties: &[&[
        Property::of("port", INTEGER_OR_TEXT, "The port or the range of ports.").name_property(),
        Property::text("protocol", "The protocol of the port.")
            .required_for(&["manage", "add", "modify"])
            .equal_to(&[Literal::Text("tcp"), Literal::Text("udp")]),
        Property::text("secontext", "The context of the port.").required_for(&["manage", "add", "modify"]),
    ]],
    ..NOBODY
};

/// Sets the mode of SELinux.
pub static SELINUX_STATE: ResourceType = ResourceType {
    name: "selinux_state",
    doc: "Sets the mode of SELinux.",
    actions: &[
        action("enforcing", "Enforces the policy."),
        action("permissive", "Logs what the policy refuses."),
        action("disabled", "Turns SELinux off."),
    ],
    default_action: "nothing",
    properties: &[&[
        Property::text("config_file", "The file of SELinux's settings.").default(Literal::Text("/etc/selinux/config")),
        PERSISTENT,
        Property::text("policy", "The policy of SELinux.").equal_to(&[
            Literal::Text("default"),
            Literal::Text("minimum"),
            Literal::Text("mls"),
            Literal::Text("src"),
            Literal::Text("strict"),
            Literal::Text("targeted"),
        ]),
        Property::of(
            "automatic_reboot",
            &[Matcher::Class(Class::True), Matcher::Class(Class::False), Matcher::Class(Class::Symbol)],
            "Whether the machine starts again where that is needed.",
        )
        .default(Literal::Boolean(false)),
    ]],
    ..NOBODY
};

/// Manages a user of SELinux.
pub static SELINUX_USER: ResourceType = ResourceType {
    name: "selinux_user",
    doc: "Manages a user of SELinux.",
    actions: &ACCOUNT_ACTIONS,
    default_action: "manage",
    properties: &[&[
        Property::text("user", "The name of the user.").name_property(),
        Property::text("level", "The level of the user."),
        RANGE,
        Property::list("roles", "The roles of the user."),
    ]],
    ..NOBODY
};
