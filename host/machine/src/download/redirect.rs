//! The targets of redirects.

use contract::{ErrorKind, Raised};
use grants::GrantedUrl;
use ureq::Body;
use ureq::http::Response;

/// Returns the target of a redirect, as the server wrote it.
pub(super) fn location(response: &Response<Body>) -> Option<String> {
    if !matches!(response.status().as_u16(), 300..=303 | 305 | 307 | 308) {
        return None;
    }
    let value = response.headers().get("location")?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// Resolves an address relative to another one. It does not clean up unusual parts, because the grant is checked for the
/// result.
pub(super) fn join(base: &str, location: &str) -> String {
    let is_absolute = location.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '+' | '-' | '.'))
    });
    if is_absolute {
        return location.to_owned();
    }
    let (scheme, rest) = base.split_once("://").unwrap_or(("", base));
    if let Some(server) = location.strip_prefix("//") {
        return format!("{scheme}://{server}");
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (server, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let path = path.split(['?', '#']).next().unwrap_or_default();
    if location.starts_with('/') {
        return format!("{scheme}://{server}{location}");
    }
    if location.starts_with('?') {
        return format!("{scheme}://{server}{path}{location}");
    }
    let folder = path.rfind('/').and_then(|end| path.get(..=end)).unwrap_or("/");
    format!("{scheme}://{server}{folder}{location}")
}

/// Refuses a redirect from https to http: an attacker on the way could replace the response.
///
/// # Errors
/// The redirect leads from https to another scheme.
pub(super) fn check_secrecy(from: &GrantedUrl, to: &GrantedUrl) -> Result<(), Raised> {
    if from.scheme() != "https" || to.scheme() == "https" {
        return Ok(());
    }
    let message = format!("{} redirects to an address without encryption: {}", from.url(), to.url());
    Err(Raised::new(ErrorKind::InvalidRedirect, message))
}

#[cfg(test)]
mod tests {
    use super::{check_secrecy, join};
    use grants::Grants;

    #[test]
    fn a_redirect_never_leads_from_https_to_http() {
        let grants = Grants::allow_all().policy("web", &[]);
        let leads = |from: &str, to: &str| {
            check_secrecy(&grants.download(from).unwrap(), &grants.download(to).unwrap()).is_ok()
        };
        assert!(leads("https://a.example/x", "https://b.example/x"));
        assert!(leads("http://a.example/x", "https://a.example/x"));
        assert!(leads("http://a.example/x", "http://b.example/x"));
        assert!(!leads("https://a.example/x", "http://a.example/x"));
        assert!(!leads("https://a.example:8443/x", "http://b.example/x"));
    }

    #[test]
    fn addresses_are_joined() {
        let check = |base: &str, location: &str, expect: &str| assert_eq!(join(base, location), expect);
        check("http://a/b/c?d", "http://e/f", "http://e/f");
        check("https://a/b", "//e/f", "https://e/f");
        check("http://a:1/b/c", "/x", "http://a:1/x");
        check("http://a/b/c?d", "x/y", "http://a/b/x/y");
        check("http://a", "x", "http://a/x");
        check("http://a?q", "x", "http://a/x");
        check("http://a/b?c", "?x", "http://a/b?x");
        check("http://a/b", "file:///etc/shadow", "file:///etc/shadow");
        check("http://a/b", "x?u=http://c", "http://a/x?u=http://c");
    }
}
