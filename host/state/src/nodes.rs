//! The node object on disk: `nodes/NAME.json`, `{"format": 1, "node": {..}}`.
//!
//! The crate `node` defines its content. This module stores it as one JSON object, and replaces it atomically.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::StateError;
use crate::folder::{Folder, Survives};
use crate::names::check_node_name;

/// The format that is written. Files with a higher number are refused.
pub const NODE_FORMAT: u64 = 1;

/// Largest file that is written with line breaks, in bytes without them. People do not read a larger one, and white space
/// would be half of the bytes that each command has to read.
const FOR_PEOPLE: usize = 64 << 10;

pub(crate) const FOLDER: &str = "nodes";

const EXTENSION: &str = ".json";

pub(crate) fn load(state: &Folder, name: &str) -> Result<Option<Value>, StateError> {
    check_node_name(name)?;
    let file = format!("{name}{EXTENSION}");
    let Some(folder) = state.open(FOLDER)? else { return Ok(None) };
    let Some(bytes) = folder.read(&file)? else { return Ok(None) };
    let path = folder.path_of(&file);
    let malformed = |line: usize, reason: String| StateError::Malformed { path: path.clone(), line, reason };
    let mut whole: Map<String, Value> =
        serde_json::from_slice(&bytes).map_err(|error| malformed(error.line().max(1), error.to_string()))?;
    match whole.get("format").and_then(Value::as_u64) {
        Some(NODE_FORMAT) => {}
        Some(found) if found > NODE_FORMAT => {
            return Err(StateError::NewerFormat { path, found, known: NODE_FORMAT });
        }
        _ => return Err(malformed(1, "there is no \"format\" that says how to read this file".into())),
    }
    match whole.remove("node") {
        Some(node @ Value::Object(_)) => Ok(Some(node)),
        _ => Err(malformed(1, "there is no object \"node\"".into())),
    }
}

/// Renames a node's file that cannot be used. Returns its new path.
pub(crate) fn set_aside(state: &Folder, name: &str) -> Result<PathBuf, StateError> {
    check_node_name(name)?;
    state.make(FOLDER)?.set_aside(&format!("{name}{EXTENSION}"))
}

pub(crate) fn save(state: &Folder, name: &str, node: &Value) -> Result<(), StateError> {
    check_node_name(name)?;
    let file = format!("{name}{EXTENSION}");
    let folder = state.make(FOLDER)?;
    let failed =
        |error: serde_json::Error| StateError::system("write", &folder.path_of(&file), std::io::Error::other(error));
    let whole = Whole { format: NODE_FORMAT, node };
    let mut bytes = serde_json::to_vec(&whole).map_err(failed)?;
    if bytes.len() <= FOR_PEOPLE {
        bytes = serde_json::to_vec_pretty(&whole).map_err(failed)?;
    }
    bytes.push(b'\n');
    // An unchanged node is not written, so that the run does not wait for the disk. An unreadable file is replaced.
    if folder.read(&file).ok().flatten().as_ref() == Some(&bytes) {
        return Ok(());
    }
    folder.replace(&file, &bytes, Survives::PowerCut)
}

/// Removes a node's file, if it is there.
pub(crate) fn remove(state: &Folder, name: &str) -> Result<(), StateError> {
    check_node_name(name)?;
    let Some(folder) = state.open(FOLDER)? else { return Ok(()) };
    folder.remove(&format!("{name}{EXTENSION}"))
}

pub(crate) fn file(state: &Folder, name: &str) -> PathBuf {
    state.path_of(FOLDER).join(format!("{name}{EXTENSION}"))
}

pub(crate) fn names(state: &Folder) -> Result<Vec<String>, StateError> {
    let Some(folder) = state.open(FOLDER)? else { return Ok(vec![]) };
    let names = folder.names()?;
    let nodes = names.iter().filter_map(|file| file.strip_suffix(EXTENSION));
    Ok(nodes.filter(|name| check_node_name(name).is_ok()).map(str::to_owned).collect())
}

#[derive(serde::Serialize)]
struct Whole<'a> {
    format: u64,
    node: &'a Value,
}
