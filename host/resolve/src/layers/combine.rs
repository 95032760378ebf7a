//! Combines the values of several files, as OpenStack Heat does with environment files.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use thiserror::Error;

use super::strategy::{FixedStrategies, Strategies, Strategy};

/// The kind of a parameter, which decides how values of it are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text: merged texts are joined.
    Text,
    /// A list, or a text with commas: merged lists are appended.
    List,
    /// An object, or its JSON text.
    Object,
    /// A number, which cannot be merged.
    Number,
    /// A boolean, which cannot be merged.
    Boolean,
}

impl Kind {
    /// Returns the kind of a value, or `None` for null.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Null => None,
            Value::Bool(_) => Some(Self::Boolean),
            Value::Number(_) => Some(Self::Number),
            Value::String(_) => Some(Self::Text),
            Value::Array(_) => Some(Self::List),
            Value::Object(_) => Some(Self::Object),
        }
    }

    /// Returns the kind in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::List => "a list",
            Self::Object => "an object",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
        }
    }
}

/// One file of values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParameterFile {
    /// The file's name, for messages about its values.
    pub name: String,
    /// Values that override others: Heat's `parameters`.
    pub overrides: Map<String, Value>,
    /// Default values of parameters: Heat's `parameter_defaults`.
    pub defaults: Map<String, Value>,
    /// Values that later files replace one by one: Heat's `resource_registry`.
    pub registry: Map<String, Value>,
    /// The strategies of this file's overrides and defaults.
    pub strategies: Strategies,
}

/// The values of all files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Combined {
    /// The overriding values of all files, merged.
    pub overrides: Map<String, Value>,
    /// The default values of all files, merged.
    pub defaults: Map<String, Value>,
    /// The registry's values; of each, the last file's.
    pub registry: Map<String, Value>,
}

/// The reasons why files cannot be combined.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CombineError {
    /// Two files set the same value with different strategies.
    #[error(
        "{file} sets {} with the merge strategy {strategy}, but {earlier_file} sets it with {earlier}; all files must use the \
         same strategy",
        path.join(".")
    )]
    ConflictingStrategies {
        /// The keys that lead to the value.
        path: Vec<String>,
        /// The strategy of the later file.
        strategy: Strategy,
        /// The later file, which has the other strategy.
        file: String,
        /// The strategy with which the value was set first.
        earlier: Strategy,
        /// The file that set the value first.
        earlier_file: String,
    },
    /// Values cannot be merged.
    #[error("{file}: {} cannot be merged: {reason}", path.join("."))]
    NotMergeable {
        /// The keys that lead to the value.
        path: Vec<String>,
        /// The file whose value does not fit.
        file: String,
        /// The reason, such as values of different kinds.
        reason: NotMergeable,
    },
}

impl CombineError {
    /// Returns the class of the error that Heat raises in this case. Only tests call it: the vectors, which are Heat's own results,
    /// name it, and some of its cases can be told apart only where the error is made.
    pub fn heat_class(&self) -> &'static str {
        match self {
            Self::ConflictingStrategies { .. } => "ConflictingMergeStrategyForParam",
            Self::NotMergeable { reason, .. } => reason.heat_class(),
        }
    }
}

/// The reasons why a value cannot be merged with an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NotMergeable {
    /// The value is neither text nor a list, where only those are merged.
    #[error("only texts, lists and objects can be merged")]
    PlainValue,
    /// The text is not JSON.
    #[error("its text is not JSON")]
    NotJson,
    /// Values of this kind are never merged.
    #[error("a boolean cannot be merged")]
    Boolean,
    /// The earlier value is of another kind.
    #[error("it is {new}, and the earlier value is {old}")]
    OtherKind {
        /// The kind of the value.
        new: &'static str,
        /// The kind of the earlier value.
        old: &'static str,
        /// Whether Heat fails because the earlier value does not have a method.
        lacks_method: bool,
    },
}

impl NotMergeable {
    fn heat_class(self) -> &'static str {
        match self {
            Self::PlainValue | Self::NotJson => "ValueError",
            Self::Boolean => "InvalidMergeStrategyForParam",
            Self::OtherKind { lacks_method: true, .. } => "AttributeError",
            Self::OtherKind { lacks_method: false, .. } => "TypeError",
        }
    }

    fn other_kind(old: &Value, new: &Value, lacks_method: bool) -> Self {
        let word = |value: &Value| Kind::of(value).map_or("null", Kind::as_str);
        Self::OtherKind { new: word(new), old: word(old), lacks_method }
    }
}

/// Combines files in order, by the declared kinds of their parameters. A parameter keeps the strategy of the first file that
/// sets it. Parameters that are not declared are kept only from the first file with values, as in Heat.
///
/// # Errors
/// Two files set a parameter with different strategies, or its values cannot be merged.
pub fn combine(files: &[ParameterFile], kinds: &BTreeMap<String, Kind>) -> Result<Combined, CombineError> {
    let mut combined = Combined::default();
    let mut fixed = FixedStrategies::default();
    let names = |number: usize| files.get(number).map(|file| file.name.clone()).unwrap_or_default();
    for (number, file) in files.iter().enumerate() {
        for (section, old) in [(&file.overrides, &mut combined.overrides), (&file.defaults, &mut combined.defaults)] {
            let declared = section.iter().filter(|(_, value)| !value.is_null());
            let declared = declared.filter_map(|(name, value)| Some((name, value, *kinds.get(name)?)));
            let mut chosen = Vec::new();
            for (name, value, kind) in declared {
                let path = [name.clone()];
                let strategy = fixed.choose(&path, number, &file.strategies, None, &names)?.strategy;
                chosen.push((name, value, kind, strategy));
            }
            if old.is_empty() {
                old.clone_from(section);
                continue;
            }
            for (name, value, kind, strategy) in chosen {
                let earlier = old.get_mut(name).map(Value::take);
                let merged = merge_value(earlier, value.clone(), kind, &strategy).map_err(|reason| {
                    CombineError::NotMergeable { path: vec![name.clone()], file: file.name.clone(), reason }
                })?;
                old.insert(name.clone(), merged);
            }
        }
        let registry = merge_objects(std::mem::take(&mut combined.registry), file.registry.clone(), false);
        combined.registry =
            registry.map_err(|reason| CombineError::NotMergeable { path: vec![], file: file.name.clone(), reason })?;
    }
    Ok(combined)
}

/// Merges a value with the one of earlier files by a strategy. The earlier value is moved and not copied, because many files
/// may add to one list.
pub(super) fn merge_value(
    old: Option<Value>,
    new: Value,
    kind: Kind,
    strategy: &Strategy,
) -> Result<Value, NotMergeable> {
    if !strategy.keeps_earlier() {
        return Ok(new);
    }
    if kind == Kind::Object {
        let new = match new {
            // Heat also accepts the JSON text of an object.
            Value::String(text) if text.is_empty() => Value::String(text),
            Value::String(text) => serde_json::from_str(&text).map_err(|_| NotMergeable::NotJson)?,
            other => other,
        };
        return merge_maps(old, new, *strategy == Strategy::DeepMerge);
    }
    match (&new, kind) {
        (Value::String(_) | Value::Array(_), Kind::Boolean) => Err(NotMergeable::Boolean),
        (Value::String(_) | Value::Array(_), Kind::List) => merge_lists(old, new),
        (Value::String(_) | Value::Array(_), Kind::Text) => join(old, new),
        (Value::String(_) | Value::Array(_), _) => add(old, new),
        // Heat merges an object only if it is declared as one.
        _ => Err(NotMergeable::PlainValue),
    }
}

/// Whether a value counts as nothing: null, false, zero, and everything empty.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

fn merge_lists(old: Option<Value>, new: Value) -> Result<Value, NotMergeable> {
    let Some(old) = old.filter(|old| !is_nothing(old)) else { return Ok(new) };
    match (old, new) {
        (Value::Array(old), Value::Array(new)) => Ok(Value::Array(appended(old, new))),
        (Value::String(old), Value::String(new)) => Ok(Value::String(old + "," + &new)),
        (old, new @ Value::Array(_)) => Err(NotMergeable::other_kind(&old, &new, true)),
        (old, new) => Err(NotMergeable::other_kind(&old, &new, false)),
    }
}

fn appended(mut old: Vec<Value>, new: Vec<Value>) -> Vec<Value> {
    old.extend(new);
    old
}

fn join(old: Option<Value>, new: Value) -> Result<Value, NotMergeable> {
    match (old, new) {
        (None, new @ Value::String(_)) => Ok(new),
        (Some(Value::String(old)), Value::String(new)) => Ok(Value::String(old + &new)),
        (old, new) => Err(NotMergeable::other_kind(&old.unwrap_or_default(), &new, false)),
    }
}

/// Merges values like Heat's addition, for parameters that are declared as numbers but have other values.
fn add(old: Option<Value>, new: Value) -> Result<Value, NotMergeable> {
    match (old, new) {
        (Some(Value::String(old)), Value::String(new)) => Ok(Value::String(old + &new)),
        (Some(Value::Array(old)), Value::Array(new)) => Ok(Value::Array(appended(old, new))),
        (old, new) => Err(NotMergeable::other_kind(&old.unwrap_or_default(), &new, false)),
    }
}

fn merge_maps(old: Option<Value>, new: Value, is_deep: bool) -> Result<Value, NotMergeable> {
    let Some(old) = old.filter(|old| !is_nothing(old)) else { return Ok(new) };
    match (old, new) {
        (Value::Object(old), Value::Object(members)) => merge_objects(old, members, is_deep).map(Value::Object),
        (old, Value::Object(members)) if members.values().all(Value::is_null) => Ok(old),
        (old, new @ Value::Object(_)) => Err(NotMergeable::other_kind(&old, &new, is_deep)),
        (old, new) => Err(NotMergeable::other_kind(&old, &new, true)),
    }
}

/// Merges two objects. A member that is null does not change the earlier one.
fn merge_objects(
    mut merged: Map<String, Value>,
    new: Map<String, Value>,
    is_deep: bool,
) -> Result<Map<String, Value>, NotMergeable> {
    if merged.is_empty() {
        return Ok(new);
    }
    for (key, value) in new.into_iter().filter(|(_, value)| !value.is_null()) {
        let earlier = merged.get_mut(&key).map(Value::take);
        let value = match value {
            Value::Object(_) if is_deep => merge_maps(earlier, value, true)?,
            Value::Array(_) if is_deep => merge_lists(earlier, value)?,
            Value::String(_) if is_deep => join(earlier, value)?,
            value => value,
        };
        merged.insert(key, value);
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(old: Value, new: Value, kind: Kind, strategy: Strategy, expect: Result<Value, &str>) {
        let merged = merge_value(Some(old), new, kind, &strategy);
        assert_eq!(merged.map_err(NotMergeable::heat_class), expect);
    }

    #[test]
    fn values_are_merged_by_their_kind() {
        use Strategy::{DeepMerge, Merge, Overwrite};
        check(json!("a"), json!("b"), Kind::Text, Merge, Ok(json!("ab")));
        check(json!("1,2"), json!("3"), Kind::List, Merge, Ok(json!("1,2,3")));
        check(json!([1]), json!([1, 2]), Kind::List, DeepMerge, Ok(json!([1, 1, 2])));
        check(json!([]), json!("x"), Kind::List, Merge, Ok(json!("x")));
        check(json!({"a": {"b": 1}}), json!({"a": {"c": 2}}), Kind::Object, Merge, Ok(json!({"a": {"c": 2}})));
        let deep = json!({"a": {"b": 1, "c": 2}, "l": [1, 2], "s": "xy", "n": 2});
        let (old, new) =
            (json!({"a": {"b": 1}, "l": [1], "s": "x", "n": 1}), json!({"a": {"c": 2}, "l": [2], "s": "y", "n": 2}));
        check(old, new, Kind::Object, DeepMerge, Ok(deep));
        check(json!({"a": 1}), json!(r#"{"b": 2}"#), Kind::Object, Merge, Ok(json!({"a": 1, "b": 2})));
        check(json!({"a": 1}), json!({"a": null}), Kind::Object, DeepMerge, Ok(json!({"a": 1})));
        check(json!(1), json!(2), Kind::Number, Overwrite, Ok(json!(2)));
    }

    #[test]
    fn values_of_other_kinds_are_refused_as_in_heat() {
        use Strategy::{DeepMerge, Merge};
        check(json!(1), json!(2), Kind::Number, Merge, Err("ValueError"));
        check(json!(true), json!(false), Kind::Boolean, Merge, Err("ValueError"));
        check(json!(true), json!("yes"), Kind::Boolean, Merge, Err("InvalidMergeStrategyForParam"));
        check(json!(1), json!("2"), Kind::Number, Merge, Err("TypeError"));
        check(json!("a"), json!([1]), Kind::List, Merge, Err("AttributeError"));
        check(json!([1]), json!("a"), Kind::List, Merge, Err("TypeError"));
        check(json!([1]), json!("a"), Kind::Text, Merge, Err("TypeError"));
        check(json!({"a": 1}), json!("{"), Kind::Object, Merge, Err("ValueError"));
        check(json!({"a": 1}), json!([1]), Kind::Object, Merge, Err("AttributeError"));
        check(json!({"a": [1]}), json!({"a": "b"}), Kind::Object, DeepMerge, Err("TypeError"));
    }
}
