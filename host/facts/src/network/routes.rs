//! The routes of each interface, the default route of each family, and the route that determines the node's own address.
//! Ohai's plugin Network for Linux.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::interfaces::name_of;
use super::tables::{Family, Hop, Route, Tables};
use crate::machine::Gathered;
use crate::topics::known;

/// The origin of a route, as `ip` names it. Routes made at boot are the default and have no name.
const PROTOCOLS: [(u8, &str); 12] = [
    (1, "redirect"),
    (2, "kernel"),
    (4, "static"),
    (9, "ra"),
    (11, "zebra"),
    (12, "bird"),
    (16, "dhcp"),
    (18, "keepalived"),
    (42, "babel"),
    (186, "bgp"),
    (188, "ospf"),
    (189, "rip"),
];
const MADE_AT_BOOT: u8 = 3;

/// A route in Ohai's view: through one interface, with its fields as texts.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) interface: String,
    pub(crate) family: Family,
    /// The destination. `None` for a default route.
    pub(crate) destination: Option<(IpAddr, u8)>,
    pub(crate) via: Option<IpAddr>,
    pub(crate) source: Option<IpAddr>,
    pub(crate) metric: Option<u32>,
    /// True if the interface was derived from the source address and not from the route.
    pub(crate) is_inferred: bool,
    scope: u8,
    protocol: u8,
}

impl Path {
    fn to_json(&self) -> Value {
        let text = |address: Option<IpAddr>| address.map(|address| Value::from(address.to_string()));
        let destination = match self.destination {
            None => "default".to_owned(),
            Some((address, length)) if length == self.family.bits() => address.to_string(),
            Some((address, length)) => format!("{address}/{length}"),
        };
        let scope = match self.scope {
            0 => None,
            200 => Some("site".to_owned()),
            253 => Some("link".to_owned()),
            254 => Some("host".to_owned()),
            255 => Some("nowhere".to_owned()),
            other => Some(other.to_string()),
        };
        let protocol =
            PROTOCOLS.iter().find(|(number, _)| *number == self.protocol).map(|(_, name)| (*name).to_owned());
        let protocol = protocol.or_else(|| (self.protocol != MADE_AT_BOOT).then(|| self.protocol.to_string()));
        Value::Object(known([
            ("destination", Some(destination.into())),
            ("family", Some(self.family.name().into())),
            ("inferred", self.is_inferred.then(|| true.into())),
            ("via", text(self.via)),
            ("scope", scope.map(Value::from)),
            ("metric", self.metric.map(|metric| metric.to_string().into())),
            ("proto", protocol.map(Value::from)),
            ("src", text(self.source)),
        ]))
    }
}

/// Returns the routes of one family through known interfaces, in the kernel's order. A route whose source address does not
/// belong to the interface is left out; containers see such routes of their host.
pub(crate) fn paths(tables: &Tables, interfaces: &Gathered, family: Family) -> Vec<Path> {
    let routes = tables.routes.iter().filter(|route| route.family == family);
    let paths = routes.flat_map(|route| {
        let has_several = route.hops.len() > 1;
        route.hops.iter().filter_map(move |hop| path(tables, interfaces, route, hop, has_several))
    });
    paths.collect()
}

fn path(tables: &Tables, interfaces: &Gathered, route: &Route, hop: &Hop, has_several: bool) -> Option<Path> {
    let told = hop.index.and_then(|index| name_of(&tables.links, index)).map(str::to_owned);
    let owner = route.source.filter(|_| told.is_none() || has_several).and_then(|source| owner_of(interfaces, source));
    let is_inferred = owner.is_some();
    let interface = owner.or(told)?;
    let family = route.family;
    if let Some(source) = route.source {
        let has_family = has_address_of(interfaces, &interface, family);
        if has_family && !has_address(interfaces, &interface, source) {
            return None;
        }
    }
    interfaces.get(&interface)?;
    Some(Path {
        interface,
        family,
        destination: route.destination,
        via: hop.gateway,
        source: route.source,
        metric: route.metric,
        is_inferred,
        scope: route.scope,
        protocol: route.protocol,
    })
}

/// Adds the paths to their interfaces.
pub(crate) fn add_to_interfaces(interfaces: &mut Gathered, paths: &[Path]) {
    for path in paths {
        let Some(Value::Object(interface)) = interfaces.get_mut(&path.interface) else { continue };
        if let Value::Array(routes) = interface.entry("routes").or_insert_with(|| json!([])) {
            routes.push(path.to_json());
        }
    }
}

/// Returns the default route with the lowest metric. A missing metric counts as 0, and the first of equal routes is taken.
pub(crate) fn default_path(paths: &[Path]) -> Option<&Path> {
    paths.iter().filter(|path| path.destination.is_none()).min_by_key(|path| path.metric.unwrap_or(0))
}

/// Returns the route whose source address is the node's own: a default route, or one to the default gateway.
pub(crate) fn favoured_path<'a>(paths: &'a [Path], interfaces: &Gathered, default: &Path) -> Option<&'a Path> {
    let reaches_gateway = |path: &Path| match (path.destination, default.via) {
        (None, _) => true,
        (Some((network, length)), Some(gateway)) => contains(network, length, gateway),
        (Some(_), None) => false,
    };
    let is_usable = |path: &Path| match path.family {
        Family::Inet => path.source.is_some_and(|source| {
            !has_address_of(interfaces, &path.interface, Family::Inet)
                || (has_address(interfaces, &path.interface, source)
                    && !is_link_level(interfaces, &path.interface, source))
        }),
        Family::Inet6 => {
            let state = interfaces.get(&path.interface).and_then(|interface| interface.get("state"));
            state.and_then(Value::as_str) == Some("up")
        }
    };
    paths.iter().filter(|path| is_usable(path) && reaches_gateway(path)).min_by_key(|path| {
        let length = path.destination.map_or(0, |(_, length)| length);
        (path.destination.is_some(), path.metric.unwrap_or(0), path.is_inferred, length)
    })
}

/// Tells whether an address is in a network.
pub(crate) fn contains(network: IpAddr, length: u8, address: IpAddr) -> bool {
    let (network, address, bits) = match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            (u128::from(network.to_bits()), u128::from(address.to_bits()), 32)
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => (network.to_bits(), address.to_bits(), 128),
        _ => return false,
    };
    let free = u32::from(128_u8.min(bits).saturating_sub(length));
    network.checked_shr(free).unwrap_or(0) == address.checked_shr(free).unwrap_or(0)
}

fn addresses<'a>(interfaces: &'a Gathered, interface: &str) -> Option<&'a Gathered> {
    interfaces.get(interface)?.get("addresses")?.as_object()
}

fn has_address(interfaces: &Gathered, interface: &str, address: IpAddr) -> bool {
    addresses(interfaces, interface).is_some_and(|addresses| addresses.contains_key(&address.to_string()))
}

fn has_address_of(interfaces: &Gathered, interface: &str, family: Family) -> bool {
    let of_family = |address: &Value| address.get("family").and_then(Value::as_str) == Some(family.name());
    addresses(interfaces, interface).is_some_and(|addresses| addresses.values().any(of_family))
}

fn is_link_level(interfaces: &Gathered, interface: &str, address: IpAddr) -> bool {
    let scope = || addresses(interfaces, interface)?.get(&address.to_string())?.get("scope")?.as_str();
    scope() == Some("Link")
}

fn owner_of(interfaces: &Gathered, address: IpAddr) -> Option<String> {
    interfaces.keys().find(|name| has_address(interfaces, name, address)).cloned()
}

#[cfg(test)]
mod tests {
    use super::contains;

    #[test]
    fn networks() {
        for (network, length, address, expect) in [
            ("10.0.0.0", 24, "10.0.0.9", true),
            ("10.0.0.0", 24, "10.0.1.9", false),
            ("0.0.0.0", 0, "10.0.1.9", true),
            ("10.0.0.1", 32, "10.0.0.1", true),
            ("10.0.0.0", 200, "10.0.0.0", true),
            ("fd00::", 64, "fd00::1", true),
            ("fd00::", 64, "fd01::1", false),
            ("::", 0, "fd01::1", true),
            ("::", 0, "10.0.0.1", false),
        ] {
            assert_eq!(contains(network.parse().unwrap(), length, address.parse().unwrap()), expect);
        }
    }
}
