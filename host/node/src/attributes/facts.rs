//! The machine's facts, as all policies of a run share them.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::automatic::split;
use super::withheld::without;
use super::{AttributeError, Level, limits};

/// The facts of the machine, under Ohai's keys. They are checked once. Policies that may see the same part share it.
#[derive(Debug)]
pub struct SharedFacts {
    all: Arc<Value>,
    /// Members whose keys describe a node or a policy. A policy starts with them, and replaces most of them.
    own: Map<String, Value>,
    checked: Result<(), AttributeError>,
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
        let all = Arc::new(Value::Object(facts));
        Self { checked: check(&all), all, own, parts: vec![] }
    }
}

impl SharedFacts {
    /// The members whose keys describe a node or a policy.
    pub(crate) fn own(&self) -> &Map<String, Value> {
        &self.own
    }

    /// Returns the part that a policy may see. A part that an earlier policy saw is not made again.
    ///
    /// # Errors
    /// The facts are nested too deeply, or hold what only a running guest may hold.
    pub(crate) fn part(&mut self, visible: impl FnOnce(&Value) -> Cow<'_, Value>) -> Result<FactsPart, AttributeError> {
        self.checked.clone()?;
        let shown = match visible(&self.all) {
            Cow::Owned(Value::Object(shown)) => shown,
            Cow::Owned(_) => Map::new(),
            Cow::Borrowed(_) => {
                let (all, shown) = (Arc::clone(&self.all), Arc::clone(&self.all));
                return Ok(FactsPart { all, shown, hidden: Arc::default() });
            }
        };
        let is_same = |part: &&FactsPart| part.shown.as_object().is_some_and(|known| are_equal_objects(known, &shown));
        if let Some(known) = self.parts.iter().find(is_same) {
            return Ok(known.clone());
        }
        let all = self.all.as_object().cloned().unwrap_or_default();
        let hidden = Arc::new(without(all, &shown));
        let part = FactsPart { all: Arc::clone(&self.all), shown: Arc::new(Value::Object(shown)), hidden };
        self.parts.push(part.clone());
        Ok(part)
    }
}

fn check(facts: &Value) -> Result<(), AttributeError> {
    if limits::inspect::<&str>(facts, &[])?.holds_guest_values {
        return Err(AttributeError::GuestValueNotAccepted { path: Level::Automatic.as_str().to_owned() });
    }
    Ok(())
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
