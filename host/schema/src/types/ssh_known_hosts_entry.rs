//! `ssh_known_hosts_entry`.

use crate::property::{Default, Deputy, Literal, Property, TEXT, TEXT_OR_INTEGER};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// Adds a host's key to those that ssh knows.
pub static SSH_KNOWN_HOSTS_ENTRY: ResourceType = ResourceType {
    name: "ssh_known_hosts_entry",
    aliases: &[],
    doc: "Adds a host's key to those that ssh knows.",
    actions: &SSH_KNOWN_HOSTS_ENTRY_ACTIONS,
    default_action: "create",
    properties: &[&[
        Property::text("host", "The host's name or address.").name_property().identity(),
        Property::text("key", "The host's public key; asked from the host itself if unset."),
        Property::text("key_type", "The kind of key to ask for.").default(Literal::Text("rsa")),
        Property::integer("port", "The host's port.").default(Literal::Integer(22)),
        Property::integer("timeout", "Seconds to wait for the host.").default(Literal::Integer(30)).no_state(),
        Property {
            is: Some(TEXT),
            ..Property::mode("mode", "The file's permission bits.").default(Literal::Text("0644"))
        },
        Property::of("owner", TEXT_OR_INTEGER, "The file's owner.")
            .default(Literal::Text("root"))
            .included_in("the file"),
        Property::of("group", TEXT_OR_INTEGER, "The file's group.")
            .default_to(Default::Described("root's group"))
            .included_in("the file"),
        Property::boolean("hash_entries", "Whether the host's name is kept as a digest.")
            .default(Literal::Boolean(false)),
        Property::text("file_location", "The file.")
            .default(Literal::Text("/etc/ssh/ssh_known_hosts"))
            .deputy(Deputy::Path),
    ]],
    implemented_by: ImplementedBy::Children,
    introduced: Some("14.3"),
};

static SSH_KNOWN_HOSTS_ENTRY_ACTIONS: [Action; 2] =
    [action("create", "Adds the key."), action("flush", "Writes the keys that were added in this run.")];

properties! {
    /// The properties of `ssh_known_hosts_entry`.
    pub struct SshKnownHostsEntryProperties for SSH_KNOWN_HOSTS_ENTRY {
        host: String,
        key: Option<String>,
        key_type: String,
        port: u32,
        timeout: u32,
        mode: String,
        owner: String,
        group: Option<String>,
        hash_entries: bool,
        file_location: String,
    }
}
