//! Stores the agent's files in `agent/`: its lock, its pause, its status, and the note of a run that it started. The crate
//! `agent` defines the content of these files.
//!
//! A kernel lock on `agent/lock` tells whether an agent runs and as which process. So the number of a process that has ended
//! is never used.

use std::fs::File;
use std::sync::Arc;

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use rustix::process::{Flock, FlockType, Pid, fcntl_getlk};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::StateError;
use crate::folder::{Folder, Survives};

pub(crate) const FOLDER: &str = "agent";

const LOCK: &str = "lock";

/// A file of the agent's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentFile {
    /// `pause.json`: the time until which no runs begin, and the reason. It is kept after a power cut.
    Pause,
    /// `status.json`: the agent's current and last activity.
    Status,
    /// `note.json`: a message of the current run to the agent that started it.
    Note,
}

impl AgentFile {
    fn name(self) -> &'static str {
        match self {
            Self::Pause => "pause.json",
            Self::Status => "status.json",
            Self::Note => "note.json",
        }
    }

    fn survives(self) -> Survives {
        match self {
            Self::Pause => Survives::PowerCut,
            Self::Status | Self::Note => Survives::Kill,
        }
    }
}

/// The agent's folder, open.
#[derive(Debug, Clone)]
pub struct AgentFolder {
    folder: Arc<Folder>,
}

/// The right to be the agent of a state directory. It ends when this value is dropped or the process ends.
#[derive(Debug)]
pub struct AgentLock {
    // The kernel releases the lock when this process closes the file.
    _file: File,
}

/// The process of the running agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningAgent {
    /// The number of its process. `None`: it runs where this process cannot see it (another container).
    pub process: Option<Pid>,
}

impl AgentFolder {
    pub(crate) fn new(folder: Folder) -> Self {
        Self { folder: Arc::new(folder) }
    }

    /// Takes the agent's lock. `None`: another process has it.
    ///
    /// # Errors
    /// The file cannot be opened or locked.
    pub fn lock(&self) -> Result<Option<AgentLock>, StateError> {
        let path = self.folder.path_of(LOCK);
        let file = self.folder.lock_file(LOCK)?;
        match rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                self.folder.sweep()?;
                Ok(Some(AgentLock { _file: file }))
            }
            Err(Errno::ACCESS | Errno::AGAIN) => Ok(None),
            Err(errno) => Err(StateError::system("lock", &path, errno)),
        }
    }

    /// Returns the agent that runs with this state directory, if any. The agent itself must not call this, because it would
    /// lose its lock.
    ///
    /// # Errors
    /// The lock's file cannot be opened.
    pub fn running(&self) -> Result<Option<RunningAgent>, StateError> {
        let Some(file) = self.folder.open_file(LOCK)? else {
            return Ok(None);
        };
        let held = fcntl_getlk(&file, &Flock::from(FlockType::WriteLock))
            .map_err(|errno| StateError::system("examine", &self.folder.path_of(LOCK), errno))?;
        Ok(held.map(|lock| RunningAgent { process: lock.pid }))
    }

    /// Reads a file. `None`: it does not exist.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn read<T: DeserializeOwned>(&self, file: AgentFile) -> Result<Option<T>, StateError> {
        let Some(bytes) = self.folder.read(file.name())? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| StateError::Malformed {
            path: self.folder.path_of(file.name()),
            line: error.line().max(1),
            reason: error.to_string(),
        })
    }

    /// Writes a file and replaces an existing one.
    ///
    /// # Errors
    /// The file cannot be written; then the old one is still there.
    pub fn save(&self, file: AgentFile, value: &impl Serialize) -> Result<(), StateError> {
        self.folder.replace_by(file.name(), file.survives(), |out| {
            serde_json::to_writer(&mut *out, value)?;
            std::io::Write::write_all(out, b"\n")
        })
    }

    /// Removes a file, if it exists.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove(&self, file: AgentFile) -> Result<(), StateError> {
        self.folder.remove(file.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateDirectory;
    use serde_json::{Value, json};

    #[test]
    fn files_are_kept_and_damage_is_told() {
        let place = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&place.path().join("s")).unwrap();
        assert!(state.existing_agent().unwrap().is_none(), "looking makes nothing");
        let agent = state.agent().unwrap();
        assert_eq!(agent.read::<Value>(AgentFile::Pause).unwrap(), None);
        agent.save(AgentFile::Pause, &json!({ "a": 1 })).unwrap();
        assert_eq!(state.existing_agent().unwrap().unwrap().read(AgentFile::Pause).unwrap(), Some(json!({ "a": 1 })));
        agent.remove(AgentFile::Pause).unwrap();
        agent.remove(AgentFile::Pause).unwrap();
        assert_eq!(agent.read::<Value>(AgentFile::Pause).unwrap(), None);
        std::fs::write(place.path().join("s/agent/status.json"), "{").unwrap();
        assert!(agent.read::<Value>(AgentFile::Status).unwrap_err().is_damage());
    }

    #[test]
    fn nobody_is_the_agent_before_one_has_the_lock() {
        let place = tempfile::tempdir().unwrap();
        let agent = StateDirectory::open(&place.path().join("s")).unwrap().agent().unwrap();
        assert_eq!(agent.running().unwrap(), None);
        let lock = agent.lock().unwrap();
        assert!(lock.is_some());
    }
}
