//! The kernel's network tables, and the shape that Ohai gives them.
//!
//! Ohai reads what `ip addr`, `ip link`, `ip neigh` and `ip route` print. Those programs ask the kernel over a netlink
//! socket, and so does `netlink`; `tables` takes the answers apart; the rest builds Ohai's objects from them and knows
//! nothing of sockets.

pub(crate) mod choice;
pub(crate) mod interfaces;
mod netlink;
pub(crate) mod routes;
pub(crate) mod tables;

use tables::{Kind, Tables};

/// Reads the tables of the machine; what cannot be read is empty.
pub(crate) fn read_tables() -> Tables {
    let mut tables = Tables::default();
    for kind in [Kind::Links, Kind::Addresses, Kind::Routes, Kind::Neighbours] {
        tables.add(kind, &netlink::dump(kind.request()));
    }
    tables
}
