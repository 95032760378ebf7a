//! A repository behind an address: static files over HTTPS or HTTP. Nothing is written there.
//!
//! Signatures protect the releases, so an attacker cannot change them even over HTTP. With HTTP an attacker can see which
//! releases are read, and hold back newer ones until the current ones expire.

use contract::{Account, AccountLimits, Ended, ErrorKind, Meters, Stop};
use machine::download::{Downloads, is_unreachable, read};
use repository::RepositoryError;
use repository::store::{Store, Writer};
use std::time::Duration;

/// How long one file may take to arrive.
const TIME: Duration = Duration::from_secs(300);

/// Longest total time for all downloads from a repository in one run, with all that redirects cost.
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
    /// Its turn begins with the store: so its wall time bounds all downloads together, and a signal ends each of them.
    account: Account,
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
    pub(super) fn new(place: &str, stop: &Stop) -> Self {
        Self::within(TOTAL, place, stop)
    }

    fn within(total: Duration, place: &str, stop: &Stop) -> Self {
        let limits = AccountLimits { wall: total, ..AccountLimits::default() };
        let account = Account::new("repository", limits, Meters::default());
        account.begin_turn(stop.clone());
        Self { place: place.to_owned(), account }
    }

    /// Fails if the time of all downloads is over, or if a signal has ended the run.
    fn may_go_on(&self, file: &str) -> Result<(), RepositoryError> {
        let (kind, text) = match self.account.check() {
            Ok(()) => return Ok(()),
            Err(Ended::Stopped(_)) => (std::io::ErrorKind::Interrupted, "interrupted".to_owned()),
            Err(Ended::Exceeded(_)) => {
                let seconds = self.account.limits().wall.as_secs();
                (
                    std::io::ErrorKind::TimedOut,
                    format!("its server is too slow: this run has asked it for {seconds} seconds"),
                )
            }
        };
        Err(RepositoryError::Read { file: file.to_owned(), source: std::io::Error::new(kind, text) })
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
        self.may_go_on(&file)?;
        let content = read(&file, Downloads { bytes: limit, time: TIME, off: None }, &self.account);
        content.map_err(|raised| {
            if let Err(ended) = self.may_go_on(&file) {
                return ended;
            }
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
        let store = AddressStore::within(Duration::ZERO, "http://127.0.0.1:9/r", &Stop::default());
        let error = store.get("platform/metadata/timestamp.json", 1).unwrap_err();
        assert!(text::error_chain(&error).contains("too slow"), "{error:?}");
    }

    #[test]
    fn attack_a_server_that_says_nothing_is_left_after_a_signal() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let place = format!("http://{}/r", server.local_addr().unwrap());
        let stop = Stop::default();
        let signal = stop.clone();
        // The server takes the connection, and says nothing.
        let asked = std::thread::spawn(move || {
            let connection = server.accept().unwrap();
            signal.request(contract::StopReason::Signal(15));
            connection
        });
        let error = AddressStore::new(&place, &stop).get("platform/metadata/timestamp.json", 1).unwrap_err();
        assert!(text::error_chain(&error).contains("interrupted"), "{error:?}");
        drop(asked.join());
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
