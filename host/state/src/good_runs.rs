//! Stores the input of a node's last good run: `good-runs/NAME.json`. A run with the same input may be skipped. The file is
//! removed when another run begins, so that it does not exist after a failed run.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::StateError;
use crate::folder::{Folder, Survives};
use crate::names::check_node_name;

pub(crate) const FOLDER: &str = "good-runs";

const EXTENSION: &str = ".json";

fn file_of(node: &str) -> Result<String, StateError> {
    check_node_name(node)?;
    Ok(format!("{node}{EXTENSION}"))
}

pub(crate) fn load<T: DeserializeOwned>(state: &Folder, node: &str) -> Result<Option<T>, StateError> {
    let file = file_of(node)?;
    let Some(folder) = state.open(FOLDER)? else { return Ok(None) };
    let Some(bytes) = folder.read(&file)? else { return Ok(None) };
    // An unreadable file counts as absent, so the run is made.
    Ok(serde_json::from_slice(&bytes).ok())
}

pub(crate) fn save(state: &Folder, node: &str, run: &impl Serialize) -> Result<(), StateError> {
    let file = file_of(node)?;
    // At worst, a run is made unnecessarily after a power cut.
    state.make(FOLDER)?.replace_by(&file, Survives::Kill, |out| Ok(serde_json::to_writer(&mut *out, run)?))
}

pub(crate) fn remove(state: &Folder, node: &str) -> Result<(), StateError> {
    let file = file_of(node)?;
    state.open(FOLDER)?.map_or(Ok(()), |folder| folder.remove(&file))
}
