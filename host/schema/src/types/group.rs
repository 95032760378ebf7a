//! `group`.

use crate::property::{Coercion, Deputy, Literal, Property, TEXT_OR_INTEGER, TEXT_OR_LIST};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// The type that manages a local group and its members.
pub static GROUP: ResourceType = ResourceType {
    name: "group",
    aliases: &[],
    doc: "Manages a local group and its members.",
    actions: &GROUP_ACTIONS,
    default_action: "create",
    properties: &[&GROUP_PROPERTIES],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

static GROUP_ACTIONS: [Action; 4] = [
    action("create", "Creates the group, or corrects what differs."),
    action("remove", "Removes the group."),
    action("modify", "Corrects an existing group; it is an error if it does not exist."),
    action("manage", "Corrects the group if there is one."),
];

static GROUP_PROPERTIES: [Property; 8] = [
    Property::text("group_name", "The group's name.").name_property().identity(),
    Property::of("gid", TEXT_OR_INTEGER, "The group's number.").deputy(Deputy::Account),
    Property::of("members", TEXT_OR_LIST, "The users who belong to it: all of them, unless `append` is set.")
        .aliases(&["users"])
        .coerce(Coercion::CommaList)
        .default(Literal::List(&[]))
        .included_in("the group"),
    Property::of("excluded_members", TEXT_OR_LIST, "With `append`: users who must not belong to it.")
        .coerce(Coercion::CommaList)
        .default(Literal::List(&[]))
        .included_in("the group"),
    Property::boolean("append", "Whether members are added to those that are there.").default(Literal::Boolean(false)),
    Property::boolean("system", "Whether a new group gets a number from the system's range.")
        .default(Literal::Boolean(false)),
    Property::boolean("non_unique", "Whether the number may be another group's too.").default(Literal::Boolean(false)),
    Property::text("comment", "A remark for the group, where the platform keeps one.").since("14.9"),
];

properties! {
    /// The properties of `group`.
    pub struct GroupProperties for GROUP {
        group_name: String,
        gid: Option<String>,
        members: Vec<String>,
        excluded_members: Vec<String>,
        append: bool,
        system: bool,
        non_unique: bool,
    }
}
