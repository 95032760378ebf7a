//! The lazy values behind the facts: one for each topic, computed when one of its keys is first read.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::facts::Settings;
use crate::files::SystemFiles;
use crate::from_file::FactsError;
use crate::limits;
use crate::topics::TOPICS;

/// The result of a topic: top-level keys and their values.
pub(crate) type Gathered = Map<String, Value>;

/// The sources of the topics, and their results.
#[derive(Debug)]
pub(crate) struct Machine {
    /// The system that the run manages.
    pub(crate) root: SystemFiles,
    /// The path of that system, with links resolved.
    pub(crate) root_path: PathBuf,
    /// The system whose kernel and hardware are described.
    pub(crate) machine: SystemFiles,
    /// True if the root is the running system, so that the kernel and the process table describe it.
    pub(crate) is_running_system: bool,
    pub(crate) now: Timestamp,
    gathered: Vec<OnceLock<Gathered>>,
}

impl Machine {
    pub(crate) fn open(settings: &Settings) -> Result<Self, FactsError> {
        let failed = |path: &PathBuf, source: std::io::Error| FactsError::Root { path: path.clone(), source };
        let resolve = |path: &PathBuf| std::fs::canonicalize(path).map_err(|source| failed(path, source));
        let root_path = resolve(&settings.root)?;
        let machine_path = resolve(&settings.machine)?;
        let files =
            |path: &PathBuf| SystemFiles::open(path).map_err(|source| failed(path, std::io::Error::from(source)));
        Ok(Self {
            root: files(&root_path)?,
            machine: files(&machine_path)?,
            is_running_system: root_path == machine_path,
            root_path,
            now: settings.now,
            gathered: TOPICS.iter().map(|_| OnceLock::new()).collect(),
        })
    }

    /// Returns the value under a top-level key. Topics use it to read each other's results. A topic must not depend on
    /// itself, and a test gathers all topics to check that.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        let position = TOPICS.iter().position(|topic| topic.keys.contains(&key))?;
        self.topic(position)?.get(key)
    }

    /// Returns the text at a path of keys, such as `["dmi", "system", "manufacturer"]`.
    pub(crate) fn get_text(&self, path: [&str; 3]) -> Option<&str> {
        let [key, section, field] = path;
        self.get(key)?.get(section)?.get(field)?.as_str()
    }

    pub(crate) fn gather_everything(&self) {
        let next = AtomicUsize::new(0);
        let work = || while self.topic(next.fetch_add(1, Ordering::Relaxed)).is_some() {};
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        std::thread::scope(|scope| {
            for _ in 1..processors.min(limits::GATHERING_THREADS) {
                // If no thread can be created, this one does all the work.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }

    /// Returns all facts, in the order of the topics and their keys.
    pub(crate) fn into_everything(self) -> Gathered {
        self.gather_everything();
        let mut all = Gathered::new();
        for (topic, gathered) in TOPICS.iter().zip(self.gathered) {
            let mut gathered = gathered.into_inner().unwrap_or_default();
            all.extend(topic.keys.iter().filter_map(|key| Some(((*key).to_owned(), gathered.remove(*key)?))));
        }
        all
    }

    fn topic(&self, position: usize) -> Option<&Gathered> {
        let topic = TOPICS.get(position)?;
        Some(self.gathered.get(position)?.get_or_init(|| (topic.gather)(self)))
    }
}
