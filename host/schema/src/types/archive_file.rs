//! `archive_file`.

use crate::property::{Class, Coercion, Deputy, Literal, Matcher, Property};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::{Mode, properties};

/// The type that unpacks an archive that is on the node.
pub static ARCHIVE_FILE: ResourceType = ResourceType {
    name: "archive_file",
    aliases: &["libarchive_file"],
    doc: "Unpacks an archive that is on the node.",
    actions: &ARCHIVE_FILE_ACTIONS,
    default_action: "extract",
    properties: &[&[
        Property::text("path", "The archive's path.")
            .coerce(Coercion::ExpandedPath)
            .name_property()
            .identity()
            .hidden_with_resource()
            .deputy(Deputy::ReadPath),
        Property::text("destination", "The folder to unpack into.").required().deputy(Deputy::Path),
        Property::text("owner", "The owner of what is unpacked.").included_in("the folder"),
        Property::text("group", "The group of what is unpacked.").included_in("the folder"),
        Property::mode("mode", "The permission bits of the destination.")
            .default(Literal::Text("755"))
            .deputy(Deputy::None),
        Property::of(
            "options",
            &[Matcher::Class(Class::List), Matcher::Class(Class::Symbol)],
            "What is kept of the archive: times, owners and so on.",
        )
        .default(Literal::List(&[Literal::Symbol("time")])),
        Property::of(
            "overwrite",
            &[
                Matcher::Class(Class::True),
                Matcher::Class(Class::False),
                Matcher::Equal(Literal::Symbol("auto")),
                Matcher::Equal(Literal::Text("auto")),
            ],
            "Whether existing files are replaced; `auto` replaces those that are older.",
        )
        .default(Literal::Boolean(false)),
        Property::integer("strip_components", "How many leading folders are left out of the paths.")
            .default(Literal::Integer(0))
            .since("17.5"),
    ]],
    implemented_by: ImplementedBy::Host,
    introduced: Some("15.0"),
};

static ARCHIVE_FILE_ACTIONS: [Action; 1] = [action("extract", "Unpacks what is missing or differs.")];

properties! {
    /// The properties of `archive_file`.
    pub struct ArchiveFileProperties for ARCHIVE_FILE {
        path: String,
        destination: Option<String>,
        owner: Option<String>,
        group: Option<String>,
        mode: Mode,
        options: Vec<String>,
        overwrite: String,
        strip_components: u32,
    }
}
