//! `file`, and the properties that everything which writes a file shares.

use super::securable::SECURABLE;
use crate::property::{
    Class, Coercion, Default, Deputy, INTEGER_OR_FALSE, Literal, Matcher, Pattern, Property, TEXT_OR_NIL,
};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::{AccountName, Backups, Declared, Mode, Verifications, properties};

static SHA256: Pattern = Pattern::new(r"/^\h{64}$/", r"\A[0-9a-fA-F]{64}\z");

/// The type that manages a file's content, owner and mode.
pub static FILE: ResourceType = ResourceType {
    name: "file",
    aliases: &[],
    doc: "Manages one file: its content, owner, group and mode.",
    actions: &FILE_ACTIONS,
    default_action: "create",
    properties: &[
        &SECURABLE,
        &FILE_FAMILY,
        &[Property::of("content", TEXT_OR_NIL, "The whole content. Unset leaves an existing file's content alone.")
            .no_state()],
    ],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

/// Actions of `file` and everything that writes one.
pub(crate) static FILE_ACTIONS: [Action; 4] = [
    action("create", "Creates the file, or corrects what differs."),
    action("delete", "Removes the file."),
    action("touch", "Creates the file if it is missing, and sets its times to now."),
    action("create_if_missing", "Creates the file if it does not exist; an existing one is left alone."),
];

/// Properties of `file` and everything that writes one.
pub(crate) static FILE_FAMILY: [Property; 8] = [
    Property::text("path", "The file's path.").name_property().identity(),
    Property::boolean(
        "atomic_update",
        "Whether new content replaces the file in one step. Off means it is written in place, for files that are mount points.",
    )
    .default_to(Default::Described("true, but false for files that a container runtime mounts"))
    .no_state(),
    Property::of("backup", INTEGER_OR_FALSE, "How many earlier versions are kept in the backup folder; false keeps none.")
        .default(Literal::Integer(5))
        .no_state(),
    Property::of("checksum", TEXT_OR_NIL, "The SHA-256 digest that the content must have, in hexadecimal.")
        .coerce(Coercion::LowerCase)
        .regex(&[&SHA256]),
    Property::boolean("force_unlink", "Whether something else than a file at the path is removed to make room.")
        .default(Literal::Boolean(false))
        .no_state(),
    Property::boolean(
        "manage_symlink_source",
        "Whether a symbolic link at the path is followed and its target managed; unset follows with a warning, false replaces \
         the link.",
    )
    .no_state()
    .deputy(Deputy::Path),
    Property::of(
        "verify",
        &[Matcher::Class(Class::Text), Matcher::Class(Class::Symbol), Matcher::Class(Class::List)],
        "A command that must accept the new content before it is put in place; `%{path}` stands for the file to look at. \
         Several calls collect.",
    )
    .coerce(Coercion::Wrapped)
    .collects()
    .no_state()
    .deputy(Deputy::Command),
    Property::of("diff", TEXT_OR_NIL, "The difference that the last action made, for reports.").no_state(),
];

properties! {
    /// The properties of everything that writes a file, but for the content, which may be bytes.
    pub struct FileProperties for FILE {
        path: String,
        owner: Option<AccountName>,
        group: Option<AccountName>,
        mode: Option<Mode>,
        atomic_update: Option<bool>,
        backup: Declared<Backups>,
        checksum: Option<String>,
        force_unlink: bool,
        manage_symlink_source: Option<bool>,
        verify: Verifications,
    }
}
