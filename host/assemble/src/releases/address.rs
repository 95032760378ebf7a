//! A repository behind an address: static files over HTTPS or HTTP. Nothing is written there.
//!
//! What the server sends is verified by signatures, so that HTTP does not let anybody change a release; it lets others see
//! which ones are read, and hold them back until they expire.

use machine::download::{Downloads, is_unreachable, read};
use repository::RepositoryError;
use repository::store::{Store, Writer};
use std::time::Duration;

/// How long one file may take to arrive.
const TIME: Duration = Duration::from_secs(300);

/// How the addresses begin that are a repository's.
const SCHEMES: [&str; 2] = ["https://", "http://"];

/// Tells whether a repository's place is an address.
pub(crate) fn is_address(place: &str) -> bool {
    SCHEMES.iter().any(|scheme| place.starts_with(scheme))
}

/// A repository behind an address.
pub(super) struct AddressStore {
    place: String,
}

impl AddressStore {
    pub(super) fn new(place: &str) -> Self {
        Self { place: place.to_owned() }
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
        read(&file, Downloads { bytes: limit, time: TIME, off: None }).map_err(|raised| {
            if raised.class == "Wrun::TooLarge" {
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
