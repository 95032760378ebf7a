//! `hostname`.

use crate::property::{Class, Default, Literal, Matcher, Property};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// Sets the host's name.
pub static HOSTNAME: ResourceType = ResourceType {
    name: "hostname",
    aliases: &[],
    doc: "Sets the host's name, also in /etc/hosts.",
    actions: &HOSTNAME_ACTIONS,
    default_action: "set",
    properties: &[&[
        Property::text("hostname", "The name.").name_property().identity(),
        Property::text("fqdn", "The full name, where it is more than the name.").since("17.0"),
        Property::text("ipaddress", "The address that the name stands for in /etc/hosts.")
            .default_to(Default::Described("the node's own address")),
        Property::of(
            "aliases",
            &[Matcher::Class(Class::List), Matcher::Equal(Literal::Nil)],
            "Further names in the line of /etc/hosts.",
        )
        .default(Literal::Nil),
        Property::boolean("compile_time", "Whether the name is set at once when the resource is declared.")
            .default(Literal::Boolean(true))
            .no_state(),
        Property::boolean("windows_reboot", "Whether the node is started again (Windows only).")
            .default(Literal::Boolean(true)),
        Property::text("domain_user", "A user who may rename the node (Windows only).").since("17.2"),
        Property::text("domain_password", "The user's password (Windows only).").sensitive().since("17.2"),
    ]],
    implemented_by: ImplementedBy::Children,
    introduced: Some("14.0"),
};

static HOSTNAME_ACTIONS: [Action; 1] = [action("set", "Sets the name.")];

properties! {
    /// The properties of `hostname`.
    pub struct HostnameProperties for HOSTNAME {
        hostname: String,
        fqdn: Option<String>,
        ipaddress: Option<String>,
        aliases: Option<Vec<String>>,
    }
}
