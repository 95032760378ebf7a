//! `service`.

use crate::property::{Class, Coercion, Default, Deputy, LIST_OR_TEXT, Literal, Matcher, Property, TEXT_NIL_OR_FALSE};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::{Declared, LineOrFalse, properties};

/// The type that starts, stops, enables and disables a service.
pub static SERVICE: ResourceType = ResourceType {
    name: "service",
    aliases: &[],
    doc: "Manages a service: whether it runs, and whether it starts with the system.",
    actions: &SERVICE_ACTIONS,
    default_action: "nothing",
    properties: &[&SERVICE_PROPERTIES],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

static SERVICE_ACTIONS: [Action; 8] = [
    action("enable", "Makes the service start with the system."),
    action("disable", "Keeps the service from starting with the system."),
    action("start", "Starts the service unless it runs."),
    action("stop", "Stops the service if it runs."),
    action("restart", "Stops the service and starts it again."),
    action("reload", "Makes the service read its configuration again."),
    action("mask", "Makes the service impossible to start (systemd)."),
    action("unmask", "Undoes `mask` (systemd)."),
];

/// Returns a property that names a command for one step. False means the init system's own command.
const fn command(name: &'static str, doc: &'static str) -> Property {
    Property::of(name, TEXT_NIL_OR_FALSE, doc).no_state().deputy(Deputy::Command)
}

static SERVICE_PROPERTIES: [Property; 15] = [
    Property::text("service_name", "The service's name in the init system.").name_property().identity(),
    Property::map("supports", "Which of `restart`, `reload` and `status` the service's init script understands.")
        .coerce(Coercion::Flags)
        .default(Literal::Map(&[
            (Literal::Text("restart"), Literal::Nil),
            (Literal::Text("reload"), Literal::Nil),
            (Literal::Text("status"), Literal::Nil),
        ])),
    Property::text(
        "pattern",
        "What to look for in the process table where the init system cannot tell whether it runs.",
    )
    .default_to(Default::SameAs("service_name"))
    .no_state(),
    command("start_command", "The command that starts it."),
    command("stop_command", "The command that stops it."),
    command("status_command", "The command that tells by its exit status whether it runs."),
    command("restart_command", "The command that restarts it."),
    command("reload_command", "The command that makes it read its configuration again."),
    Property::text("init_command", "The path of its init script.").no_state().deputy(Deputy::Command),
    Property::of("options", LIST_OR_TEXT, "Further arguments for the init system's command.")
        .coerce(Coercion::ShellWords),
    Property::of(
        "priority",
        &[Matcher::Class(Class::Integer), Matcher::Class(Class::Text), Matcher::Class(Class::Map)],
        "When it starts and stops in each run level (System V).",
    ),
    Property::map("parameters", "Parameters for the init system's command (Upstart)."),
    Property::list("run_levels", "The run levels in which it runs."),
    Property::integer("timeout", "Seconds after which a command of the init system is ended.")
        .default(Literal::Integer(900))
        .no_state(),
    Property::text("user", "The user whose own service manager is meant (systemd).").since("12.21"),
];

properties! {
    /// The properties of `service` that apply to this platform's init systems.
    pub struct ServiceProperties for SERVICE {
        service_name: String,
        supports: serde_json::Value,
        pattern: String,
        start_command: LineOrFalse,
        stop_command: LineOrFalse,
        status_command: LineOrFalse,
        restart_command: LineOrFalse,
        reload_command: LineOrFalse,
        init_command: Option<String>,
        priority: serde_json::Value,
        timeout: u64,
        user: Option<String>,
    }
}

properties! {
    /// The properties of a `service` that concern the process table.
    pub struct ServicePattern for SERVICE {
        pattern: Declared<String>,
    }
}
