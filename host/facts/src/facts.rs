//! The facts of one run: gathered from the machine when they are read, or taken from a file.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::from_file::{self, FactsError};
use crate::machine::Machine;
use crate::topics::TOPICS;

/// What Chef asks of Ohai where it wants no more than a node's name and platform (its minimal Ohai run).
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

/// Where facts are read, and at what time.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The root of the system that the run looks after; `/` is the running system.
    pub root: PathBuf,
    /// The root of the system whose `/proc` and `/sys` speak for kernel and hardware: `/`, but for tests.
    pub machine: PathBuf,
    /// The time of the run. It is given, so that nothing here looks at a clock.
    pub now: Timestamp,
}

impl Settings {
    /// The system below `root`, on the machine that this program runs on.
    pub fn new(root: impl Into<PathBuf>, now: Timestamp) -> Self {
        Self { root: root.into(), machine: PathBuf::from("/"), now }
    }
}

/// Which facts [`Facts::gather`] returns.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// Every fact there is.
    All,
    /// The few of Chef's minimal Ohai run.
    Minimal,
    /// Those under these top-level keys.
    Keys(&'a [&'a str]),
}

/// The automatic attributes of one node. Reading one gathers it and what comes from the same source, once; the value
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
    /// [`FactsError::Root`] where the root (or the machine's) is not a directory that can be opened.
    pub fn new(settings: &Settings) -> Result<Self, FactsError> {
        Ok(Self { source: Source::Machine(Box::new(Machine::open(settings)?)) })
    }

    /// Takes the facts from a file instead of the machine: what `ohai` prints, or a saved node, whose `automatic` level
    /// is used.
    ///
    /// # Errors
    /// Where the file cannot be read, is too large, or is not a JSON object of either kind; the message names the file,
    /// and line and column where there is one.
    pub fn from_file(path: &Path) -> Result<Self, FactsError> {
        Ok(Self { source: Source::File(from_file::read(path)?) })
    }

    /// Gathers the named facts into one object and keeps nothing.
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

    /// The fact under a top-level key (`"network"`), gathered now if it was not yet; nothing where the machine does not
    /// have it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match &self.source {
            Source::Machine(machine) => machine.get(key),
            Source::File(facts) => facts.get(key),
        }
    }

    /// The top-level keys that can be asked for, in the order of [`Facts::all`]. Of a machine, a key stands here also
    /// where this machine turns out not to have the fact.
    pub fn keys(&self) -> Vec<&str> {
        match &self.source {
            Source::Machine(_) => TOPICS.iter().flat_map(|topic| topic.keys.iter().copied()).collect(),
            Source::File(facts) => facts.keys().map(String::as_str).collect(),
        }
    }

    /// Every fact, as one object. What was not gathered yet is gathered by several threads at once.
    pub fn all(&self) -> Value {
        if let Source::Machine(machine) = &self.source {
            machine.gather_everything();
        }
        self.some(&self.keys())
    }

    /// Every fact, taken out of what was gathered: nothing is copied.
    pub fn into_all(self) -> Map<String, Value> {
        match self.source {
            Source::Machine(machine) => machine.into_everything(),
            Source::File(facts) => facts,
        }
    }

    /// The facts of Chef's minimal Ohai run, as one object.
    pub fn minimal(&self) -> Value {
        self.some(&MINIMAL_KEYS)
    }

    fn some(&self, keys: &[&str]) -> Value {
        let found = keys.iter().filter_map(|key| Some(((*key).to_owned(), self.get(key)?.clone())));
        Value::Object(found.collect())
    }
}
