//! Where a name leads. Whoever answers for a name in DNS decides that anew each time, so what was resolved is checked, and the
//! connection is made to what was checked.

use super::watched;
use grants::GrantedUrl;
use std::fmt;
use std::net::IpAddr;
use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// A resolver that leaves out the addresses to which the download's URL may not lead.
#[derive(Debug, Default)]
pub(super) struct GrantedAddresses(DefaultResolver);

impl Resolver for GrantedAddresses {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let all = self.0.resolve(uri, config, timeout)?;
        let mut allowed = self.0.empty();
        let may_connect = watched::url_of_thread();
        for address in all.iter() {
            if may_connect.as_ref().is_some_and(|url: &GrantedUrl| url.may_connect(address.ip())) {
                allowed.push(*address);
            }
        }
        match (allowed.is_empty(), all.first()) {
            (true, Some(refused)) => Err(Error::Other(Box::new(RefusedAddress(refused.ip())))),
            _ => Ok(allowed),
        }
    }
}

/// The failure of a name that leads only to addresses that are not granted.
#[derive(Debug)]
pub(super) struct RefusedAddress(pub(super) IpAddr);

impl fmt::Display for RefusedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the address {} is not granted", self.0)
    }
}

impl std::error::Error for RefusedAddress {}

impl RefusedAddress {
    /// Returns the address that was refused, if that is why a call failed.
    pub(super) fn of(error: &Error) -> Option<IpAddr> {
        let Error::Other(inner) = error else { return None };
        inner.downcast_ref::<Self>().map(|refused| refused.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Downloads, request_of};
    use contract::{Account, ErrorKind, HttpRequest};
    use grants::Grants;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Serves on the loopback interface: `/to/SERVER` redirects to that server, all else says hello. Returns the port, and the
    /// number of connections so far.
    fn serve() -> (u16, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&connections);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                seen.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || answer(&stream));
            }
        });
        (port, connections)
    }

    /// Answers the requests of one connection, which the server never closes.
    fn answer(mut stream: &TcpStream) {
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        while let Some(first) = lines.next() {
            lines.find(String::is_empty);
            let path = first.split(' ').nth(1).unwrap_or_default();
            let status = match path.strip_prefix("/to/") {
                Some(target) => format!("302 Found\r\nLocation: http://{target}/"),
                None => "200 OK".to_owned(),
            };
            let _ = write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\nhello");
        }
    }

    #[test]
    fn attack_a_name_that_leads_to_the_machine_itself_is_not_connected_to() {
        let ((first, _), (second, reached)) = (serve(), serve());
        let ask = |rules: &str, url: String| {
            let text = format!("[policy.web]\ndownload_hosts = [{rules}]\n");
            let grants = Grants::parse(&text, "grants.toml").unwrap().policy("web", &[]);
            let request = HttpRequest { method: "GET".into(), url, headers: vec![], body: None };
            request_of(&request, &grants, Downloads::default(), &Account::unmetered("web"))
        };
        // `127.1` is a name that every resolver leads to the loopback interface.
        let name = format!("\"http://127.1:{second}\"");
        let with_redirect = format!("{name}, \"http://127.0.0.1:{first}\"");
        let redirect = format!("http://127.0.0.1:{first}/to/127.1:{second}");
        for (rules, url) in [(&name, format!("http://127.1:{second}/")), (&with_redirect, redirect.clone())] {
            let raised = ask(rules, url).unwrap_err();
            assert_eq!(raised.kind, ErrorKind::Denied);
            assert!(raised.message.contains(&format!("may not speak to `http://127.0.0.1:{second}`")), "{raised:?}");
            let hint = raised.hint.unwrap();
            assert!(hint.contains(&format!("download_hosts = [\"http://127.0.0.1:{second}\"]")), "{hint}");
        }
        assert_eq!(reached.load(Ordering::SeqCst), 0);
        let named = format!("{with_redirect}, \"http://127.0.0.1:{second}\"");
        for count in [1, 2] {
            assert_eq!(ask(&named, redirect.clone()).unwrap().body, b"hello");
            // A connection that another policy was granted is not used again.
            assert_eq!(reached.load(Ordering::SeqCst), count);
        }
        ask(&with_redirect, redirect).unwrap_err();
        assert_eq!(reached.load(Ordering::SeqCst), 2);
    }
}
