//! `git`, and what it shares with `subversion`.

use crate::property::{Class, Default, Deputy, Literal, Matcher, Property, TEXT_OR_INTEGER};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::{TextMap, properties};

/// Manages a checkout of a git repository.
pub static GIT: ResourceType = ResourceType {
    name: "git",
    aliases: &[],
    doc: "Manages a checkout of a git repository.",
    actions: &CHECKOUT_ACTIONS,
    default_action: "sync",
    properties: &[
        &CHECKOUT_FAMILY,
        &[
            Property::text("repository", "The repository's address.").aliases(&["repo"]).deputy(Deputy::Host),
            Property::text("revision", "The branch, tag or commit.")
                .aliases(&["branch", "reference"])
                .default(Literal::Text("HEAD")),
            Property::text("remote", "The name of the remote.").default(Literal::Text("origin")),
            Property::map("additional_remotes", "Further remotes: names and addresses.")
                .default(Literal::Map(&[]))
                .deputy(Deputy::Host),
            Property::integer("depth", "How many commits of the history are fetched."),
            Property::boolean("enable_submodules", "Whether submodules are fetched too.")
                .default(Literal::Boolean(false)),
            Property::boolean("enable_checkout", "Whether the revision is checked out on a local branch.")
                .default(Literal::Boolean(true)),
            Property::text("checkout_branch", "The local branch for the checkout."),
            Property::text("ssh_wrapper", "A program that git runs in place of ssh.")
                .no_state()
                .deputy(Deputy::Command),
        ],
    ],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

/// Actions on a checkout: make it, update it, export it, show it.
pub(crate) static CHECKOUT_ACTIONS: [Action; 5] = [
    action("sync", "Brings the checkout to the revision, or makes it."),
    action("checkout", "Makes the checkout if it does not exist."),
    action("export", "Puts the files of the revision there, without the repository's own data."),
    action("diff", "Shows what differs."),
    action("log", "Shows the history."),
];

/// Properties that `git` and `subversion` share.
pub(crate) static CHECKOUT_FAMILY: [Property; 5] = [
    Property::text("destination", "The folder of the checkout.").name_property().identity(),
    Property::of("user", TEXT_OR_INTEGER, "The user who makes and owns the checkout.")
        .default_to(Default::Described("the user who runs the run"))
        .deputy(Deputy::Account),
    Property::of("group", TEXT_OR_INTEGER, "The group that makes and owns the checkout.").deputy(Deputy::Account),
    Property::integer("timeout", "Seconds after which a command is ended.").no_state(),
    Property::of(
        "environment",
        &[Matcher::Class(Class::Map), Matcher::Equal(Literal::Nil)],
        "Environment variables for the commands.",
    )
    .aliases(&["env"])
    .deputy(Deputy::Environment),
];

properties! {
    /// The properties of `git`.
    pub struct GitProperties for GIT {
        destination: String,
        repository: Option<String>,
        revision: String,
        remote: String,
        additional_remotes: TextMap,
        depth: Option<u32>,
        enable_submodules: bool,
        enable_checkout: bool,
        checkout_branch: Option<String>,
        user: Option<String>,
        group: Option<String>,
        timeout: Option<u64>,
        environment: TextMap,
        ssh_wrapper: Option<String>,
    }
}
