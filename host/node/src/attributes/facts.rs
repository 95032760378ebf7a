//! The machine's facts, as all policies of a run share them.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::automatic::split;
use super::limits;
use super::withheld::without;

/// The facts of the machine, under Ohai's keys. Policies that may see the same part share it. Members that no policy could have
/// as attributes are left out. Users of the machine choose some keys, such as those of their mounts, and must not end the runs
/// of all policies by them.
#[derive(Debug)]
pub struct SharedFacts {
    all: Arc<Value>,
    /// Members whose keys describe a node or a policy. A policy starts with them, and replaces most of them.
    own: Map<String, Value>,
    parts: Vec<FactsPart>,
}

/// The facts as a policy may see them.
#[derive(Debug, Clone, Default)]
pub(crate) struct FactsPart {
    /// All facts of the machine.
    pub(crate) all: Arc<Value>,
    /// The facts that the policy sees.
    pub(crate) shown: Arc<Value>,
    /// The facts that are hidden from it.
    pub(crate) hidden: Arc<Map<String, Value>>,
}

impl From<Map<String, Value>> for SharedFacts {
    fn from(facts: Map<String, Value>) -> Self {
        let (own, facts) = split(facts);
        Self { all: Arc::new(Value::Object(acceptable_facts(facts))), own, parts: vec![] }
    }
}

impl SharedFacts {
    /// The members whose keys describe a node or a policy.
    pub(crate) fn own(&self) -> &Map<String, Value> {
        &self.own
    }

    /// Returns the part that a policy may see. A part that an earlier policy saw is not made again.
    pub(crate) fn part(&mut self, visible: impl FnOnce(&Value) -> Cow<'_, Value>) -> FactsPart {
        let shown = match visible(&self.all) {
            Cow::Owned(Value::Object(shown)) => shown,
            Cow::Owned(_) => Map::new(),
            Cow::Borrowed(_) => {
                let (all, shown) = (Arc::clone(&self.all), Arc::clone(&self.all));
                return FactsPart { all, shown, hidden: Arc::default() };
            }
        };
        let is_same = |part: &&FactsPart| part.shown.as_object().is_some_and(|known| are_equal_objects(known, &shown));
        if let Some(known) = self.parts.iter().find(is_same) {
            return known.clone();
        }
        let all = self.all.as_object().cloned().unwrap_or_default();
        let hidden = Arc::new(without(all, &shown));
        let part = FactsPart { all: Arc::clone(&self.all), shown: Arc::new(Value::Object(shown)), hidden };
        self.parts.push(part.clone());
        part
    }
}

/// Returns facts without what no policy could have as attributes: too long keys, values that are nested too deeply.
pub fn acceptable_facts(mut facts: Map<String, Value>) -> Map<String, Value> {
    limits::remove_refused(&mut facts);
    facts
}

/// Tells whether two lists of members are equal and in the same order, also in objects inside them. Looking up each member
/// would take several times as long, and each run collects facts in the same order.
pub(crate) fn are_equal<'all>(
    mut one: impl Iterator<Item = (&'all String, &'all Value)>,
    mut other: impl Iterator<Item = (&'all String, &'all Value)>,
) -> bool {
    let is_equal = |one: &Value, other: &Value| match (one, other) {
        (Value::Object(one), Value::Object(other)) => are_equal_objects(one, other),
        (one, other) => one == other,
    };
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (Some((key, value)), Some((other_key, other))) if key == other_key && is_equal(value, other) => {}
            _ => return false,
        }
    }
}

/// Tells whether two objects have equal members in the same order.
fn are_equal_objects(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    one.len() == other.len() && are_equal(one.iter(), other.iter())
}
