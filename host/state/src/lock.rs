//! The run lock: only one run at a time can write the state.
//!
//! The kernel holds the lock (`flock` on the open file), so it ends with the process in any case. The content of the file
//! only describes the holder for other processes. It is used only while the kernel reports that the lock is held.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use serde_json::Value;

use crate::folder::Folder;
use crate::{Pending, RunFolder, RunId, StateError, changes, good_runs, nodes, pending, runs};

const FILE: &str = "lock";

/// Time between two checks of a waiting run for the lock and for an interruption.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Largest length of the stored command line, in characters.
const MAX_COMMAND: usize = 1000;

/// A request for the lock.
pub struct LockRequest<'a> {
    /// The command line, for others to read.
    pub command: &'a str,
    /// When the run began.
    pub began: SystemTime,
    /// How long to wait for another run to end. Zero: do not wait.
    pub wait: Duration,
    /// Called while waiting. If it returns true, the wait ends.
    pub interrupted: &'a dyn Fn() -> bool,
    /// Called once before the wait, with the run that holds the lock; `None` if that is not known yet.
    pub waiting: &'a mut dyn FnMut(Option<&Holder>),
}

/// The run that holds the lock, as it has described itself in the file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Holder {
    /// The process number of the run.
    pub pid: u32,
    /// Its command line, shortened if it is long.
    pub command: String,
    /// The time when it began, as RFC 3339 text in UTC.
    pub began: String,
    /// The name that its record will have. `None`: it is not a run, or has not got so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

impl fmt::Display for Holder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "process {} (`{}`), since {}", self.pid, self.command, self.began)
    }
}

/// The right to change the state. It ends when this value is dropped or the process ends.
#[derive(Debug)]
pub struct RunLock {
    folder: Arc<Folder>,
    file: File,
    holder: Holder,
}

impl Drop for RunLock {
    /// Releases the lock also where another process has a copy of the open file: a child that has not become its program yet,
    /// and that its file system keeps in the kernel, keeps all open files.
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

impl RunLock {
    /// Saves the node object durably: it is on the disk when this returns.
    ///
    /// # Errors
    /// The name cannot be a node's, or the file cannot be written; then the old one is still there.
    pub fn save_node(&self, name: &str, node: &Value) -> Result<(), StateError> {
        nodes::save(&self.folder, name, node)
    }

    /// Removes a node object and its due notifications. Returns false if the node did not exist.
    ///
    /// # Errors
    /// The name cannot be a node's, or a file cannot be removed.
    pub fn remove_node(&self, name: &str) -> Result<bool, StateError> {
        let was_there = nodes::names(&self.folder)?.iter().any(|known| known == name);
        nodes::remove(&self.folder, name)?;
        pending::remove(&self.folder, name)?;
        good_runs::remove(&self.folder, name)?;
        Ok(was_there)
    }

    /// Renames the unusable file of a node object, so that the run can go on without it. Returns its new path.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn set_node_aside(&self, name: &str) -> Result<PathBuf, StateError> {
        nodes::set_aside(&self.folder, name)
    }

    /// Renames the unusable file of a node's deferred changes. Returns its new path.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn set_changes_aside(&self, node: &str) -> Result<PathBuf, StateError> {
        changes::set_aside(&self.folder, node)
    }

    /// Returns the folder for the record of a run that began at this time, and names the run in the lock's file.
    ///
    /// # Errors
    /// The system has no randomness for its name, or the lock's file cannot be written.
    pub fn run_folder(&self, began: SystemTime) -> Result<RunFolder, StateError> {
        let id = RunId::new(began)?;
        let holder = Holder { run: Some(id.to_string()), ..self.holder.clone() };
        introduce(&self.file, &holder)
            .map_err(|source| StateError::system("write", &self.folder.path_of(FILE), source))?;
        Ok(RunFolder::new(Arc::clone(&self.folder), id))
    }

    /// Removes all run records but the newest `keep`, and more of the oldest if all together are larger than `bytes`. The
    /// newest record and that of the run `written` are always kept.
    ///
    /// # Errors
    /// A record cannot be removed.
    pub fn prune_runs(&self, keep: usize, bytes: u64, written: Option<&RunId>) -> Result<(), StateError> {
        runs::prune(&self.folder, keep, bytes, written)
    }

    /// Stores the input of a node's good run.
    ///
    /// # Errors
    /// The name cannot be a node's, or the file cannot be written.
    pub fn save_good_run(&self, node: &str, run: &impl serde::Serialize) -> Result<(), StateError> {
        good_runs::save(&self.folder, node, run)
    }

    /// Removes the stored data about a node's last good run, because another run begins.
    ///
    /// # Errors
    /// The name cannot be a node's, or the file cannot be removed.
    pub fn remove_good_run(&self, node: &str) -> Result<(), StateError> {
        good_runs::remove(&self.folder, node)
    }

    /// Opens the journal of a node's due notifications. A damaged journal is renamed, and its readable lines are used.
    ///
    /// # Errors
    /// The journal cannot be read or written.
    pub fn pending(&self, node: &str) -> Result<Pending, StateError> {
        pending::open(&self.folder, node)
    }
}

pub(crate) fn take(folder: &Arc<Folder>, request: LockRequest<'_>) -> Result<RunLock, StateError> {
    let path = folder.path_of(FILE);
    let file = folder.lock_file(FILE)?;
    let began = Instant::now();
    let mut announced = false;
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) => {
                let waited = began.elapsed();
                if waited >= request.wait {
                    return Err(StateError::Locked { holder: holder(folder)?, wait: request.wait });
                }
                if !std::mem::replace(&mut announced, true) {
                    (request.waiting)(holder(folder)?.as_ref());
                }
                if (request.interrupted)() {
                    return Err(StateError::Interrupted);
                }
                std::thread::sleep(LOOK_EVERY.min(request.wait.saturating_sub(waited)));
            }
            Err(errno) => return Err(StateError::system("lock", &path, errno)),
        }
    }
    let failed = |source| StateError::system("write", &path, source);
    let holder = described(&request).map_err(failed)?;
    introduce(&file, &holder).map_err(failed)?;
    let lock = RunLock { folder: Arc::clone(folder), file, holder };
    for name in [nodes::FOLDER, pending::FOLDER, good_runs::FOLDER] {
        if let Some(folder) = folder.open(name)? {
            folder.sweep()?;
        }
    }
    Ok(lock)
}

/// Describes the new holder of the lock.
fn described(request: &LockRequest<'_>) -> std::io::Result<Holder> {
    let began = jiff::Timestamp::try_from(request.began).map_err(std::io::Error::other)?;
    Ok(Holder {
        pid: std::process::id(),
        command: request.command.chars().take(MAX_COMMAND).collect(),
        began: began.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        run: None,
    })
}

/// Writes the holder of the lock to the file.
fn introduce(file: &File, holder: &Holder) -> std::io::Result<()> {
    let text = serde_json::to_vec(holder)?;
    file.set_len(0)?;
    file.write_all_at(&text, 0)
}

/// Returns the run that holds the lock now, or `None` if none does. Other holders, such as a command that changes a node, do not
/// count.
pub(crate) fn running(folder: &Folder) -> Result<Option<Holder>, StateError> {
    let Some(file) = folder.open_file(FILE)? else { return Ok(None) };
    // The shared lock ends with this function. A run that begins meanwhile tries again.
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => Ok(holder(folder)?.filter(|holder| holder.run.is_some())),
        Ok(()) | Err(Errno::INTR) => Ok(None),
        Err(errno) => Err(StateError::system("lock", &folder.path_of(FILE), errno)),
    }
}

/// Returns the holder that the file names. Returns `None` if the lock has just been taken and the file is not written yet.
fn holder(folder: &Folder) -> Result<Option<Holder>, StateError> {
    Ok(folder.read(FILE)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateDirectory;

    #[test]
    fn attack_who_has_a_copy_of_the_open_file_does_not_keep_the_lock() {
        let directory = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(directory.path()).unwrap();
        let lock = || {
            state.lock(LockRequest {
                command: "test",
                began: SystemTime::UNIX_EPOCH,
                wait: Duration::ZERO,
                interrupted: &|| false,
                waiting: &mut |_| {},
            })
        };
        let first = lock().unwrap();
        // As a child has it that never becomes its program.
        let copy = first.file.try_clone().unwrap();
        assert!(lock().is_err());
        drop(first);
        lock().unwrap();
        drop(copy);
    }
}
