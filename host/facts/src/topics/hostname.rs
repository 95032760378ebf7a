//! `machinename`, `hostname`, `fqdn`, `domain`: Ohai's plugin Hostname.
//!
//! Ohai asks the resolver for the canonical name, which may wait for name servers for many seconds. Here, the resolver's own
//! files decide: `/etc/hosts`, and the search domain of `/etc/resolv.conf` for a short name that is not in `/etc/hosts`. That
//! is also the answer of a cloud's name server for its own machines. For a root that is not running, the name comes from its
//! `/etc/hostname`, or else is systemd's default name.

use std::net::IpAddr;

use crate::machine::{Gathered, Machine};
use crate::topics::known;
use crate::topics::os_release::OsRelease;

/// The default name of a system without a configured name, see `hostname(5)`.
const NAME_OF_THE_NAMELESS: &str = "localhost";

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let Some(machinename) = name_of(machine) else { return Gathered::new() };
    let hosts = machine.root.text("/etc/hosts").unwrap_or_default();
    let resolver = machine.root.text("/etc/resolv.conf").unwrap_or_default();
    let fqdn = canonical_name(&machinename, &hosts, &resolver);
    let domain = fqdn.split_once('.').filter(|(host, _)| !host.is_empty()).map(|(_, domain)| domain.to_owned());
    let hostname = machinename.split('.').find(|part| !part.is_empty()).map(str::to_owned);
    known([("machinename", Some(machinename)), ("hostname", hostname), ("fqdn", Some(fqdn)), ("domain", domain)])
}

fn name_of(machine: &Machine) -> Option<String> {
    if machine.is_running_system {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        return (!name.is_empty()).then_some(name);
    }
    let text = machine.root.text("/etc/hostname").unwrap_or_default();
    let configured = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let named = configured.filter(|name| is_host_name(name)).map(str::to_owned);
    named.or_else(|| {
        let release = OsRelease::read(&machine.root, "/etc/os-release");
        let default = release.as_ref().and_then(|release| release.get("DEFAULT_HOSTNAME"));
        Some(default.filter(|name| is_host_name(name)).unwrap_or(NAME_OF_THE_NAMELESS).to_owned())
    })
}

fn is_host_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
}

/// Returns the canonical name that the resolver would return for `name`.
fn canonical_name(name: &str, hosts: &str, resolver: &str) -> String {
    let lines = || hosts.lines().filter_map(host_line);
    let own_line = lines().find(|(_, names)| names.iter().any(|own| own.eq_ignore_ascii_case(name)));
    if let Some((address, names)) = own_line {
        let canonical = names.first().copied().unwrap_or(name);
        if canonical.contains('.') {
            return canonical.to_owned();
        }
        // A short canonical name is looked up again by its address, as in Ohai.
        let by_address = lines().find(|(other, _)| *other == address).and_then(|(_, names)| names.first().copied());
        return by_address.unwrap_or(canonical).to_owned();
    }
    match search_domain(resolver) {
        Some(domain) if !name.contains('.') => format!("{name}.{domain}"),
        _ => name.to_owned(),
    }
}

fn host_line(line: &str) -> Option<(IpAddr, Vec<&str>)> {
    let line = line.split('#').next()?;
    let mut words = line.split_whitespace();
    let address = words.next()?.parse().ok()?;
    Some((address, words.collect()))
}

/// Returns the first search domain of a resolver's configuration. The last `domain` or `search` line counts, see
/// `resolv.conf(5)`.
fn search_domain(resolver: &str) -> Option<&str> {
    let line = resolver.lines().rfind(|line| line.starts_with("search") || line.starts_with("domain"))?;
    let domain = line.split_whitespace().nth(1)?.trim_end_matches('.');
    (!domain.is_empty() && is_host_name(domain)).then_some(domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_names() {
        for (name, hosts, resolver, expect) in [
            ("web1", "127.0.1.1 web1.example.org web1\n", "", "web1.example.org"),
            ("web1", "127.0.0.1 localhost\n10.0.0.1\tWEB1 # mine\n", "", "WEB1"),
            ("web1", "127.0.0.1 localhost web1\n", "search example.org\n", "localhost"),
            ("web1", "10.0.0.1 a.example.org\n10.0.0.1 web1\n", "", "a.example.org"),
            (
                "web1",
                "127.0.0.1 localhost\n",
                "nameserver 1.1.1.1\nsearch ec2.internal more.example\n",
                "web1.ec2.internal",
            ),
            ("web1", "", "domain first.example\nsearch last.example.\n", "web1.last.example"),
            ("web1", "", "search .\n", "web1"),
            ("web1.example.org", "", "search other.example\n", "web1.example.org"),
            ("web1", "not-an-address web1.example.org web1\n# 10.0.0.1 x.y web1\n", "", "web1"),
        ] {
            assert_eq!(canonical_name(name, hosts, resolver), expect, "for {name} in {hosts:?} and {resolver:?}");
        }
    }
}
