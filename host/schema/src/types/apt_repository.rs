//! `apt_repository`.

use crate::property::{
    Class, Coercion, Default, Deputy, LIST, Literal, Matcher, Pattern, Property, TEXT_NIL_OR_FALSE, TEXT_OR_LIST,
};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

static NO_SLASH: Pattern = Pattern::new("/^[^\\/]+$/", r"\A[^/\n]+\z");

/// Adds a source of packages to apt.
pub static APT_REPOSITORY: ResourceType = ResourceType {
    name: "apt_repository",
    aliases: &[],
    doc: "Adds a source of packages, with its signing key, to apt.",
    actions: &APT_REPOSITORY_ACTIONS,
    default_action: "add",
    properties: &[&APT_REPOSITORY_PROPERTIES],
    implemented_by: ImplementedBy::Children,
    introduced: Some("12.9"),
};

static APT_REPOSITORY_ACTIONS: [Action; 2] = [
    action("add", "Writes the source's file, installs its key and refreshes the index."),
    action("remove", "Removes the source's file."),
];

static APT_REPOSITORY_PROPERTIES: [Property; 14] = [
    Property::text("repo_name", "The name of the file in sources.list.d.")
        .regex(&[&NO_SLASH])
        .validation_message("repo_name property cannot contain a forward slash '/'")
        .name_property()
        .identity()
        .since("14.1"),
    Property::text("uri", "The source's address, or `ppa:` and a name."),
    Property::of("distribution", TEXT_NIL_OR_FALSE, "The distribution, most often its code name; null leaves it out.")
        .default_to(Default::Described("the node's own code name")),
    Property::of("components", LIST, "The components, such as `main`.").default(Literal::List(&[])),
    Property::of("arch", TEXT_NIL_OR_FALSE, "The architectures, separated by commas."),
    Property::boolean("trusted", "Whether packages are taken without a signature.").default(Literal::Boolean(false)),
    Property::boolean("deb_src", "Whether source packages are offered too.").default(Literal::Boolean(false)),
    Property::of("keyserver", TEXT_NIL_OR_FALSE, "The server from which a key named by its number is fetched.")
        .default(Literal::Text("keyserver.ubuntu.com"))
        .deputy(Deputy::Host),
    Property::of(
        "key",
        &[
            Matcher::Class(Class::Text),
            Matcher::Class(Class::List),
            Matcher::Equal(Literal::Nil),
            Matcher::Class(Class::False),
        ],
        "The signing keys: addresses, files of the cookbook, or numbers to ask the key server for.",
    )
    .coerce(Coercion::WrappedUnlessFalse)
    .default(Literal::List(&[]))
    .deputy(Deputy::Host),
    Property::of("key_proxy", TEXT_NIL_OR_FALSE, "The proxy for the key server.").deputy(Deputy::Host),
    Property::of(
        "signed_by",
        &[
            Matcher::Class(Class::Text),
            Matcher::Equal(Literal::Boolean(true)),
            Matcher::Equal(Literal::Boolean(false)),
            Matcher::Equal(Literal::Nil),
        ],
        "The key ring that must sign this source: a path, or true for one of its own.",
    )
    .default(Literal::Boolean(true)),
    Property::of("cookbook", TEXT_NIL_OR_FALSE, "The cookbook that has the key's file.").no_state(),
    Property::boolean("cache_rebuild", "Whether the index is refreshed after a change.")
        .default(Literal::Boolean(true))
        .no_state(),
    Property::of("options", TEXT_OR_LIST, "Further options in the source's line.")
        .coerce(Coercion::Wrapped)
        .default(Literal::List(&[])),
];

properties! {
    /// The properties of `apt_repository`.
    pub struct AptRepositoryProperties for APT_REPOSITORY {
        repo_name: String,
        uri: Option<String>,
        distribution: Option<serde_json::Value>,
        components: Vec<String>,
        arch: Option<serde_json::Value>,
        trusted: bool,
        deb_src: bool,
        keyserver: Option<serde_json::Value>,
        key: Option<crate::typed::ListOrFalse>,
        key_proxy: Option<serde_json::Value>,
        signed_by: Option<serde_json::Value>,
        cookbook: Option<serde_json::Value>,
        cache_rebuild: bool,
        options: Vec<String>,
    }
}
