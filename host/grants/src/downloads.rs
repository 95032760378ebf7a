//! Servers that a policy may speak to.

use crate::denied::{Capability, Denied};
use crate::pattern::{Asked, wildcard};
use crate::policy::PolicyGrants;
use crate::proofs::GrantedUrl;

/// The most bytes of a URL; more is refused, since no server takes it either.
const MAX_URL: usize = 8192;

/// One server: scheme, name and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) scheme: String,
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Server {
    fn shown(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if Some(self.port) == default_port(&self.scheme) {
            format!("{}://{host}", self.scheme)
        } else {
            format!("{}://{host}:{}", self.scheme, self.port)
        }
    }
}

/// A rule about servers: `https://example.org`, `http://mirror:8080`, `https://*.example.org`, or a name alone, which
/// means `https`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerPattern(pub(crate) Server);

impl ServerPattern {
    /// The pattern, or what is wrong with it.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let url = if text.contains("://") { text.into() } else { format!("https://{text}") };
        let (server, rest) = parse(&url, true).ok_or_else(|| {
            format!("`{text}` is no server: it is written `https://name`, `http://name:port` or `name`")
        })?;
        if !matches!(rest, "" | "/") {
            return Err(format!("`{text}` has a path; only whole servers can be granted"));
        }
        Ok(Self(server))
    }

    pub(crate) fn matches(&self, server: &Server) -> bool {
        self.0.scheme == server.scheme && self.0.port == server.port && wildcard(&self.0.host, &server.host)
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "https" => Some(443),
        "http" => Some(80),
        _ => None,
    }
}

/// Server and rest of a URL. Strict on purpose: where parsers disagree (user names, backslashes, blanks, a host that is
/// not plain ASCII), a check and the client that connects could see two different servers.
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

impl PolicyGrants {
    /// Whether the policy may ask this URL. A redirect is another URL: ask again. Not for `file://`, which is a path to
    /// read.
    ///
    /// # Errors
    /// The server is not granted, or the URL is none that can be told apart safely.
    pub fn download(&self, url: &str) -> Result<GrantedUrl, Denied> {
        let Some((server, _)) = parse(url, false) else {
            let reason = "it is no plain http or https URL (user names in URLs are refused too)";
            return Err(self.refuse(Capability::DownloadHosts, url, "https://server", Some(reason.into())));
        };
        self.decide(Capability::DownloadHosts, Asked::Server(&server), &server.shown(), || false)?;
        Ok(GrantedUrl { url: url.into(), scheme: server.scheme, host: server.host, port: server.port })
    }
}
