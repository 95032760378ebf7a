//! Reads and changes saved nodes, for the commands about nodes. On this machine they are in the state directory. A server can
//! store them behind the same trait.

use crate::layers::LayersError;
use crate::saved_node::{SavedNodeError, node_to_save, saved_node};
use node::layers::Layer;
use node::object::{EditError, NodeEdit, NodeObject, ObjectError};
use node::saved_filter::{FilterError, SavedFilters};
use resolve::layers::merge_layer_values;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use state::{ChangeLock, Holder, LockRequest, RunLock, StateDirectory, StateError, WaitingChange};
use std::time::{Duration, SystemTime};
use text::nearest;

/// How long a command waits for others that change nodes.
const WAIT: Duration = Duration::from_secs(30);

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// The node has changed.
    Now,
    /// The node was in the wanted state already.
    Nothing,
    /// A run is under way, and applies the change when it ends.
    AfterRun(Option<Holder>),
}

/// The wanted state of a node, from documents.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeDocument {
    /// The name of the node.
    pub name: String,
    /// The changes of the node, in order.
    pub edits: Vec<NodeEdit>,
}

/// The result of writing a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    /// The node existed and was changed.
    Changed(Applied),
    /// The node is new.
    Created,
}

/// The reasons why nodes cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The node does not exist.
    #[error("there is no node {name}{}", node_hint(name, names))]
    NoNode {
        /// The name of the node.
        name: String,
        /// The names of all nodes.
        names: Vec<String>,
    },
    /// The node exists already.
    #[error("there is a node {name} already")]
    Exists {
        /// The name of the node.
        name: String,
    },
    /// The state cannot be read or written.
    #[error(transparent)]
    State(#[from] StateError),
    /// A saved node cannot be used.
    #[error(transparent)]
    SavedNode(#[from] SavedNodeError),
    /// The node refuses the change.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The layers do not go together.
    #[error(transparent)]
    Layers(#[from] LayersError),
    /// The new node is invalid.
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

/// Returns a hint about the name of a node that does not exist.
pub fn node_hint(name: &str, names: &[String]) -> String {
    let near = nearest(name, names.iter().map(String::as_str)).map(|near| format!("; did you mean `{near}`?"));
    match names {
        [] => "; no node has been saved".to_owned(),
        names if near.is_none() && names.len() <= 10 => format!("; there are: {}", names.join(", ")),
        _ => near.unwrap_or_else(|| "; list the nodes with `wrun node list`".to_owned()),
    }
}

/// A store of nodes.
pub trait NodeStore {
    /// Returns the names of all nodes, sorted.
    ///
    /// # Errors
    /// They cannot be listed.
    fn names(&self) -> Result<Vec<String>, StoreError>;

    /// Returns a node with all deferred changes applied.
    ///
    /// # Errors
    /// The node does not exist, or it cannot be read.
    fn node(&self, name: &str) -> Result<NodeObject, StoreError>;

    /// Changes a node: makes all changes or none. While a run is under way, the changes are stored until it ends.
    ///
    /// # Errors
    /// The node does not exist, a change is impossible, or the node cannot be saved.
    fn change(&self, name: &str, edits: &[NodeEdit]) -> Result<Applied, StoreError>;

    /// Changes the existing nodes and creates the others. If one of the changes is impossible, none are made.
    ///
    /// # Errors
    /// A change is impossible, a run is under way and a node is new, or a node cannot be saved.
    fn put(&self, documents: &[NodeDocument]) -> Result<Vec<Put>, StoreError>;

    /// Saves a node that is not there yet.
    ///
    /// # Errors
    /// The node is there, or cannot be saved.
    fn create(&self, node: &NodeObject) -> Result<(), StoreError>;

    /// Removes nodes: all of them, or none if one does not exist.
    ///
    /// # Errors
    /// A node does not exist, a run is under way, or a node cannot be removed.
    fn remove(&self, names: &[String]) -> Result<(), StoreError>;
}

/// The nodes of this machine's state.
#[derive(Debug)]
pub struct LocalNodes<'a> {
    /// The state that has the nodes.
    pub state: StateDirectory,
    /// The attributes that are saved.
    pub filters: &'a SavedFilters,
    /// The command line, for others to read.
    pub command: &'a str,
    /// The time of the change.
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

    /// Takes the run lock. Inside, `Err` is the run that holds it.
    fn lock_unless_held(&self) -> Result<Result<RunLock, Option<Holder>>, StateError> {
        match self.lock() {
            Ok(lock) => Ok(Ok(lock)),
            Err(StateError::Locked { holder, .. }) => Ok(Err(holder)),
            Err(error) => Err(error),
        }
    }

    /// Applies a change in memory without saving it, so that an impossible one is found before anything is saved.
    fn planned(&self, name: &str, edits: &[NodeEdit]) -> Result<Planned, StoreError> {
        let waiting = self.state.waiting_changes(name)?;
        let before = self.node(name)?;
        let mut node = before.clone();
        let mut differs = false;
        for edit in edits {
            differs |= node.apply(edit)?;
        }
        check_layers(&node)?;
        let last = waiting.last().map_or(0, |change| change.number).max(before.applied_changes());
        // The run may write to other parts of the node, so the change is stored as independent parts.
        let parts = edits.iter().flat_map(|edit| edit.parts(&before));
        let kept = (last + 1..).zip(parts).map(|(number, edit)| WaitingChange {
            number,
            by: self.command.to_owned(),
            at: self.at(),
            edit: edit.to_json(),
        });
        let kept = kept.collect();
        let saved = (differs || !waiting.is_empty()).then(|| node_to_save(&node, self.filters)).transpose()?;
        Ok(Planned { name: name.to_owned(), saved, waiting, kept, differs })
    }

    /// Returns the time of the change as text.
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
        let lock = self.lock_unless_held()?;
        self.planned(name, edits)?.carry_out(&changes, &lock)
    }

    fn put(&self, documents: &[NodeDocument]) -> Result<Vec<Put>, StoreError> {
        let changes = self.state.lock_changes(WAIT)?;
        let there = self.names()?;
        let is_new = |document: &&NodeDocument| !there.contains(&document.name);
        // A change of a node can be deferred, but the creation of a node cannot.
        let lock = match documents.iter().any(|document| is_new(&document)) {
            true => Ok(self.lock()?),
            false => self.lock_unless_held()?,
        };
        let plan = |document: &NodeDocument| {
            if is_new(&document) {
                let mut node = NodeObject::new(&document.name)?;
                document.edits.iter().try_for_each(|edit| node.apply(edit).map(drop))?;
                let name = document.name.clone();
                let saved = Some(node_to_save(&node, self.filters)?);
                return Ok((Planned { name, saved, waiting: vec![], kept: vec![], differs: true }, true));
            }
            Ok((self.planned(&document.name, &document.edits)?, false))
        };
        let plans = documents.iter().map(plan).collect::<Result<Vec<_>, StoreError>>()?;
        let carry_out = |(planned, is_new): (Planned, bool)| {
            let applied = planned.carry_out(&changes, &lock)?;
            Ok(if is_new { Put::Created } else { Put::Changed(applied) })
        };
        plans.into_iter().map(carry_out).collect()
    }

    fn create(&self, node: &NodeObject) -> Result<(), StoreError> {
        let _changes = self.state.lock_changes(WAIT)?;
        let lock = self.lock()?;
        if self.names()?.iter().any(|name| name == node.name()) {
            return Err(StoreError::Exists { name: node.name().to_owned() });
        }
        Ok(lock.save_node(node.name(), &node_to_save(node, self.filters)?)?)
    }

    fn remove(&self, names: &[String]) -> Result<(), StoreError> {
        let changes = self.state.lock_changes(WAIT)?;
        let lock = self.lock()?;
        let there = self.names()?;
        if let Some(name) = names.iter().find(|name| !there.contains(name)) {
            return Err(StoreError::NoNode { name: name.clone(), names: there });
        }
        for name in names {
            changes.keep(name, &[])?;
            let _ = lock.remove_node(name)?;
        }
        Ok(())
    }
}

/// A change of a node that was checked and is not saved yet.
struct Planned {
    name: String,
    /// The node as it is saved. `None`: it need not be saved.
    saved: Option<Value>,
    /// The changes that have waited for a run.
    waiting: Vec<WaitingChange>,
    /// The change in parts, as it waits if a run is under way.
    kept: Vec<WaitingChange>,
    differs: bool,
}

impl Planned {
    /// Saves the node, or stores the change until the run that holds the lock ends.
    fn carry_out(self, changes: &ChangeLock, lock: &Result<RunLock, Option<Holder>>) -> Result<Applied, StoreError> {
        match lock {
            Ok(lock) => {
                if let Some(saved) = &self.saved {
                    lock.save_node(&self.name, saved)?;
                }
                changes.keep(&self.name, &[])?;
                Ok(if self.differs { Applied::Now } else { Applied::Nothing })
            }
            Err(_) if !self.differs => Ok(Applied::Nothing),
            Err(holder) => {
                changes.keep(&self.name, &[self.waiting, self.kept].concat())?;
                Ok(Applied::AfterRun(holder.clone()))
            }
        }
    }
}

/// Checks that the layers of each policy can be merged, so that later runs do not fail because of them.
fn check_layers(node: &NodeObject) -> Result<(), LayersError> {
    let policies = node.records().iter().map(|record| record.name.as_deref());
    for policy in policies.chain([None]) {
        let layers: Vec<&Layer> = node.layers().all().iter().filter(|layer| layer.is_for(policy)).collect();
        merge_layer_values(&layers)?;
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
