//! Sends the reports of runs to files and addresses. Each report is first put into a queue on the disk, and removed from it
//! when the receiver has accepted it. If the receiver cannot be reached, the next run sends the report.

mod abandoned;
mod lines;
mod own_file;
mod reduced;
mod sending;
#[cfg(test)]
mod tests;

use crate::settings::Settings;
use sending::{NotTaken, Taken, hand_over};
use serde::Serialize;
use serde::de::IgnoredAny;
use sha2::{Digest as _, Sha256};
use state::{Outbox, RunId, StateDirectory, StateError};
use std::borrow::Cow;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use text::error_chain;

/// The folder of the queues in the state directory.
const FOLDER: &str = "reports";

/// The fraction 1/SHARE of its queue that a report may take. A larger one is queued in its reduced form, because a few large
/// reports would push out all others.
const SHARE: u64 = 8;

/// A place that reports go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Where each report goes.
    pub place: Place,
    /// How long sending may take in one run.
    pub time: Duration,
    /// Largest size of the queue, in bytes.
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
        /// The file with the token that authenticates the sender.
        token_file: Option<PathBuf>,
    },
}

impl Destination {
    /// Returns the destination's own files, the report file or the token file. A rule with wildcards does not let a policy
    /// write to them.
    pub fn own_files(&self) -> impl Iterator<Item = &PathBuf> {
        let (file, token) = match &self.place {
            Place::File(path) => (Some(path), None),
            Place::Address { token_file, .. } => (None, token_file.as_ref()),
        };
        file.into_iter().chain(token)
    }

    /// Puts the report of a run into the queue of each destination and does not send it, because the run may be ended before
    /// [`deliver`] sends it. Returns warnings about reports that cannot be queued.
    pub fn keep(
        destinations: &[Self],
        settings: &Settings,
        run: &RunId,
        is_dry: bool,
        report: &impl Serialize,
    ) -> Vec<String> {
        if !destinations.iter().any(|destination| destination.hears_of(is_dry)) {
            return vec![];
        }
        let line = match as_line(report) {
            Ok(line) => line,
            Err(why) => return vec![why],
        };
        let mut warnings = Vec::new();
        for destination in destinations.iter().filter(|destination| destination.hears_of(is_dry)) {
            let kept = destination.outbox(settings).and_then(|outbox| destination.put(&outbox, run, &line));
            if let Err(error) = kept {
                let place = destination.place.shown();
                warnings.push(format!("the report of this run for {place} is not kept: {}", error_chain(&error)));
            }
        }
        warnings
    }

    fn hears_of(&self, is_dry: bool) -> bool {
        self.dry_runs || !is_dry
    }

    fn outbox(&self, settings: &Settings) -> Result<Outbox, StateError> {
        StateDirectory::open_keeping_free(&settings.state_dir, settings.min_free)?.outbox(&self.place.key())
    }

    /// Puts a report into the queue, unless it is queued already.
    fn put(&self, outbox: &Outbox, run: &RunId, line: &[u8]) -> Result<(), StateError> {
        if outbox.holds(run)? {
            return Ok(());
        }
        let is_large = line.len() as u64 > self.queue / SHARE;
        let reduced = if is_large { reduced::form(line) } else { None };
        outbox.put(run, &reduced.map_or(Cow::Borrowed(line), Cow::Owned), &self.place.shown())
    }
}

impl Place {
    /// Returns the place for messages. The query of an address, after `?`, is left out because it may be a secret.
    fn shown(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Address { url, .. } => match url.split_once('?') {
                Some((address, _)) => format!("{address}?.."),
                None => url.clone(),
            },
        }
    }

    /// Returns the name of the place's queue: a digest of the place.
    fn key(&self) -> String {
        let digest = match self {
            Self::File(path) => Sha256::digest(format!("local {}", path.display())),
            Self::Address { url, .. } => Sha256::digest(format!("address {url}")),
        };
        text::hex(digest).chars().take(32).collect()
    }
}

/// Puts the report of a run into the queue of each destination, and sends all queued reports. Returns warnings, also about
/// queued reports whose destination is not in the settings any more.
pub fn deliver(
    destinations: &[Destination],
    settings: &Settings,
    run: &RunId,
    is_dry: bool,
    report: &impl Serialize,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if destinations.iter().any(|destination| destination.hears_of(is_dry)) {
        match as_line(report) {
            Ok(line) => {
                for destination in destinations.iter().filter(|destination| destination.hears_of(is_dry)) {
                    let min_free = settings.min_free;
                    Delivery { destination, run, line: &line, min_free, warnings: &mut warnings }.carry_out(settings);
                }
            }
            Err(why) => warnings.push(why),
        }
    }
    if !is_dry {
        warnings.extend(abandoned::warnings(destinations, settings));
    }
    warnings
}

/// A report as one line of JSON.
fn as_line(report: &impl Serialize) -> Result<Vec<u8>, String> {
    let line = serde_json::to_vec(report).map(|mut line| {
        line.push(b'\n');
        line
    });
    line.map_err(|error| format!("the report of this run cannot be written as JSON: {error}"))
}

/// A number of reports, for people.
fn reports(count: usize) -> String {
    if count == 1 { "1 report".to_owned() } else { format!("{count} reports") }
}

/// The delivery of a run's report to a destination, with the reports that are still queued for it.
struct Delivery<'a> {
    destination: &'a Destination,
    run: &'a RunId,
    /// The whole report as one line of JSON.
    line: &'a [u8],
    /// The bytes that stay free on each disk.
    min_free: u64,
    warnings: &'a mut Vec<String>,
}

impl Delivery<'_> {
    fn carry_out(mut self, settings: &Settings) {
        let (destination, place) = (self.destination, self.destination.place.shown());
        let now = Instant::now();
        let until = now + destination.time;
        let opened = destination.outbox(settings);
        let kept = match &opened {
            Ok(outbox) => destination.put(outbox, self.run, self.line).map_err(|error| error_chain(&error)),
            Err(error) => Err(error_chain(error)),
        };
        if let Ok(outbox) = &opened {
            match outbox.drop_oldest(self.run, destination.queue) {
                Ok(0) => {}
                Ok(dropped) => self
                    .warnings
                    .push(format!("{dropped} of the oldest reports for {place} were dropped: the queue is full")),
                Err(error) => {
                    self.warnings.push(format!("the queue for {place} cannot be shortened: {}", error_chain(&error)));
                }
            }
            // A report that cannot be queued gets half of the time for itself.
            let until = if kept.is_ok() { until } else { now + destination.time / 2 };
            if let Err(why) = self.send_waiting(outbox, until) {
                let waiting = outbox.waiting().map_or(usize::from(kept.is_ok()), |waiting| waiting.len());
                let wait = if waiting == 1 { "waits" } else { "wait" };
                if waiting > 0 {
                    self.warnings.push(format!("{} {wait} for {place}{why}", reports(waiting)));
                }
            }
        }
        if let Err(why) = kept {
            self.send_unkept(&why, until);
        }
    }

    /// Sends the queued reports, the oldest first, until the receiver cannot be reached or the time is over. The error is the
    /// reason for stopping, as the end of a sentence.
    fn send_waiting(&mut self, outbox: &Outbox, until: Instant) -> Result<(), String> {
        let failed = |error: StateError| format!(": {}", error_chain(&error));
        // Another process is sending; the next run sends the reports that it has not seen.
        let Some(_lock) = outbox.lock().map_err(failed)? else { return Ok(()) };
        for run in outbox.waiting().map_err(failed)? {
            if Instant::now() >= until {
                let seconds = self.destination.time.as_secs();
                return Err(format!(": it took longer than {seconds} s"));
            }
            let Some(report) = self.report_of(outbox, &run) else { continue };
            let again = || if run == *self.run { Some(self.line.to_vec()) } else { outbox.read(&run).ok()? };
            match hand_over(&self.destination.place, report, again, until, self.min_free) {
                Ok(taken) => self.say(&format!("run {run}"), taken),
                Err(NotTaken::Away(why)) => return Err(format!(": {why}")),
                Err(NotTaken::TooLarge(why) | NotTaken::Never(why)) => {
                    let place = self.destination.place.shown();
                    self.warnings.push(format!("the report of run {run} was dropped: {place} refuses it ({why})"));
                }
            }
            if let Err(error) = outbox.remove(&run) {
                let place = self.destination.place.shown();
                let why = error_chain(&error);
                self.warnings.push(format!("the report of run {run} will reach {place} again: {why}"));
            }
        }
        Ok(())
    }

    /// Reads a queued report. This run's own report is complete, even if its reduced form is queued. Returns `None` if
    /// another process has sent it, or if it cannot be read.
    fn report_of(&mut self, outbox: &Outbox, run: &RunId) -> Option<Vec<u8>> {
        if run == self.run {
            return Some(self.line.to_vec());
        }
        let why = match outbox.read(run) {
            Ok(Some(report)) => match serde_json::from_slice::<IgnoredAny>(&report) {
                Ok(_) => return Some(report),
                Err(error) => format!("it is not JSON: {error}"),
            },
            Ok(None) => return None,
            Err(error) => error_chain(&error),
        };
        let place = self.destination.place.shown();
        let after = match outbox.set_aside(run) {
            Ok(path) => format!("it was renamed to {}", path.display()),
            Err(error) => error_chain(&error),
        };
        self.warnings.push(format!("the report of run {run} for {place} cannot be read ({why}); {after}"));
        None
    }

    /// Sends this run's report, which could not be queued.
    fn send_unkept(&mut self, why_not_kept: &str, until: Instant) {
        let again = || Some(self.line.to_vec());
        match hand_over(&self.destination.place, self.line.to_vec(), again, until, self.min_free) {
            Ok(taken) => self.say("this run", taken),
            Err(NotTaken::Away(why) | NotTaken::TooLarge(why) | NotTaken::Never(why)) => {
                let place = self.destination.place.shown();
                self.warnings.push(format!(
                    "the report of this run for {place} is lost: it was not taken ({why}), and it cannot wait: {why_not_kept}"
                ));
            }
        }
    }

    /// Adds a warning if the receiver took only the reduced form.
    fn say(&mut self, run: &str, taken: Taken) {
        if let Taken::Reduced(why) = taken {
            let place = self.destination.place.shown();
            self.warnings
                .push(format!("{place} does not take the whole report of {run} ({why}), and got a reduced one"));
        }
    }
}
