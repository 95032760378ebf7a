//! The kernel's network tables, and their conversion to Ohai's format.
//!
//! Ohai reads the output of `ip addr`, `ip link`, `ip neigh` and `ip route`. Those programs query the kernel over a netlink
//! socket, and so does `netlink`. `tables` parses the answers. The other modules build Ohai's objects from them and do not
//! use sockets.

pub(crate) mod choice;
pub(crate) mod interfaces;
mod netlink;
pub(crate) mod routes;
pub(crate) mod tables;

use tables::{Kind, Tables};

/// Reads the network tables of the machine. A table that cannot be read is empty.
pub(crate) fn read_tables() -> Tables {
    let mut tables = Tables::default();
    for kind in [Kind::Links, Kind::Addresses, Kind::Routes, Kind::Neighbours] {
        tables.add(kind, &netlink::dump(kind.request()));
    }
    tables
}
