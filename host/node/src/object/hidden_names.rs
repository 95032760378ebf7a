//! The names of attributes that a policy could not read. They are kept, so that an explanation does not claim that the policy
//! saw their values.

use serde_json::{Map, Value};

/// The most bytes that the names may take in the saved node. Beyond that, all attributes count as hidden. The names are of
/// other policies, so a long one must not fill the part of this policy.
const MAX_BYTES: usize = 16 << 10;

/// Bytes that a name takes beside its text: quotes, a colon, a comma and `true`.
const BYTES_PER_NAME: usize = 8;

/// Attributes of others that a policy could not read, as a tree of names. `true` stands for the whole value at its place.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HiddenNames(Option<Value>);

impl HiddenNames {
    /// Returns the names of the `hidden` attributes. `shown` are those that the policy saw.
    pub(crate) fn of(shown: &Map<String, Value>, hidden: &Map<String, Value>) -> Self {
        if hidden.is_empty() {
            return Self(None);
        }
        let mut room = MAX_BYTES;
        Self(Some(names(shown, hidden, &mut room).unwrap_or(Value::Bool(true))))
    }

    /// Reads the names from the saved node. Anything else than such a tree hides nothing.
    pub(super) fn from_saved(saved: Option<&Value>) -> Self {
        Self(saved.filter(|tree| is_tree(tree)).cloned())
    }

    /// Returns the tree for the saved node, or `None` if nothing was hidden.
    pub(super) fn to_saved(&self) -> Option<&Value> {
        self.0.as_ref()
    }

    /// Tells whether the whole attribute at a path was hidden.
    pub(super) fn contains(&self, path: &[String]) -> bool {
        let mut here = self.0.as_ref();
        for step in path {
            match here {
                Some(Value::Object(names)) => here = names.get(step),
                _ => break,
            }
        }
        matches!(here, Some(Value::Bool(true)))
    }

    /// Returns the attributes without the hidden ones.
    pub(super) fn without(&self, all: Map<String, Value>) -> Map<String, Value> {
        match &self.0 {
            None => all,
            Some(tree) => visible(all, tree),
        }
    }
}

/// Returns the names of hidden attributes below one place, or `None` if there are too many.
fn names(shown: &Map<String, Value>, hidden: &Map<String, Value>, room: &mut usize) -> Option<Value> {
    if shown.is_empty() {
        return Some(Value::Bool(true));
    }
    let mut found = Map::new();
    for (name, value) in hidden {
        *room = room.checked_sub(name.len() + BYTES_PER_NAME)?;
        let below = match (value, shown.get(name)) {
            (Value::Object(value), Some(Value::Object(shown))) => names(shown, value, room)?,
            _ => Value::Bool(true),
        };
        found.insert(name.clone(), below);
    }
    Some(Value::Object(found))
}

fn visible(all: Map<String, Value>, tree: &Value) -> Map<String, Value> {
    let Value::Object(names) = tree else { return Map::new() };
    let members = all.into_iter().filter_map(|(name, value)| match (value, names.get(&name)) {
        (value, None) => Some((name, value)),
        (Value::Object(value), Some(below @ Value::Object(_))) => Some((name, Value::Object(visible(value, below)))),
        (_, Some(_)) => None,
    });
    members.collect()
}

fn is_tree(tree: &Value) -> bool {
    match tree {
        Value::Bool(is_whole) => *is_whole,
        Value::Object(names) => names.values().all(is_tree),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn names_of(shown: Value, hidden: Value) -> HiddenNames {
        let object = |value: Value| value.as_object().cloned().unwrap();
        HiddenNames::of(&object(shown), &object(hidden))
    }

    #[test]
    fn hidden_attributes_are_kept_by_name_only() {
        #[track_caller]
        fn check(shown: Value, hidden: Value, expect: Option<Value>) {
            assert_eq!(names_of(shown, hidden).to_saved(), expect.as_ref());
        }
        check(json!({"a": 1}), json!({}), None);
        check(json!({}), json!({"a": 1, "b": {"c": 2}}), Some(json!(true)));
        check(
            json!({"b": {"d": 1}}),
            json!({"a": 1, "b": {"c": {"e": 2}}}),
            Some(json!({"a": true, "b": {"c": true}})),
        );
        let many: Map<String, Value> = (0..MAX_BYTES / BYTES_PER_NAME).map(|at| (at.to_string(), json!(1))).collect();
        check(json!({"a": 1}), Value::Object(many), Some(json!(true)));
        check(json!({"a": 1}), json!({"n".repeat(MAX_BYTES): 1}), Some(json!(true)));
    }

    #[test]
    fn they_are_taken_out_of_an_explanation() {
        let names = names_of(json!({"b": {"d": 1}}), json!({"a": 1, "b": {"c": {"e": 2}}}));
        let all = json!({"a": {"x": 1}, "b": {"c": 1, "d": 2}, "f": 3});
        assert_eq!(Value::Object(names.without(all.as_object().cloned().unwrap())), json!({"b": {"d": 2}, "f": 3}));
        let path = |path: &[&str]| path.iter().map(|step| (*step).to_owned()).collect::<Vec<_>>();
        for (hidden, expect) in
            [(&["a"][..], true), (&["a", "x"], true), (&["b"], false), (&["b", "c", "e"], true), (&["f"], false)]
        {
            assert_eq!(names.contains(&path(hidden)), expect, "{hidden:?}");
        }
    }

    #[test]
    fn damaged_names_hide_nothing() {
        for saved in [json!(false), json!("a"), json!({"a": 1}), json!({"a": {"b": null}})] {
            assert_eq!(HiddenNames::from_saved(Some(&saved)), HiddenNames::default(), "{saved}");
        }
    }
}
