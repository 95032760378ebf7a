//! Types for disks and networks, without an implementation.

use super::NOBODY;
use crate::property::{Class, Coercion, Literal, Matcher, Property, TEXT_OR_NIL};
use crate::resource::{ResourceType, action};

/// Manages a software RAID.
pub static MDADM: ResourceType = ResourceType {
    name: "mdadm",
    doc: "Manages a software RAID.",
    actions: &[
        action("create", "Makes it, or brings it up to date."),
        action("assemble", "Assembles the array."),
        action("stop", "Stops it."),
    ],
    default_action: "create",
    properties: &[&[
        Property::integer("chunk", "The chunk size, in kilobytes.").default(Literal::Integer(16)),
        Property::list("devices", "The devices of the array.").default(Literal::List(&[])),
        Property::boolean("exists", "Whether the array exists.").default(Literal::Boolean(false)),
        Property::integer("level", "The RAID level.").default(Literal::Integer(1)),
        Property::text("metadata", "The version of the superblock.").default(Literal::Text("0.90")),
        Property::text("bitmap", "The path of the write-intent bitmap."),
        Property::text("raid_device", "The device of the array.").name_property(),
        Property::text("layout", "The layout of the parity."),
    ]],
    ..NOBODY
};

/// Manages a network interface by ifconfig.
pub static IFCONFIG: ResourceType = ResourceType {
    name: "ifconfig",
    doc: "Manages a network interface by ifconfig.",
    actions: &[
        action("add", "Adds it."),
        action("delete", "Deletes it."),
        action("enable", "Enables it."),
        action("disable", "Disables it."),
    ],
    default_action: "add",
    properties: &[&[
        Property::text("target", "The address of the interface.").name_property(),
        Property::text("hwaddr", "The hardware address."),
        Property::text("mask", "The netmask."),
        Property::text("family", "The address family.").default(Literal::Text("inet")),
        Property::text("inet_addr", "The address in the file of settings."),
        Property::text("bcast", "The broadcast address."),
        Property::text("mtu", "The maximum size of a packet, in bytes."),
        Property::text("metric", "The routing metric."),
        Property::text("device", "The name of the interface.").identity(),
        Property::text("onboot", "Whether the interface is brought up at the start."),
        Property::text("network", "The address of the network."),
        Property::text("bootproto", "The protocol at the start, such as `dhcp`."),
        Property::text("onparent", "Whether it is brought up with its parent."),
        Property::text("ethtool_opts", "Options for ethtool."),
        Property::text("bonding_opts", "Options of a bond."),
        Property::text("master", "The bond that it belongs to."),
        Property::text("slave", "Whether it belongs to a bond."),
        Property::text("vlan", "Whether it is a VLAN."),
        Property::text("gateway", "The gateway."),
        Property::text("bridge", "The bridge that it belongs to."),
    ]],
    ..NOBODY
};

/// Manages a route of the system.
pub static ROUTE: ResourceType = ResourceType {
    name: "route",
    doc: "Manages a route of the system.",
    actions: &[action("add", "Adds it."), action("delete", "Deletes it.")],
    default_action: "add",
    properties: &[&[
        Property::text("target", "The address that the route leads to.").name_property(),
        Property::of("comment", TEXT_OR_NIL, "The comment of the route."),
        Property::of("metric", &[Matcher::Class(Class::Integer), Matcher::Equal(Literal::Nil)], "The routing metric."),
        Property::of("netmask", TEXT_OR_NIL, "The netmask of the target."),
        Property::of("gateway", TEXT_OR_NIL, "The gateway."),
        Property::of("device", TEXT_OR_NIL, "The interface of the route.").no_state(),
        Property::of(
            "route_type",
            &[Matcher::Class(Class::Symbol), Matcher::Class(Class::Text)],
            "Whether it leads to a host or a network.",
        )
        .equal_to(&[Literal::Symbol("host"), Literal::Symbol("net")])
        .coerce(Coercion::Symbol)
        .default(Literal::Symbol("host"))
        .no_state(),
    ]],
    ..NOBODY
};
