//! `subversion`.

use super::git::CHECKOUT_FAMILY;
use crate::property::{Coercion, Deputy, Literal, Property, TEXT_NIL_OR_FALSE};
use crate::resource::{Action, ImplementedBy, ResourceType, action};

/// Manages a working copy of a Subversion repository.
pub static SUBVERSION: ResourceType = ResourceType {
    name: "subversion",
    aliases: &[],
    doc: "Manages a working copy of a Subversion repository.",
    actions: &SUBVERSION_ACTIONS,
    default_action: "sync",
    properties: &[
        &CHECKOUT_FAMILY,
        &[
            Property::text("repository", "The repository's address.").deputy(Deputy::Host),
            Property::text("revision", "The revision.").default(Literal::Text("HEAD")),
            Property::of("svn_arguments", TEXT_NIL_OR_FALSE, "Further arguments for svn.")
                .coerce(Coercion::FalseToNil)
                .deputy(Deputy::Options),
            Property::of("svn_info_args", TEXT_NIL_OR_FALSE, "Further arguments for `svn info`.")
                .coerce(Coercion::FalseToNil)
                .deputy(Deputy::Options),
            Property::text("svn_binary", "The svn program.").deputy(Deputy::Command),
            Property::text("svn_username", "The user for the repository."),
            Property::text("svn_password", "The user's password.").sensitive().no_state(),
        ],
    ],
    implemented_by: ImplementedBy::Nobody,
    introduced: None,
};

static SUBVERSION_ACTIONS: [Action; 6] = [
    action("sync", "Brings the working copy to the revision, or makes it."),
    action("checkout", "Makes the working copy if it does not exist."),
    action("export", "Puts the files of the revision there, without the repository's own data."),
    action("diff", "Shows what differs."),
    action("log", "Shows the history."),
    action("force_export", "As `export`, over files that are there."),
];
