//! The node object as it was saved, and the reasons why it cannot be used.

use node::object::{NodeObject, ObjectError};
use serde_json::Value;
use state::{StateDirectory, StateError};
use std::path::PathBuf;

/// The key beside the node's own under which its histories are saved: who wrote what, for `wrun node explain`.
pub const HISTORIES: &str = "wrun_histories";

/// The key beside the node's own under which is saved which policy wrote what in `normal`.
pub const NORMAL_WRITERS: &str = "wrun_normal_writers";

/// The reasons why a saved node cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SavedNodeError {
    /// Its file cannot be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// It says something that no node object says.
    #[error("{} cannot be used", path.display())]
    Node {
        /// Its file.
        path: PathBuf,
        /// What is wrong.
        source: ObjectError,
    },
    /// It is another node's.
    #[error("{} cannot be used: it holds the node {found:?}, not {wanted:?}; move it away to begin anew", path.display())]
    Other {
        /// Its file.
        path: PathBuf,
        /// The name in it.
        found: String,
        /// The name that was asked for.
        wanted: String,
    },
}

/// The saved node of this name. `None`: it was never saved. Histories that cannot be used are left out: they only explain.
///
/// # Errors
/// It cannot be read, or its file is another node's.
pub fn saved_node(state: &StateDirectory, name: &str) -> Result<Option<NodeObject>, SavedNodeError> {
    let Some(mut saved) = state.node(name)? else { return Ok(None) };
    let path = state.node_file(name);
    let mut take = |key: &str| saved.as_object_mut().and_then(|object| object.shift_remove(key));
    let (histories, writers) = (take(HISTORIES), take(NORMAL_WRITERS));
    let mut node = match NodeObject::from_saved_json(&saved) {
        Ok(node) => node,
        Err(source) => return Err(SavedNodeError::Node { path, source }),
    };
    if node.name() != name {
        return Err(SavedNodeError::Other { path, found: node.name().to_owned(), wanted: name.to_owned() });
    }
    if let Some(Err(error)) = histories.as_ref().map(|histories: &Value| node.set_histories_from_json(histories)) {
        tracing::warn!("{}: the history of its attributes cannot be used: {error}", path.display());
    }
    // Older files do not have the writers: then the histories tell.
    match writers.as_ref().map(|writers: &Value| node.set_normal_writers_from_json(writers)) {
        Some(Ok(())) => {}
        Some(Err(error)) => {
            tracing::warn!("{}: who wrote its normal attributes cannot be used: {error}", path.display());
            node.normal_writers_from_histories();
        }
        None => node.normal_writers_from_histories(),
    }
    Ok(Some(node))
}
