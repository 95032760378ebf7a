//! `directory`.

use super::securable::SECURABLE;
use crate::property::{Literal, Property};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::{AccountName, Mode, properties};

/// The type that manages a directory, its owner and its mode.
pub static DIRECTORY: ResourceType = ResourceType {
    name: "directory",
    aliases: &[],
    doc: "Manages a directory: whether it is there, and who may use it.",
    actions: &DIRECTORY_ACTIONS,
    default_action: "create",
    properties: &[
        &SECURABLE,
        &[
            Property::text("path", "The directory's path.").name_property().identity(),
            Property::boolean(
                "recursive",
                "Whether `create` makes missing parents and `delete` removes what is inside. Owner, group and mode apply to \
                 the last directory only.",
            )
            .default(Literal::Boolean(false)),
        ],
    ],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

static DIRECTORY_ACTIONS: [Action; 2] = [
    action("create", "Creates the directory, or corrects its owner, group and mode."),
    action("delete", "Removes the directory."),
];

properties! {
    /// The properties of `directory`, which `remote_directory` has too.
    pub struct DirectoryProperties for DIRECTORY {
        path: String,
        recursive: bool,
        owner: Option<AccountName>,
        group: Option<AccountName>,
        mode: Option<Mode>,
    }
}
