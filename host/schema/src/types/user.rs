//! `user`.

use crate::property::{Deputy, Literal, Property, TEXT_INTEGER_OR_NIL_CLASS, TEXT_OR_NIL_CLASS};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// The type that manages a local user account.
pub static USER: ResourceType = ResourceType {
    name: "user",
    aliases: &[],
    doc: "Manages a local user.",
    actions: &USER_ACTIONS,
    default_action: "create",
    properties: &[&USER_PROPERTIES],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

/// Manages a user. In Ruby cookbooks `user` means this type, as in Chef on Linux.
pub static LINUX_USER: ResourceType = ResourceType {
    name: "linux_user",
    aliases: &[],
    doc: "Manages a local user, as `user` does.",
    actions: &USER_ACTIONS,
    default_action: "create",
    properties: &[&USER_PROPERTIES],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

static USER_ACTIONS: [Action; 6] = [
    action("create", "Creates the user, or corrects what differs."),
    action("remove", "Removes the user."),
    action("modify", "Corrects an existing user; it is an error if it does not exist."),
    action("manage", "Corrects the user if there is one."),
    action("lock", "Locks the user's password."),
    action("unlock", "Unlocks the user's password."),
];

static USER_PROPERTIES: [Property; 14] = [
    Property::text("username", "The user's name.").name_property().identity(),
    Property::text("comment", "The comment field of the account: the full name, telephone numbers."),
    Property::of("uid", TEXT_INTEGER_OR_NIL_CLASS, "The user's number.").deputy(Deputy::Account),
    Property::of("gid", TEXT_INTEGER_OR_NIL_CLASS, "The primary group, by name or number.")
        .aliases(&["group"])
        .deputy(Deputy::Account),
    Property::text("home", "The home directory.").deputy(Deputy::Path),
    Property::text("shell", "The login shell.").included_in("the user"),
    Property::text("password", "The password's hash, as in `/etc/shadow`.").sensitive().no_state(),
    Property::text("salt", "The password's salt (macOS only).").no_state(),
    Property::boolean("non_unique", "Whether the number may be another user's too.")
        .default(Literal::Boolean(false))
        .no_state(),
    Property::boolean("manage_home", "Whether the home directory is created, moved and removed with the user.")
        .default(Literal::Boolean(false))
        .no_state(),
    Property::boolean("force", "Whether a user who is logged in is removed, with home directory and mail.")
        .default(Literal::Boolean(false))
        .no_state(),
    Property::boolean("system", "Whether a new user gets a number from the system's range.")
        .default(Literal::Boolean(false)),
    Property::of("expire_date", TEXT_OR_NIL_CLASS, "The day on which the account expires, as YYYY-MM-DD.")
        .no_state()
        .since("18.0"),
    Property::of(
        "inactive",
        TEXT_INTEGER_OR_NIL_CLASS,
        "Days after the password has expired until the account is closed; 0 closes it at once, -1 never.",
    )
    .no_state()
    .since("18.0"),
];

properties! {
    /// The properties of `user` and `linux_user`.
    pub struct UserProperties for USER {
        username: String,
        comment: Option<String>,
        uid: Option<String>,
        gid: Option<String>,
        home: Option<String>,
        shell: Option<String>,
        password: Option<String>,
        non_unique: bool,
        manage_home: bool,
        force: bool,
        system: bool,
        expire_date: Option<String>,
        inactive: Option<String>,
    }
}
