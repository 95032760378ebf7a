//! The records of runs, for commands that look back.

use crate::settings::Settings;
use anyhow::{Context as _, bail};
use assemble::own_state;
use serde_json::Value;
use state::{RunId, StateDirectory, StateError};
use std::path::Path;
use text::error_chain;

/// The largest file of a run's JSON that is read, in bytes.
const MAX_FILE: u64 = 512 << 20;

/// The record of the newest run that this user can read.
///
/// # Errors
/// There is none.
pub(crate) fn newest(settings: &Settings) -> anyhow::Result<Value> {
    walk(settings, |_| true)?.with_context(|| none_there(settings))
}

/// All runs that this user can read, dry ones too, newest first, each with the directory of its record.
///
/// # Errors
/// A directory cannot be read.
pub(crate) fn all(settings: &Settings) -> Result<Vec<(RunId, StateDirectory)>, StateError> {
    let mut runs = Vec::new();
    for state in own_state::readable(&settings.run)? {
        runs.extend(state.runs()?.into_iter().map(|id| (id, state.clone())));
    }
    runs.sort_by(|(one, _), (other, _)| other.cmp(one));
    Ok(runs)
}

/// The record of the newest run of which something is true. `None`: there is no such run.
///
/// # Errors
/// A record is damaged or cannot be read.
pub(crate) fn walk(settings: &Settings, mut wanted: impl FnMut(&Value) -> bool) -> anyhow::Result<Option<Value>> {
    for (id, state) in all(settings)? {
        if let Some(record) = state.record(&id)?.filter(|record| wanted(record)) {
            return Ok(Some(record));
        }
    }
    Ok(None)
}

/// Gives every record to a function, the newest first. Returns sentences about those that are damaged.
///
/// # Errors
/// A directory cannot be read.
pub(crate) fn each(settings: &Settings, mut look: impl FnMut(&Value)) -> anyhow::Result<Vec<String>> {
    let mut damaged = Vec::new();
    for (id, state) in all(settings)? {
        match state.record(&id) {
            Ok(record) => record.iter().for_each(&mut look),
            Err(error) => damaged.push(format!("the record of run {id} is left out: {}", error_chain(&error))),
        }
    }
    Ok(damaged)
}

/// The record of a run by its identifier, or a file with a run's JSON.
///
/// # Errors
/// There is no such run.
pub(crate) fn named(settings: &Settings, name: &str) -> anyhow::Result<Value> {
    let path = Path::new(name);
    if path.is_file() {
        if std::fs::metadata(path)?.len() > MAX_FILE {
            bail!("{} is longer than {MAX_FILE} bytes", path.display());
        }
        let text = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        return serde_json::from_slice(&text).with_context(|| format!("{} is not the JSON of a run", path.display()));
    }
    let id = RunId::parse(name)?;
    for state in own_state::readable(&settings.run)? {
        if let Some(record) = state.record(&id)? {
            return Ok(record);
        }
    }
    bail!("there is no record of run {id} in {}", settings.run.state_dir.display())
}

fn none_there(settings: &Settings) -> String {
    let own = own_state::folder().map(|own| format!(" or {}", own.display())).unwrap_or_default();
    format!("no run is recorded in {}{own}", settings.run.state_dir.display())
}
