//! Reports of runs that wait until the other end takes them: `reports/KEY/RUN.json`, one folder for each destination. They are
//! as many, and as large, as somebody allows; the oldest go first.

use std::fs::File;
use std::io::Write as _;

use cap_std::fs::OpenOptions;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use serde::Serialize;

use crate::folder::{Folder, Survives};
use crate::{RunId, StateError};

pub(crate) const FOLDER: &str = "reports";

const LOCK: &str = "lock";

const EXTENSION: &str = ".json";

/// The most reports that wait for one destination.
const MAX_WAITING: usize = 1_000;

/// The reports that wait for one destination.
#[derive(Debug)]
pub struct Outbox {
    folder: Folder,
}

/// The right to send what waits for a destination. It ends when this value does, or the process.
#[derive(Debug)]
pub struct OutboxLock {
    // Closing the file gives the lock back.
    _file: File,
}

impl Outbox {
    /// Opens the folder of a destination, whose key is lower-case hexadecimal digits.
    pub(crate) fn open(state: &Folder, key: &str) -> Result<Self, StateError> {
        let fits =
            !key.is_empty() && key.len() <= 64 && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !fits {
            let name = key.chars().take(100).collect();
            return Err(StateError::BadName {
                name,
                of: "key of a destination",
                why: "it should be hexadecimal digits",
            });
        }
        Ok(Self { folder: state.make(FOLDER)?.make(key)? })
    }

    /// Adds a report. Where all that wait are larger together than `bytes`, or more than a thousand, the oldest are dropped,
    /// but never the new one. Returns how many were dropped.
    ///
    /// # Errors
    /// The report cannot be written, or an old one not be removed.
    pub fn put(&self, run: &RunId, report: &impl Serialize, bytes: u64) -> Result<usize, StateError> {
        self.folder.replace_by(&file_of(run), Survives::PowerCut, |out| {
            serde_json::to_writer(&mut *out, report)?;
            out.write_all(b"\n")
        })?;
        let waiting = self.waiting()?;
        let (mut size, mut keep) = (0_u64, 0);
        for run in waiting.iter().rev() {
            size = size.saturating_add(self.folder.size_of(&file_of(run))?);
            if keep > 0 && (size > bytes || keep == MAX_WAITING) {
                break;
            }
            keep += 1;
        }
        let dropped = waiting.len() - keep;
        waiting.iter().take(dropped).try_for_each(|run| self.remove(run))?;
        Ok(dropped)
    }

    /// The runs whose reports wait, oldest first.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn waiting(&self) -> Result<Vec<RunId>, StateError> {
        let names = self.folder.names()?;
        Ok(names.iter().filter_map(|name| RunId::parse(name.strip_suffix(EXTENSION)?).ok()).collect())
    }

    /// Reads the report of a run as it was put in. `None`: it waits no longer.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self, run: &RunId) -> Result<Option<Vec<u8>>, StateError> {
        self.folder.read(&file_of(run))
    }

    /// Removes the report of a run, if it still waits.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove(&self, run: &RunId) -> Result<(), StateError> {
        self.folder.remove(&file_of(run))
    }

    /// Takes the lock of those who send. `None`: another process sends now.
    ///
    /// # Errors
    /// The file cannot be opened or locked.
    pub fn lock(&self) -> Result<Option<OutboxLock>, StateError> {
        let path = self.folder.path_of(LOCK);
        let file = self.folder.open_file(LOCK, OpenOptions::new().read(true).write(true).create(true))?;
        let file = file.ok_or_else(|| StateError::system("open", &path, Errno::NOENT))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                self.folder.sweep()?;
                Ok(Some(OutboxLock { _file: file }))
            }
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(StateError::system("lock", &path, errno)),
        }
    }
}

fn file_of(run: &RunId) -> String {
    format!("{run}{EXTENSION}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateDirectory;
    use serde_json::{Value, json};
    use std::time::{Duration, SystemTime};

    fn run(second: u64) -> RunId {
        RunId::new(SystemTime::UNIX_EPOCH + Duration::from_secs(second)).unwrap()
    }

    #[test]
    fn the_oldest_reports_go_first_and_the_newest_never() {
        let place = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&place.path().join("s")).unwrap();
        assert!(state.outbox("../x").is_err() && state.outbox("").is_err());
        let outbox = state.outbox("00ff").unwrap();
        let report = json!({ "text": "a".repeat(1_000) });
        let runs: Vec<_> = (1..=4).map(run).collect();
        let dropped: Vec<_> = runs.iter().map(|run| outbox.put(run, &report, 2_500).unwrap()).collect();
        assert_eq!(dropped, [0, 0, 1, 1]);
        assert_eq!(outbox.waiting().unwrap(), runs[2..]);
        let read: Value = serde_json::from_slice(&outbox.read(&runs[3]).unwrap().unwrap()).unwrap();
        assert_eq!(read, report);
        let last = run(5);
        assert_eq!(outbox.put(&last, &report, 1).unwrap(), 2);
        assert_eq!(outbox.waiting().unwrap(), std::slice::from_ref(&last));
        outbox.remove(&last).unwrap();
        assert_eq!(outbox.read(&last).unwrap(), None);
    }

    #[test]
    fn one_process_sends_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&place.path().join("s")).unwrap();
        let (one, other) = (state.outbox("ab").unwrap(), state.outbox("ab").unwrap());
        let lock = one.lock().unwrap();
        assert!(lock.is_some() && other.lock().unwrap().is_none());
        drop(lock);
        assert!(other.lock().unwrap().is_some());
    }
}
