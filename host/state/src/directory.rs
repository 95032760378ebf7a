//! The state directory, for reading.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::folder::Folder;
use crate::{
    AgentFolder, ChangeLock, Holder, LockRequest, Outbox, RunFolder, RunId, RunLock, StateError, WaitingChange, agent,
    changes, good_runs, lock, nodes, pending, runs,
};

/// The default path of the state directory.
pub const DEFAULT_PATH: &str = "/var/lib/wrun";

/// The state directory, open.
#[derive(Debug, Clone)]
pub struct StateDirectory {
    folder: Arc<Folder>,
}

impl StateDirectory {
    /// Opens the state directory, and creates it (mode 0700) if it does not exist.
    ///
    /// # Errors
    /// It cannot be made, belongs to another user, or may be written by others.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        Self::open_keeping_free(path, 0)
    }

    /// Opens the state directory like [`open`](Self::open). Writes to it fail if the disk has fewer free bytes than
    /// `min_free`.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_keeping_free(path: &Path, min_free: u64) -> Result<Self, StateError> {
        Ok(Self { folder: Arc::new(Folder::made_outermost(path)?.keeping_free(min_free)) })
    }

    /// Opens the state directory for a dry run, which does not create it. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// It belongs to another user or may be written by others.
    pub fn open_existing(path: &Path) -> Result<Option<Self>, StateError> {
        Ok(Folder::outermost(path)?.map(|folder| Self { folder: Arc::new(folder) }))
    }

    /// Takes the run lock, which is needed for writing.
    ///
    /// # Errors
    /// [`StateError::Locked`] if another run holds it for longer than the request waits, [`StateError::Interrupted`] if
    /// the request was stopped.
    pub fn lock(&self, request: LockRequest<'_>) -> Result<RunLock, StateError> {
        lock::take(&self.folder, request)
    }

    /// Returns the run that goes on now, as it has described itself, or `None`. A dry run takes no lock, so it does not count.
    ///
    /// # Errors
    /// The lock's file cannot be opened or read.
    pub fn running(&self) -> Result<Option<Holder>, StateError> {
        lock::running(&self.folder)
    }

    /// Returns the saved node object, or `None` if it was never saved.
    ///
    /// # Errors
    /// The name cannot be a node's, or the file is damaged or of a newer format.
    pub fn node(&self, name: &str) -> Result<Option<Value>, StateError> {
        nodes::load(&self.folder, name)
    }

    /// Returns the path of the saved node object with this name, for messages.
    pub fn node_file(&self, name: &str) -> PathBuf {
        nodes::file(&self.folder, name)
    }

    /// The names of all nodes that were saved, sorted.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn node_names(&self) -> Result<Vec<String>, StateError> {
        nodes::names(&self.folder)
    }

    /// Returns the deferred changes of a node, in order.
    ///
    /// # Errors
    /// The name cannot be a node's, or the file is damaged or of a newer format.
    pub fn waiting_changes(&self, node: &str) -> Result<Vec<WaitingChange>, StateError> {
        changes::waiting(&self.folder, node)
    }

    /// Saves the node of a run that is ended at once by a signal. Only the process that holds the run lock may call this.
    ///
    /// # Errors
    /// The name cannot be a node's, or the file cannot be written; then the old one is still there.
    pub fn save_node_of_ended_run(&self, name: &str, node: &Value, _changes: &ChangeLock) -> Result<(), StateError> {
        nodes::save(&self.folder, name, node)
    }

    /// Takes the lock of changes, which comes before the run lock.
    ///
    /// # Errors
    /// Others hold it for longer than `wait`, or the file cannot be opened.
    pub fn lock_changes(&self, wait: Duration) -> Result<ChangeLock, StateError> {
        changes::lock(&self.folder, wait)
    }

    /// Returns the notifications that earlier runs of a node left due, as `(policy, receiver, action)`, in order. Damaged
    /// lines of the journal are ignored.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn left_due(&self, node: &str) -> Result<Vec<pending::LeftDue>, StateError> {
        pending::left_due(&self.folder, node)
    }

    /// Returns the stored data about a node's last good run, or `None` if there is none or it cannot be read.
    ///
    /// # Errors
    /// The name cannot be a node's, or the file cannot be opened.
    pub fn good_run<T: serde::de::DeserializeOwned>(&self, node: &str) -> Result<Option<T>, StateError> {
        good_runs::load(&self.folder, node)
    }

    /// Returns the folder for the record of a dry run. It does not need a lock, because only this run writes there.
    #[must_use]
    pub fn dry_run_folder(&self, id: RunId) -> RunFolder {
        RunFolder::dry(Arc::clone(&self.folder), id)
    }

    /// Removes all records of dry runs but the newest `keep`, and more of the oldest if all together are larger than `bytes`.
    /// The newest record and that of the run `written` are always kept.
    ///
    /// # Errors
    /// A record cannot be removed.
    pub fn prune_dry_runs(&self, keep: usize, bytes: u64, written: Option<&RunId>) -> Result<(), StateError> {
        runs::prune_dry(&self.folder, keep, bytes, written)
    }

    /// Returns the folder for the record of a survey. Like that of a dry run, it does not need a lock.
    #[must_use]
    pub fn survey_folder(&self, id: RunId) -> RunFolder {
        RunFolder::survey(Arc::clone(&self.folder), id)
    }

    /// Removes records of surveys as [`prune_dry_runs`](Self::prune_dry_runs) removes those of dry runs.
    ///
    /// # Errors
    /// A record cannot be removed.
    pub fn prune_surveys(&self, keep: usize, bytes: u64, written: Option<&RunId>) -> Result<(), StateError> {
        runs::prune_surveys(&self.folder, keep, bytes, written)
    }

    /// The recorded surveys, newest first.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn surveys(&self) -> Result<Vec<RunId>, StateError> {
        runs::surveys(&self.folder)
    }

    /// Returns a survey's record, or `None` if the survey does not exist.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn survey(&self, id: &RunId) -> Result<Option<Value>, StateError> {
        runs::survey(&self.folder, id)
    }

    /// Returns the queue of reports for a destination, whose key is hexadecimal digits.
    ///
    /// # Errors
    /// The key is not, or the folder cannot be made.
    pub fn outbox(&self, key: &str) -> Result<Outbox, StateError> {
        Outbox::open(&self.folder, key)
    }

    /// Returns the folder of the agent, and creates it if it does not exist.
    ///
    /// # Errors
    /// It cannot be made, belongs to another user, or may be written by others.
    pub fn agent(&self) -> Result<AgentFolder, StateError> {
        self.folder.make(agent::FOLDER).map(AgentFolder::new)
    }

    /// Returns the folder of the agent, or `None` if there never was an agent or a pause.
    ///
    /// # Errors
    /// It belongs to another user, or may be written by others.
    pub fn existing_agent(&self) -> Result<Option<AgentFolder>, StateError> {
        Ok(self.folder.open(agent::FOLDER)?.map(AgentFolder::new))
    }

    /// Returns a run's record (`run.json`), or `None` if the run does not have one.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn record(&self, id: &RunId) -> Result<Option<Value>, StateError> {
        runs::record(&self.folder, id)
    }

    /// Returns the note of a run that has begun (`started.json`), or `None` if the run has left a record or no note.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn started(&self, id: &RunId) -> Result<Option<Value>, StateError> {
        runs::started(&self.folder, id)
    }

    /// Returns some keys of a run's record, without parsing the rest. Returns `None` if the run does not have a record.
    ///
    /// # Errors
    /// The record is damaged or cannot be read.
    pub fn record_part(&self, id: &RunId, keys: &[&str]) -> Result<Option<Value>, StateError> {
        runs::record_part(&self.folder, id, keys)
    }

    /// Returns the recorded runs, including dry runs, newest first.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn runs(&self) -> Result<Vec<RunId>, StateError> {
        runs::all(&self.folder)
    }
}
