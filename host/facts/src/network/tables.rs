//! Parses the messages of the kernel's network tables. Layouts: `linux/if_link.h`, `if_addr.h`, `rtnetlink.h` and
//! `neighbour.h` of the kernel's user interface. A message that is too short or malformed is left out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The number of the main routing table, which is used unless rules say otherwise.
const MAIN_TABLE: u32 = 254;
/// The type of a normal route, to a neighbour or a gateway. Other types refuse, broadcast, or are for the machine itself.
const UNICAST: u8 = 1;
/// The flag of a route that the kernel derived from another one for a single destination.
const CLONED: u32 = 0x200;

/// The table that a message belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Links,
    Addresses,
    Routes,
    Neighbours,
}

impl Kind {
    /// Returns the number of the request, such as `RTM_GETLINK`.
    pub(super) fn request(self) -> u16 {
        match self {
            Self::Links => 18,
            Self::Addresses => 22,
            Self::Routes => 26,
            Self::Neighbours => 30,
        }
    }
}

/// The two families of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Inet,
    Inet6,
}

impl Family {
    fn from_number(number: u8) -> Option<Self> {
        match number {
            2 => Some(Self::Inet),
            10 => Some(Self::Inet6),
            _ => None,
        }
    }

    /// Returns the family's name in `ip` and Ohai.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Inet => "inet",
            Self::Inet6 => "inet6",
        }
    }

    /// Returns the length of an address, in bits.
    pub(crate) fn bits(self) -> u8 {
        match self {
            Self::Inet => 32,
            Self::Inet6 => 128,
        }
    }
}

/// A network interface from the kernel's table of links.
#[derive(Clone, Debug, Default)]
pub(crate) struct Link {
    pub(crate) index: u32,
    pub(crate) name: String,
    /// The hardware type, `ARPHRD_*`.
    pub(crate) hardware: u16,
    /// The interface's flags, bits of `IFF_*`.
    pub(crate) flags: u32,
    pub(crate) mtu: Option<u32>,
    pub(crate) address: Vec<u8>,
    /// The interface's state, a number of `IF_OPER_*`.
    pub(crate) state: u8,
    pub(crate) queue_length: Option<u32>,
    /// The counters of `rtnl_link_stats64`, in its order.
    pub(crate) counters: Vec<u64>,
    pub(crate) vlan: Option<Vlan>,
}

/// The settings of a VLAN interface.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vlan {
    pub(crate) identity: Option<u16>,
    pub(crate) protocol: Option<u16>,
    pub(crate) flags: u32,
}

/// An address of an interface.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) index: u32,
    pub(crate) family: Family,
    pub(crate) prefix_length: u8,
    pub(crate) scope: u8,
    /// The address's flags, bits of `IFA_F_*`.
    pub(crate) flags: u32,
    pub(crate) own: IpAddr,
    /// The other end of a point-to-point link.
    pub(crate) peer: Option<IpAddr>,
    pub(crate) broadcast: Option<IpAddr>,
    pub(crate) label: Option<String>,
}

/// A route of the main table.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) family: Family,
    /// The destination. `None` for the default route.
    pub(crate) destination: Option<(IpAddr, u8)>,
    pub(crate) protocol: u8,
    pub(crate) scope: u8,
    pub(crate) metric: Option<u32>,
    pub(crate) source: Option<IpAddr>,
    /// One hop, or several for a route over several paths.
    pub(crate) hops: Vec<Hop>,
}

/// The first hop of a route.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hop {
    pub(crate) index: Option<u32>,
    pub(crate) gateway: Option<IpAddr>,
}

/// A neighbour whose hardware address is known.
#[derive(Clone, Debug)]
pub(crate) struct Neighbour {
    pub(crate) index: u32,
    pub(crate) family: Family,
    pub(crate) address: IpAddr,
    pub(crate) hardware: Vec<u8>,
}

/// All tables of a machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    pub(crate) links: Vec<Link>,
    pub(crate) addresses: Vec<Address>,
    pub(crate) routes: Vec<Route>,
    pub(crate) neighbours: Vec<Neighbour>,
}

impl Tables {
    /// Adds the messages of one table.
    pub(crate) fn add(&mut self, kind: Kind, bodies: &[Vec<u8>]) {
        for body in bodies {
            match kind {
                Kind::Links => self.links.extend(link(body)),
                Kind::Addresses => self.addresses.extend(address(body)),
                Kind::Routes if self.routes.len() < crate::limits::ROUTES => self.routes.extend(route(body)),
                Kind::Routes => {}
                Kind::Neighbours => self.neighbours.extend(neighbour(body)),
            }
        }
    }
}

fn link(body: &[u8]) -> Option<Link> {
    let mut link =
        Link { hardware: u16_at(body, 2)?, index: u32_at(body, 4)?, flags: u32_at(body, 8)?, ..Link::default() };
    for (kind, value) in attributes(body.get(16..)?) {
        match kind {
            1 => link.address = value.to_vec(),
            3 => link.name = text(value),
            4 => link.mtu = u32_at(value, 0),
            13 => link.queue_length = u32_at(value, 0),
            16 => link.state = value.first().copied().unwrap_or(0),
            18 => link.vlan = vlan(value),
            23 => link.counters = value.chunks_exact(8).filter_map(|bytes| u64_at(bytes, 0)).collect(),
            _ => {}
        }
    }
    (!link.name.is_empty()).then_some(link)
}

fn vlan(information: &[u8]) -> Option<Vlan> {
    let find = |wanted: u16| attributes(information).find(|(kind, _)| *kind == wanted).map(|(_, value)| value);
    if text(find(1)?) != "vlan" {
        return None;
    }
    let mut vlan = Vlan::default();
    for (kind, value) in attributes(find(2)?) {
        match kind {
            1 => vlan.identity = u16_at(value, 0),
            2 => vlan.flags = u32_at(value, 0).unwrap_or(0),
            5 => vlan.protocol = u16_at(value, 0).map(u16::from_be),
            _ => {}
        }
    }
    Some(vlan)
}

fn address(body: &[u8]) -> Option<Address> {
    let family = Family::from_number(*body.first()?)?;
    let (mut own, mut local, mut broadcast, mut label, mut flags) = (None, None, None, None, u32::from(*body.get(2)?));
    for (kind, value) in attributes(body.get(8..)?) {
        match kind {
            1 => own = ip(family, value),
            2 => local = ip(family, value),
            3 => label = Some(text(value)),
            4 => broadcast = ip(family, value),
            8 => flags = u32_at(value, 0).unwrap_or(flags),
            _ => {}
        }
    }
    // If both attributes are present, the first is the address of the peer. For a broadcast network it equals the own
    // address.
    let peer = own.filter(|own| local.is_some_and(|local| local != *own));
    Some(Address {
        index: u32_at(body, 4)?,
        family,
        prefix_length: (*body.get(1)?).min(family.bits()),
        scope: *body.get(3)?,
        flags,
        own: local.or(own)?,
        peer,
        broadcast,
        label,
    })
}

fn route(body: &[u8]) -> Option<Route> {
    let family = Family::from_number(*body.first()?)?;
    let (length, table, protocol) = (*body.get(1)?, u32::from(*body.get(4)?), *body.get(5)?);
    let (scope, kind, flags) = (*body.get(6)?, *body.get(7)?, u32_at(body, 8)?);
    let mut route = Route { family, destination: None, protocol, scope, metric: None, source: None, hops: Vec::new() };
    let (mut real_table, mut single) = (table, Hop::default());
    for (kind, value) in attributes(body.get(12..)?) {
        match kind {
            1 if length > 0 => route.destination = Some((ip(family, value)?, length.min(family.bits()))),
            4 => single.index = u32_at(value, 0),
            5 => single.gateway = ip(family, value),
            6 => route.metric = u32_at(value, 0),
            7 => route.source = ip(family, value),
            9 => route.hops = hops(family, value),
            15 => real_table = u32_at(value, 0)?,
            18 => single.gateway = via(value),
            _ => {}
        }
    }
    if real_table != MAIN_TABLE || kind != UNICAST || flags & CLONED != 0 || (length > 0 && route.destination.is_none())
    {
        return None;
    }
    if route.hops.is_empty() {
        route.hops.push(single);
    }
    Some(route)
}

/// Parses the hops of a route over several paths. Each hop has its own length, interface and attributes.
fn hops(family: Family, mut list: &[u8]) -> Vec<Hop> {
    let mut hops = Vec::new();
    while let (Some(length), Some(index)) = (u16_at(list, 0), u32_at(list, 4)) {
        let length = usize::from(length);
        let Some(own) = list.get(8..length) else { break };
        let mut hop = Hop { index: Some(index), gateway: None };
        for (kind, value) in attributes(own) {
            match kind {
                5 => hop.gateway = ip(family, value),
                18 => hop.gateway = via(value),
                _ => {}
            }
        }
        hops.push(hop);
        list = list.get(aligned(length)..).unwrap_or_default();
    }
    hops
}

/// Parses a gateway, which may be of another family than the route.
fn via(value: &[u8]) -> Option<IpAddr> {
    let family = Family::from_number(u8::try_from(u16_at(value, 0)?).ok()?)?;
    ip(family, value.get(2..)?)
}

fn neighbour(body: &[u8]) -> Option<Neighbour> {
    let family = Family::from_number(*body.first()?)?;
    let index = u32_at(body, 4)?;
    let (mut address, mut hardware) = (None, Vec::new());
    for (kind, value) in attributes(body.get(12..)?) {
        match kind {
            1 => address = ip(family, value),
            2 => hardware = value.to_vec(),
            _ => {}
        }
    }
    // `ip neigh` does not show neighbours that need no resolution (`NUD_NOARP`: multicast, the machine itself).
    let needs_none = u16_at(body, 8)? & 0x40 != 0;
    (!hardware.is_empty() && !needs_none).then_some(Neighbour { index, family, address: address?, hardware })
}

/// Returns the attributes in a list, as type and value. A length that does not fit ends the list.
fn attributes(mut list: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(list, 0)?);
        // The highest bits of the type only describe nesting and byte order.
        let kind = u16_at(list, 2)? & 0x3fff;
        let value = list.get(4..length)?;
        list = list.get(aligned(length)..).unwrap_or_default();
        Some((kind, value))
    })
}

fn ip(family: Family, bytes: &[u8]) -> Option<IpAddr> {
    match family {
        Family::Inet => Some(IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(bytes.get(..4)?).ok()?))),
        Family::Inet6 => Some(IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes.get(..16)?).ok()?))),
    }
}

fn text(bytes: &[u8]) -> String {
    let bytes: Vec<u8> = bytes.iter().copied().take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Rounds a length up to a multiple of four.
pub(super) fn aligned(length: usize) -> usize {
    length.saturating_add(3) & !3
}

/// Reads a number in the machine's byte order.
pub(super) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(offset..offset.checked_add(2)?)?.try_into().ok()?))
}

/// Reads a number in the machine's byte order.
pub(super) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(offset..offset.checked_add(4)?)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(offset..offset.checked_add(8)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = u16::try_from(4 + value.len()).unwrap().to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(aligned(bytes.len()), 0);
        bytes
    }

    #[test]
    fn reads_an_address() {
        let mut body = vec![2, 24, 0x80, 0];
        body.extend(7_u32.to_ne_bytes());
        body.extend(attribute(1, &[10, 0, 0, 2]));
        body.extend(attribute(2, &[10, 0, 0, 1]));
        body.extend(attribute(3, b"eth0\0"));
        let address = address(&body).unwrap();
        assert_eq!((address.index, address.prefix_length), (7, 24));
        assert_eq!(address.own.to_string(), "10.0.0.1");
        assert_eq!(address.peer.map(|peer| peer.to_string()).as_deref(), Some("10.0.0.2"));
        assert_eq!(address.label.as_deref(), Some("eth0"));
    }

    #[test]
    fn reads_a_route_over_two_paths() {
        let hop = |index: u32, gateway: [u8; 4]| {
            let own = attribute(5, &gateway);
            let mut bytes = u16::try_from(8 + own.len()).unwrap().to_ne_bytes().to_vec();
            bytes.extend([0, 0]);
            bytes.extend(index.to_ne_bytes());
            bytes.extend(own);
            bytes
        };
        let mut body = vec![2, 0, 0, 0, 254, 16, 0, UNICAST, 0, 0, 0, 0];
        body.extend(attribute(9, &[hop(1, [10, 0, 0, 1]), hop(2, [10, 0, 1, 1])].concat()));
        let route = route(&body).unwrap();
        assert!(route.destination.is_none());
        let hops: Vec<_> =
            route.hops.iter().map(|hop| (hop.index.unwrap(), hop.gateway.unwrap().to_string())).collect();
        assert_eq!(hops, [(1, "10.0.0.1".to_owned()), (2, "10.0.1.1".to_owned())]);
    }

    #[test]
    fn odd_messages_are_left_out() {
        // A fixed walk through many byte strings; each must be read without a panic, whatever it gives.
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut read = 0;
        for _ in 0..20_000 {
            let length = usize::try_from(next() % 96).unwrap();
            let mut body: Vec<u8> = (0..length).map(|_| u8::try_from(next() % 24).unwrap()).collect();
            if let Some(first) = body.first_mut() {
                *first = [2, 10, 0][usize::from(*first) % 3];
            }
            let mut tables = Tables::default();
            for kind in [Kind::Links, Kind::Addresses, Kind::Routes, Kind::Neighbours] {
                tables.add(kind, std::slice::from_ref(&body));
            }
            read += tables.links.len() + tables.addresses.len() + tables.neighbours.len();
        }
        assert!(read > 0, "some of them have to be readable for the test to mean anything");
    }
}
