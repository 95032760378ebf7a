//! Types for Habitat's packages and services, without an implementation.

use super::{NOBODY, PACKAGE, PACKAGE_ACTIONS};
use crate::property::{Class, Coercion, Literal, Matcher, Property, TEXT_OR_INTEGER, TEXT_OR_LIST};
use crate::resource::{ResourceType, action};

/// How a supervisor is reached.
static SUPERVISOR: [Property; 3] = [
    Property::text("remote_sup", "The address of the supervisor.").default(Literal::Text("127.0.0.1:9632")).no_state(),
    Property::text("remote_sup_http", "The address of the supervisor's HTTP gateway.")
        .default(Literal::Text("127.0.0.1:9631"))
        .no_state(),
    Property::text("gateway_auth_token", "The token for the supervisor's gateway.").no_state(),
];

/// How the licence of Habitat is accepted.
const LICENSE: Property =
    Property::text("license", "How the licence is accepted.").equal_to(&[Literal::Text("accept")]);

/// Returns a property of a Habitat service that accepts some symbols. The first one is the default.
const fn choice(name: &'static str, choices: &'static [Literal], doc: &'static str) -> Property {
    let property = Property::of(name, &[Matcher::Class(Class::Symbol), Matcher::Class(Class::Text)], doc);
    let property = property.coerce(Coercion::Symbol).equal_to(choices);
    match choices {
        [default, ..] => property.default(*default),
        [] => property,
    }
}

/// Applies a configuration to a group of Habitat services.
pub static HABITAT_CONFIG: ResourceType = ResourceType {
    name: "habitat_config",
    doc: "Applies a configuration to a group of Habitat services.",
    actions: &[action("apply", "Applies the configuration.")],
    default_action: "apply",
    properties: &[
        &[
            Property::map("config", "The configuration.").required(),
            Property::text("service_group", "The group of services.").name_property(),
        ],
        &SUPERVISOR,
        &[Property::text("user", "The user whose key encrypts it.").no_state()],
    ],
    ..NOBODY
};

/// Installs the programs of Habitat.
pub static HABITAT_INSTALL: ResourceType = ResourceType {
    name: "habitat_install",
    doc: "Installs the programs of Habitat.",
    actions: &[action("install", "Installs it.")],
    default_action: "install",
    properties: &[&[
        Property::text("name", "The name of the resource.").default(Literal::Text("install habitat")),
        Property::text("install_url", "The address of the installer.").default(Literal::Text(
            "https://raw.githubusercontent.com/habitat-sh/habitat/main/components/hab/install.sh",
        )),
        Property::text("bldr_url", "The address of the depot."),
        Property::boolean("create_user", "Whether the user of Habitat is made.").default(Literal::Boolean(true)),
        Property::text("tmp_dir", "The folder for temporary files."),
        LICENSE,
        Property::text("hab_version", "The version that is installed."),
    ]],
    ..NOBODY
};

/// Installs a package of Habitat.
pub static HABITAT_PACKAGE: ResourceType = ResourceType {
    name: "habitat_package",
    doc: "Installs a package of Habitat.",
    actions: &PACKAGE_ACTIONS,
    default_action: "install",
    properties: &[
        &PACKAGE,
        &[
            Property::text("bldr_url", "The address of the depot.").default(Literal::Text("https://bldr.habitat.sh")),
            Property::text("channel", "The channel of the depot.").default(Literal::Text("stable")),
            Property::text("auth_token", "The token for the depot."),
            Property::of(
                "binlink",
                &[Matcher::Class(Class::True), Matcher::Class(Class::False), Matcher::Equal(Literal::Symbol("force"))],
                "Whether its programs are linked.",
            )
            .default(Literal::Boolean(false)),
            Property::text("options", "Further options of the command."),
            Property::text("keep_latest", "How many versions are kept."),
            Property::text("exclude", "The version that is not removed."),
            Property::boolean("no_deps", "Whether what it depends on stays.").default(Literal::Boolean(false)),
        ],
    ],
    ..NOBODY
};

/// Runs a service of Habitat.
pub static HABITAT_SERVICE: ResourceType = ResourceType {
    name: "habitat_service",
    doc: "Runs a service of Habitat.",
    actions: &[
        action("load", "Loads it."),
        action("unload", "Unloads it."),
        action("start", "Starts it."),
        action("stop", "Stops it."),
        action("restart", "Restarts it."),
        action("reload", "Reloads it."),
    ],
    default_action: "load",
    properties: &[
        &[
            Property::text("service_name", "The name of the service.").name_property(),
            Property::boolean("loaded", "Whether the service is loaded.").default(Literal::Boolean(false)),
            Property::boolean("running", "Whether the service runs.").default(Literal::Boolean(false)),
            choice(
                "strategy",
                &[Literal::Symbol("none"), Literal::Symbol("at-once"), Literal::Symbol("rolling")],
                "The way in which it is updated.",
            ),
            choice(
                "topology",
                &[Literal::Symbol("standalone"), Literal::Symbol("leader")],
                "The way in which its instances work together.",
            ),
            Property::text("bldr_url", "The address of the depot.").default(Literal::Text("https://bldr.habitat.sh/")),
            Property::of(
                "channel",
                &[Matcher::Class(Class::Symbol), Matcher::Class(Class::Text)],
                "The channel of the depot.",
            )
            .default(Literal::Symbol("stable")),
            Property::of("bind", TEXT_OR_LIST, "Bindings to other services.").default(Literal::List(&[])),
            choice(
                "binding_mode",
                &[Literal::Symbol("strict"), Literal::Symbol("relaxed")],
                "Whether its bindings must be there at the start.",
            ),
            Property::text("service_group", "The group of the service.").default(Literal::Text("default")),
            Property::integer("shutdown_timeout", "How long it may take to end, in seconds.")
                .default(Literal::Integer(8)),
            Property::integer("health_check_interval", "The seconds between two health checks.")
                .default(Literal::Integer(30)),
        ],
        &SUPERVISOR,
        &[choice(
            "update_condition",
            &[Literal::Symbol("latest"), Literal::Symbol("track-channel")],
            "What makes it update.",
        )],
    ],
    ..NOBODY
};

/// Runs the supervisor of Habitat.
pub static HABITAT_SUP: ResourceType = ResourceType {
    name: "habitat_sup",
    doc: "Runs the supervisor of Habitat.",
    actions: &[action("run", "Runs it.")],
    default_action: "run",
    properties: &[&[
        Property::text("bldr_url", "The address of the depot."),
        Property::boolean("permanent_peer", "Whether it is a permanent peer.").default(Literal::Boolean(false)),
        Property::text("listen_ctl", "The address for control."),
        Property::text("listen_gossip", "The address for gossip."),
        Property::text("listen_http", "The address for HTTP."),
        Property::text("org", "The organisation.").default(Literal::Text("default")),
        Property::of("peer", TEXT_OR_LIST, "The peers at the start."),
        Property::text("ring", "The name of the ring."),
        Property::text("hab_channel", "The channel of Habitat itself."),
        Property::boolean("auto_update", "Whether it updates itself.").default(Literal::Boolean(false)),
        Property::text("auth_token", "The token for the depot."),
        Property::text("gateway_auth_token", "The token for its gateway."),
        Property::text("update_condition", "What makes it update."),
        Property::text("limit_no_files", "How many files it may open."),
        LICENSE,
        Property::of("health_check_interval", TEXT_OR_INTEGER, "The seconds between two health checks."),
        Property::text("event_stream_application", "The application in the stream of events."),
        Property::text("event_stream_environment", "The environment in the stream of events."),
        Property::text("event_stream_site", "The site in the stream of events."),
        Property::text("event_stream_url", "The address of the stream of events."),
        Property::text("event_stream_token", "The token for the stream of events."),
        Property::text("event_stream_cert", "The certificate for the stream of events."),
        Property::text("sup_version", "The version of the supervisor."),
        Property::text("launcher_version", "The version of the launcher."),
        Property::text("service_version", "The version of the service that starts it."),
        Property::text("keep_latest", "How many versions are kept."),
        Property::boolean("toml_config", "Whether its settings are in a TOML file.").default(Literal::Boolean(false)),
    ]],
    ..NOBODY
};

/// Writes settings of a Habitat service.
pub static HABITAT_USER_TOML: ResourceType = ResourceType {
    name: "habitat_user_toml",
    doc: "Writes settings of a Habitat service.",
    actions: &[action("create", "Makes it, or brings it up to date."), action("delete", "Deletes it.")],
    default_action: "create",
    properties: &[&[
        Property::map("config", "The settings.").required(),
        Property::text("service_name", "The name of the service.").name_property(),
    ]],
    ..NOBODY
};
