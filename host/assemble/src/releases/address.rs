//! A repository behind an address: static files over HTTPS or HTTP. Nothing is written there.
//!
//! Signatures protect the releases, so an attacker cannot change them even over HTTP. With HTTP an attacker can see which
//! releases are read, and hold back newer ones until the current ones expire.

use contract::ErrorKind;
use machine::download::{Downloads, is_unreachable, read};
use repository::RepositoryError;
use repository::store::{Store, Writer};
use std::time::{Duration, Instant};

/// How long one file may take to arrive.
const TIME: Duration = Duration::from_secs(300);

/// Longest total time for all downloads from a repository in one run.
const TOTAL: Duration = Duration::from_secs(600);

/// The schemes of a repository's address.
const SCHEMES: [&str; 2] = ["https://", "http://"];

/// Tells whether a repository's place is an address.
pub(crate) fn is_address(place: &str) -> bool {
    SCHEMES.iter().any(|scheme| place.starts_with(scheme))
}

/// A repository behind an address.
pub(super) struct AddressStore {
    place: String,
    began: Instant,
    total: Duration,
}

/// Returns the address without its user and password, or `None` if it does not have any.
pub(super) fn without_user(place: &str) -> Option<String> {
    let (scheme, rest) = place.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (server, path) = rest.split_at_checked(end)?;
    let (_, server) = server.rsplit_once('@')?;
    Some(format!("{scheme}://{server}{path}"))
}

impl AddressStore {
    pub(super) fn new(place: &str) -> Self {
        Self { place: place.to_owned(), began: Instant::now(), total: TOTAL }
    }

    fn read_only(&self) -> RepositoryError {
        RepositoryError::Other(format!("{} is read-only for nodes", self.place))
    }
}

impl Store for AddressStore {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, RepositoryError> {
        let file = self.file(path);
        if self.began.elapsed() >= self.total {
            let text = format!("its server is too slow: this run has asked it for {} seconds", self.total.as_secs());
            let source = std::io::Error::new(std::io::ErrorKind::TimedOut, text);
            return Err(RepositoryError::Read { file, source });
        }
        read(&file, Downloads { bytes: limit, time: TIME, off: None }).map_err(|raised| {
            if raised.kind == ErrorKind::TooLarge {
                return RepositoryError::TooLarge { file: file.clone(), limit };
            }
            let kind =
                if is_unreachable(&raised) { std::io::ErrorKind::NotConnected } else { std::io::ErrorKind::Other };
            RepositoryError::Read { file: file.clone(), source: std::io::Error::new(kind, raised.message) }
        })
    }

    fn names(&self, _folder: &str) -> Result<Vec<String>, RepositoryError> {
        Err(self.read_only())
    }

    fn writer<'s>(&'s self, _folder: &str) -> Result<Box<dyn Writer + 's>, RepositoryError> {
        Err(self.read_only())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_server_is_not_asked_without_end() {
        let store = AddressStore { total: Duration::ZERO, ..AddressStore::new("http://127.0.0.1:9/r") };
        let error = store.get("platform/metadata/timestamp.json", 1).unwrap_err();
        assert!(text::error_chain(&error).contains("too slow"), "{error:?}");
    }

    #[test]
    fn users_and_passwords_are_not_shown() {
        let check = |place: &str, expected: Option<&str>| assert_eq!(without_user(place).as_deref(), expected);
        check("https://u:p@host:1/a", Some("https://host:1/a"));
        check("https://u:p/q@host/a", None);
        check("https://u@p@host", Some("https://host"));
        check("https://host/a@b", None);
        check("/srv/a@b", None);
    }
}
