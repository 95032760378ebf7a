//! Sends a report to a file or a server. The result distinguishes a temporary failure from a final refusal.

use super::{Place, lines, own_file, reduced};
use contract::{ErrorKind, Raised, SystemError};
use machine::download::{is_unreachable, post};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// The largest token, in bytes.
const MAX_TOKEN: u64 = 16 << 10;

/// The HTTP statuses of a final refusal. All other failures may be temporary.
const NEVER: [u16; 4] = [400, 405, 415, 422];

/// The HTTP statuses for a report that is too large. The second one answers `Expect: 100-continue`.
const TOO_LARGE: [u16; 2] = [413, 417];

/// Size in bytes from which wrun first asks a server whether it accepts the report (`Expect: 100-continue`). Many servers
/// close the connection in the middle of a report that is too large, and then their answer is lost.
const ASK_FIRST: usize = 1 << 20;

/// The form of a report that a receiver accepted.
pub(super) enum Taken {
    /// The receiver took the whole report.
    Whole,
    /// The receiver accepted the reduced form, because the report is too large. The text has the receiver's reason.
    Reduced(String),
}

/// The reasons why a receiver did not accept a report.
pub(super) enum NotTaken {
    /// The receiver cannot be reached. It may accept the report later.
    Away(String),
    /// The report is too large for the receiver.
    TooLarge(String),
    /// The receiver will never accept this report.
    Never(String),
}

/// Largest report in bytes that is added to a file however little is free on its disk.
const SMALL: usize = 64 << 10;

/// Sends the complete report, or its reduced form if the receiver says that the report is too large. `again` reads the report
/// a second time.
pub(super) fn hand_over(
    place: &Place,
    report: Vec<u8>,
    again: impl FnOnce() -> Option<Vec<u8>>,
    until: Instant,
    min_free: u64,
) -> Result<Taken, NotTaken> {
    let left = || until.saturating_duration_since(Instant::now());
    // What policies report must not fill the disk until no run has room. Small reports have room always, and reduced ones too.
    let free = if report.len() <= SMALL { 0 } else { min_free.saturating_mul(2) };
    let why = match take(place, report, left(), free) {
        Err(NotTaken::TooLarge(why)) => why,
        taken => return taken.map(|()| Taken::Whole),
    };
    let Some(reduced) = again().and_then(|whole| reduced::form(&whole)) else { return Err(NotTaken::Never(why)) };
    match take(place, reduced, left(), 0) {
        Ok(()) => Ok(Taken::Reduced(why)),
        Err(NotTaken::TooLarge(why)) => Err(NotTaken::Never(why)),
        Err(other) => Err(other),
    }
}

fn take(place: &Place, report: Vec<u8>, time: Duration, free: u64) -> Result<(), NotTaken> {
    match place {
        Place::File(path) => lines::add(path, &report, time, free).map_err(|error| match error.kind() {
            io::ErrorKind::StorageFull => NotTaken::TooLarge(error.to_string()),
            _ => NotTaken::Away(error.to_string()),
        }),
        Place::Address { url, token_file } => send(url, token_file.as_deref(), report, time),
    }
}

fn send(url: &str, token_file: Option<&Path>, report: Vec<u8>, time: Duration) -> Result<(), NotTaken> {
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    if let Some(path) = token_file {
        let token = read_token(path).map_err(|error| NotTaken::Away(format!("the token cannot be used: {error}")))?;
        headers.push(("authorization".to_owned(), format!("Bearer {token}")));
    }
    let is_large = report.len() > ASK_FIRST;
    if is_large {
        headers.push(("expect".to_owned(), "100-continue".to_owned()));
    }
    let failed = |raised: Raised| {
        let broke_off = matches!(raised.kind, ErrorKind::EndOfInput | ErrorKind::System(SystemError::ConnectionReset));
        match is_unreachable(&raised) {
            true if is_large && broke_off => NotTaken::TooLarge(raised.message),
            true => NotTaken::Away(format!("it cannot be reached: {}", raised.message)),
            // Any other failure may be temporary.
            false => NotTaken::Away(raised.message),
        }
    };
    match post(url, headers, report, time).map_err(failed)? {
        200..=299 => Ok(()),
        status if TOO_LARGE.contains(&status) => Err(NotTaken::TooLarge(format!("status {status}"))),
        status if NEVER.contains(&status) => Err(NotTaken::Never(format!("status {status}"))),
        status => Err(NotTaken::Away(format!("it answers with status {status}"))),
    }
}

fn read_token(path: &Path) -> io::Result<String> {
    let token = own_file::read_text(path, MAX_TOKEN)?;
    let token = token.trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(io::Error::other(format!("{} is not one line of printable characters", path.display())));
    }
    Ok(token.to_owned())
}
