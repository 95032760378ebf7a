//! The topics. Each gathers some top-level keys together, like one plugin of Ohai.

mod block_device;
mod chef_packages;
mod command;
mod cpu;
mod cpu_topology;
mod dmi;
mod filesystem;
mod filesystem_identity;
mod fips;
mod hostname;
mod hostnamectl;
mod init_package;
mod kernel;
mod languages;
mod lsb;
mod machine_id;
mod memory;
mod network;
mod ohai_time;
mod os;
mod os_release;
mod packages;
mod passwd;
mod platform;
mod root_group;
mod shard_seed;
mod shells;
mod ssh_host_key;
mod sysconf;
mod systemd_paths;
mod timezone;
mod uptime;
mod virtualization;

pub use platform::{known_platforms, platform_family};

use serde_json::Value;

use crate::machine::{Gathered, Machine};

/// One topic: its keys, and the function that gathers them.
pub(crate) struct Topic {
    /// The top-level keys it may gather. No two topics share one.
    pub(crate) keys: &'static [&'static str],
    /// Gathers the keys. Unknown ones are left out.
    pub(crate) gather: fn(&Machine) -> Gathered,
}

/// All topics, in the order in which their keys are listed.
pub(crate) const TOPICS: &[Topic] = &[
    Topic { keys: &["os", "os_version"], gather: os::gather },
    Topic { keys: &["platform", "platform_version", "platform_family"], gather: platform::gather },
    Topic { keys: &["os_release"], gather: os_release::gather },
    Topic { keys: &["lsb"], gather: lsb::gather },
    Topic { keys: &["machinename", "hostname", "fqdn", "domain"], gather: hostname::gather },
    Topic { keys: &["hostnamectl"], gather: hostnamectl::gather },
    Topic { keys: &["machine_id"], gather: machine_id::gather },
    Topic { keys: &["kernel"], gather: kernel::gather },
    Topic { keys: &["cpu"], gather: cpu::gather },
    Topic { keys: &["memory"], gather: memory::gather },
    Topic { keys: &["network", "counters", "ipaddress", "ip6address", "macaddress"], gather: network::gather },
    Topic { keys: &["filesystem"], gather: filesystem::gather },
    Topic { keys: &["block_device"], gather: block_device::gather },
    Topic { keys: &["dmi"], gather: dmi::gather },
    Topic { keys: &["virtualization"], gather: virtualization::gather },
    Topic { keys: &["packages"], gather: packages::gather },
    Topic { keys: &["etc", "current_user"], gather: passwd::gather },
    Topic { keys: &["root_group"], gather: root_group::gather },
    Topic { keys: &["init_package"], gather: init_package::gather },
    Topic { keys: &["systemd_paths"], gather: systemd_paths::gather },
    Topic { keys: &["shells"], gather: shells::gather },
    Topic { keys: &["keys"], gather: ssh_host_key::gather },
    Topic { keys: &["sysconf"], gather: sysconf::gather },
    Topic { keys: &["fips"], gather: fips::gather },
    Topic { keys: &["shard_seed"], gather: shard_seed::gather },
    Topic { keys: &["languages"], gather: languages::gather },
    Topic { keys: &["command"], gather: command::gather },
    Topic { keys: &["chef_packages"], gather: chef_packages::gather },
    Topic { keys: &["time"], gather: timezone::gather },
    Topic { keys: &["uptime_seconds", "uptime", "idletime_seconds", "idletime"], gather: uptime::gather },
    Topic { keys: &["ohai_time"], gather: ohai_time::gather },
];

/// Returns an object with one key and its value.
pub(crate) fn one(key: &str, value: impl Into<Value>) -> Gathered {
    Gathered::from_iter([(key.to_owned(), value.into())])
}

/// Returns the pairs with a known value.
pub(crate) fn known<'a, V: Into<Value>>(pairs: impl IntoIterator<Item = (&'a str, Option<V>)>) -> Gathered {
    pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.into()))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::TOPICS;

    #[test]
    fn no_two_topics_share_a_key() {
        let keys: Vec<&str> = TOPICS.iter().flat_map(|topic| topic.keys.iter().copied()).collect();
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    }
}
