//! The node object as it was saved, and the reasons why it cannot be used.

use crate::node_changes::apply_waiting;
use node::layers::Layers;
use node::object::{NodeObject, ObjectError, WithoutPolicies};
use node::policy_in_group::{PolicyInGroup, PolicyInGroupError};
use node::run_list::RunList;
use node::saved_filter::{FilterError, SavedFilters};
use serde_json::{Value, json};
use state::{StateDirectory, StateError};
use std::path::PathBuf;

/// The extra key under which the node's histories of writes are saved, for `wrun node explain`.
pub const HISTORIES: &str = "wrun_histories";

/// The extra key under which the writers of `normal` attributes are saved.
pub const NORMAL_WRITERS: &str = "wrun_normal_writers";

/// The extra key under which the node's layers are saved, with their content.
pub const LAYERS: &str = "wrun_layers";

/// The extra key under which the policies that an operator assigned are saved, as `NAME@GROUP`.
pub const ASSIGNED_POLICIES: &str = "wrun_policies";

/// The extra key under which a run of policies keeps the run list and environment of runs without policies:
/// `{run_list, chef_environment}`.
pub const WITHOUT_POLICIES: &str = "wrun_without_policies";

/// The reasons why a saved node cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SavedNodeError {
    /// Its file cannot be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// The deferred changes of the node cannot be read.
    #[error(transparent)]
    Changes(StateError),
    /// The file does not hold a valid node object.
    #[error("{} cannot be used", path.display())]
    Node {
        /// The file that holds it.
        path: PathBuf,
        /// What is wrong with it.
        source: ObjectError,
    },
    /// The name of an assigned policy is invalid.
    #[error("{} cannot be used: `{ASSIGNED_POLICIES}` is not a list of policies", path.display())]
    Policies {
        /// The file that holds it.
        path: PathBuf,
        /// What is wrong with it.
        source: Option<PolicyInGroupError>,
    },
    /// The file holds another node.
    #[error("{} cannot be used: it holds the node {found:?}, not {wanted:?}; move it away to begin anew", path.display())]
    Other {
        /// The file that holds it.
        path: PathBuf,
        /// The name in it.
        found: String,
        /// The name that was asked for.
        wanted: String,
    },
}

/// The extra key for the number of the last deferred change that has been applied.
pub const CHANGES: &str = "wrun_changes";

/// Loads the saved node of this name, with the deferred changes applied. Returns `None` if it was never saved.
///
/// # Errors
/// It cannot be read, or its file is another node's.
pub fn saved_node(state: &StateDirectory, name: &str) -> Result<Option<NodeObject>, SavedNodeError> {
    // The deferred changes are read first. If a run applies one in between, the node has its number, so it is not applied
    // twice.
    let waiting = state.waiting_changes(name).map_err(SavedNodeError::Changes)?;
    let mut node = saved_node_alone(state, name)?;
    if let Some(node) = &mut node {
        apply_waiting(node, &waiting);
    }
    Ok(node)
}

/// Loads the saved node without deferred changes. Unusable histories are left out, because they serve only explanations.
///
/// # Errors
/// It cannot be read, or its file is another node's.
pub(crate) fn saved_node_alone(state: &StateDirectory, name: &str) -> Result<Option<NodeObject>, SavedNodeError> {
    let Some(mut saved) = state.node(name)? else { return Ok(None) };
    let path = state.node_file(name);
    let mut take = |key: &str| saved.as_object_mut().and_then(|object| object.shift_remove(key));
    let applied = take(CHANGES).and_then(|number| number.as_u64()).unwrap_or(0);
    let (histories, writers, layers) = (take(HISTORIES), take(NORMAL_WRITERS), take(LAYERS));
    let (assigned, kept) = (take(ASSIGNED_POLICIES), take(WITHOUT_POLICIES));
    let mut node = match NodeObject::from_saved_json(&saved) {
        Ok(node) => node,
        Err(source) => return Err(SavedNodeError::Node { path, source }),
    };
    if node.name() != name {
        return Err(SavedNodeError::Other { path, found: node.name().to_owned(), wanted: name.to_owned() });
    }
    if let Some(Err(error)) = histories.map(|histories| node.set_histories_from_json(histories)) {
        tracing::warn!("{}: the history of its attributes cannot be used: {error}", path.display());
    }
    node.set_applied_changes(applied);
    if let Some(layers) = layers {
        let layers = Layers::from_json(layers);
        node.set_layers(layers.map_err(|source| SavedNodeError::Node { path: path.clone(), source })?);
    }
    if let Some(assigned) = assigned {
        let wrong = |source| SavedNodeError::Policies { path: path.clone(), source };
        let texts: Option<Vec<&str>> = assigned.as_array().and_then(|all| all.iter().map(Value::as_str).collect());
        let texts = texts.ok_or_else(|| wrong(None))?;
        node.set_assigned_policies(PolicyInGroup::parse_list(&texts).map_err(|error| wrong(Some(error)))?);
    }
    node.set_without_policies(kept.and_then(|kept| without_policies(&kept)));
    // Older files do not name the writers: then they are taken from the histories.
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

/// Reads the run list and environment of runs without policies. Returns `None` if they are damaged, because the next such run
/// can be given them again.
fn without_policies(kept: &Value) -> Option<WithoutPolicies> {
    let run_list = RunList::from_json(kept.get("run_list")?).ok()?;
    let chef_environment = kept.get("chef_environment")?.as_str()?.to_owned();
    Some(WithoutPolicies { run_list, chef_environment })
}

/// Returns the node as JSON for the state directory, with its layers, histories and writers.
///
/// # Errors
/// The setting that says which attributes are saved is invalid.
pub fn node_to_save(node: &NodeObject, filters: &SavedFilters) -> Result<Value, FilterError> {
    let mut saved = node.to_saved_json(filters)?;
    if let Some(object) = saved.as_object_mut() {
        object.insert(HISTORIES.into(), node.histories_to_json(filters));
        object.insert(NORMAL_WRITERS.into(), node.normal_writers_to_json(filters)?);
        if node.applied_changes() > 0 {
            object.insert(CHANGES.into(), node.applied_changes().into());
        }
        if !node.assigned_policies().is_empty() {
            let all = node.assigned_policies().iter().map(|policy| Value::from(policy.to_string()));
            object.insert(ASSIGNED_POLICIES.into(), all.collect());
        }
        if let Some(kept) = node.without_policies() {
            let kept = json!({ "run_list": kept.run_list.to_json(), "chef_environment": kept.chef_environment });
            object.insert(WITHOUT_POLICIES.into(), kept);
        }
        if !node.layers().is_empty() {
            object.insert(LAYERS.into(), node.layers().to_json());
        }
    }
    Ok(saved)
}
