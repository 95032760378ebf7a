//! Markers for values that only the guest can compute.
//!
//! Ruby cookbooks put `lazy` blocks and Procs into attributes. In place of each the host stores a marker: the object
//! `{"\u0000guest": N}`, where `N` is the guest's own number for the value. A marker is a leaf: it is replaced and never
//! merged. It is valid only in the instance that made it, so the host accepts it only from a guest's own writes. Before the
//! next policy gets the attributes, the host asks the guest for each value and calls [`Attributes::freeze`].

use serde_json::{Map, Value};

use super::limits::{self, MadeOnTheWay};
use super::{AttributeError, Attributes, Level, path};

/// The only key of a marker. It begins with NUL so that no attribute of a real cookbook collides with it.
pub const GUEST_VALUE_KEY: &str = "\u{0}guest";

/// The place of a marker in the attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestValue {
    /// The level that holds it.
    pub level: Level,
    /// The path of the marker inside that level. Elements of arrays are named by their index.
    pub path: Vec<String>,
    /// The guest's number for it.
    pub number: u64,
}

/// Makes a marker for the guest's value `number`.
pub fn guest_value(number: u64) -> Value {
    Value::Object(Map::from_iter([(GUEST_VALUE_KEY.to_owned(), Value::from(number))]))
}

/// The guest's number, if `value` is a marker.
pub fn guest_number(value: &Value) -> Option<u64> {
    value.as_object().filter(|object| is_guest_value(object))?.get(GUEST_VALUE_KEY)?.as_u64()
}

/// Whether an object is a marker.
pub(crate) fn is_guest_value(object: &Map<String, Value>) -> bool {
    object.len() == 1 && object.get(GUEST_VALUE_KEY).is_some_and(Value::is_u64)
}

/// Tells whether any object in `value` has the marker's key. Only data from a running guest may have it.
pub fn mentions_guest_values(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.contains_key(GUEST_VALUE_KEY) || object.values().any(mentions_guest_values),
        Value::Array(array) => array.iter().any(mentions_guest_values),
        _ => false,
    }
}

/// Replaces every marker in `value` by null. Returns the path and the guest's number of each, in order.
pub fn take_guest_values(value: &mut Value) -> Vec<(Vec<String>, u64)> {
    let mut taken = Vec::new();
    take(value, &mut Vec::new(), &mut taken);
    taken
}

fn take(value: &mut Value, path: &mut Vec<String>, taken: &mut Vec<(Vec<String>, u64)>) {
    if let Some(number) = guest_number(value) {
        taken.push((path.clone(), number));
        *value = Value::Null;
        return;
    }
    match value {
        Value::Object(object) => {
            for (key, child) in object {
                if matches!(child, Value::Object(_) | Value::Array(_)) {
                    path.push(key.clone());
                    take(child, path, taken);
                    path.pop();
                }
            }
        }
        Value::Array(array) => {
            for (index, child) in array.iter_mut().enumerate() {
                if matches!(child, Value::Object(_) | Value::Array(_)) {
                    path.push(index.to_string());
                    take(child, path, taken);
                    path.pop();
                }
            }
        }
        _ => {}
    }
}

impl Attributes {
    /// Tells whether a marker was ever written, so that reads need not look for one.
    pub fn may_hold_guest_values(&self) -> bool {
        self.may_hold_guest_values
    }

    /// Returns all markers of all levels, lowest level first.
    pub fn guest_values(&self) -> Vec<GuestValue> {
        let mut found = Vec::new();
        if self.may_hold_guest_values {
            for (level, tree) in self.trees.each() {
                collect(level, tree, &mut Vec::new(), &mut found);
            }
        }
        found
    }

    /// Replaces the marker at `path` of `level` by the value that the guest computed for it.
    ///
    /// # Errors
    /// Where no marker stands there, where the value holds markers itself, and where it exceeds a limit.
    pub fn freeze<Step: AsRef<str>>(
        &mut self,
        level: Level,
        path: &[Step],
        value: Value,
    ) -> Result<(), AttributeError> {
        let marker = path::descend(self.trees.tree(level, path), path).filter(|found| guest_number(found).is_some());
        let Some(marker) = marker else {
            return Err(AttributeError::NoGuestValue { path: path::join(path) });
        };
        let inspection = limits::inspect(&value, path)?;
        if inspection.holds_guest_values {
            return Err(AttributeError::GuestValueNotAccepted { path: path::join(path) });
        }
        self.usage = self.usage.after_write(Some(marker), MadeOnTheWay::default(), inspection, path)?;
        self.replace_at(level, path, value);
        Ok(())
    }
}

fn collect(level: Level, value: &Value, path: &mut Vec<String>, found: &mut Vec<GuestValue>) {
    if let Some(number) = guest_number(value) {
        found.push(GuestValue { level, path: path.clone(), number });
        return;
    }
    match value {
        Value::Object(object) => {
            for (key, child) in object {
                path.push(key.clone());
                collect(level, child, path, found);
                path.pop();
            }
        }
        Value::Array(array) => {
            for (index, child) in array.iter().enumerate() {
                path.push(index.to_string());
                collect(level, child, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}
