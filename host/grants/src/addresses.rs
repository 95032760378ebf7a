//! Addresses of the machine itself and of its closest surroundings.
//!
//! Whoever answers for a name in DNS says where the name leads: also to a service of the machine that listens on the loopback
//! interface alone, or to the service that gives a cloud's machines their credentials. So a right to a name is a right to such
//! an address only if a rule names the address, too. Private networks are not meant: mirrors and repositories are there.

use crate::denied::{Capability, Denied, literal_entry};
use crate::downloads::Server;
use crate::pattern::{Asked, Pattern};
use crate::policy::PolicyGrants;
use crate::proofs::GrantedUrl;
use crate::rules::Verdict;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The name of the machine itself.
const LOCALHOST: &str = "localhost";

/// Addresses of clouds' services for their machines that are not link-local: Azure, Alibaba, Oracle.
const CLOUDS_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(192, 0, 0, 192)];

/// The same for IPv6: Amazon's network of them, Google, Oracle, Scaleway.
const AMAZON_V6: [u16; 2] = [0xfd00, 0xec2];
const CLOUDS_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
];

/// Tells whether an address belongs to the machine itself, to its own link, to a group of machines, or to the services that a
/// cloud has for its machines.
pub fn is_local_address(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            address.is_loopback()
                || address.is_link_local()
                || address.is_multicast()
                || address.is_broadcast()
                // Linux takes the whole network of 0.0.0.0 for the machine itself.
                || address.octets().first() == Some(&0)
                || CLOUDS_V4.contains(&address)
        }
        IpAddr::V6(address) => {
            address.is_loopback()
                || address.is_unspecified()
                || address.is_unicast_link_local()
                || address.is_multicast()
                || address.segments().starts_with(&AMAZON_V6)
                || CLOUDS_V6.contains(&address)
                || embedded(address).is_some_and(|address| is_local_address(address.into()))
        }
    }
}

/// Returns the IPv4 address that a gateway would make of an IPv6 address: IPv4-compatible, NAT64 or 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            Some(of(high, low))
        }
        _ => None,
    }
}

/// The local addresses that the operator's rules name for a URL's scheme and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LocalAddresses {
    /// All of them, because the policy may do everything.
    All,
    /// The addresses of the machine itself, because the URL names it, and these.
    Loopback(Vec<IpAddr>),
    /// Only these addresses may be reached.
    These(Vec<IpAddr>),
}

impl PolicyGrants {
    /// Returns the local addresses that a granted URL of this server may lead to.
    pub(crate) fn local_addresses(&self, server: &Server) -> LocalAddresses {
        if self.allows_everything() {
            return LocalAddresses::All;
        }
        let rules = self.list(Capability::DownloadHosts);
        let named = rules.iter().filter_map(|rule| {
            let Pattern::Server(pattern) = &rule.pattern else { return None };
            let address = pattern.0.host.parse::<IpAddr>().ok()?;
            let is_same = pattern.0.scheme == server.scheme && pattern.0.port == server.port;
            let allowed = matches!(rules.decide(Asked::Server(&pattern.0), || true), Verdict::Allowed(_));
            (is_same && allowed).then(|| address.to_canonical())
        });
        let named = named.collect();
        if server.host == LOCALHOST { LocalAddresses::Loopback(named) } else { LocalAddresses::These(named) }
    }

    /// Refuses to connect to a local address that a granted name leads to.
    pub fn refuse_address(&self, url: &GrantedUrl, address: IpAddr) -> Denied {
        let server =
            Server { scheme: url.scheme().to_owned(), host: address.to_canonical().to_string(), port: url.port() };
        let shown = server.shown();
        let reason = format!(
            "`{}` leads there, and it is an address of this machine or of its closest surroundings, which a rule has to name",
            url.host()
        );
        self.refuse_with(Capability::DownloadHosts, &shown, Some(literal_entry(&shown)), Some(reason))
    }
}

/// Tells whether a server's name is one of the machine itself or a local address. Rules with wildcards do not reach it.
pub(crate) fn names_local(host: &str) -> bool {
    host == LOCALHOST || host.ends_with(".localhost") || host.parse().is_ok_and(is_local_address)
}

impl GrantedUrl {
    /// Tells whether a connection for this URL may be made to an address that its host's name leads to.
    pub fn may_connect(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        if !is_local_address(address) {
            return true;
        }
        match &self.local {
            LocalAddresses::All => true,
            LocalAddresses::Loopback(named) => address.is_loopback() || named.contains(&address),
            LocalAddresses::These(named) => named.contains(&address),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grants;

    #[test]
    fn addresses_of_the_machine_and_of_its_surroundings() {
        for local in [
            "127.0.0.1",
            "127.8.9.1",
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "224.0.0.1",
            "255.255.255.255",
            "168.63.129.16",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
            "fe80::1",
            "ff02::1",
            "fd00:ec2::254",
            "fd20:ce::254",
        ] {
            assert!(is_local_address(local.parse().unwrap()), "{local}");
        }
        for far in ["10.0.0.1", "192.168.1.1", "172.16.0.1", "8.8.8.8", "::ffff:10.0.0.1", "fd00::1", "2001:db8::1"] {
            assert!(!is_local_address(far.parse().unwrap()), "{far}");
        }
    }

    #[test]
    fn attack_a_granted_name_leads_to_local_addresses_only_if_a_rule_names_them() {
        let grants = |rules: &str| {
            let text =
                format!("[policy.p]\ndownload_hosts = [{rules}]\ndeny_download_hosts = [\"http://127.0.0.9\"]\n");
            Grants::parse(&text, "x").unwrap().policy("p", &[])
        };
        let leads = |rules: &str, url: &str, address: &str| {
            let url = grants(rules).download(url).unwrap_or_else(|denied| panic!("{url}: {denied}"));
            url.may_connect(address.parse().unwrap())
        };
        let name = "http://repo.example/a";
        let wide = "\"http://repo.example\", \"http://*\"";
        assert!(leads(wide, name, "10.0.0.1") && leads(wide, name, "192.0.2.7"));
        for address in ["127.0.0.1", "::1", "169.254.169.254", "::ffff:127.0.0.1", "0.0.0.0", "fe80::1"] {
            assert!(!leads(wide, name, address), "{address}");
        }
        let named = "\"http://repo.example\", \"http://127.0.0.1\", \"http://[::1]:8080\", \"http://127.0.0.9\"";
        assert!(leads(named, name, "127.0.0.1") && leads(named, name, "::ffff:127.0.0.1"));
        assert!(!leads(named, name, "127.0.0.2") && !leads(named, name, "::1") && !leads(named, name, "127.0.0.9"));
        assert!(!leads("\"repo.example\", \"http://127.0.0.1\"", "https://repo.example/", "127.0.0.1"));
        assert!(leads("\"http://localhost\"", "http://localhost/", "::1"));
        assert!(!leads("\"http://localhost\"", "http://localhost/", "169.254.169.254"));
        assert!(leads("\"http://[0:0:0:0:0:0:0:1]\"", "http://[0:0:0:0:0:0:0:1]/", "::1"));
        assert!(Grants::allow_all().policy("p", &[]).download(name).unwrap().may_connect("127.0.0.1".parse().unwrap()));
        // No rule with wildcards reaches the machine itself.
        for url in ["http://127.0.0.1/", "http://localhost/", "http://a.localhost/", "http://[::1]/", "http://0.0.0.0/"]
        {
            let denied = grants("\"http://*\"").download(url).unwrap_err();
            assert!(denied.to_string().contains("too wide a rule"), "{denied}");
        }
        assert!(grants("\"http://*\"").download("http://10.0.0.1/").is_ok());
        let all = grants(wide);
        let denied = all.refuse_address(&all.download(name).unwrap(), "::ffff:169.254.169.254".parse().unwrap());
        assert_eq!(denied.line(), "download_hosts = [\"http://169.254.169.254\"]");
        assert!(denied.to_string().contains("`repo.example` leads there"), "{denied}");
    }
}
