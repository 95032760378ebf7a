//! The facts of one run. They are gathered from the machine when they are read, or come from a file.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::from_file::{self, FactsError};
use crate::machine::Machine;
use crate::topics::TOPICS;

/// The keys of Chef's minimal Ohai run, for cases where Chef needs only a node's name and platform.
const MINIMAL_KEYS: [&str; 9] = [
    "fqdn",
    "machinename",
    "hostname",
    "platform",
    "platform_version",
    "ohai_time",
    "os",
    "os_version",
    "init_package",
];

/// The sources and the time of facts.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The root of the system that the run manages; `/` is the running system.
    pub root: PathBuf,
    /// The root of the system whose `/proc` and `/sys` describe kernel and hardware: `/`, except in tests.
    pub machine: PathBuf,
    /// The time of the run. The caller passes it, so that this crate reads no clock.
    pub now: Timestamp,
}

impl Settings {
    /// Creates settings for the system below `root`, on the machine that runs this program.
    pub fn new(root: impl Into<PathBuf>, now: Timestamp) -> Self {
        Self { root: root.into(), machine: PathBuf::from("/"), now }
    }
}

/// The facts that [`Facts::gather`] returns.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// All facts of the machine.
    All,
    /// The facts of Chef's minimal Ohai run.
    Minimal,
    /// The facts under these top-level keys.
    Keys(&'a [&'a str]),
}

/// The automatic attributes of one node. Reading a fact gathers it once, with the other facts from the same source. The value
/// then stays the same for the rest of the run.
#[derive(Debug)]
pub struct Facts {
    source: Source,
}

#[derive(Debug)]
enum Source {
    Machine(Box<Machine>),
    File(Map<String, Value>),
}

impl Facts {
    /// Prepares to read facts; reads none yet.
    ///
    /// # Errors
    /// [`FactsError::Root`] if the root, or the machine's root, cannot be opened as a directory.
    pub fn new(settings: &Settings) -> Result<Self, FactsError> {
        Ok(Self { source: Source::Machine(Box::new(Machine::open(settings)?)) })
    }

    /// Reads the facts from a file instead of the machine: the output of `ohai`, or a saved node, whose `automatic` level is
    /// used.
    ///
    /// # Errors
    /// The file cannot be read, is too large, or is not a JSON object of either kind. The message names the file, and the
    /// line and column if possible.
    pub fn from_file(path: &Path) -> Result<Self, FactsError> {
        Ok(Self { source: Source::File(from_file::read(path)?) })
    }

    /// Gathers the given facts into one object, without caching.
    ///
    /// # Errors
    /// As [`Facts::new`].
    pub fn gather(settings: &Settings, which: Which<'_>) -> Result<Value, FactsError> {
        let facts = Self::new(settings)?;
        Ok(match which {
            Which::All => facts.all(),
            Which::Minimal => facts.minimal(),
            Which::Keys(keys) => facts.some(keys),
        })
    }

    /// Returns the fact under a top-level key (`"network"`), and gathers it if necessary. Returns `None` if the machine does
    /// not have it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match &self.source {
            Source::Machine(machine) => machine.get(key),
            Source::File(facts) => facts.get(key),
        }
    }

    /// Returns the possible top-level keys, in the order of [`Facts::all`]. For a machine, the list also has keys of facts
    /// that this machine does not have.
    pub fn keys(&self) -> Vec<&str> {
        match &self.source {
            Source::Machine(_) => TOPICS.iter().flat_map(|topic| topic.keys.iter().copied()).collect(),
            Source::File(facts) => facts.keys().map(String::as_str).collect(),
        }
    }

    /// Returns all facts as one object. Several threads gather the missing ones in parallel.
    pub fn all(&self) -> Value {
        if let Source::Machine(machine) = &self.source {
            machine.gather_everything();
        }
        self.some(&self.keys())
    }

    /// Returns all facts without copying them.
    pub fn into_all(self) -> Map<String, Value> {
        match self.source {
            Source::Machine(machine) => machine.into_everything(),
            Source::File(facts) => facts,
        }
    }

    /// Returns the facts of Chef's minimal Ohai run as one object.
    pub fn minimal(&self) -> Value {
        self.some(&MINIMAL_KEYS)
    }

    fn some(&self, keys: &[&str]) -> Value {
        let found = keys.iter().filter_map(|key| Some(((*key).to_owned(), self.get(key)?.clone())));
        Value::Object(found.collect())
    }
}
