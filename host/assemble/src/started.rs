//! Runs without a record: they are under way, or their process died.
//!
//! A run notes that it has begun before it changes anything. Its record replaces the note. So a note that is left belongs to
//! the run that has the lock, or to a run that was killed.

use report::{FOLDERS_POLICY, Record};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use state::{RunFolder, StateError};

/// The version of the note. It grows when the meaning of a key changes or a key is removed.
const VERSION: u32 = 1;

/// A run that has begun, as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    version: u32,
    /// The identifier of the run.
    pub run_id: String,
    /// The name of the node.
    pub node_name: String,
    /// The time when the run began, in seconds since 1970.
    pub start_time: i64,
    /// The process number of the run.
    pub pid: u32,
    /// The command line of the process.
    pub command: String,
    /// The policies of the run, in order. `None`: it runs cookbooks in folders.
    pub policies: Option<Vec<String>>,
}

/// The state of a run that has a folder.
#[derive(Debug, Clone)]
pub enum RunState {
    /// The run has ended, and left its record.
    Finished(Box<Record>),
    /// The run is under way. Its note is absent if it could not be written.
    Running(Option<Started>),
    /// The run's process ended before it wrote the record: it was killed, or the machine lost its power.
    Died(Option<Started>),
}

impl RunState {
    /// Returns the word for a run without a record: `running` or `died`. Returns `None` for a run with a record, whose outcome
    /// its record has.
    pub fn word(&self) -> Option<&'static str> {
        match self {
            Self::Finished(_) => None,
            Self::Running(_) => Some("running"),
            Self::Died(_) => Some("died"),
        }
    }
}

impl Started {
    /// Describes a run of this process.
    pub(crate) fn new(
        run_id: String,
        node_name: &str,
        start_time: i64,
        command: &str,
        policies: Option<Vec<String>>,
    ) -> Self {
        let pid = std::process::id();
        Self {
            version: VERSION,
            run_id,
            node_name: node_name.to_owned(),
            start_time,
            pid,
            command: command.to_owned(),
            policies,
        }
    }

    /// Leaves the note in the folder of the run. A run does not fail without it, because it serves only people.
    pub(crate) fn note(&self, folder: &RunFolder) {
        if let Err(error) = folder.save_started(self) {
            tracing::warn!("the beginning of the run cannot be noted: {}", text::error_chain(&error));
        }
    }

    /// Reads a note. Returns `None` if it is absent or damaged, because a power cut may have cut it off.
    pub(crate) fn read(note: Result<Option<Value>, StateError>) -> Option<Self> {
        note.ok().flatten().and_then(|note| serde_json::from_value(note).ok())
    }

    /// Returns the names of the policies as people read them.
    pub fn shown_policies(&self) -> String {
        self.policies.as_ref().map_or_else(|| FOLDERS_POLICY.to_owned(), |names| names.join(", "))
    }

    /// Returns the note as JSON for programs, with the run's outcome: `running` or `died`.
    pub fn json(&self, outcome: &str) -> Value {
        let policies = self.policies.iter().flatten().map(|name| json!({ "name": name }));
        json!({
            "version": VERSION,
            "run_id": self.run_id,
            "node_name": self.node_name,
            "outcome": outcome,
            "start_time": self.start_time,
            "pid": self.pid,
            "command": self.command,
            "policies": policies.collect::<Vec<_>>(),
        })
    }
}
