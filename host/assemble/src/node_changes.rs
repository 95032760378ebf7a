//! Applies operators' changes of the node that were deferred while a run had the lock.

use crate::saved_node::{SavedNodeError, node_to_save, saved_node_alone};
use node::object::{NodeEdit, NodeObject};
use node::saved_filter::SavedFilters;
use serde_json::{Map, Value};
use state::{ChangeLock, RunLock, StateDirectory, StateError, WaitingChange};
use std::path::PathBuf;
use std::time::Duration;
use text::error_chain;

/// How long a run waits for commands that change nodes.
const WAIT: Duration = Duration::from_secs(30);

/// How long a run that is ended by a signal waits for them.
const SHORT_WAIT: Duration = Duration::from_secs(1);

/// Applies the deferred changes that the node does not have yet. A change that has become impossible is skipped with a
/// warning.
pub(crate) fn apply_waiting(node: &mut NodeObject, changes: &[WaitingChange]) {
    apply(node, changes, &|_| None);
}

/// Applies changes. `conflict` returns the name of another writer of an attribute, if one has written it meanwhile.
fn apply(node: &mut NodeObject, changes: &[WaitingChange], conflict: &dyn Fn(&[String]) -> Option<String>) {
    for change in changes {
        if change.number <= node.applied_changes() {
            continue;
        }
        let WaitingChange { number, by, at, edit } = change;
        let applied = NodeEdit::from_json(edit).and_then(|edit| match edit.attribute().and_then(conflict) {
            Some(writer) => {
                let path = edit.attribute().unwrap_or_default().join(".");
                tracing::warn!(
                    "the run and an operator both changed the normal attribute {path} of {}: the value of {writer} stays, \
                     and the change of `{by}` ({at}) is not applied",
                    node.name()
                );
                Ok(false)
            }
            None => node.apply(&edit),
        });
        if let Err(error) = applied {
            tracing::warn!(
                "the change of `{by}` ({at}) cannot be applied to the node {} any more: {error}",
                node.name()
            );
        }
        node.set_applied_changes(*number);
    }
}

/// The value at a path.
fn value_at<'all>(all: &'all Map<String, Value>, path: &[String]) -> Option<&'all Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(all.get(first)?, |here, key| here.get(key))
}

/// Returns the last writer of a `normal` attribute, for a warning.
fn writer(node: &NodeObject, path: &[String]) -> String {
    let explanation = node.explain(path);
    let writes = explanation.policies.iter().flat_map(|part| &part.writes);
    let mut normal = writes.filter(|write| write.level == node::attributes::Level::Normal);
    normal.next_back().map_or_else(|| "a policy".to_owned(), |write| write.origin.to_string())
}

/// The deferred changes, for the case that a signal ends the run at once.
pub struct LateChanges {
    pub(crate) state_dir: PathBuf,
    pub(crate) min_free: u64,
    pub(crate) node: String,
    /// The `normal` attributes with which the run began.
    pub(crate) before: Map<String, Value>,
    pub(crate) filters: SavedFilters,
}

impl LateChanges {
    /// Applies the changes to the saved node, as the end of a run does. The run may still save the node afterwards, without
    /// them. So the changes stay stored, and the next command sees by their numbers whether the node has them.
    ///
    /// # Errors
    /// The state cannot be read or written.
    pub fn take_over(self) -> Result<(), StateError> {
        let state = StateDirectory::open_keeping_free(&self.state_dir, self.min_free)?;
        let changes = state.lock_changes(SHORT_WAIT)?;
        if let Some(saved) = with_waiting(&state, &changes, &self.node, &self.before, &self.filters)? {
            state.save_node_of_ended_run(&self.node, &saved, &changes)?;
        }
        Ok(())
    }
}

/// Returns the node with the deferred changes, as saved JSON. Returns `None` if there are no changes, or if the node cannot
/// be used.
fn with_waiting(
    state: &StateDirectory,
    changes: &ChangeLock,
    name: &str,
    before: &Map<String, Value>,
    filters: &SavedFilters,
) -> Result<Option<Value>, StateError> {
    let waiting = match state.waiting_changes(name) {
        Err(error) if error.is_damage() => {
            let place = changes.set_aside(name)?;
            tracing::warn!(
                "{}; the file is now {}, and its changes are not applied",
                error_chain(&error),
                place.display()
            );
            return Ok(None);
        }
        waiting => waiting?,
    };
    if waiting.is_empty() {
        return Ok(None);
    }
    match saved_node_alone(state, name) {
        Ok(Some(mut node)) => {
            let after = node.clone();
            let conflict = |path: &[String]| {
                let is_same = value_at(before, path) == value_at(after.normal(), path);
                (!is_same).then(|| writer(&after, path))
            };
            apply(&mut node, &waiting, &conflict);
            match node_to_save(&node, filters) {
                Ok(saved) => return Ok(Some(saved)),
                Err(error) => tracing::warn!("changes of the node {name} wait on: {error}"),
            }
        }
        Ok(None) => {}
        Err(SavedNodeError::State(error)) => return Err(error),
        Err(error) => tracing::warn!("changes of the node {name} wait on: {}", error_chain(&error)),
    }
    Ok(None)
}

/// Applies the deferred changes at the end of a run, and releases the run lock. `before` are the `normal` attributes at the
/// start of the run; the run's own changes since then are kept.
pub(crate) fn take_waiting(
    state: &StateDirectory,
    lock: RunLock,
    name: &str,
    before: &Map<String, Value>,
    filters: &SavedFilters,
) -> Result<(), StateError> {
    let changes = state.lock_changes(WAIT)?;
    if let Some(saved) = with_waiting(state, &changes, name, before, filters)? {
        lock.save_node(name, &saved)?;
        changes.keep(name, &[])?;
    }
    // The run lock is released first, so that a command that waits for the lock of the changes finds it free.
    drop(lock);
    drop(changes);
    Ok(())
}
