//! Reports of runs that go to a file or an address. Each is put into a queue on the disk first, and leaves it when the other end
//! has taken it: a run that finds the other end away leaves its report to the next one.

use crate::settings::Settings;
use contract::Raised;
use machine::download::{is_unreachable, post};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use state::{Outbox, RunId, StateDirectory, StateError};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use text::error_chain;

/// The largest token, in bytes.
const MAX_TOKEN: u64 = 16 << 10;

/// The statuses by which a server says that it will never take this report. All others may pass.
const NEVER: [u16; 5] = [400, 405, 413, 415, 422];

/// A place that reports go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The place itself.
    pub place: Place,
    /// How long sending may take in one run.
    pub time: Duration,
    /// The most bytes of reports that wait.
    pub queue: u64,
    /// Whether dry runs are reported too.
    pub dry_runs: bool,
}

/// A file or an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A file, to which each report is added as a line.
    File(PathBuf),
    /// An address, to which each report is sent.
    Address {
        /// The address, `https://..` or `http://..`.
        url: String,
        /// The file with the token that tells who sends.
        token_file: Option<PathBuf>,
    },
}

/// Why a report was not taken.
enum NotTaken {
    /// The other end is away. It may take the report later.
    Away(String),
    /// It will never take this report.
    Never(String),
}

impl Destination {
    /// The files that no policy may write to by a rule with wildcards: the reports, the token.
    pub fn own_files(&self) -> impl Iterator<Item = &PathBuf> {
        let (file, token) = match &self.place {
            Place::File(path) => (Some(path), None),
            Place::Address { token_file, .. } => (None, token_file.as_ref()),
        };
        file.into_iter().chain(token)
    }
}

impl Place {
    /// The place, for people.
    fn shown(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Address { url, .. } => url.clone(),
        }
    }

    /// The name of the place's queue.
    fn key(&self) -> String {
        let kind = if matches!(self, Self::File(_)) { "local" } else { "address" };
        let digest = Sha256::digest(format!("{kind} {}", self.shown()));
        text::hex(digest).chars().take(32).collect()
    }

    fn take(&self, report: &[u8], time: Duration) -> Result<(), NotTaken> {
        match self {
            Self::File(path) => add_line(path, report).map_err(|error| NotTaken::Away(error.to_string())),
            Self::Address { url, token_file } => send(url, token_file.as_deref(), report, time),
        }
    }
}

/// Puts the report of a run into the queue of each destination, and sends what waits there. Returns warnings for people.
pub fn deliver(
    destinations: &[Destination],
    settings: &Settings,
    run: &RunId,
    is_dry: bool,
    report: &impl Serialize,
) -> Vec<String> {
    let mut warnings = Vec::new();
    for destination in destinations.iter().filter(|destination| destination.dry_runs || !is_dry) {
        if let Err(error) = deliver_to(destination, settings, run, report, &mut warnings) {
            let place = destination.place.shown();
            warnings.push(format!("the report of this run for {place} is lost: {}", error_chain(&error)));
        }
    }
    warnings
}

fn deliver_to(
    destination: &Destination,
    settings: &Settings,
    run: &RunId,
    report: &impl Serialize,
    warnings: &mut Vec<String>,
) -> Result<(), StateError> {
    let place = destination.place.shown();
    let outbox =
        StateDirectory::open_keeping_free(&settings.state_dir, settings.min_free)?.outbox(&destination.place.key())?;
    let dropped = outbox.put(run, report, destination.queue)?;
    if dropped > 0 {
        warnings.push(format!("{dropped} of the oldest reports for {place} were dropped: the queue is full"));
    }
    // Another process that sends leaves to the next run what it has not seen.
    let Some(_lock) = outbox.lock()? else { return Ok(()) };
    if let Err(why) = send_waiting(destination, &outbox, warnings)? {
        let waiting = outbox.waiting()?.len();
        let reports = if waiting == 1 { "1 report waits".to_owned() } else { format!("{waiting} reports wait") };
        warnings.push(format!("{reports} for {place}, which did not take them: {why}"));
    }
    Ok(())
}

/// Sends what waits, the oldest first, until the other end is away or the time is over. The inner error says why it stopped.
fn send_waiting(
    destination: &Destination,
    outbox: &Outbox,
    warnings: &mut Vec<String>,
) -> Result<Result<(), String>, StateError> {
    let place = &destination.place;
    let until = Instant::now() + destination.time;
    for run in outbox.waiting()? {
        let time = until.saturating_duration_since(Instant::now());
        if time.is_zero() {
            return Ok(Err(format!("it took longer than {} s", destination.time.as_secs())));
        }
        let Some(report) = outbox.read(&run)? else { continue };
        match place.take(&report, time) {
            Ok(()) => {}
            Err(NotTaken::Away(why)) => return Ok(Err(why)),
            Err(NotTaken::Never(why)) => {
                warnings.push(format!("the report of run {run} was dropped: {} refuses it ({why})", place.shown()));
            }
        }
        outbox.remove(&run)?;
    }
    Ok(Ok(()))
}

/// Adds a line to a file, whole or not at all.
fn add_line(path: &Path, line: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    let before = file.metadata()?.len();
    file.write_all(line).inspect_err(|_| {
        // A disk that became full holds a part of the line.
        let _ = file.set_len(before);
    })
}

fn send(url: &str, token_file: Option<&Path>, report: &[u8], time: Duration) -> Result<(), NotTaken> {
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    if let Some(path) = token_file {
        let token = read_token(path)
            .map_err(|error| NotTaken::Away(format!("the token {} cannot be used: {error}", path.display())))?;
        headers.push(("authorization".to_owned(), format!("Bearer {token}")));
    }
    let failed = |raised: Raised| match is_unreachable(&raised) {
        true => NotTaken::Away(format!("it cannot be reached: {}", raised.message)),
        false => NotTaken::Away(raised.message),
    };
    match post(url, headers, report.to_vec(), time).map_err(failed)? {
        200..=299 => Ok(()),
        status if NEVER.contains(&status) => Err(NotTaken::Never(format!("status {status}"))),
        status => Err(NotTaken::Away(format!("it answers with status {status}"))),
    }
}

fn read_token(path: &Path) -> io::Result<String> {
    let mut token = String::new();
    File::open(path)?.take(MAX_TOKEN + 1).read_to_string(&mut token)?;
    let token = token.trim();
    if token.is_empty() || token.len() as u64 > MAX_TOKEN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(io::Error::other("it is not one line of printable characters"));
    }
    Ok(token.to_owned())
}
