//! What the agent keeps, in `agent/`: who the agent is, until when it is paused, what it did, and what a run that it started
//! says to it. The room `agent` says what these files hold.
//!
//! Whether an agent runs, and as which process, is asked of the kernel (a lock on `agent/lock`), so that a process number is
//! never believed after its process has ended.

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
    /// `pause.json`: until when no runs begin, and why. Survives a power cut.
    Pause,
    /// `status.json`: what the agent does and did last.
    Status,
    /// `note.json`: what the run that is under way says to the agent that started it.
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

/// The right to be the agent of a state directory. It ends when this value does, or the process.
#[derive(Debug)]
pub struct AgentLock {
    // The kernel gives the lock back when this process closes the file.
    _file: File,
}

/// The process that is the agent.
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

    /// The agent that runs with this state directory, if any. Not for the agent itself, whose lock this call would give back.
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

    /// Writes a file, in the place of the one that was there.
    ///
    /// # Errors
    /// The file cannot be written; then the old one is still there.
    pub fn save(&self, file: AgentFile, value: &impl Serialize) -> Result<(), StateError> {
        self.folder.replace_by(file.name(), file.survives(), |out| {
            serde_json::to_writer(&mut *out, value)?;
            std::io::Write::write_all(out, b"\n")
        })
    }

    /// Removes a file, if it is there.
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
