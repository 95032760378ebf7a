//! Validates JSON with a JSON schema. It supports the keywords that docs/run.schema.json uses. Any other keyword is an error,
//! so that no part of a schema is ignored silently.

use serde_json::{Map, Value};

/// The keywords that do not restrict values.
const NOTES: [&str; 4] = ["$schema", "$defs", "title", "description"];

/// Returns the problems of a value, each with its place. The list is empty if the value is valid.
#[must_use]
pub fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, value, "", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    let Some(words) = schema.as_object() else {
        if schema != &Value::Bool(true) {
            found.push(format!("{place}: nothing may be here"));
        }
        return;
    };
    for (word, wanted) in words.iter().filter(|(word, _)| !NOTES.contains(&word.as_str())) {
        match (word.as_str(), value) {
            ("$ref", _) => {
                let path = wanted.as_str().and_then(|path| path.strip_prefix('#')).unwrap_or_default();
                match root.pointer(path) {
                    Some(schema) => check(root, schema, value, place, found),
                    None => found.push(format!("{place}: the schema does not have {wanted}")),
                }
            }
            ("type", _) => {
                let is_one = |name: &Value| is_of(value, name.as_str().unwrap_or_default());
                let fits = wanted.as_array().map_or_else(|| is_one(wanted), |names| names.iter().any(is_one));
                if !fits {
                    found.push(format!("{place}: {value} is not of the type {wanted}"));
                }
            }
            ("enum", _) => {
                if !wanted.as_array().is_some_and(|all| all.contains(value)) {
                    found.push(format!("{place}: {value} is not one of {wanted}"));
                }
            }
            ("const", _) => {
                if value != wanted {
                    found.push(format!("{place}: {value} is not {wanted}"));
                }
            }
            ("anyOf", _) => {
                let tries = wanted.as_array().into_iter().flatten().map(|schema| {
                    let mut found = Vec::new();
                    check(root, schema, value, place, &mut found);
                    found
                });
                let tries: Vec<_> = tries.collect();
                if !tries.iter().any(Vec::is_empty) {
                    found.extend(tries.into_iter().min_by_key(Vec::len).unwrap_or_default());
                }
            }
            ("items", Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    check(root, wanted, item, &format!("{place}/{index}"), found);
                }
            }
            ("required", Value::Object(object)) => {
                let keys = wanted.as_array().into_iter().flatten().filter_map(Value::as_str);
                found.extend(
                    keys.filter(|key| !object.contains_key(*key)).map(|key| format!("{place}: {key} is missing")),
                );
            }
            ("properties", Value::Object(object)) => {
                for (key, value) in object {
                    if let Some(schema) = wanted.get(key) {
                        check(root, schema, value, &format!("{place}/{key}"), found);
                    }
                }
            }
            ("additionalProperties", Value::Object(object)) => {
                let known = words.get("properties").and_then(Value::as_object).cloned().unwrap_or_else(Map::new);
                for (key, value) in object.iter().filter(|(key, _)| !known.contains_key(*key)) {
                    check(root, wanted, value, &format!("{place}/{key}"), found);
                }
            }
            // These keywords do not restrict values of other types.
            ("items" | "required" | "properties" | "additionalProperties", _) => {}
            (other, _) => found.push(format!("{place}: this check does not know the word {other}")),
        }
    }
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_does_not_fit_is_found_with_its_place() {
        let schema = json!({
            "type": "object",
            "properties": { "a": { "type": ["integer", "null"] }, "b": { "$ref": "#/$defs/list" } },
            "required": ["a"],
            "additionalProperties": false,
            "$defs": { "list": { "type": "array", "items": { "enum": ["x", "y"] } } },
        });
        let check = |value: Value, expected: &[&str]| assert_eq!(problems(&schema, &value), expected, "{value}");
        check(json!({ "a": 1, "b": ["x"] }), &[]);
        check(json!({ "a": null }), &[]);
        check(json!({ "b": ["z"] }), &["/b/0: \"z\" is not one of [\"x\",\"y\"]", ": a is missing"]);
        check(
            json!({ "a": 1.5, "c": 1 }),
            &["/a: 1.5 is not of the type [\"integer\",\"null\"]", "/c: nothing may be here"],
        );
        assert_eq!(problems(&json!({ "pattern": "a" }), &json!("a")), [": this check does not know the word pattern"]);
        let either = json!({ "anyOf": [{ "const": 1 }, { "type": "string" }] });
        assert_eq!(problems(&either, &json!(1)), [""; 0]);
        assert_eq!(problems(&either, &json!(2)).len(), 1);
    }
}
