//! Stores deferred changes of a node, which an operator made while a run had the lock: `changes/NAME.json`, `{"format": 1,
//! "changes": [{"number": 1, "by": .., "at": .., "edit": {..}}, ..]}`.
//!
//! A command that changes a node takes the lock of this file first, then tries to take the run lock. With both locks, it
//! writes the change to the node's own file. Without the run lock it stores the change here, and the run applies it when it
//! ends. Each change has a number, and the node has the number of its last applied change. So a process that is killed
//! between the two files does not lose a change or apply it twice.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use serde_json::Value;

use crate::StateError;
use crate::folder::{Folder, Survives};
use crate::names::check_node_name;

const FOLDER: &str = "changes";

const LOCK: &str = "changes.lock";

const EXTENSION: &str = ".json";

/// The format that is written.
const FORMAT: u64 = 1;

/// Changes that may wait for one run.
const MAX_WAITING: usize = 10_000;

/// Time between two attempts of a waiting process.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A change that waits for a run to end.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct WaitingChange {
    /// Its number, from 1; numbers of one node only grow.
    pub number: u64,
    /// The command that asked for it.
    pub by: String,
    /// The time of the change, as RFC 3339 text in UTC.
    pub at: String,
    /// The change as JSON, in the form that `wrun node` gives it.
    pub edit: Value,
}

/// The right to change nodes, in addition to the run lock. It ends when this value is dropped or the process ends.
#[derive(Debug)]
pub struct ChangeLock {
    folder: Arc<Folder>,
    // Closing the file releases the lock.
    _file: File,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Whole {
    format: u64,
    changes: Vec<WaitingChange>,
}

impl ChangeLock {
    /// Renames an unusable file of deferred changes, like [`RunLock::set_changes_aside`](crate::RunLock::set_changes_aside).
    ///
    /// # Errors
    /// The file cannot be renamed.
    pub fn set_aside(&self, node: &str) -> Result<PathBuf, StateError> {
        set_aside(&self.folder, node)
    }

    /// Stores the deferred changes of a node and replaces the earlier ones. If the list is empty, the file is removed.
    ///
    /// # Errors
    /// There are too many, or the file cannot be written; then the old one is still there.
    pub fn keep(&self, node: &str, changes: &[WaitingChange]) -> Result<(), StateError> {
        let file = file_of(node)?;
        if changes.is_empty() {
            let Some(folder) = self.folder.open(FOLDER)? else { return Ok(()) };
            return folder.remove(&file);
        }
        let folder = self.folder.make(FOLDER)?;
        folder.sweep()?;
        let failed = |error| StateError::system("write", &folder.path_of(&file), error);
        if changes.len() > MAX_WAITING {
            return Err(failed(std::io::Error::other(format!("more than {MAX_WAITING} changes would wait"))));
        }
        let whole = Whole { format: FORMAT, changes: changes.to_vec() };
        let bytes = serde_json::to_vec(&whole).map_err(|error| failed(std::io::Error::other(error)))?;
        folder.replace(&file, &bytes, Survives::PowerCut)
    }
}

/// Returns the deferred changes of a node.
pub(crate) fn waiting(state: &Folder, node: &str) -> Result<Vec<WaitingChange>, StateError> {
    let file = file_of(node)?;
    let Some(folder) = state.open(FOLDER)? else { return Ok(vec![]) };
    let Some(bytes) = folder.read(&file)? else { return Ok(vec![]) };
    let path = folder.path_of(&file);
    let whole: Whole = serde_json::from_slice(&bytes).map_err(|error| StateError::Malformed {
        path: path.clone(),
        line: error.line().max(1),
        reason: error.to_string(),
    })?;
    match whole.format {
        FORMAT => Ok(whole.changes),
        found => Err(StateError::NewerFormat { path, found, known: FORMAT }),
    }
}

/// Renames an unusable file of deferred changes. Returns its new path.
pub(crate) fn set_aside(state: &Folder, node: &str) -> Result<PathBuf, StateError> {
    state.make(FOLDER)?.set_aside(&file_of(node)?)
}

/// Takes the lock. Other processes hold it only while they write one or two files.
pub(crate) fn lock(state: &Arc<Folder>, wait: Duration) -> Result<ChangeLock, StateError> {
    let path = state.path_of(LOCK);
    let file = state.lock_file(LOCK)?;
    let began = Instant::now();
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(ChangeLock { folder: Arc::clone(state), _file: file }),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) if began.elapsed() < wait => std::thread::sleep(LOOK_EVERY),
            Err(Errno::WOULDBLOCK) => return Err(StateError::ChangesLocked { wait }),
            Err(errno) => return Err(StateError::system("lock", &path, errno)),
        }
    }
}

fn file_of(node: &str) -> Result<String, StateError> {
    check_node_name(node)?;
    Ok(format!("{node}{EXTENSION}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateDirectory;
    use serde_json::json;

    fn change(number: u64) -> WaitingChange {
        WaitingChange { number, by: "wrun node tag add n x".into(), at: "2026-01-01T00:00:00Z".into(), edit: json!({}) }
    }

    #[test]
    fn changes_wait_until_they_are_taken() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&folder.path().join("s")).unwrap();
        assert_eq!(state.waiting_changes("n").unwrap(), []);
        let lock = state.lock_changes(Duration::ZERO).unwrap();
        lock.keep("n", &[change(1), change(2)]).unwrap();
        assert_eq!(state.waiting_changes("n").unwrap(), [change(1), change(2)]);
        assert!(state.waiting_changes("../n").is_err());
        assert!(matches!(state.lock_changes(Duration::ZERO), Err(StateError::ChangesLocked { .. })));
        lock.keep("n", &[]).unwrap();
        assert_eq!(state.waiting_changes("n").unwrap(), []);
        drop(lock);
        state.lock_changes(Duration::ZERO).unwrap().keep("m", &[]).unwrap();
        std::fs::write(folder.path().join("s/changes/n.json"), "{").unwrap();
        assert!(state.waiting_changes("n").unwrap_err().is_damage());
    }
}
