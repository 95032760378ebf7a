//! Converts attribute values between the contract and Ruby. For Ruby, a part that only Ruby can compute is the object
//! `{"\u0000guest": N}`. The contract lists such parts beside the JSON.

use crate::bindings::wrun::node::attributes::{self, LazyPart, LazyValue, Value};
use crate::reply::Reply;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use std::cell::Cell;

/// The only key of an object that represents a value in Ruby's memory.
const MARK: &str = "\u{0}guest";

/// The key as escaped JSON text.
const MARK_TEXT: &str = "\\u0000guest";

thread_local! {
    /// The present version of the attributes, or `None` after a write by Ruby.
    static VERSION: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Stores the version that the host sent with the turn.
pub(crate) fn begin_turn(version: u64) {
    VERSION.set(Some(version));
}

/// Forgets the version before a write by Ruby.
pub(crate) fn write() {
    VERSION.set(None);
}

/// Returns the present version of the attributes, from the host if necessary.
pub(crate) fn version() -> u64 {
    VERSION.get().unwrap_or_else(|| {
        let version = attributes::version();
        VERSION.set(Some(version));
        version
    })
}

/// Converts a value from Ruby for the host.
pub(crate) fn for_host(value: &RawValue) -> Result<Value, Reply> {
    let json = value.get();
    if !json.contains(MARK_TEXT) {
        return Ok(Value::Plain(json.to_owned()));
    }
    let invalid = |error: serde_json::Error| Reply::argument_error(&format!("an attribute's value: {error}"));
    let mut value: Json = serde_json::from_str(json).map_err(invalid)?;
    let mut parts = Vec::new();
    take(&mut value, &mut Vec::new(), &mut parts);
    Ok(Value::Lazy(LazyValue { json: value.to_string(), parts }))
}

fn take(value: &mut Json, path: &mut Vec<String>, parts: &mut Vec<LazyPart>) {
    if let Some(callback) = marked(value) {
        parts.push(LazyPart { path: path.clone(), callback });
        *value = Json::Null;
        return;
    }
    let below: &mut dyn Iterator<Item = (String, &mut Json)> = match value {
        Json::Object(object) => &mut object.iter_mut().map(|(key, value)| (key.clone(), value)),
        Json::Array(array) => &mut array.iter_mut().enumerate().map(|(at, value)| (at.to_string(), value)),
        _ => return,
    };
    for (step, value) in below {
        path.push(step);
        take(value, path, parts);
        path.pop();
    }
}

/// Returns the number in an object that represents a value in Ruby's memory.
fn marked(value: &Json) -> Option<u32> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    u32::try_from(object.get(MARK)?.as_u64()?).ok()
}

/// Converts a value from the host to JSON for Ruby.
pub(crate) fn for_ruby(value: Value) -> String {
    let LazyValue { json, parts } = match value {
        Value::Plain(json) => return json,
        Value::Lazy(lazy) => lazy,
    };
    // Parsing cannot fail, because the host sends valid JSON.
    let Ok(mut value) = serde_json::from_str::<Json>(&json) else { return json };
    for part in parts {
        let place = part.path.iter().try_fold(&mut value, |value, step| match value {
            Json::Array(array) => array.get_mut(step.parse::<usize>().ok()?),
            other => other.get_mut(step),
        });
        if let Some(place) = place {
            *place = serde_json::json!({ MARK: part.callback });
        }
    }
    value.to_string()
}

/// Returns a reply with a value, or with `null`.
pub(crate) fn or_null(value: Option<Value>) -> Reply {
    Reply::json(value.map(for_ruby))
}
