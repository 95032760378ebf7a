use std::net::IpAddr;

use serde_json::{Value, json};

use super::from_tables;
use crate::network::tables::{Address, Family, Hop, Link, Neighbour, Route, Tables, Vlan};

const UP: u32 = 0x1 | 0x2 | 0x40 | 0x1000 | 0x1_0000;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn family(address: IpAddr) -> Family {
    if address.is_ipv4() { Family::Inet } else { Family::Inet6 }
}

fn link(index: u32, name: &str, last_byte: u8) -> Link {
    Link {
        index,
        name: name.to_owned(),
        hardware: 1,
        flags: UP,
        mtu: Some(1500),
        address: vec![2, 0, 0, 0, 0xab, last_byte],
        state: 6,
        queue_length: Some(1000),
        counters: (0..24).collect(),
        vlan: None,
    }
}

fn loopback() -> Link {
    Link { hardware: 772, flags: 0x1_0049, mtu: Some(65536), address: vec![0; 6], state: 0, ..link(1, "lo", 0) }
}

fn address(index: u32, own: &str, prefix_length: u8, scope: u8) -> Address {
    let own = ip(own);
    Address {
        index,
        family: family(own),
        prefix_length,
        scope,
        flags: 0x80,
        own,
        peer: None,
        broadcast: None,
        label: None,
    }
}

fn route(index: u32, destination: Option<(&str, u8)>, via: Option<&str>, source: Option<&str>) -> Route {
    let any = destination.map(|(network, _)| network).or(via).unwrap();
    Route {
        family: family(ip(any)),
        destination: destination.map(|(network, length)| (ip(network), length)),
        protocol: 3,
        scope: 0,
        metric: None,
        source: source.map(ip),
        hops: vec![Hop { index: Some(index), gateway: via.map(ip) }],
    }
}

fn check(tables: &Tables, expect: Value) {
    let gathered = from_tables(tables);
    let network = gathered.get("network").unwrap();
    let choice: serde_json::Map<String, Value> =
        ["default_interface", "default_gateway", "default_inet6_interface", "default_inet6_gateway"]
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), network.get(*key)?.clone())))
            .chain(
                ["ipaddress", "ip6address", "macaddress"]
                    .iter()
                    .filter_map(|key| Some(((*key).to_owned(), gathered.get(*key)?.clone()))),
            )
            .collect();
    assert_eq!(Value::Object(choice), expect);
}

/// One card with an address from a DHCP server, as most machines have it.
fn usual() -> Tables {
    let mut kernel_route = route(2, Some(("10.0.2.0", 24)), None, Some("10.0.2.15"));
    (kernel_route.protocol, kernel_route.scope) = (2, 253);
    let mut inet = address(2, "10.0.2.15", 24, 0);
    inet.broadcast = Some(ip("10.0.2.255"));
    let mut local = address(2, "fe80::5054:ff:fe12:3456", 64, 253);
    local.flags = 0x2;
    let mut default6 = route(2, None, Some("fe80::2"), None);
    (default6.protocol, default6.metric) = (9, Some(1024));
    Tables {
        links: vec![loopback(), link(2, "eth0", 7)],
        addresses: vec![address(1, "127.0.0.1", 8, 254), address(1, "::1", 128, 254), local, inet],
        routes: vec![route(2, None, Some("10.0.2.2"), None), kernel_route, default6],
        neighbours: vec![Neighbour {
            index: 2,
            family: Family::Inet,
            address: ip("10.0.2.2"),
            hardware: vec![0x52, 0x54, 0, 0x12, 0x35, 2],
        }],
    }
}

#[test]
fn shapes_are_ohais() {
    let gathered = from_tables(&usual());
    assert_eq!(
        gathered.get("network").unwrap().get("interfaces").unwrap(),
        &json!({
            "lo": {
                "mtu": "65536",
                "flags": ["LOOPBACK", "UP", "LOWER_UP"],
                "encapsulation": "Loopback",
                "addresses": {
                    "127.0.0.1": {"family": "inet", "prefixlen": "8", "netmask": "255.0.0.0", "scope": "Node"},
                    "::1": {"family": "inet6", "prefixlen": "128", "scope": "Node", "tags": []},
                },
                "state": "unknown",
            },
            "eth0": {
                "type": "eth",
                "number": "0",
                "mtu": "1500",
                "flags": ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"],
                "encapsulation": "Ethernet",
                "addresses": {
                    "02:00:00:00:AB:07": {"family": "lladdr"},
                    "10.0.2.15": {
                        "family": "inet", "prefixlen": "24", "netmask": "255.255.255.0",
                        "broadcast": "10.0.2.255", "scope": "Global",
                    },
                    "fe80::5054:ff:fe12:3456": {
                        "family": "inet6", "prefixlen": "64", "scope": "Link", "tags": ["nodad", "dynamic"],
                    },
                },
                "state": "up",
                "arp": {"10.0.2.2": "52:54:00:12:35:02"},
                "routes": [
                    {"destination": "default", "family": "inet", "via": "10.0.2.2"},
                    {
                        "destination": "10.0.2.0/24", "family": "inet", "scope": "link", "proto": "kernel",
                        "src": "10.0.2.15",
                    },
                    {"destination": "default", "family": "inet6", "via": "fe80::2", "metric": "1024", "proto": "ra"},
                ],
            },
        })
    );
    assert_eq!(
        gathered.get("counters").unwrap().get("network").unwrap().get("interfaces").unwrap().get("eth0").unwrap(),
        &json!({
            "tx": {
                "queuelen": "1000", "bytes": "3", "packets": "1", "errors": "5", "drop": "7", "carrier": "17",
                "collisions": "9",
            },
            "rx": {"bytes": "2", "packets": "0", "errors": "4", "drop": "6", "overrun": "11"},
        })
    );
}

#[test]
fn usual_choice() {
    check(
        &usual(),
        json!({
            "default_interface": "eth0", "default_gateway": "10.0.2.2",
            "default_inet6_interface": "eth0", "default_inet6_gateway": "fe80::2",
            "ipaddress": "10.0.2.15", "ip6address": "fe80::5054:ff:fe12:3456", "macaddress": "02:00:00:00:AB:07",
        }),
    );
}

#[test]
fn lower_metric_wins() {
    let mut tables = usual();
    tables.links.push(link(3, "eth1", 9));
    tables.addresses.push(address(3, "192.168.1.5", 24, 0));
    tables.routes.first_mut().unwrap().metric = Some(100);
    let mut better = route(3, None, Some("192.168.1.1"), Some("192.168.1.5"));
    better.metric = Some(50);
    tables.routes.push(better);
    tables.routes.retain(|route| route.family == Family::Inet);
    check(
        &tables,
        json!({
            "default_interface": "eth1", "default_gateway": "192.168.1.1",
            "ipaddress": "192.168.1.5", "ip6address": "fe80::5054:ff:fe12:3456", "macaddress": "02:00:00:00:AB:09",
        }),
    );
}

#[test]
fn several_paths_belong_to_their_interfaces() {
    let mut tables = usual();
    tables.links.push(link(3, "eth1", 9));
    tables.addresses.push(address(3, "192.168.1.5", 24, 0));
    let hop = |index, gateway| Hop { index: Some(index), gateway: Some(ip(gateway)) };
    tables.routes =
        vec![Route { hops: vec![hop(2, "10.0.2.2"), hop(3, "192.168.1.1")], ..route(2, None, Some("10.0.2.2"), None) }];
    let gathered = from_tables(&tables);
    let routes = |name: &str| gathered["network"]["interfaces"][name]["routes"].clone();
    assert_eq!(routes("eth0"), json!([{"destination": "default", "family": "inet", "via": "10.0.2.2"}]));
    assert_eq!(routes("eth1"), json!([{"destination": "default", "family": "inet", "via": "192.168.1.1"}]));
    check(
        &tables,
        json!({
            "default_interface": "eth0", "default_gateway": "10.0.2.2",
            "ipaddress": "10.0.2.15", "ip6address": "fe80::5054:ff:fe12:3456", "macaddress": "02:00:00:00:AB:07",
        }),
    );
}

#[test]
fn without_routes_the_farthest_reach_wins() {
    let mut tables = usual();
    tables.routes.clear();
    tables.addresses.push(address(2, "169.254.3.4", 16, 253));
    tables.addresses.push(address(2, "fd00::2", 64, 0));
    check(&tables, json!({"ipaddress": "10.0.2.15", "ip6address": "fd00::2", "macaddress": "02:00:00:00:AB:07"}));
    tables.addresses.clear();
    check(&tables, json!({}));
}

#[test]
fn a_source_that_is_not_ours_is_no_route() {
    let mut tables = usual();
    tables.routes = vec![route(2, None, Some("10.0.2.2"), Some("10.9.9.9"))];
    check(
        &tables,
        json!({
            "ipaddress": "10.0.2.15", "ip6address": "fe80::5054:ff:fe12:3456", "macaddress": "02:00:00:00:AB:07",
        }),
    );
}

#[test]
fn aliases_peers_and_virtual_networks() {
    let mut alias = address(2, "10.0.3.1", 24, 0);
    alias.label = Some("eth0:1".to_owned());
    let mut peer = address(3, "10.8.0.6", 24, 0);
    peer.peer = Some(ip("10.8.0.5"));
    let vlan = Vlan { identity: Some(11), protocol: Some(0x8100), flags: 1 };
    let tunnel = Link { hardware: 65534, address: Vec::new(), flags: 0x80, ..link(3, "tun0", 0) };
    let tables = Tables {
        links: vec![link(2, "eth0", 1), tunnel, Link { vlan: Some(vlan), ..link(4, "eth0.11", 1) }],
        addresses: vec![alias, peer],
        ..Tables::default()
    };
    let gathered = from_tables(&tables);
    let interfaces = &gathered["network"]["interfaces"];
    assert_eq!(interfaces["eth0"]["addresses"], json!({"02:00:00:00:AB:01": {"family": "lladdr"}}));
    assert_eq!(
        interfaces["eth0:1"],
        json!({"addresses": {"10.0.3.1": {
            "family": "inet", "prefixlen": "24", "netmask": "255.255.255.0", "scope": "Global",
        }}})
    );
    assert_eq!(
        interfaces["tun0"],
        json!({"type": "tun", "number": "0", "mtu": "1500", "state": "up", "addresses": {"10.8.0.6": {
            "family": "inet", "prefixlen": "32", "netmask": "255.255.255.255", "peer": "10.8.0.5", "scope": "Global",
        }}})
    );
    assert_eq!(interfaces["eth0.11"]["vlan"], json!({"id": "11", "protocol": "802.1Q", "flags": ["REORDER_HDR"]}));
}
