//! `swap_file`.

use crate::property::{Literal, Property};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// Manages a swap file.
pub static SWAP_FILE: ResourceType = ResourceType {
    name: "swap_file",
    aliases: &[],
    doc: "Manages a file that is used as swap space.",
    actions: &SWAP_FILE_ACTIONS,
    default_action: "create",
    properties: &[&[
        Property::text("path", "The file's path.").name_property().identity(),
        Property::integer("size", "The size in megabytes."),
        Property::boolean("persist", "Whether it is used after the next start too.").default(Literal::Boolean(false)),
        Property::integer("timeout", "Seconds after which making the file is ended.")
            .default(Literal::Integer(600))
            .no_state(),
        Property::integer("swappiness", "How readily the kernel swaps, from 0 to 100."),
    ]],
    implemented_by: ImplementedBy::Children,
    introduced: Some("14.0"),
};

static SWAP_FILE_ACTIONS: [Action; 2] =
    [action("create", "Makes the file and uses it."), action("remove", "Uses the file no more and removes it.")];

properties! {
    /// The properties of `swap_file`.
    pub struct SwapFileProperties for SWAP_FILE {
        path: String,
        size: Option<u64>,
        persist: bool,
        timeout: u64,
        swappiness: Option<i64>,
    }
}
