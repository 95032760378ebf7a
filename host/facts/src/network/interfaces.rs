//! Builds `network.interfaces` and `counters.network.interfaces` from the tables, in the format that Ohai derives from the
//! output of `ip`. Numbers are texts, scopes are capitalised, and hardware addresses are listed among the addresses in upper
//! case.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Value, json};

use super::tables::{Address, Family, Link, Neighbour, Tables, Vlan};
use crate::machine::Gathered;
use crate::topics::{known, one};

/// The flags of an interface that Ohai reports, in the order in which `ip` prints them.
const FLAGS: [(u32, &str); 12] = [
    (0x8, "LOOPBACK"),
    (0x2, "BROADCAST"),
    (0x1000, "MULTICAST"),
    (0x80, "NOARP"),
    (0x200, "ALLMULTI"),
    (0x100, "PROMISC"),
    (0x400, "MASTER"),
    (0x800, "SLAVE"),
    (0x4, "DEBUG"),
    (0x8000, "DYNAMIC"),
    (0x20, "NOTRAILERS"),
    (0x1, "UP"),
];
const FLAG_LOWER_UP: (u32, &str) = (0x1_0000, "LOWER_UP");

/// The states of an interface; the index of each is its number `IF_OPER_*`.
const STATES: [&str; 7] = ["unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up"];

/// Hardware types whose addresses are bytes, and Ohai's names for them.
const ENCAPSULATIONS: [(u16, &str); 4] = [(1, "Ethernet"), (32, "infiniband"), (512, "ppp"), (772, "Loopback")];

/// Flags of an address that `ip` prints after its scope. If `permanent` is missing, `ip` prints `dynamic`.
const ADDRESS_FLAGS: [(u32, &str); 12] = [
    (0x1, "temporary"),
    (0x2, "nodad"),
    (0x4, "optimistic"),
    (0x8, "dadfailed"),
    (0x10, "home"),
    (0x20, "deprecated"),
    (0x40, "tentative"),
    (ADDRESS_PERMANENT, "dynamic"),
    (0x100, "mngtmpaddr"),
    (0x200, "noprefixroute"),
    (0x400, "autojoin"),
    (0x800, "stable-privacy"),
];
const ADDRESS_PERMANENT: u32 = 0x80;

/// Returns the interfaces by name.
pub(crate) fn interfaces(tables: &Tables) -> Gathered {
    let mut interfaces = Gathered::new();
    for link in &tables.links {
        interfaces.insert(link.name.clone(), Value::Object(interface(link)));
    }
    // `ip` lists the IPv4 addresses of an interface before the IPv6 addresses.
    for family in [Family::Inet, Family::Inet6] {
        for address in tables.addresses.iter().filter(|address| address.family == family) {
            add_address(&mut interfaces, &tables.links, address);
        }
    }
    for link in &tables.links {
        if let Some(Value::Object(interface)) = interfaces.get_mut(&link.name) {
            let state = STATES.get(usize::from(link.state)).copied().unwrap_or("unknown");
            interface.insert("state".to_owned(), state.into());
            interface.extend(known([("vlan", link.vlan.as_ref().map(vlan))]));
        }
    }
    for neighbour in &tables.neighbours {
        add_neighbour(&mut interfaces, &tables.links, neighbour);
    }
    interfaces
}

/// Returns the numbers of sent and received bytes, packets and errors of each interface, as texts.
pub(crate) fn counters(tables: &Tables) -> Gathered {
    let counters = tables.links.iter().map(|link| {
        // The indexes of the counters in `rtnl_link_stats64`.
        let count = |place: usize| link.counters.get(place).map(u64::to_string);
        let receive = [("bytes", 2), ("packets", 0), ("errors", 4), ("drop", 6), ("overrun", 11)];
        let send = [("bytes", 3), ("packets", 1), ("errors", 5), ("drop", 7), ("carrier", 17), ("collisions", 9)];
        let mut sent =
            known([("queuelen", link.queue_length.filter(|length| *length > 0).map(|length| length.to_string()))]);
        sent.extend(known(send.map(|(name, place)| (name, count(place)))));
        let received = known(receive.map(|(name, place)| (name, count(place))));
        (link.name.clone(), json!({"tx": sent, "rx": received}))
    });
    counters.collect()
}

/// Returns the name of an interface by its number.
pub(crate) fn name_of(links: &[Link], index: u32) -> Option<&str> {
    links.iter().find(|link| link.index == index).map(|link| link.name.as_str())
}

fn interface(link: &Link) -> Gathered {
    let (kind, number) = kind_and_number(&link.name).unzip();
    let mut flags: Vec<&str> =
        FLAGS.iter().chain([&FLAG_LOWER_UP]).filter(|(bit, _)| link.flags & bit != 0).map(|(_, name)| *name).collect();
    // Ohai ignores a single flag.
    if flags.len() < 2 {
        flags.clear();
    }
    let has_address = !link.address.is_empty();
    let encapsulation = ENCAPSULATIONS.iter().find(|(hardware, _)| has_address && *hardware == link.hardware);
    let mut addresses = Gathered::new();
    if encapsulation.is_some() && link.address.iter().any(|byte| *byte != 0) {
        addresses.extend(one(&hardware_address(&link.address).to_uppercase(), json!({"family": "lladdr"})));
    }
    let mut interface = known([
        ("type", kind.map(Value::from)),
        ("number", number.map(Value::from)),
        ("mtu", link.mtu.map(|mtu| mtu.to_string().into())),
        ("flags", (!flags.is_empty()).then(|| flags.into())),
        ("encapsulation", encapsulation.map(|(_, name)| Value::from(*name))),
    ]);
    if !addresses.is_empty() {
        interface.extend(one("addresses", addresses));
    }
    interface
}

/// Splits a name: `eth0` is number `0` of type `eth`; `enp0s3` is number `0s3` of type `enp`.
fn kind_and_number(name: &str) -> Option<(&str, &str)> {
    let position = name.char_indices().skip(1).find(|(_, character)| character.is_ascii_digit())?.0;
    let (kind, number) = name.split_at_checked(position)?;
    kind.chars().all(|character| character.is_ascii_alphanumeric() || character == '_').then_some((kind, number))
}

fn hardware_address(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 3);
    for (position, byte) in bytes.iter().enumerate() {
        let colon = if position == 0 { "" } else { ":" };
        // Writing to a text cannot fail.
        let _ = write!(text, "{colon}{byte:02x}");
    }
    text
}

fn add_address(interfaces: &mut Gathered, links: &[Link], address: &Address) {
    let Some(name) = name_of(links, address.index) else { return };
    // For Ohai, an old-style alias such as `eth0:1` is a separate interface.
    let alias = address.label.as_deref().filter(|label| {
        let number = label.strip_prefix(name).and_then(|rest| rest.strip_prefix(':'));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    });
    let interface = interfaces.entry(alias.unwrap_or(name)).or_insert_with(|| json!({}));
    let Value::Object(interface) = interface else { return };
    if let Value::Object(addresses) = interface.entry("addresses").or_insert_with(|| json!({})) {
        addresses.insert(address.own.to_string(), Value::Object(address_fields(address)));
    }
}

fn address_fields(address: &Address) -> Gathered {
    let scope = match address.scope {
        0 => "Global".to_owned(),
        200 => "Site".to_owned(),
        253 => "Link".to_owned(),
        254 => "Node".to_owned(),
        255 => "Nowhere".to_owned(),
        other => other.to_string(),
    };
    let text = |address: Option<IpAddr>| address.map(|address| Value::from(address.to_string()));
    match address.family {
        Family::Inet => {
            // `ip` prints the prefix length after the peer's address, where Ohai does not look for it.
            let length = if address.peer.is_some() { 32 } else { address.prefix_length };
            known([
                ("family", Some(Value::from("inet"))),
                ("prefixlen", Some(length.to_string().into())),
                ("netmask", Some(netmask(length).to_string().into())),
                ("peer", text(address.peer)),
                ("broadcast", text(address.broadcast)),
                ("scope", Some(scope.into())),
            ])
        }
        Family::Inet6 => {
            let flags = address.flags ^ ADDRESS_PERMANENT;
            let tags: Vec<&str> =
                ADDRESS_FLAGS.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, name)| *name).collect();
            known([
                ("family", Some(Value::from("inet6"))),
                ("prefixlen", Some(address.prefix_length.to_string().into())),
                ("scope", Some(scope.into())),
                ("tags", Some(tags.into())),
            ])
        }
    }
}

fn netmask(length: u8) -> Ipv4Addr {
    let zeros = 32_u32.saturating_sub(u32::from(length));
    Ipv4Addr::from(u32::MAX.checked_shl(zeros).unwrap_or(0))
}

fn vlan(vlan: &Vlan) -> Value {
    let protocol = vlan.protocol.map(|protocol| match protocol {
        0x8100 => "802.1Q".to_owned(),
        0x88a8 => "802.1ad".to_owned(),
        other => format!("0x{other:04x}"),
    });
    let flags: Vec<&str> = [(0x1, "REORDER_HDR"), (0x2, "GVRP"), (0x4, "LOOSE_BINDING")]
        .into_iter()
        .filter(|(bit, _)| vlan.flags & bit != 0)
        .map(|(_, name)| name)
        .collect();
    Value::Object(known([
        ("id", vlan.identity.map(|identity| Value::from(identity.to_string()))),
        ("protocol", protocol.map(Value::from)),
        ("flags", (!flags.is_empty()).then(|| flags.into())),
    ]))
}

fn add_neighbour(interfaces: &mut Gathered, links: &[Link], neighbour: &Neighbour) {
    let interface = name_of(links, neighbour.index).and_then(|name| interfaces.get_mut(name));
    let Some(Value::Object(interface)) = interface else { return };
    let table = match neighbour.family {
        Family::Inet => "arp",
        Family::Inet6 => "neighbour_inet6",
    };
    if let Value::Object(table) = interface.entry(table).or_insert_with(|| json!({})) {
        table.insert(neighbour.address.to_string(), hardware_address(&neighbour.hardware).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, expect) in [
            ("eth0", Some(("eth", "0"))),
            ("enp0s3", Some(("enp", "0s3"))),
            ("br0.11", Some(("br", "0.11"))),
            ("lo", None),
            ("br-12ab", None),
            ("0eth1", Some(("0eth", "1"))),
            ("", None),
        ] {
            assert_eq!(kind_and_number(name), expect, "for {name}");
        }
    }

    #[test]
    fn netmasks() {
        for (length, expect) in [(0, "0.0.0.0"), (8, "255.0.0.0"), (25, "255.255.255.128"), (32, "255.255.255.255")] {
            assert_eq!(netmask(length).to_string(), expect);
        }
    }
}
