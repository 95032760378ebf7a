//! The two ways in which trees are merged.
//!
//! Chef has one merge that unites arrays and one that replaces them. Attributes of one group (all defaults, all
//! overrides) are merged in the first way, groups with each other in the second. Both walk objects key by key and
//! let the second value win everywhere else; keys keep the order in which they first appeared.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::attributes::guest_values::is_guest_value;

/// Merges `second` over `first`: objects key by key, arrays as a union without duplicates, anything else replaced.
///
/// Follows `Chef::Mixin::DeepMerge.merge`.
pub fn merge(first: Map<String, Value>, second: Map<String, Value>) -> Map<String, Value> {
    merge_objects(first, second, &merge_values)
}

/// Merges `second` over `first`: objects key by key, anything else, arrays too, replaced.
///
/// Follows `Chef::Mixin::DeepMerge.hash_only_merge`.
pub fn hash_only_merge(first: Map<String, Value>, second: Map<String, Value>) -> Map<String, Value> {
    merge_objects(first, second, &hash_only_merge_values)
}

/// Unites arrays in order, keeping the first of equal elements, as Ruby's `Array#|` does: `1` and `1.0` differ,
/// objects with the same content in another order do not.
pub fn union<'a>(arrays: impl IntoIterator<Item = &'a Vec<Value>>) -> Vec<Value> {
    let mut seen = HashSet::new();
    arrays.into_iter().flatten().filter(|element| seen.insert(*element)).cloned().collect()
}

fn merge_objects(
    mut first: Map<String, Value>,
    second: Map<String, Value>,
    merge_child: &dyn Fn(Value, Value) -> Value,
) -> Map<String, Value> {
    for (key, value) in second {
        match first.get_mut(&key) {
            Some(slot) => *slot = merge_child(slot.take(), value),
            None => {
                first.insert(key, value);
            }
        }
    }
    first
}

fn merge_values(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(first), Value::Object(second)) if !either_is_guest_value(&first, &second) => {
            Value::Object(merge(first, second))
        }
        (Value::Array(first), Value::Array(second)) => Value::Array(union([&first, &second])),
        (_, second) => second,
    }
}

fn hash_only_merge_values(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(first), Value::Object(second)) if !either_is_guest_value(&first, &second) => {
            Value::Object(hash_only_merge(first, second))
        }
        (_, second) => second,
    }
}

fn either_is_guest_value(first: &Map<String, Value>, second: &Map<String, Value>) -> bool {
    is_guest_value(first) || is_guest_value(second)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(first: Value, second: Value, merged: Value, hash_only: Value) {
        let object = |value: &Value| value.as_object().unwrap().clone();
        assert_eq!(Value::Object(merge(object(&first), object(&second))).to_string(), merged.to_string());
        assert_eq!(Value::Object(hash_only_merge(object(&first), object(&second))).to_string(), hash_only.to_string());
    }

    #[test]
    fn arrays_are_the_only_difference() {
        check(
            json!({"a": [1, 1, 2], "b": {"c": 1}}),
            json!({"a": [2, 3], "b": {"d": [4]}}),
            json!({"a": [1, 2, 3], "b": {"c": 1, "d": [4]}}),
            json!({"a": [2, 3], "b": {"c": 1, "d": [4]}}),
        );
    }

    #[test]
    fn the_second_wins_where_kinds_differ_and_null_is_a_value() {
        check(
            json!({"a": {"b": 1}, "c": [1], "d": 1}),
            json!({"a": 1, "c": {"x": 1}, "d": null}),
            json!({"a": 1, "c": {"x": 1}, "d": null}),
            json!({"a": 1, "c": {"x": 1}, "d": null}),
        );
    }

    #[test]
    fn numbers_of_different_kinds_differ_and_key_order_does_not_matter() {
        let arrays = [json!([1, {"a": 1, "b": 2}]), json!([1.0, 1, {"b": 2, "a": 1}])];
        let united = union(arrays.iter().filter_map(Value::as_array));
        assert_eq!(Value::Array(united), json!([1, {"a": 1, "b": 2}, 1.0]));
    }
}
