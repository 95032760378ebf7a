//! Finds the records of earlier runs, and the one that the user means.

use crate::own_state;
use crate::settings::Settings;
use crate::started::{RunState, Started};
use report::Record;
use state::{Holder, NewestFirst, RunId, StateDirectory, StateError, part_of_reader};
use std::io::{self, BufReader, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use text::error_chain;
use thiserror::Error;

/// The largest file of a run's JSON that is read, in bytes.
const MAX_FILE: u64 = 256 << 20;

/// The most memory for what is kept of such a file, in bytes. A record has at most 256 KiB of denials of each policy.
const MAX_KEPT: usize = 128 << 20;

/// The most identifiers that an error lists.
const MAX_LISTED: usize = 5;

/// The reasons why a record is not found.
#[derive(Debug, Error)]
pub enum RecordsError {
    /// A state directory or a record cannot be read, or a name is not a run's identifier.
    #[error(transparent)]
    State(#[from] StateError),
    /// No run is recorded in the directories that this user can read.
    #[error("no run is recorded in {}{}", place.display(), also(own.as_deref()))]
    Empty {
        /// The state directory that was searched.
        place: PathBuf,
        /// The user's own folder.
        own: Option<PathBuf>,
    },
    /// The state directory is there, and this user may not read it.
    #[error("{}", unreadable(place))]
    Hidden {
        /// The path of the state directory.
        place: PathBuf,
    },
    /// The wanted run is older than the oldest recorded one.
    #[error("only {} recorded in {}", runs(*count), place.display())]
    TooFew {
        /// The state directory that was searched.
        place: PathBuf,
        /// The number of runs.
        count: usize,
    },
    /// No run's identifier begins with a text.
    #[error("no run in {} begins with {wanted:?}; `wrun run list` lists the runs", place.display())]
    Unknown {
        /// The state directory that was searched.
        place: PathBuf,
        /// The beginning of an identifier, as it was typed.
        wanted: String,
    },
    /// The identifiers of several runs begin with a text.
    #[error("several runs begin with {wanted:?}; say which: {}{}", ids.join(", "), and_more(*more))]
    Ambiguous {
        /// The beginning of an identifier, as it was typed.
        wanted: String,
        /// The first of the identifiers.
        ids: Vec<String>,
        /// The number of further runs.
        more: usize,
    },
    /// No directory has a record of a run.
    #[error("{} does not have a record of run {id}", place.display())]
    Missing {
        /// The run's whole identifier.
        id: RunId,
        /// The state directory that was searched.
        place: PathBuf,
    },
    /// A run is under way, or its process died.
    #[error("run {id} has no record: it is under way, or its process died; `wrun run show {id}` says which")]
    Unfinished {
        /// The run's whole identifier.
        id: RunId,
    },
    /// A file of a run's JSON is too long.
    #[error("{} is longer than {MAX_FILE} bytes", path.display())]
    TooLarge {
        /// The path of the file that was given.
        path: PathBuf,
    },
    /// A file of a run's JSON cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The path of the file that was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file does not hold JSON.
    #[error("{} is not the JSON of a run", path.display())]
    NotJson {
        /// The path of the file that was given.
        path: PathBuf,
        /// The first mistake in the JSON, with its place.
        source: serde_json::Error,
    },
}

fn also(own: Option<&Path>) -> String {
    own.map(|own| format!(" or {}", own.display())).unwrap_or_default()
}

fn unreadable(place: &Path) -> String {
    format!(
        "{} cannot be read by this user, and has the records of real runs: do the same as root (sudo)",
        place.display()
    )
}

fn and_more(count: usize) -> String {
    if count == 0 { String::new() } else { format!(" and {count} more; `wrun run list` lists them") }
}

fn runs(count: usize) -> String {
    if count == 1 { "one run is".to_owned() } else { format!("{count} runs are") }
}

/// The recorded runs that this user can read, dry ones too, newest first.
pub struct Records<'a> {
    place: &'a Path,
    /// The user's own folder for records of this state directory.
    own: Option<PathBuf>,
    /// Whether the state directory is there and this user may not read it.
    is_hidden: bool,
    runs: Vec<RecordedRun>,
}

/// A recorded run. Its record is read only when it is needed.
pub struct RecordedRun {
    /// The whole identifier of the run.
    pub id: RunId,
    state: StateDirectory,
}

impl RecordedRun {
    /// Reads the run's record. `None`: the run did not come to its end.
    ///
    /// # Errors
    /// The record is damaged or cannot be read.
    pub fn read(&self) -> Result<Option<Record>, StateError> {
        Ok(self.state.record(&self.id)?.map(Record::new))
    }

    /// Reads only some keys of the run's record, because a complete record has thousands of lines. Returns `None` if the run
    /// did not come to its end.
    ///
    /// # Errors
    /// The record is damaged or cannot be read.
    pub fn read_part(&self, keys: &[&str]) -> Result<Option<Record>, StateError> {
        Ok(self.state.record_part(&self.id, keys)?.map(Record::new))
    }

    /// Tells whether the run has ended and left its record, is under way, or died.
    ///
    /// # Errors
    /// The record is damaged, or a file cannot be read.
    pub fn state(&self) -> Result<RunState, StateError> {
        if let Some(record) = self.read()? {
            return Ok(RunState::Finished(Box::new(record)));
        }
        let started = Started::read(self.state.started(&self.id));
        let holder = self.state.running()?;
        if holder.is_some_and(|holder| holder.run.as_deref() == Some(self.id.as_str())) {
            return Ok(RunState::Running(started));
        }
        // The run may have ended since the first look. It writes its record before it gives up the lock.
        Ok(match self.read()? {
            Some(record) => RunState::Finished(Box::new(record)),
            None => RunState::Died(started),
        })
    }

    /// Reads the record of a run that came to its end.
    ///
    /// # Errors
    /// The record is absent, damaged, or cannot be read.
    pub fn finished(&self) -> Result<Record, RecordsError> {
        self.read()?.ok_or_else(|| RecordsError::Unfinished { id: self.id.clone() })
    }
}

impl<'a> Records<'a> {
    /// Finds the recorded runs.
    ///
    /// # Errors
    /// A directory cannot be read.
    pub fn find(settings: &'a Settings) -> Result<Self, StateError> {
        let mut runs = Vec::new();
        for state in own_state::readable(settings)? {
            runs.extend(state.runs()?.into_iter().map(|id| RecordedRun { id, state: state.clone() }));
        }
        let order = NewestFirst::at(SystemTime::now());
        runs.sort_by(|one, other| order.compare(&one.id, &other.id));
        let is_hidden = own_state::is_hidden(settings)?;
        Ok(Self { place: &settings.state_dir, own: own_state::records_folder(settings), is_hidden, runs })
    }

    /// Returns the run that goes on now, or `None` if no run goes on or this user may not see it.
    ///
    /// # Errors
    /// The lock's file cannot be opened or read.
    pub fn running(&self) -> Result<Option<Holder>, StateError> {
        match self.is_hidden {
            true => Ok(None),
            false => StateDirectory::open_existing(self.place)?.map_or(Ok(None), |state| state.running()),
        }
    }

    /// Returns a sentence if this user may not see some runs, with the user who may. Returns `None` if all can be seen.
    pub fn hidden(&self) -> Option<String> {
        self.is_hidden.then(|| unreadable(self.place))
    }

    /// Gives the record of every survey to a function, the newest first. Returns a sentence about each that is damaged.
    ///
    /// # Errors
    /// A directory cannot be read.
    pub fn each_survey(settings: &Settings, mut look: impl FnMut(&Record)) -> Result<Vec<String>, StateError> {
        let mut damaged = Vec::new();
        for state in own_state::readable(settings)? {
            for id in state.surveys()? {
                match state.survey(&id) {
                    Ok(record) => record.map(Record::new).iter().for_each(&mut look),
                    Err(error) => damaged.push(format!("survey {id} is left out: {}", error_chain(&error))),
                }
            }
        }
        Ok(damaged)
    }

    /// Returns the runs, newest first.
    pub fn runs(&self) -> &[RecordedRun] {
        &self.runs
    }

    /// Returns the run whose identifier begins with `wanted`. If `wanted` is `None`, returns the newest run (`back` = 0), the
    /// one before it (1), and so on.
    ///
    /// # Errors
    /// No run or several are meant.
    pub fn choose(&self, wanted: Option<&str>, back: usize) -> Result<&RecordedRun, RecordsError> {
        let place = self.place.to_owned();
        let Some(wanted) = wanted else {
            return self.runs.get(back).ok_or(match self.runs.len() {
                0 if self.is_hidden => RecordsError::Hidden { place },
                0 => RecordsError::Empty { place, own: None },
                count => RecordsError::TooFew { place, count },
            });
        };
        let wanted = without_dots(wanted);
        let found: Vec<_> = self.runs.iter().filter(|run| run.id.as_str().starts_with(wanted)).collect();
        let wanted = wanted.to_owned();
        match found.as_slice() {
            [only] => Ok(only),
            [] if self.is_hidden => Err(RecordsError::Hidden { place }),
            [] => Err(RecordsError::Unknown { place, wanted }),
            several => {
                let ids: Vec<_> = several.iter().take(MAX_LISTED).map(|run| run.id.to_string()).collect();
                let more = several.len() - ids.len();
                Err(RecordsError::Ambiguous { wanted, ids, more })
            }
        }
    }

    /// Returns the run whose identifier begins with `wanted`, as [`choose`](Self::choose) does. If `wanted` is `None`, counts only
    /// runs that have a record.
    ///
    /// # Errors
    /// No run or several are meant, or a record is damaged.
    pub fn choose_finished(&self, wanted: Option<&str>, back: usize) -> Result<&RecordedRun, RecordsError> {
        if wanted.is_some() {
            return self.choose(wanted, back);
        }
        let mut count = 0;
        for run in &self.runs {
            if run.read_part(&["outcome"])?.is_some() {
                if count == back {
                    return Ok(run);
                }
                count += 1;
            }
        }
        let place = self.place.to_owned();
        Err(match count {
            0 if self.is_hidden => RecordsError::Hidden { place },
            0 => RecordsError::Empty { place, own: None },
            count => RecordsError::TooFew { place, count },
        })
    }

    /// Reads some keys of the record of the newest run that has one.
    ///
    /// # Errors
    /// No run has a record, or one is damaged.
    pub fn newest(&self, keys: &[&str]) -> Result<Record, RecordsError> {
        let empty = || match self.is_hidden {
            true => RecordsError::Hidden { place: self.place.to_owned() },
            false => RecordsError::Empty { place: self.place.to_owned(), own: self.own.clone() },
        };
        for run in &self.runs {
            if let Some(record) = run.read_part(keys)? {
                return Ok(record);
            }
        }
        Err(empty())
    }

    /// Finds the newest run of a node that was not a dry one, or returns `None`.
    ///
    /// # Errors
    /// A record is damaged or cannot be read.
    pub fn last_of(&self, node: &str) -> Result<Option<&RecordedRun>, StateError> {
        for run in &self.runs {
            let part = run.read_part(&["why_run", "node_name"])?;
            if part.is_some_and(|record| !record.is_dry() && record.node_name() == node) {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// Gives every record to a function, the newest first. Returns a sentence about each record that is damaged.
    pub fn each(&self, mut look: impl FnMut(&Record)) -> Vec<String> {
        let mut damaged = Vec::new();
        for run in &self.runs {
            match run.read() {
                Ok(record) => record.iter().for_each(&mut look),
                Err(error) => {
                    damaged.push(format!("the record of run {} is left out: {}", run.id, error_chain(&error)));
                }
            }
        }
        damaged
    }

    /// Reads some keys of the record of a run by its identifier or the beginning of it, or of a file with a run's JSON. For a
    /// file, also returns the number of the user who owns it, and who may have written anything into it.
    ///
    /// # Errors
    /// The file cannot be used, several runs begin so, or the run has no record.
    pub fn named(settings: &'a Settings, name: &str, keys: &[&str]) -> Result<(Record, Option<u32>), RecordsError> {
        let path = Path::new(name);
        let name = without_dots(name);
        // A text with the form of an identifier never means a file, because anybody could have put a file of that name into
        // the current folder.
        let id = match RunId::parse(name) {
            Ok(id) => id,
            Err(_) if RunId::may_begin_with(name) => {
                let records = Self::find(settings)?;
                let run = records.choose(Some(name), 0)?;
                let record = run.read_part(keys)?;
                return Ok((record.ok_or_else(|| RecordsError::Unfinished { id: run.id.clone() })?, None));
            }
            Err(_) if path.is_file() => return of_file(path, keys).map(|(record, owner)| (record, Some(owner))),
            Err(error) => return Err(error.into()),
        };
        for state in own_state::readable(settings)? {
            if let Some(record) = state.record_part(&id, keys)? {
                return Ok((Record::new(record), None));
            }
        }
        let place = settings.state_dir.clone();
        Err(if own_state::is_hidden(settings)? {
            RecordsError::Hidden { place }
        } else {
            RecordsError::Missing { id, place }
        })
    }
}

/// Returns an identifier without the dots with which people shorten it, as in `20261123..`. The identifier itself may end so.
fn without_dots(name: &str) -> &str {
    let short = name.strip_suffix("..").unwrap_or(name).trim_end_matches(['.', '\u{2026}']);
    if name.ends_with("..") || name.ends_with('\u{2026}') { short } else { name }
}

/// Reads some keys of a file that somebody else may have written.
fn of_file(path: &Path, keys: &[&str]) -> Result<(Record, u32), RecordsError> {
    let failed = |source| RecordsError::Read { path: path.to_owned(), source };
    let file = plain_files::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    if about.len() > MAX_FILE {
        return Err(RecordsError::TooLarge { path: path.to_owned() });
    }
    let json = part_of_reader(BufReader::new(file.take(MAX_FILE)), keys, MAX_KEPT);
    let record = json.map(Record::new).map_err(|source| RecordsError::NotJson { path: path.to_owned(), source })?;
    Ok((record, about.uid()))
}
