//! Servers that a policy may connect to.

use crate::addresses::names_local;
use crate::denied::{Capability, Denied};
use crate::pattern::Asked;
use crate::policy::PolicyGrants;
use crate::proofs::{GrantedRepository, GrantedUrl};
use crate::signs::{covers_name, wildcard};
use text::toml_string;

/// Maximum length of a URL, in bytes. Longer ones are refused, since servers do not accept them either.
const MAX_URL: usize = 8192;

/// One server: scheme, name and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) scheme: String,
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Server {
    pub(crate) fn shown(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if Some(self.port) == default_port(&self.scheme) {
            format!("{}://{host}", self.scheme)
        } else {
            format!("{}://{host}:{}", self.scheme, self.port)
        }
    }
}

/// A rule about servers: `https://example.org`, `http://mirror:8080`, `https://*.example.org`, or only a name, which means
/// `https`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerPattern(pub(crate) Server);

impl ServerPattern {
    /// Parses a pattern, or returns the error.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let url = if text.contains("://") { text.into() } else { format!("https://{text}") };
        let (server, rest) = parse(&url, true).ok_or_else(|| {
            format!("`{text}` is not a server: it is written `https://name`, `http://name:port` or `name`")
        })?;
        if !matches!(rest, "" | "/") {
            return Err(format!("`{text}` has a path; only whole servers can be granted"));
        }
        Ok(Self(server))
    }

    /// Tells whether this rule matches every server that the other rule matches.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.0.scheme == other.0.scheme && self.0.port == other.0.port && covers_name(&self.0.host, &other.0.host)
    }

    pub(crate) fn matches(&self, server: &Server) -> bool {
        self.0.scheme == server.scheme && self.0.port == server.port && wildcard(&self.0.host, &server.host)
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "https" => Some(443),
        "http" => Some(80),
        "ssh" => Some(22),
        "git" => Some(9418),
        _ => None,
    }
}

/// Parses the server and the rest of a URL. It is strict on purpose: parsers disagree about user names, backslashes, blanks
/// and non-ASCII hosts. Then the check and the connecting client could see two different servers.
fn parse(url: &str, wildcards: bool) -> Option<(Server, &str)> {
    if url.len() > MAX_URL || url.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
        return None;
    }
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let default = default_port(&scheme)?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at_checked(end)?;
    let (host, port) = match authority.strip_prefix('[') {
        Some(inner) => {
            let (host, after) = inner.split_once(']')?;
            host.parse::<core::net::Ipv6Addr>().ok()?;
            (host, after.strip_prefix(':').map_or_else(|| after.is_empty().then_some(None), |port| Some(Some(port)))?)
        }
        None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':') || (wildcards && c == '*');
    if host.is_empty() || !host.chars().all(plain) {
        return None;
    }
    let port = match port {
        None => default,
        Some(text) if text.chars().all(|c| c.is_ascii_digit()) => text.parse().ok().filter(|port| *port != 0)?,
        Some(_) => return None,
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    (!host.is_empty()).then_some((Server { scheme, host, port }, rest))
}

/// Returns a URL without user name and password, for logs and reports of refusals.
fn without_user(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, _) = rest.split_at_checked(end).unwrap_or((rest, ""));
    // An unencoded password may contain a character that ends it. Then the text after the colon is not a port.
    let is_cut = authority.rsplit_once(':').is_some_and(|(_, port)| !port.bytes().all(|byte| byte.is_ascii_digit()));
    let searched = if is_cut && !authority.contains('@') { rest } else { authority };
    match searched.rfind('@').and_then(|at| rest.get(at + 1..).map(|shown| (at, shown))) {
        // A user name alone is not secret, and useful to see in `git@host:path`.
        Some((at, _)) if scheme.is_empty() && !rest.get(..at).unwrap_or_default().contains(':') => url.to_owned(),
        Some((_, shown)) => scheme + shown,
        None => url.to_owned(),
    }
}

impl PolicyGrants {
    /// Checks whether the policy may request this URL. A redirect is another URL and needs its own check. This is not for
    /// `file://`, which is a path to read.
    ///
    /// # Errors
    /// The server is not granted, or the URL is ambiguous.
    pub fn download(&self, url: &str) -> Result<GrantedUrl, Denied> {
        let spoken = |server: &Server| matches!(server.scheme.as_str(), "http" | "https");
        let Some((server, _)) = parse(url, false).filter(|(server, _)| spoken(server)) else {
            let reason = "it is not a plain http or https URL (user names in URLs are refused too)";
            let shown = without_user(url);
            return Err(self.refuse_with(Capability::DownloadHosts, &shown, None, Some(reason.into())));
        };
        let is_local = || names_local(&server.host);
        self.decide(Capability::DownloadHosts, Asked::Server(&server), &server.shown(), is_local)?;
        let local = self.local_addresses(&server);
        Ok(GrantedUrl { url: url.into(), scheme: server.scheme, host: server.host, port: server.port, local })
    }

    /// Checks whether the policy may fetch a repository from this address: a URL of http, https, ssh or git, or ssh's short
    /// form `user@host:path`. This is not for a path on the node, which is a path to read.
    ///
    /// # Errors
    /// The server is not granted, or the address is ambiguous.
    pub fn repository(&self, address: &str) -> Result<GrantedRepository, Denied> {
        if self.allows_everything() {
            let server = repository_server(address).map(|server| toml_string(&server.shown()));
            self.audit_allowed(Capability::DownloadHosts, &without_user(address), "--allow-all");
            self.uses(Capability::DownloadHosts.key(), server);
            return Ok(GrantedRepository(address.into()));
        }
        let Some(server) = repository_server(address) else {
            let reason = "it is not a plain address of a server of http, https, ssh or git";
            let shown = without_user(address);
            return Err(self.refuse_with(Capability::DownloadHosts, &shown, None, Some(reason.into())));
        };
        let is_local = || names_local(&server.host);
        self.decide(Capability::DownloadHosts, Asked::Server(&server), &server.shown(), is_local)?;
        Ok(GrantedRepository(address.into()))
    }
}

/// Returns the server of a repository's address. The user name is not part of it: keys decide who may log in.
fn repository_server(address: &str) -> Option<Server> {
    let plain_user = |user: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        !user.is_empty() && !user.starts_with('-') && user.chars().all(plain)
    };
    // git and ssh have no queries or fragments there, so the text after such a character would be part of the host name.
    let (scheme, rest) = address.split_once("://").unwrap_or_default();
    if ["ssh", "git"].iter().any(|one| scheme.eq_ignore_ascii_case(one)) && rest.contains(['?', '#']) {
        return None;
    }
    if let Some(rest) = address.strip_prefix("ssh://") {
        let end = rest.find('/').unwrap_or(rest.len());
        let host = match rest.get(..end)?.split_once('@') {
            Some((user, _)) if plain_user(user) => rest.get(user.len() + 1..)?,
            Some(_) => return None,
            None => rest,
        };
        return plain_server(&format!("ssh://{host}"));
    }
    if address.contains("://") {
        return plain_server(address);
    }
    let (server, path) = address.split_once(':')?;
    let host = server.split_once('@').map_or(Some(server), |(user, host)| plain_user(user).then_some(host))?;
    // `helper::address` would run a helper program of git.
    if server.contains('/') || path.is_empty() || path.starts_with(':') || path.chars().any(char::is_control) {
        return None;
    }
    plain_server(&format!("ssh://{host}"))
}

/// Parses the server of a URL. A name that a program could read as an option is refused.
fn plain_server(url: &str) -> Option<Server> {
    parse(url, false).map(|(server, _)| server).filter(|server| !server.host.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_repositories() {
        let check = |address: &str, expect: Option<&str>| {
            assert_eq!(repository_server(address).map(|server| server.shown()).as_deref(), expect, "{address}");
        };
        check("https://example.org/a.git", Some("https://example.org"));
        check("git://example.org/a", Some("git://example.org"));
        check("ssh://git@example.org:2222/a", Some("ssh://example.org:2222"));
        check("git@example.org:team/a.git", Some("ssh://example.org"));
        check("example.org:a", Some("ssh://example.org"));
        for odd in [
            "ext::sh -c x",
            "/srv/a",
            "a/b:c",
            "https://user@example.org/a",
            "ssh://-oProxyCommand=x/a",
            "-x@y:z",
            "-oProxyCommand=x:y",
            "file:///srv/a",
            "ssh://a b/c",
            "host:",
            "ssh://a@b@c/d",
            "ssh://example.org#evil.example/a",
            "SSH://example.org?evil.example/a",
            "git://example.org#evil.example/a",
        ] {
            check(odd, None);
        }
    }

    #[test]
    fn passwords_in_addresses_are_not_shown() {
        for (url, shown) in [
            ("https://user:secret@example.org/a", "https://example.org/a"),
            ("https://user:se@cret@example.org/a@b", "https://example.org/a@b"),
            ("https://user:sec/ret@example.org/a", "https://example.org/a"),
            ("https://token@example.org", "https://example.org"),
            ("https://example.org:8080/@scope/a", "https://example.org:8080/@scope/a"),
            ("git@example.org:a", "git@example.org:a"),
            ("user:secret@example.org:a", "example.org:a"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(without_user(url), shown);
        }
        let grants = crate::Grants::parse("[policy.p]\ndownload_hosts = [\"example.org\"]", "x").unwrap();
        let grants = grants.policy("p", &[]);
        let url = "https://user:secret@example.org/a";
        for denial in [grants.download(url).unwrap_err(), grants.repository(url).unwrap_err()] {
            assert!(!format!("{denial}{}", denial.hint()).contains("secret"), "{denial}");
        }
    }

    #[test]
    fn only_http_is_downloaded() {
        let grants = crate::Grants::parse("[policy.p]\ndownload_hosts = [\"ssh://example.org\"]", "x").unwrap();
        let grants = grants.policy("p", &[]);
        assert!(grants.repository("git@example.org:a").is_ok());
        assert!(grants.repository("https://example.org/a").is_err());
        assert!(grants.download("ssh://example.org/a").is_err());
    }
}
