//! The level `automatic`: the machine's facts, and what describes the node and the policy itself.
//!
//! The facts are thousands of values, and all policies of a run that may see the same ones share them. The second part is
//! small, and each policy has its own. No key is in both parts.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

/// Keys of `automatic` that describe the running policy. They are not saved.
pub(crate) const OWN_POLICY_KEYS: [&str; 4] = ["policy_name", "policy_group", "policy_revision", "cookbooks"];

/// Keys of `automatic` whose lists the policies of one run add up in the saved node.
pub(crate) const ADDED_UP_KEYS: [&str; 3] = ["recipes", "expanded_run_list", "roles"];

/// Keys of `automatic` that name the node and its environment.
const OWN_NODE_KEYS: [&str; 2] = ["name", "chef_environment"];

/// Tells whether a top-level key of `automatic` describes the node or the policy itself, and is not a fact of the machine.
pub fn is_policys_own(key: &str) -> bool {
    OWN_POLICY_KEYS.iter().chain(&ADDED_UP_KEYS).chain(&OWN_NODE_KEYS).any(|own| *own == key)
}

/// The two parts of the level, each an object.
#[derive(Debug, Clone)]
pub(crate) struct Automatic {
    facts: Arc<Value>,
    own: Value,
}

impl Default for Automatic {
    fn default() -> Self {
        let empty = || Value::Object(Map::new());
        Self { facts: Arc::new(empty()), own: empty() }
    }
}

impl Automatic {
    /// Creates the level from facts that are shared, without keys of the policy's own, and from those keys.
    pub(crate) fn new(facts: Arc<Value>, own: Map<String, Value>) -> Self {
        Self { facts, own: Value::Object(own) }
    }

    /// Creates the level from all its members.
    pub(crate) fn of(all: Map<String, Value>) -> Self {
        let (own, facts) = split(all);
        Self::new(Arc::new(Value::Object(facts)), own)
    }

    /// The facts, without the keys of the policy's own.
    pub(crate) fn facts(&self) -> &Arc<Value> {
        &self.facts
    }

    /// What describes the node and the policy.
    pub(crate) fn own(&self) -> &Value {
        &self.own
    }

    /// Both parts, the facts first.
    pub(crate) fn parts(&self) -> [&Value; 2] {
        [&self.facts, &self.own]
    }

    /// Returns the part that a path leads through. An empty path leads to the facts.
    pub(crate) fn part<Step: AsRef<str>>(&self, path: &[Step]) -> &Value {
        if is_own_path(path) { &self.own } else { &self.facts }
    }

    /// Returns the part that a path leads through, to change it. Shared facts are copied first.
    pub(crate) fn part_mut<Step: AsRef<str>>(&mut self, path: &[Step]) -> &mut Value {
        if is_own_path(path) { &mut self.own } else { Arc::make_mut(&mut self.facts) }
    }

    /// Returns the whole level: the facts, then the rest.
    pub(crate) fn joined(&self) -> Cow<'_, Value> {
        match (&*self.facts, &self.own) {
            (facts, Value::Object(own)) if own.is_empty() => Cow::Borrowed(facts),
            (Value::Object(facts), Value::Object(own)) => {
                let members = facts.iter().chain(own).map(|(key, value)| (key.clone(), value.clone()));
                Cow::Owned(Value::Object(members.collect()))
            }
            (facts, _) => Cow::Borrowed(facts),
        }
    }
}

/// Splits the members of the level into those that describe the node and the policy, and the facts.
pub(crate) fn split(all: Map<String, Value>) -> (Map<String, Value>, Map<String, Value>) {
    if !all.keys().any(|key| is_policys_own(key)) {
        return (Map::new(), all);
    }
    all.into_iter().partition(|(key, _)| is_policys_own(key))
}

fn is_own_path<Step: AsRef<str>>(path: &[Step]) -> bool {
    path.first().is_some_and(|first| is_policys_own(first.as_ref()))
}
