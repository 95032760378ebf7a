//! Parses the addresses in `source`.

use contract::{ErrorKind, Raised};
use std::borrow::Cow;

/// An address that `source` gave, by its kind.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Address<'a> {
    /// A whole URL with `http` or `https`.
    Http(Cow<'a, str>),
    /// An absolute path on the node.
    File(String),
}

impl<'a> Address<'a> {
    /// Parses a source.
    ///
    /// # Errors
    /// Chef's errors: the source is not an absolute URI, or its scheme is not supported.
    pub(super) fn of(source: &'a str) -> Result<Self, Raised> {
        if source.starts_with("\\\\") {
            return Err(Raised::new(
                ErrorKind::UnsupportedPlatform,
                format!(
                    "Fetching the file on a network share is supported only on the Windows platform. Please change your \
                     source: {source}"
                ),
            ));
        }
        let Some((scheme, rest)) = source.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
            return Err(Raised::new(
                ErrorKind::InvalidFileUrl,
                format!(
                    "{source:?} is not a valid `source` parameter for remote_file. `source` must be an absolute URI or an \
                     array of URIs."
                ),
            ));
        };
        match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" => Ok(Self::Http(escaped(source))),
            "file" => path(rest).map(Self::File).ok_or_else(|| {
                Raised::new(ErrorKind::InvalidFileUrl, format!("{source:?} names no file of this node"))
            }),
            _ => Err(Raised::new(
                ErrorKind::InvalidArgument,
                "Invalid uri, Only http(s), ftp, and file are currently supported",
            )
            .with_hint("wrun supports http, https and file")),
        }
    }
}

/// Turns an address into a URI as Chef does: every character that is not allowed is escaped, also `%`.
fn escaped(source: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte);
    if source.bytes().all(|byte| is_plain(byte) || byte == b'%') {
        return Cow::Borrowed(source);
    }
    let escape = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    Cow::Owned(source.bytes().map(escape).collect())
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|one: char| one.is_ascii_alphabetic())
        && text.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '+' | '-' | '.'))
}

/// Returns the path of a `file:` address, decoded as in Chef: `%xx`, and `+` for a blank.
fn path(rest: &str) -> Option<String> {
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let (host, _) = rest.split_once('/')?;
            matches!(host, "" | "localhost").then_some(())?;
            rest.get(host.len()..)?
        }
        None => rest,
    };
    let path = path.split(['?', '#']).next().filter(|path| path.starts_with('/'))?;
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_as_chef_does() {
        let check = |source: &str, expect: Result<Address<'_>, ErrorKind>| {
            assert_eq!(Address::of(source).map_err(|raised| raised.kind), expect, "{source}");
        };
        check("http://a/b", Ok(Address::Http("http://a/b".into())));
        check("http://a/b%20c", Ok(Address::Http("http://a/b%20c".into())));
        check("http://a/b c%é", Ok(Address::Http("http://a/b%20c%25%C3%A9".into())));
        check("HTTPS://a/b", Ok(Address::Http("HTTPS://a/b".into())));
        check("file:///etc/a%20b+c", Ok(Address::File("/etc/a b c".into())));
        check("file://localhost/x", Ok(Address::File("/x".into())));
        check("file:/x", Ok(Address::File("/x".into())));
        check("file://server/x", Err(ErrorKind::InvalidFileUrl));
        check("file:x", Err(ErrorKind::InvalidFileUrl));
        check("file:///%f", Err(ErrorKind::InvalidFileUrl));
        check("nothing", Err(ErrorKind::InvalidFileUrl));
        check("/etc/passwd", Err(ErrorKind::InvalidFileUrl));
        check("ftp://a/b", Err(ErrorKind::InvalidArgument));
        check("\\\\server\\share", Err(ErrorKind::UnsupportedPlatform));
    }
}
