//! Run records: one folder per run, named so that sorting by name sorts by time.

use std::cmp::Ordering;
use std::fmt;
use std::io::Write as _;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::StateError;
use crate::folder::{Folder, Survives, random_hex};

/// Runs that changed the machine, or tried to.
const FOLDER: &str = "runs";

/// Dry runs: apart, so that many of them push no real run's record out.
const DRY_FOLDER: &str = "dry-runs";

/// Surveys: what `grants suggest` found out. They are neither shown nor counted as runs.
const SURVEY_FOLDER: &str = "surveys";

const RECORD: &str = "run.json";
const ERROR: &str = "error.json";

/// A run's name: the moment it began (UTC, to the millisecond) and four random bytes, `20261121T124950.123Z-9f3c01ab`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

impl RunId {
    /// How a run's name is built, digit by digit: `9` stands for a digit, `f` for a hexadecimal one.
    const PATTERN: &str = "99999999T999999.999Z-ffffffff";

    /// A new name for a run that began at a moment.
    ///
    /// # Errors
    /// The system has no randomness, or the clock shows a year that no calendar has.
    pub fn new(began: SystemTime) -> Result<Self, StateError> {
        let place = std::path::Path::new("a run's id");
        let moment = time_of(began)
            .map_err(|error| StateError::system("find the time for", place, std::io::Error::other(error)))?;
        let random = random_hex::<4>(place)?;
        Ok(Self(format!("{moment}-{random}")))
    }

    /// Reads a name that somebody typed.
    ///
    /// # Errors
    /// It is not built as a run's name is.
    pub fn parse(text: &str) -> Result<Self, StateError> {
        let fits = text.len() == Self::PATTERN.len()
            && text.chars().zip(Self::PATTERN.chars()).all(|(character, pattern)| match pattern {
                '9' => character.is_ascii_digit(),
                'f' => character.is_ascii_digit() || matches!(character, 'a'..='f'),
                other => character == other,
            });
        if fits {
            return Ok(Self(text.to_owned()));
        }
        let name = text.chars().take(100).collect();
        Err(StateError::BadName { name, of: "run id", why: "it should look like 20261121T124950.123Z-9f3c01ab" })
    }

    /// Returns the identifier as the name of the run's folder.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The order of runs, the newest first. A run that is later than now was named by a wrong clock, and counts as the oldest: else
/// it would hide all others and push them out.
#[derive(Debug)]
pub struct NewestFirst {
    /// This moment, as runs are named.
    now: String,
}

impl NewestFirst {
    /// The order at a moment.
    #[must_use]
    pub fn at(now: SystemTime) -> Self {
        Self { now: time_of(now).unwrap_or_default() }
    }

    /// Which of two runs comes first.
    #[must_use]
    pub fn compare(&self, one: &RunId, other: &RunId) -> Ordering {
        let is_later = |id: &RunId| *id.0 > *self.now && !id.0.starts_with(&self.now);
        (is_later(one), other).cmp(&(is_later(other), one))
    }
}

/// A moment, as runs are named by it.
fn time_of(moment: SystemTime) -> Result<String, jiff::Error> {
    Ok(jiff::Timestamp::try_from(moment)?.strftime("%Y%m%dT%H%M%S.%3fZ").to_string())
}

/// The folder of the run that is under way. It is made when something is put into it.
#[derive(Debug)]
pub struct RunFolder {
    state: Arc<Folder>,
    below: &'static str,
    id: RunId,
}

impl RunFolder {
    pub(crate) fn new(state: Arc<Folder>, id: RunId) -> Self {
        Self { state, below: FOLDER, id }
    }

    pub(crate) fn dry(state: Arc<Folder>, id: RunId) -> Self {
        Self { state, below: DRY_FOLDER, id }
    }

    pub(crate) fn survey(state: Arc<Folder>, id: RunId) -> Self {
        Self { state, below: SURVEY_FOLDER, id }
    }

    /// Returns the identifier of the run that the folder is for.
    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Saves what the run did (`run.json`), in the place of what was saved before.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_record(&self, record: &impl Serialize) -> Result<(), StateError> {
        self.save(RECORD, record)
    }

    /// Saves why the run failed (`error.json`).
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_error(&self, error: &Value) -> Result<(), StateError> {
        self.save(ERROR, error)
    }

    /// Records need not survive a power cut: they are history, and waiting for the disk would double a short run.
    fn save(&self, file: &str, value: &impl Serialize) -> Result<(), StateError> {
        self.state.check_free(file)?;
        let folder = self.state.make(self.below)?.make(self.id.as_str())?;
        folder.replace_by(file, Survives::Kill, |out| {
            // On one line: programs read it, and white space would be a third of it.
            serde_json::to_writer(&mut *out, value)?;
            out.write_all(b"\n")
        })
    }
}

/// The names of all recorded runs, dry ones too, newest first.
pub(crate) fn all(state: &Folder) -> Result<Vec<RunId>, StateError> {
    let mut ids = of(state, FOLDER)?;
    ids.extend(of(state, DRY_FOLDER)?);
    let order = NewestFirst::at(SystemTime::now());
    ids.sort_unstable_by(|one, other| order.compare(one, other));
    Ok(ids)
}

/// The names of all recorded surveys, newest first.
pub(crate) fn surveys(state: &Folder) -> Result<Vec<RunId>, StateError> {
    of(state, SURVEY_FOLDER)
}

/// The names of the runs in one folder, newest first.
fn of(state: &Folder, below: &str) -> Result<Vec<RunId>, StateError> {
    let Some(folder) = state.open(below)? else { return Ok(vec![]) };
    let mut ids: Vec<RunId> = folder.names()?.iter().filter_map(|name| RunId::parse(name).ok()).collect();
    let order = NewestFirst::at(SystemTime::now());
    ids.sort_unstable_by(|one, other| order.compare(one, other));
    Ok(ids)
}

/// A run's record. `None`: no run has that name.
pub(crate) fn record(state: &Folder, id: &RunId) -> Result<Option<Value>, StateError> {
    for below in [FOLDER, DRY_FOLDER] {
        if let Some(record) = record_in(state, below, id)? {
            return Ok(Some(record));
        }
    }
    Ok(None)
}

/// Some keys of a run's record. `None`: no run has that name.
pub(crate) fn record_part(state: &Folder, id: &RunId, keys: &[&str]) -> Result<Option<Value>, StateError> {
    for below in [FOLDER, DRY_FOLDER] {
        if let Some(record) = read_record(state, below, id, |bytes| part_of(bytes, keys))? {
            return Ok(Some(record));
        }
    }
    Ok(None)
}

/// The values of some keys of an object; what else is in it is passed over.
fn part_of(json: &[u8], keys: &[&str]) -> serde_json::Result<Value> {
    struct Part<'a>(&'a [&'a str]);
    impl<'de> Visitor<'de> for Part<'_> {
        type Value = Map<String, Value>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Self::Value, A::Error> {
            let mut part = Map::new();
            while let Some(key) = all.next_key::<String>()? {
                match self.0.contains(&key.as_str()) {
                    true => drop(part.insert(key, all.next_value()?)),
                    false => drop(all.next_value::<IgnoredAny>()?),
                }
            }
            Ok(part)
        }
    }
    let mut reader = serde_json::Deserializer::from_slice(json);
    let part = reader.deserialize_map(Part(keys))?;
    reader.end()?;
    Ok(Value::Object(part))
}

/// A survey's record. `None`: no survey has that name.
pub(crate) fn survey(state: &Folder, id: &RunId) -> Result<Option<Value>, StateError> {
    record_in(state, SURVEY_FOLDER, id)
}

fn record_in(state: &Folder, below: &str, id: &RunId) -> Result<Option<Value>, StateError> {
    read_record(state, below, id, |bytes| serde_json::from_slice(bytes))
}

fn read_record(
    state: &Folder,
    below: &str,
    id: &RunId,
    read: impl FnOnce(&[u8]) -> serde_json::Result<Value>,
) -> Result<Option<Value>, StateError> {
    let Some(folder) = state.open(below)? else { return Ok(None) };
    let Some(folder) = folder.open(id.as_str())? else { return Ok(None) };
    let Some(bytes) = folder.read(RECORD)? else { return Ok(None) };
    read(&bytes).map(Some).map_err(|error| StateError::Malformed {
        path: folder.path_of(RECORD),
        line: error.line(),
        reason: error.to_string(),
    })
}

/// Removes records of runs that were not dry: all but the newest `keep`, and older ones until all have `bytes` or less. The
/// newest stays in any case, and so do the record of the run `written` and what is not a record of ours.
pub(crate) fn prune(state: &Folder, keep: usize, bytes: u64, written: Option<&RunId>) -> Result<(), StateError> {
    prune_in(state, FOLDER, keep, bytes, written)
}

/// The same of dry runs.
pub(crate) fn prune_dry(state: &Folder, keep: usize, bytes: u64, written: Option<&RunId>) -> Result<(), StateError> {
    prune_in(state, DRY_FOLDER, keep, bytes, written)
}

/// The same of surveys.
pub(crate) fn prune_surveys(
    state: &Folder,
    keep: usize,
    bytes: u64,
    written: Option<&RunId>,
) -> Result<(), StateError> {
    prune_in(state, SURVEY_FOLDER, keep, bytes, written)
}

fn prune_in(state: &Folder, below: &str, keep: usize, bytes: u64, written: Option<&RunId>) -> Result<(), StateError> {
    let Some(folder) = state.open(below)? else { return Ok(()) };
    let mut size = 0_u64;
    for (at, id) in of(state, below)?.iter().enumerate() {
        if at < keep {
            for file in [RECORD, ERROR] {
                size = size.saturating_add(folder.size_of(&format!("{id}/{file}"))?);
            }
        }
        // The clock may have been put back since the run began.
        if written == Some(id) {
            continue;
        }
        if at >= keep || (at > 0 && size > bytes) {
            folder.remove_folder(id.as_str())?;
        }
    }
    Ok(())
}
