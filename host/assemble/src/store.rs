//! Where nodes are kept, for commands that look at them and change them. Here it is this machine's state; a server keeps them
//! behind the same trait.

use crate::layers::LayersError;
use crate::saved_node::{SavedNodeError, node_to_save, saved_node};
use node::layers::Layer;
use node::object::{EditError, NodeEdit, NodeObject, ObjectError};
use node::saved_filter::{FilterError, SavedFilters};
use resolve::layers::merge_layers;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use state::{Holder, LockRequest, RunLock, StateDirectory, StateError, WaitingChange};
use std::time::{Duration, SystemTime};
use text::nearest;

/// How long a command waits for others that change nodes.
const WAIT: Duration = Duration::from_secs(30);

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// The node has changed.
    Now,
    /// The node was so already.
    Nothing,
    /// A run is under way, and applies the change when it ends.
    AfterRun(Option<Holder>),
}

/// The reasons why nodes cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The node does not exist.
    #[error("there is no node {name}{}", node_hint(name, names))]
    NoNode {
        /// The name.
        name: String,
        /// The names of all nodes.
        names: Vec<String>,
    },
    /// The node exists already.
    #[error("there is a node {name} already")]
    Exists {
        /// The name.
        name: String,
    },
    /// The state cannot be read or written.
    #[error(transparent)]
    State(#[from] StateError),
    /// A saved node cannot be used.
    #[error(transparent)]
    SavedNode(#[from] SavedNodeError),
    /// The node cannot be changed so.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The layers do not go together.
    #[error(transparent)]
    Layers(#[from] LayersError),
    /// What is to be saved is not a node.
    #[error(transparent)]
    Node(#[from] ObjectError),
    /// The setting that says which attributes are saved is invalid.
    #[error(transparent)]
    Filter(#[from] FilterError),
}

impl StoreError {
    /// Tells whether a run holds the lock.
    pub fn is_locked(&self) -> bool {
        matches!(self, Self::State(StateError::Locked { .. } | StateError::ChangesLocked { .. }))
    }
}

/// What somebody may have meant who named a node that is not there.
pub fn node_hint(name: &str, names: &[String]) -> String {
    let near = nearest(name, names.iter().map(String::as_str)).map(|near| format!("; did you mean `{near}`?"));
    match names {
        [] => "; no node has been saved".to_owned(),
        names if near.is_none() && names.len() <= 10 => format!("; there are: {}", names.join(", ")),
        _ => near.unwrap_or_else(|| "; list the nodes with `wrun node list`".to_owned()),
    }
}

/// Nodes, wherever they are kept.
pub trait NodeStore {
    /// Returns the names of all nodes, sorted.
    ///
    /// # Errors
    /// They cannot be listed.
    fn names(&self) -> Result<Vec<String>, StoreError>;

    /// Returns a node with all changes that wait for a run.
    ///
    /// # Errors
    /// The node does not exist, or it cannot be read.
    fn node(&self, name: &str) -> Result<NodeObject, StoreError>;

    /// Changes a node: all changes or none. While a run is under way, the changes are kept until it ends.
    ///
    /// # Errors
    /// The node does not exist, a change is impossible, or the node cannot be saved.
    fn change(&self, name: &str, edits: &[NodeEdit]) -> Result<Applied, StoreError>;

    /// Saves a node that is not there yet.
    ///
    /// # Errors
    /// The node is there, or cannot be saved.
    fn create(&self, node: &NodeObject) -> Result<(), StoreError>;

    /// Removes a node.
    ///
    /// # Errors
    /// The node does not exist, a run is under way, or the node cannot be removed.
    fn remove(&self, name: &str) -> Result<(), StoreError>;
}

/// The nodes of this machine's state.
#[derive(Debug)]
pub struct LocalNodes<'a> {
    /// The state.
    pub state: StateDirectory,
    /// The attributes that are saved.
    pub filters: &'a SavedFilters,
    /// The command line, for others to read.
    pub command: &'a str,
    /// The time.
    pub now: SystemTime,
}

impl LocalNodes<'_> {
    fn lock(&self) -> Result<RunLock, StateError> {
        self.state.lock(LockRequest {
            command: self.command,
            began: self.now,
            wait: Duration::ZERO,
            interrupted: &|| false,
            waiting: &mut |_| {},
        })
    }

    fn save(&self, lock: &RunLock, node: &NodeObject) -> Result<(), StoreError> {
        Ok(lock.save_node(node.name(), &node_to_save(node, self.filters)?)?)
    }

    /// The moment as text.
    fn at(&self) -> String {
        jiff::Timestamp::try_from(self.now)
            .map(|now| now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
            .unwrap_or_default()
    }
}

impl NodeStore for LocalNodes<'_> {
    fn names(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.state.node_names()?)
    }

    fn node(&self, name: &str) -> Result<NodeObject, StoreError> {
        match saved_node(&self.state, name)? {
            Some(node) => Ok(node),
            None => Err(StoreError::NoNode { name: name.to_owned(), names: self.names()? }),
        }
    }

    fn change(&self, name: &str, edits: &[NodeEdit]) -> Result<Applied, StoreError> {
        let changes = self.state.lock_changes(WAIT)?;
        let lock = match self.lock() {
            Ok(lock) => Ok(lock),
            Err(StateError::Locked { holder, .. }) => Err(holder),
            Err(error) => return Err(error.into()),
        };
        let waiting = self.state.waiting_changes(name)?;
        let before = self.node(name)?;
        let mut node = before.clone();
        let mut differs = false;
        for edit in edits {
            differs |= node.apply(edit)?;
        }
        check_layers(&node)?;
        match lock {
            Ok(lock) => {
                if differs || !waiting.is_empty() {
                    self.save(&lock, &node)?;
                }
                changes.keep(name, &[])?;
                Ok(if differs { Applied::Now } else { Applied::Nothing })
            }
            Err(_) if !differs => Ok(Applied::Nothing),
            Err(holder) => {
                let last = waiting.last().map_or(0, |change| change.number).max(node.applied_changes());
                // The run may write to other parts of the node: each part of a change stands by itself.
                let parts: Vec<NodeEdit> = edits.iter().flat_map(|edit| edit.parts(&before)).collect();
                let new = (last + 1..).zip(&parts).map(|(number, edit)| WaitingChange {
                    number,
                    by: self.command.to_owned(),
                    at: self.at(),
                    edit: edit.to_json(),
                });
                let all: Vec<_> = waiting.iter().cloned().chain(new).collect();
                changes.keep(name, &all)?;
                Ok(Applied::AfterRun(holder))
            }
        }
    }

    fn create(&self, node: &NodeObject) -> Result<(), StoreError> {
        let _changes = self.state.lock_changes(WAIT)?;
        let lock = self.lock()?;
        if self.names()?.iter().any(|name| name == node.name()) {
            return Err(StoreError::Exists { name: node.name().to_owned() });
        }
        self.save(&lock, node)
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        let changes = self.state.lock_changes(WAIT)?;
        let lock = self.lock()?;
        changes.keep(name, &[])?;
        match lock.remove_node(name)? {
            true => Ok(()),
            false => Err(StoreError::NoNode { name: name.to_owned(), names: self.names()? }),
        }
    }
}

/// Checks that the layers of each policy go together, so that no later run fails of them.
fn check_layers(node: &NodeObject) -> Result<(), LayersError> {
    let policies = node.records().iter().map(|record| record.name.as_deref());
    for policy in policies.chain([None]) {
        let layers: Vec<&Layer> = node.layers().all().iter().filter(|layer| layer.is_for(policy)).collect();
        merge_layers(&layers, None)?;
    }
    Ok(())
}

/// Returns the change that sets an attribute of a layer, with the digest of the layer after it.
///
/// # Errors
/// The layer is not there, or the attribute cannot be set.
pub fn set_in_layer(
    node: &NodeObject,
    name: &str,
    overrides: bool,
    path: &[String],
    value: &Value,
) -> Result<NodeEdit, EditError> {
    let with = |digest: String| NodeEdit::SetInLayer {
        name: name.to_owned(),
        overrides,
        path: path.to_vec(),
        value: value.clone(),
        digest,
    };
    let mut changed = node.clone();
    changed.apply(&with(String::new()))?;
    let layer = changed.layers().get(name)?;
    Ok(with(text::hex(Sha256::digest(layer.to_json().to_string()))))
}
