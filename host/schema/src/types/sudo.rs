//! `sudo`.

use crate::property::{Class, Coercion, Default, Deputy, Literal, Matcher, Property, TEXT_OR_LIST};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// Manages a file in `sudoers.d`.
pub static SUDO: ResourceType = ResourceType {
    name: "sudo",
    aliases: &[],
    doc: "Manages a file in /etc/sudoers.d: who may run what as whom. It is checked before it is put in place.",
    actions: &SUDO_ACTIONS,
    default_action: "create",
    properties: &[&SUDO_PROPERTIES],
    implemented_by: ImplementedBy::Children,
    introduced: Some("14.0"),
};

static SUDO_ACTIONS: [Action; 4] = [
    action("create", "Writes the file, or corrects it."),
    action("install", "The older name of `create`."),
    action("remove", "The older name of `delete`."),
    action("delete", "Removes the file."),
];

const EMPTY: Literal = Literal::List(&[]);

static SUDO_PROPERTIES: [Property; 18] = [
    Property::text("filename", "The file's name.").coerce(Coercion::SudoersFileName).name_property().identity(),
    Property::of("users", TEXT_OR_LIST, "The users who may run the commands.")
        .aliases(&["user"])
        .coerce(Coercion::CommaList)
        .default(EMPTY)
        .included_in("the file"),
    Property::of("groups", TEXT_OR_LIST, "The groups whose members may run the commands.")
        .aliases(&["group"])
        .coerce(Coercion::SudoGroups)
        .default(EMPTY)
        .included_in("the file"),
    Property::list("commands", "The commands, with their full paths, or names of `command_aliases`.")
        .default(Literal::List(&[Literal::Text("ALL")]))
        .included_in("the file"),
    Property::text("host", "The host on which the line holds.").default(Literal::Text("ALL")),
    Property::text("runas", "As whom the commands may be run.").default(Literal::Text("ALL")).included_in("the file"),
    Property::boolean("nopasswd", "Whether no password is asked.")
        .default(Literal::Boolean(false))
        .included_in("the file"),
    Property::boolean("noexec", "Whether the commands are kept from starting others.").default(Literal::Boolean(false)),
    Property::boolean("setenv", "Whether the users may set environment variables.")
        .default(Literal::Boolean(false))
        .included_in("the file"),
    Property::list("env_keep_add", "Environment variables that are kept.").default(EMPTY).included_in("the file"),
    Property::list("env_keep_subtract", "Environment variables that are not kept.").default(EMPTY),
    Property::list("defaults", "Settings for these users.").default(EMPTY).included_in("the file"),
    Property::list("command_aliases", "Names for groups of commands: maps with `name` and `command_list`.")
        .default(EMPTY)
        .included_in("the file"),
    Property::text("template", "A template of the cookbook for the whole file.").included_in("the file"),
    Property::of(
        "variables",
        &[Matcher::Class(Class::Map), Matcher::Equal(Literal::Nil)],
        "What the template sees as its variables.",
    )
    .default(Literal::Nil),
    Property::text("config_prefix", "The folder that has sudoers.d.")
        .default_to(Default::Described("/etc, or the platform's own"))
        .deputy(Deputy::Path),
    Property::text("visudo_binary", "The program that checks the file.")
        .default(Literal::Text("/usr/sbin/visudo"))
        .deputy(Deputy::Command),
    Property::text("visudo_path", "The former name of `visudo_binary`.").deprecated("use visudo_binary"),
];

properties! {
    /// The properties of `sudo`.
    pub struct SudoProperties for SUDO {
        filename: String,
        users: Vec<String>,
        groups: Vec<String>,
        commands: Vec<String>,
        host: String,
        runas: String,
        nopasswd: bool,
        noexec: bool,
        setenv: bool,
        env_keep_add: Vec<String>,
        env_keep_subtract: Vec<String>,
        defaults: Vec<String>,
        command_aliases: serde_json::Value,
        template: Option<String>,
        variables: Option<serde_json::Value>,
        config_prefix: Option<String>,
        visudo_binary: String,
        visudo_path: Option<String>,
    }
}
