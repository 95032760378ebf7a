//! Hides attributes that a policy may not read.
//!
//! A policy needs a grant to read attributes that other policies left, `normal` attributes of others, and most facts. Before
//! the policy starts, the host moves all values that it may not read out of its levels, so that no kind of read can reach
//! them. It puts them back when the policy has ended. The host still knows that such a value exists, so that it can tell a
//! read of it from a read of an absent attribute.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::facts::FactsPart;
use super::history::Change;
use super::{AttributeError, Attributes, Level, gaps, limits, path};
use crate::deep_merge::hash_only_merge;
use crate::layers::LayerLevels;
use crate::object::HiddenNames;

/// The parts that were taken out.
#[derive(Debug, Clone, Default)]
pub(super) struct Withheld {
    pub(super) inherited: Map<String, Value>,
    /// The hidden part of what other policies wrote to `normal`.
    normal: Map<String, Value>,
    /// The hidden part of what the operator gave as `normal` attributes.
    given: Map<String, Value>,
    /// The visible part of the same.
    shown_given: Map<String, Value>,
    /// The hidden part of the `env_default` level.
    default_layers: Map<String, Value>,
    /// The hidden part of the `env_override` level.
    override_layers: Map<String, Value>,
    /// The facts, and which of them are hidden.
    pub(super) facts: FactsPart,
}

impl Attributes {
    /// Hides all inherited attributes but the visible part.
    pub(crate) fn show_inherited(&mut self, visible: impl FnOnce(&Value) -> Cow<'_, Value>) {
        self.withheld.inherited = self.show(Level::Inherited, visible);
    }

    /// Hides all `normal` attributes but the visible part.
    pub(crate) fn show_normal(&mut self, visible: impl FnOnce(&Value) -> Cow<'_, Value>) {
        self.withheld.normal = self.show(Level::Normal, visible);
    }

    /// Tells which of the `normal` attributes the operator gave. The rest of the hidden ones is of other policies.
    pub(crate) fn set_given(&mut self, given: Map<String, Value>, visible: impl FnOnce(&Value) -> Cow<'_, Value>) {
        let shown = match visible(&Value::Object(given.clone())).into_owned() {
            Value::Object(part) => part,
            _ => Map::new(),
        };
        let hidden = without(given, &shown);
        self.withheld.normal = without(std::mem::take(&mut self.withheld.normal), &hidden);
        self.withheld.given = hidden;
        self.withheld.shown_given = shown;
    }

    /// Sets the two levels of layers, of which the policy sees a part, and records which layer wrote each visible value.
    pub(crate) fn set_layers(
        &mut self,
        layers: &LayerLevels,
        visible: impl Fn(&Value) -> Cow<'_, Value>,
    ) -> Result<(), (Level, AttributeError)> {
        for (level, given) in [(Level::EnvDefault, &layers.default), (Level::EnvOverride, &layers.r#override)] {
            let data = Value::Object(given.values.clone());
            let inspected = limits::inspect::<&str>(&data, &[]).map_err(|error| (level, error))?;
            if inspected.holds_guest_values {
                return Err((level, AttributeError::GuestValueNotAccepted { path: level.as_str().to_owned() }));
            }
            *self.trees.tree_mut::<&str>(level, &[]) = data;
            self.changed();
            let hidden = self.show(level, &visible);
            for write in given.writes.iter().filter(|write| below(&hidden, &write.path).is_none()) {
                let value = write.value.clone();
                let change = if write.joins { Change::Joined(value) } else { Change::Set(value) };
                self.history.add(level, &write.path, change, &write.origin, 1);
            }
            match level {
                Level::EnvDefault => self.withheld.default_layers = hidden,
                _ => self.withheld.override_layers = hidden,
            }
        }
        Ok(())
    }

    /// Returns the fact at `path`, or its hidden part. `None` if all of it is visible, or if the machine does not have a
    /// value or has null.
    pub fn withheld_fact<Step: AsRef<str>>(&self, path: &[Step]) -> Option<&Value> {
        below(&self.withheld.facts.hidden, path)
    }

    /// Returns the hidden value, or hidden part of a value, at `path` that earlier policies of this run left.
    pub fn withheld_inherited<Step: AsRef<str>>(&self, path: &[Step]) -> Option<&Value> {
        below(&self.withheld.inherited, path)
    }

    /// Returns the hidden value, or hidden part of a value, at `path` of the `env_default` level.
    pub fn withheld_default_layers<Step: AsRef<str>>(&self, path: &[Step]) -> Option<&Value> {
        below(&self.withheld.default_layers, path)
    }

    /// Returns the hidden value, or hidden part of a value, at `path` of the `env_override` level.
    pub fn withheld_override_layers<Step: AsRef<str>>(&self, path: &[Step]) -> Option<&Value> {
        below(&self.withheld.override_layers, path)
    }

    /// Returns the hidden value, or hidden part of a value, at `path` that the operator gave as a `normal` attribute.
    pub fn withheld_given<Step: AsRef<str>>(&self, path: &[Step]) -> Option<&Value> {
        below(&self.withheld.given, path)
    }

    /// Tells whether the policy sees a `normal` value at `path` that is the operator's alone.
    pub fn is_given<Step: AsRef<str>>(&self, path: &[Step]) -> bool {
        let given = below(&self.withheld.shown_given, path);
        given.is_some() && self.read_level(Level::Normal, path).as_deref() == given
    }

    /// Returns the hidden value, or hidden part of a value, at `path` that other policies wrote to `normal`.
    pub fn withheld_normal<Step: AsRef<str>>(&self, path: &[Step]) -> Option<&Value> {
        below(&self.withheld.normal, path)
    }

    /// Tells whether any fact is hidden from this policy.
    pub fn withholds_facts(&self) -> bool {
        !self.withheld.facts.hidden.is_empty()
    }

    /// Tells whether attributes of other policies are hidden from this one.
    pub fn withholds_attributes(&self) -> bool {
        let Withheld { inherited, normal, .. } = &self.withheld;
        [inherited, normal].iter().any(|hidden| !hidden.is_empty())
    }

    /// Tells whether the operator's values in a level are hidden from this policy: `normal`, or one of the two of layers.
    pub fn withholds_given(&self, level: Level) -> bool {
        let Withheld { given, default_layers, override_layers, .. } = &self.withheld;
        let hidden = match level {
            Level::Normal => given,
            Level::EnvDefault => default_layers,
            Level::EnvOverride => override_layers,
            _ => return false,
        };
        !hidden.is_empty()
    }

    /// Returns the names of the attributes of others that are hidden: those that earlier policies left, and `normal` ones.
    pub(crate) fn hidden_names(&self) -> [HiddenNames; 2] {
        let Withheld { inherited, normal, given, .. } = &self.withheld;
        let normal = hash_only_merge(normal.clone(), given.clone());
        [(Level::Inherited, inherited), (Level::Normal, &normal)].map(|(level, hidden)| {
            let shown = self.trees.tree::<&str>(level, &[]).as_object();
            shown.map_or_else(HiddenNames::default, |shown| HiddenNames::of(shown, hidden))
        })
    }

    /// Moves out the `normal` attributes as this policy leaves them, without the hidden ones.
    pub(crate) fn take_normal(&mut self) -> Map<String, Value> {
        self.changed();
        let mut normal = taken(self.trees.tree_mut::<&str>(Level::Normal, &[]));
        if self.trees.has_gaps() {
            gaps::close(&mut normal);
        }
        normal
    }

    /// Returns all facts, the hidden ones too, without what describes the node and the policy. They are copied only if the
    /// policy brought new ones, because there are thousands.
    pub(crate) fn all_facts(&self) -> Arc<Value> {
        let FactsPart { all, shown, hidden } = &self.withheld.facts;
        let now = self.trees.automatic().facts();
        match &**now {
            _ if Arc::ptr_eq(now, shown) => Arc::clone(all),
            Value::Object(now) if !hidden.is_empty() => {
                Arc::new(Value::Object(hash_only_merge((**hidden).clone(), now.clone())))
            }
            _ => Arc::clone(now),
        }
    }

    /// Returns the part of `automatic` that describes the node and the policy.
    pub(crate) fn own_automatic(&self) -> &Value {
        self.trees.automatic().own()
    }

    /// Replaces a level by its visible part and returns the rest.
    fn show(&mut self, level: Level, visible: impl FnOnce(&Value) -> Cow<'_, Value>) -> Map<String, Value> {
        let tree = self.trees.tree_mut::<&str>(level, &[]);
        let Cow::Owned(shown) = visible(tree) else { return Map::new() };
        let rest = match &shown {
            Value::Object(part) => without(taken(tree), part),
            _ => return Map::new(),
        };
        *tree = shown;
        self.changed();
        rest
    }
}

/// The value at the end of a path of at least one step, if it is not null.
fn below<'all, Step: AsRef<str>>(all: &'all Map<String, Value>, path: &[Step]) -> Option<&'all Value> {
    let (first, rest) = path.split_first()?;
    path::descend(all.get(first.as_ref())?, rest).filter(|value| !value.is_null())
}

/// Moves the object of a level out of its tree.
fn taken(tree: &mut Value) -> Map<String, Value> {
    match tree.take() {
        Value::Object(all) => all,
        _ => Map::new(),
    }
}

/// Returns the members of `all` that `shown` does not have.
pub(super) fn without(all: Map<String, Value>, shown: &Map<String, Value>) -> Map<String, Value> {
    let rest = all.into_iter().filter_map(|(key, value)| match (value, shown.get(&key)) {
        (value, None) => Some((key, value)),
        (Value::Object(value), Some(Value::Object(shown))) => {
            let rest = without(value, shown);
            (!rest.is_empty()).then_some((key, Value::Object(rest)))
        }
        (_, Some(_)) => None,
    });
    rest.collect()
}
