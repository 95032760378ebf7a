//! Changes of operators that waited while a run had the lock, applied to the node.

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

/// How long a run waits for them that ends at once.
const SHORT_WAIT: Duration = Duration::from_secs(1);

/// Applies the changes that the node does not have yet. A change that has become impossible is left out, with a warning.
pub(crate) fn apply_waiting(node: &mut NodeObject, changes: &[WaitingChange]) {
    apply(node, changes, &|_| None);
}

/// Applies changes; `conflict` tells who else wrote an attribute meanwhile.
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

/// Who wrote a `normal` attribute last.
fn writer(node: &NodeObject, path: &[String]) -> String {
    let explanation = node.explain(path);
    let writes = explanation.policies.iter().flat_map(|part| &part.writes);
    let mut normal = writes.filter(|write| write.level == node::attributes::Level::Normal);
    normal.next_back().map_or_else(|| "a policy".to_owned(), |write| write.origin.to_string())
}

/// The changes that wait for a run, for the case that a signal ends the run at once.
pub struct LateChanges {
    pub(crate) state_dir: PathBuf,
    pub(crate) min_free: u64,
    pub(crate) node: String,
    /// The `normal` attributes with which the run began.
    pub(crate) before: Map<String, Value>,
    pub(crate) filters: SavedFilters,
}

impl LateChanges {
    /// Applies the changes to the saved node, as the end of a run does. The run may still save the node behind it, without
    /// them: so the changes stay where they are, and the next command sees by their numbers whether the node has them.
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

/// The node with the changes that wait, as it is saved. `None`: none wait, or the node cannot be used.
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

/// Ends a run's hold of the node: applies the changes that waited, and releases the lock. `before` are the `normal` attributes
/// with which the run began: what the run itself changed since then stays.
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
    // Whoever waits for the changes' lock finds the run lock free.
    drop(lock);
    drop(changes);
    Ok(())
}
