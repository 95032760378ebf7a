//! `execute`, and the properties that everything which runs a command shares.

use crate::property::{BOOLEAN, Class, Default, Deputy, Literal, Matcher, Property, TEXT_OR_INTEGER, TEXT_OR_LIST};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::{ExitCodes, Mask, Seconds, properties};

/// The type that runs one command.
pub static EXECUTE: ResourceType = ResourceType {
    name: "execute",
    aliases: &[],
    doc: "Runs one command. It runs each time unless a guard or `creates` says otherwise.",
    actions: &RUN_ACTIONS,
    default_action: "run",
    properties: &[
        &EXECUTE_FAMILY,
        &[Property::of(
            "command",
            TEXT_OR_LIST,
            "The command: a list of program and arguments, or a line, which goes through a shell where it needs one.",
        )
        .name_property()
        .identity()
        .deputy(Deputy::Command)],
    ],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

/// The one action of `execute` and scripts.
pub(crate) static RUN_ACTIONS: [Action; 1] = [action("run", "Runs it.")];

/// Properties of `execute` and scripts.
pub(crate) static EXECUTE_FAMILY: [Property; 15] = [
    Property::text("creates", "A path: while something exists there, nothing is run.").deputy(Deputy::ReadPath),
    Property::text("cwd", "The working directory.").deputy(Deputy::Path),
    Property::map("environment", "Environment variables, beside those of the run.")
        .aliases(&["env"])
        .deputy(Deputy::Environment),
    Property::of("user", TEXT_OR_INTEGER, "The user to run as, by name or number.").deputy(Deputy::Account),
    Property::of("group", TEXT_OR_INTEGER, "The group to run as, by name or number.").deputy(Deputy::Account),
    Property::boolean("login", "Whether the user's groups and login environment apply.")
        .default(Literal::Boolean(false))
        .since("17.0"),
    Property::boolean("live_stream", "Whether the command's output is shown while it runs.")
        .default(Literal::Boolean(false)),
    Property::boolean("default_env", "Whether PATH and the locale are set as for the run's own commands.")
        .default(Literal::Boolean(false))
        .no_state()
        .since("14.2"),
    Property::text("input", "Text for the command's standard input.").since("16.2"),
    Property::of(
        "returns",
        &[Matcher::Class(Class::Integer), Matcher::Class(Class::List)],
        "The exit status, or a list of them, that means success.",
    )
    .default(Literal::Integer(0)),
    Property::of(
        "timeout",
        &[Matcher::Class(Class::Integer), Matcher::Class(Class::Text), Matcher::Class(Class::Float)],
        "Seconds after which the command is ended.",
    )
    .default(Literal::Integer(3600))
    .no_state(),
    Property::text("domain", "The domain of `user` (Windows only).").since("12.21"),
    Property::text("password", "The password of `user` (Windows only).").sensitive().since("12.21"),
    Property::boolean("elevated", "Whether the command runs with full rights (Windows only).")
        .default(Literal::Boolean(false))
        .since("13.3"),
    Property::of("sensitive", BOOLEAN, "Whether the command and its output are kept out of output, logs and reports.")
        .default_to(Default::Described("true if `password` is set"))
        .no_state(),
];

properties! {
    /// The properties that `execute` and scripts share.
    pub struct CommandProperties for EXECUTE {
        creates: Option<String>,
        cwd: Option<String>,
        environment: serde_json::Value,
        user: Option<String>,
        group: Option<String>,
        login: bool,
        live_stream: bool,
        input: Option<String>,
        returns: ExitCodes,
        timeout: Seconds,
        umask: Option<Mask>,
    }
}

properties! {
    /// The property that `execute` has beyond those that it shares with scripts.
    pub struct ExecuteProperties for EXECUTE {
        command: serde_json::Value,
    }
}
