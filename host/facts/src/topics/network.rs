//! `network`, `counters`, `ipaddress`, `ip6address`, `macaddress`: Ohai's plugins Network and NetworkAddresses.
//!
//! Ohai also asks `ethtool`, for ring sizes and offloads. Of these data, only speed, duplex and driver are reported, from
//! `/sys/class/net`.

use serde_json::{Value, json};

use crate::machine::{Gathered, Machine};
use crate::network::tables::{Family, Tables};
use crate::network::{choice, interfaces, read_tables, routes};
use crate::topics::{known, one};

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let tables = read_tables();
    if tables.links.is_empty() {
        return Gathered::new();
    }
    let mut gathered = from_tables(&tables);
    let interfaces = gathered.get_mut("network").and_then(|network| network.get_mut("interfaces"));
    for (name, interface) in interfaces.and_then(Value::as_object_mut).into_iter().flatten() {
        if let Value::Object(interface) = interface {
            add_hardware(machine, name, interface);
        }
    }
    gathered
}

/// Builds all facts that come from the kernel's tables.
fn from_tables(tables: &Tables) -> Gathered {
    let mut network = Gathered::new();
    let mut all = interfaces::interfaces(tables);
    let (mut ipaddress, mut ip6address, mut macaddress) = (None, None, None);
    for family in [Family::Inet, Family::Inet6] {
        let paths = routes::paths(tables, &all, family);
        routes::add_to_interfaces(&mut all, &paths);
        let Some(default) = routes::default_path(&paths) else { continue };
        add_default(&mut network, family, default);
        let Some(favoured) = routes::favoured_path(&paths, &all, default) else { continue };
        let source = favoured.source.map(|source| source.to_string());
        match family {
            Family::Inet => ipaddress = source,
            Family::Inet6 => ip6address = source,
        }
        macaddress = macaddress.or_else(|| hardware_address_for_route(&all, &favoured.interface));
    }
    for family in [Family::Inet, Family::Inet6] {
        let Some((address, interface)) = choice::address_of(&network, &all, family) else { continue };
        match family {
            Family::Inet => ipaddress = ipaddress.or_else(|| Some(address.to_string())),
            Family::Inet6 => ip6address = ip6address.or_else(|| Some(address.to_string())),
        }
        macaddress = macaddress.or_else(|| choice::hardware_address_of(&all, &interface));
    }
    let mut whole = one("interfaces", all);
    whole.extend(network);
    let mut gathered = one("network", whole);
    gathered.extend(one("counters", one("network", one("interfaces", interfaces::counters(tables)))));
    gathered.extend(known([("ipaddress", ipaddress), ("ip6address", ip6address), ("macaddress", macaddress)]));
    gathered
}

fn add_default(network: &mut Gathered, family: Family, default: &routes::Path) {
    let (prefix, nowhere) = match family {
        Family::Inet => ("default", "0.0.0.0"),
        Family::Inet6 => ("default_inet6", "::"),
    };
    let gateway = default.via.map_or_else(|| nowhere.to_owned(), |gateway| gateway.to_string());
    network.insert(format!("{prefix}_interface"), default.interface.clone().into());
    network.insert(format!("{prefix}_gateway"), gateway.into());
}

/// Returns the node's hardware address from the interface of a route. For interfaces without address resolution it has no
/// meaning.
fn hardware_address_for_route(interfaces: &Gathered, interface: &str) -> Option<String> {
    let flags = interfaces.get(interface)?.get("flags").and_then(Value::as_array);
    let has = |flag: &str| flags.is_some_and(|flags| flags.iter().any(|other| other.as_str() == Some(flag)));
    if has("LOOPBACK") {
        return Some("00:00:00:00:00:00".to_owned());
    }
    (!has("NOARP")).then(|| choice::hardware_address_of(interfaces, interface)).flatten()
}

fn add_hardware(machine: &Machine, name: &str, interface: &mut Gathered) {
    if interface.get("encapsulation").and_then(Value::as_str) != Some("Ethernet") || name.contains('/') {
        return;
    }
    let directory = format!("/sys/class/net/{name}");
    // The speed of a link that is down is -1, and a virtual machine's link often has no speed.
    let speed = machine.machine.number::<u64>(&format!("{directory}/speed"));
    let duplex = machine.machine.line(&format!("{directory}/duplex")).and_then(|duplex| match duplex.as_str() {
        "full" => Some("Full"),
        "half" => Some("Half"),
        _ => None,
    });
    let driver = machine.machine.link_target(&format!("{directory}/device/driver"));
    let driver = driver.and_then(|driver| Some(driver.rsplit('/').next()?.to_owned()));
    interface.extend(known([
        ("link_speed", speed.map(Value::from)),
        ("duplex", duplex.map(Value::from)),
        ("driver_info", driver.map(|driver| json!({"driver": driver}))),
    ]));
}

#[cfg(test)]
mod tests;
