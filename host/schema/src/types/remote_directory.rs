//! `remote_directory`.

use super::cookbook_file::COOKBOOK;
use super::securable::{ACCOUNT_NAMES, SECURABLE};
use crate::property::{Default, INTEGER_OR_FALSE, Literal, Pattern, Property, TEXT_INTEGER_OR_NIL, TEXT_OR_INTEGER};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::{AccountName, Backups, Declared, Mode, properties};

/// Copies a folder out of a cookbook.
pub static REMOTE_DIRECTORY: ResourceType = ResourceType {
    name: "remote_directory",
    aliases: &[],
    doc: "Copies a folder of a cookbook's `files`, with everything in it.",
    actions: &REMOTE_DIRECTORY_ACTIONS,
    default_action: "create",
    properties: &[
        &SECURABLE,
        &[
            Property::text("path", "The directory's path on the node.").name_property().identity(),
            Property::text("source", "The folder's path below `files`.")
                .default_to(Default::BaseNameOf("path"))
                .no_state(),
            COOKBOOK,
            Property::boolean("recursive", "Whether missing parents are made, and `delete` removes what is inside.")
                .default(Literal::Boolean(true))
                .no_state(),
            Property::boolean("purge", "Whether files that the cookbook does not have are removed.")
                .default(Literal::Boolean(false))
                .no_state(),
            Property::boolean("overwrite", "Whether files that differ are replaced.")
                .default(Literal::Boolean(true))
                .no_state(),
            Property::of(
                "files_backup",
                INTEGER_OR_FALSE,
                "How many earlier versions of each file are kept; false keeps none.",
            )
            .default(Literal::Integer(5))
            .no_state(),
            Property::of("files_owner", TEXT_OR_INTEGER, "The owner of the files.").regex(&ACCOUNT_NAMES),
            Property::of("files_group", TEXT_OR_INTEGER, "The group of the files.").regex(&ACCOUNT_NAMES),
            Property {
                is: Some(TEXT_INTEGER_OR_NIL),
                ..Property::mode("files_mode", "The permission bits of the files; null leaves them to the umask.")
                    .default(Literal::Text("0644"))
                    .regex(&FILES_MODES)
            },
        ],
    ],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

static FILES_MODE: Pattern = Pattern::new(r"/^\d{3,4}$/", r"\A\d{3,4}\z");

static FILES_MODES: [&Pattern; 1] = [&FILES_MODE];

static REMOTE_DIRECTORY_ACTIONS: [Action; 3] = [
    action("create", "Creates the directory and its files, or corrects what differs."),
    action("delete", "Removes the directory."),
    action("create_if_missing", "Creates what is missing; existing files are left alone."),
];

properties! {
    /// The properties that `remote_directory` has beyond those of a directory.
    pub struct RemoteDirectoryProperties for REMOTE_DIRECTORY {
        source: String,
        cookbook: Option<String>,
        purge: bool,
        overwrite: bool,
        files_backup: Declared<Backups>,
        files_owner: Option<AccountName>,
        files_group: Option<AccountName>,
        files_mode: Mode,
    }
}
