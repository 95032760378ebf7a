//! Chooses `ipaddress`, `ip6address` and `macaddress` if the routes do not determine them. As in Ohai's plugin
//! NetworkAddresses, addresses of the default interface come first. Then the scope decides, then the smallest network, then
//! the lowest number.

use std::net::IpAddr;

use serde_json::Value;

use super::routes::contains;
use super::tables::Family;
use crate::machine::Gathered;

/// Scopes from the widest to the narrowest.
const REACH: [&str; 5] = ["global", "site", "link", "host", "node"];

struct Candidate<'a> {
    address: IpAddr,
    prefix_length: u8,
    reach: usize,
    interface: &'a str,
    peer: Option<IpAddr>,
}

/// Returns the node's address of a family, and its interface.
pub(crate) fn address_of(network: &Gathered, interfaces: &Gathered, family: Family) -> Option<(IpAddr, String)> {
    let mut candidates = candidates(interfaces, family);
    candidates.sort_by_key(|candidate| (candidate.reach, u8::MAX - candidate.prefix_length, candidate.address));
    let default = |what: &str| {
        let name = match family {
            Family::Inet => format!("default_{what}"),
            Family::Inet6 => format!("default_inet6_{what}"),
        };
        network.get(&name).and_then(Value::as_str)
    };
    let Some(interface) = default("interface") else {
        return candidates.first().map(|candidate| (candidate.address, candidate.interface.to_owned()));
    };
    candidates.retain(|candidate| candidate.interface == interface);
    let gateway = default("gateway").filter(|gateway| !gateway.starts_with("fe80:"));
    let gateway: Option<IpAddr> = gateway.and_then(|gateway| gateway.parse().ok());
    let faces_gateway = |candidate: &&Candidate<'_>| {
        gateway.filter(|gateway| !gateway.is_unspecified()).is_some_and(|gateway| match candidate.peer {
            Some(peer) => peer == gateway,
            None => contains(candidate.address, candidate.prefix_length, gateway),
        })
    };
    let chosen = candidates.iter().find(faces_gateway).or_else(|| candidates.first())?;
    Some((chosen.address, chosen.interface.to_owned()))
}

/// Returns the hardware address of an interface, in upper case.
pub(crate) fn hardware_address_of(interfaces: &Gathered, interface: &str) -> Option<String> {
    let addresses = interfaces.get(interface)?.get("addresses")?.as_object()?;
    let is_hardware = |fields: &Value| fields.get("family").and_then(Value::as_str) == Some("lladdr");
    addresses.iter().find(|(_, fields)| is_hardware(fields)).map(|(address, _)| address.clone())
}

fn candidates(interfaces: &Gathered, family: Family) -> Vec<Candidate<'_>> {
    let mut candidates = Vec::new();
    for (interface, fields) in interfaces {
        let Some(addresses) = fields.get("addresses").and_then(Value::as_object) else { continue };
        for (address, fields) in addresses {
            let text = |name: &str| fields.get(name).and_then(Value::as_str);
            let scope = text("scope").unwrap_or_default().to_lowercase();
            let (Some(name), Ok(address)) = (text("family"), address.parse()) else { continue };
            if name == family.name() {
                candidates.push(Candidate {
                    address,
                    prefix_length: text("prefixlen").and_then(|length| length.parse().ok()).unwrap_or(0),
                    reach: REACH.iter().position(|reach| *reach == scope).unwrap_or(REACH.len()),
                    interface,
                    peer: text("peer").and_then(|peer| peer.parse().ok()),
                });
            }
        }
    }
    candidates
}
