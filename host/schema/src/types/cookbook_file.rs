//! `cookbook_file`.

use super::file::{FILE_ACTIONS, FILE_FAMILY};
use super::securable::SECURABLE;
use crate::property::{Default, Property, TEXT_OR_LIST};
use crate::resource::{ImplementedBy, ResourceType};
use crate::typed::properties;

/// Puts a file of a cookbook in place.
pub static COOKBOOK_FILE: ResourceType = ResourceType {
    name: "cookbook_file",
    aliases: &[],
    doc: "Puts a file from a cookbook's `files` folder in place, choosing the most specific one for the node.",
    actions: &FILE_ACTIONS,
    default_action: "create",
    properties: &[
        &SECURABLE,
        &FILE_FAMILY,
        &[
            Property::of("source", TEXT_OR_LIST, "The file's path below `files`; of a list, the first that exists.")
                .default_to(Default::BaseNameOf("name")),
            COOKBOOK,
        ],
    ],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

/// The cookbook that has the files.
pub(crate) const COOKBOOK: Property = Property::text("cookbook", "The cookbook that has the source.")
    .default_to(Default::Described("the cookbook that declares the resource"))
    .no_state();

properties! {
    /// The properties that `cookbook_file` has beyond those of a file.
    pub struct CookbookFileProperties for COOKBOOK_FILE {
        source: Vec<String>,
        cookbook: Option<String>,
    }
}
