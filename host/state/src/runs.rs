//! Run records: one folder for each run. Their names sort by time.

use std::cmp::Ordering;
use std::fmt;
use std::io::Write as _;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;

use crate::StateError;
use crate::folder::{Folder, Survives, random_hex};
use crate::part::part_of;

/// The folder of runs that changed the machine, or tried to.
const FOLDER: &str = "runs";

/// The folder of dry runs. It is separate, so that many dry runs do not displace records of real runs.
const DRY_FOLDER: &str = "dry-runs";

/// The folder of surveys, which `grants suggest` makes. They are neither shown nor counted as runs.
const SURVEY_FOLDER: &str = "surveys";

const RECORD: &str = "run.json";
const ERROR: &str = "error.json";

/// The note of a run that has begun. The record replaces it.
const STARTED: &str = "started.json";

/// A run's name: the moment it began (UTC, to the millisecond) and four random bytes, `20261121T124950.123Z-9f3c01ab`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

impl RunId {
    /// The form of a run's name: `9` means a digit, `f` a hexadecimal digit.
    const PATTERN: &str = "99999999T999999.999Z-ffffffff";

    /// Creates a new name for a run that began at this time.
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
        if text.len() == Self::PATTERN.len() && Self::may_begin_with(text) {
            return Ok(Self(text.to_owned()));
        }
        let name = text.chars().take(100).collect();
        Err(StateError::BadName { name, of: "run id", why: "it should look like 20261121T124950.123Z-9f3c01ab" })
    }

    /// Tells whether a run's name may begin with a text, which is not empty.
    #[must_use]
    pub fn may_begin_with(text: &str) -> bool {
        let fits = |(character, pattern): (char, char)| match pattern {
            '9' => character.is_ascii_digit(),
            'f' => character.is_ascii_digit() || matches!(character, 'a'..='f'),
            other => character == other,
        };
        !text.is_empty() && text.len() <= Self::PATTERN.len() && text.chars().zip(Self::PATTERN.chars()).all(fits)
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

/// The order of runs, the newest first. The name of a run in the future comes from a wrong clock. Such a run counts as the
/// oldest, because it would otherwise hide and displace all others.
#[derive(Debug)]
pub struct NewestFirst {
    /// The current time, in the form of run names.
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

/// The folder of the current run. It is created when the first file is written.
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

    /// Notes that the run has begun (`started.json`), until its record is saved.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_started(&self, started: &impl Serialize) -> Result<(), StateError> {
        self.save(STARTED, started).map(drop)
    }

    /// Saves the record of the run (`run.json`), and replaces an earlier one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_record(&self, record: &impl Serialize) -> Result<(), StateError> {
        self.save(RECORD, record)?.remove(STARTED)
    }

    /// Saves the error of the run (`error.json`).
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_error(&self, error: &Value) -> Result<(), StateError> {
        self.save(ERROR, error).map(drop)
    }

    /// Saves a file of the record, and returns the run's folder. Both may be lost in a power cut, because they are only
    /// history, and waiting for the disk would double the time of a short run.
    fn save(&self, file: &str, value: &impl Serialize) -> Result<Folder, StateError> {
        self.state.check_free(file)?;
        let folder = self.state.make(self.below)?.make_surviving(self.id.as_str(), Survives::Kill)?;
        folder.replace_by(file, Survives::Kill, |out| {
            // The JSON is on one line, because programs read it, and white space would be a third of it.
            serde_json::to_writer(&mut *out, value)?;
            out.write_all(b"\n")
        })?;
        Ok(folder)
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

/// The note of a run that has begun and has no record yet. `None`: no run of that name left one.
pub(crate) fn started(state: &Folder, id: &RunId) -> Result<Option<Value>, StateError> {
    read_file(state, FOLDER, id, STARTED, |bytes| serde_json::from_slice(bytes))
}

/// Some keys of a run's record, as [`part_of`] takes them. `None`: no run has that name.
pub(crate) fn record_part(state: &Folder, id: &RunId, keys: &[&str]) -> Result<Option<Value>, StateError> {
    for below in [FOLDER, DRY_FOLDER] {
        if let Some(record) = read_record(state, below, id, |bytes| part_of(bytes, keys))? {
            return Ok(Some(record));
        }
    }
    Ok(None)
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
    read_file(state, below, id, RECORD, read)
}

fn read_file(
    state: &Folder,
    below: &str,
    id: &RunId,
    file: &str,
    read: impl FnOnce(&[u8]) -> serde_json::Result<Value>,
) -> Result<Option<Value>, StateError> {
    let Some(folder) = state.open(below)? else { return Ok(None) };
    let Some(folder) = folder.open(id.as_str())? else { return Ok(None) };
    let Some(bytes) = folder.read(file)? else { return Ok(None) };
    read(&bytes).map(Some).map_err(|error| StateError::Malformed {
        path: folder.path_of(file),
        line: error.line(),
        reason: error.to_string(),
    })
}

/// Removes records of real runs: all but the newest `keep`, and more of the oldest until all have at most `bytes`. The newest
/// record and that of the run `written` are always kept, and so are other files.
pub(crate) fn prune(state: &Folder, keep: usize, bytes: u64, written: Option<&RunId>) -> Result<(), StateError> {
    prune_in(state, FOLDER, keep, bytes, written)
}

/// Removes records of dry runs in the same way.
pub(crate) fn prune_dry(state: &Folder, keep: usize, bytes: u64, written: Option<&RunId>) -> Result<(), StateError> {
    prune_in(state, DRY_FOLDER, keep, bytes, written)
}

/// Removes records of surveys in the same way.
pub(crate) fn prune_surveys(
    state: &Folder,
    keep: usize,
    bytes: u64,
    written: Option<&RunId>,
) -> Result<(), StateError> {
    prune_in(state, SURVEY_FOLDER, keep, bytes, written)
}

/// Returns the size of a run's files. Its folder is opened once, because each run does this for all records.
fn size_of(runs: &Folder, id: &RunId) -> Result<u64, StateError> {
    let Some(folder) = runs.open(id.as_str())? else { return Ok(0) };
    Ok(folder.size_of(RECORD)?.saturating_add(folder.size_of(ERROR)?))
}

fn prune_in(state: &Folder, below: &str, keep: usize, bytes: u64, written: Option<&RunId>) -> Result<(), StateError> {
    let Some(folder) = state.open(below)? else { return Ok(()) };
    let mut size = 0_u64;
    for (at, id) in of(state, below)?.iter().enumerate() {
        if at < keep {
            size = size.saturating_add(size_of(&folder, id)?);
        }
        // The clock may have been set back since the run began, so the record is kept whatever its name.
        if written == Some(id) {
            continue;
        }
        if at >= keep || (at > 0 && size > bytes) {
            folder.remove_folder(id.as_str())?;
        }
    }
    Ok(())
}
