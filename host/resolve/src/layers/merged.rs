//! Merges the attributes of all layers that a policy sees, in order.
//!
//! Objects are merged, and any other value of a later layer replaces the earlier one. If a layer names merge strategies, each
//! attribute is merged like a parameter of [`combine`](super::combine). Its kind follows from its value.

use std::collections::BTreeMap;
use std::sync::Arc;

use node::attributes::WrittenValue;
use node::layers::{Layer, LayerLevels, LayerTree, LayerWrite};
use node::origin::Origin;
use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::combine::merge_value;
use super::strategy::{FixedStrategies, Strategies, Strategy};
use super::{CombineError, Kind};

/// A constraint on a cookbook, with the layer that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerConstraint {
    /// The constraint, such as `~> 2.0`.
    pub constraint: String,
    /// The name of the layer with the constraint.
    pub layer: String,
    /// The file of the layer with the line.
    pub place: String,
}

/// Merges layers in order, the last one wins. Default and override attributes are merged separately; an attribute has one
/// strategy in both. `parameters` come after all layers, and their values replace those of layers.
///
/// # Errors
/// Two layers set an attribute with different strategies, or its values cannot be merged.
pub fn merge_layers(layers: &[&Layer], parameters: Option<&Layer>) -> Result<LayerLevels, CombineError> {
    merge(layers, parameters, true)
}

/// Merges layers like [`merge_layers`], but does not record which layer set each attribute, because that takes longer than
/// merging.
///
/// # Errors
/// Those of [`merge_layers`].
pub fn merge_layer_values(layers: &[&Layer]) -> Result<LayerLevels, CombineError> {
    merge(layers, None, false)
}

fn merge(layers: &[&Layer], parameters: Option<&Layer>, notes_writes: bool) -> Result<LayerLevels, CombineError> {
    let strategies: Vec<_> = layers.iter().map(|layer| strategies_of(&layer.merge_strategies)).collect();
    let has_strategies = strategies.iter().any(|strategies| !strategies.is_empty());
    let mut fixed = FixedStrategies::default();
    let mut levels = LayerLevels::default();
    for (number, layer) in layers.iter().copied().chain(parameters).enumerate() {
        let strategies = strategies.get(number).filter(|_| has_strategies);
        let sections =
            [(&layer.override_attributes, &mut levels.r#override), (&layer.default_attributes, &mut levels.default)];
        for (tree, level) in sections {
            let writes = notes_writes.then_some(&mut level.writes);
            Merging { layers, number, layer, strategies, fixed: &mut fixed, writes }.add(tree, &mut level.values)?;
        }
    }
    Ok(levels)
}

/// Returns the constraint on each cookbook; the last layer that names the cookbook has it.
pub fn cookbook_constraints(layers: &[&Layer]) -> BTreeMap<String, LayerConstraint> {
    let each = layers.iter().flat_map(|layer| layer.cookbook_versions.iter().map(move |version| (layer, version)));
    each.map(|(layer, version)| {
        let constraint = LayerConstraint {
            constraint: version.constraint.clone(),
            layer: layer.name.clone(),
            place: layer.place(version.line),
        };
        (version.cookbook.clone(), constraint)
    })
    .collect()
}

/// Returns the strategies of a layer. Their words were checked when the layer was read.
fn strategies_of(named: &Map<String, Value>) -> Strategies {
    let mut strategies = Strategies::default();
    for (path, word) in named {
        let strategy = Strategy::of_word(word.as_str().unwrap_or_default());
        match path.as_str() {
            super::DEFAULT_STRATEGY => strategies.default = Some(strategy),
            path => drop(strategies.named.insert(super::attribute_path(path), strategy)),
        }
    }
    strategies
}

/// The state while one layer is added.
struct Merging<'a> {
    layers: &'a [&'a Layer],
    number: usize,
    layer: &'a Layer,
    /// `None`: no layer names any strategy.
    strategies: Option<&'a Strategies>,
    fixed: &'a mut FixedStrategies,
    /// `None` if the writes are not recorded.
    writes: Option<&'a mut Vec<LayerWrite>>,
}

impl Merging<'_> {
    fn add(mut self, tree: &LayerTree, into: &mut Map<String, Value>) -> Result<(), CombineError> {
        let mut lines = tree.lines().iter().copied();
        self.add_members(tree.values(), into, &mut vec![], &mut lines)
    }

    fn add_members<'tree>(
        &mut self,
        members: &'tree Map<String, Value>,
        into: &mut Map<String, Value>,
        path: &mut Vec<&'tree str>,
        lines: &mut dyn Iterator<Item = u32>,
    ) -> Result<(), CombineError> {
        for (key, value) in members {
            let line = lines.next().filter(|line| *line > 0);
            path.push(key);
            self.add_value(key, value, into, path, line, lines)?;
            path.pop();
        }
        Ok(())
    }

    fn add_value<'tree>(
        &mut self,
        key: &str,
        value: &'tree Value,
        into: &mut Map<String, Value>,
        path: &mut Vec<&'tree str>,
        line: Option<u32>,
        lines: &mut dyn Iterator<Item = u32>,
    ) -> Result<(), CombineError> {
        let strategy = self.strategy(path, value)?;
        if let (None, Value::Object(members)) = (&strategy, value) {
            if !matches!(into.get(key), Some(Value::Object(_))) {
                into.insert(key.to_owned(), Value::Object(Map::new()));
            }
            if members.is_empty() {
                self.note(path, value, line, false);
            }
            return match into.get_mut(key) {
                Some(Value::Object(below)) => self.add_members(members, below, path, lines),
                _ => Ok(()),
            };
        }
        let Some(strategy) = strategy else {
            // Nearly all attributes take this branch.
            match into.entry(key) {
                Entry::Occupied(mut earlier) => drop(earlier.insert(value.clone())),
                Entry::Vacant(free) => drop(free.insert(value.clone())),
            }
            self.note(path, value, line, false);
            return Ok(());
        };
        if let Value::Object(below) = value {
            skip_lines(below, lines);
        }
        let joins = strategy.keeps_earlier() && into.get(key).is_some_and(|value| !value.is_null());
        let added = match (Kind::of(value), into.get_mut(key)) {
            (Some(kind), Some(earlier)) => {
                let merged = merge_value(Some(earlier.take()), value.clone(), kind, &strategy);
                merged.map_err(|reason| CombineError::NotMergeable {
                    path: owned(path),
                    file: format!("layer {} ({})", self.layer.name, self.layer.place(line)),
                    reason,
                })?
            }
            _ => value.clone(),
        };
        into.insert(key.to_owned(), added);
        self.note(path, value, line, joins);
        Ok(())
    }

    /// The strategy of an attribute. `None`: objects are merged, and any other value replaces the earlier one.
    fn strategy(&mut self, path: &[&str], value: &Value) -> Result<Option<Strategy>, CombineError> {
        let (Some(strategies), false) = (self.strategies, value.is_null()) else { return Ok(None) };
        // A default strategy applies only to texts and lists. Objects are always merged, and numbers cannot be merged.
        let is_text_or_list = matches!(value, Value::String(_) | Value::Array(_));
        let fallback = (!is_text_or_list).then_some(Strategy::Overwrite);
        let layers = self.layers;
        let names = |number: usize| layers.get(number).map(ToString::to_string).unwrap_or_default();
        let chosen = self.fixed.choose(&owned(path), self.number, strategies, fallback, &names)?;
        let is_usual = !chosen.is_named && chosen.strategy == Strategy::Overwrite;
        Ok((!is_usual).then_some(chosen.strategy))
    }

    /// Notes that the layer sets an attribute. `joins`: earlier values stay.
    fn note(&mut self, path: &[&str], value: &Value, line: Option<u32>, joins: bool) {
        let Some(writes) = &mut self.writes else { return };
        let origin = Origin { file: self.layer.file.clone(), line, ..Origin::policy(&self.layer.name) };
        writes.push(LayerWrite {
            path: owned(path),
            value: WrittenValue::summary(value),
            joins,
            origin: Arc::new(origin),
        });
    }
}

/// Keys as texts of their own.
fn owned(path: &[&str]) -> Vec<String> {
    path.iter().map(|key| (*key).to_owned()).collect()
}

/// Skips the lines of an object's members, which are not visited.
fn skip_lines(members: &Map<String, Value>, lines: &mut dyn Iterator<Item = u32>) {
    for value in members.values() {
        lines.next();
        if let Value::Object(below) = value {
            skip_lines(below, lines);
        }
    }
}
