//! Limits the size of one policy's part of a run's JSON.
//!
//! Names, sentences, differences and attributes come from guests, and a control character takes six bytes in JSON. Each part
//! of the JSON has a limit in bytes. Items beyond it are left out and counted, so that a policy cannot make a record that
//! fills the disk or cannot be read again.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};
use std::io;

/// Bytes of the actions of one policy.
pub(super) const RESOURCES: u64 = 24 << 20;

/// Bytes of the node as one policy left it.
pub(super) const NODE: u64 = 8 << 20;

/// Bytes of each list of what a policy read and wrote, of what it was denied, of conflicts.
pub(super) const LIST: u64 = 2 << 20;

/// Bytes of what the policies of a run asked of their grants.
pub(super) const ASKED: u64 = 8 << 20;

/// Bytes of one error.
const ERROR: u64 = 2 << 20;

/// Characters of the message of an error that is shortened.
const MESSAGE: usize = 16 << 10;

/// Counts bytes up to a limit.
struct Counter {
    left: u64,
}

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left = left.ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the remaining bytes after a value is written, or `None` if it does not fit.
pub(super) fn left_after(value: &impl Serialize, left: u64) -> Option<u64> {
    let mut counter = Counter { left };
    serde_json::to_writer_pretty(&mut counter, value).ok()?;
    Some(counter.left)
}

/// The first items of a list, as many as fit.
pub(super) struct Fitting<T> {
    items: Vec<T>,
    left_out: usize,
}

impl<T: Serialize> Fitting<T> {
    /// Takes items until one does not fit.
    pub(super) fn of(items: impl IntoIterator<Item = T>, limit: u64) -> Self {
        let mut left = limit;
        let mut items = items.into_iter();
        let mut fitting = Vec::new();
        for item in items.by_ref() {
            match left_after(&item, left) {
                Some(rest) => left = rest,
                None => return Self { items: fitting, left_out: items.count() + 1 },
            }
            fitting.push(item);
        }
        Self { items: fitting, left_out: 0 }
    }

    /// Adds to the count items that were left out before for another limit.
    pub(super) fn without(mut self, more: usize) -> Self {
        self.left_out += more;
        self
    }

    /// Takes items until one does not fit, like [`of`](Self::of), but measures only some of them. `at_most` returns an upper
    /// limit of an item's bytes, or `None` if the item has to be measured.
    pub(super) fn of_known(
        items: impl ExactSizeIterator<Item = T> + Clone,
        limit: u64,
        at_most: impl Fn(&T) -> Option<u64>,
    ) -> Self {
        let mut left = limit;
        let mut fitting = Vec::with_capacity(items.len());
        for item in items.clone() {
            let rest = match at_most(&item) {
                Some(bytes) => left.checked_sub(bytes),
                None => left_after(&item, left),
            };
            match rest {
                Some(rest) => left = rest,
                // The upper limits are too large in sum, so all items are measured.
                None => return Self::of(items, limit),
            }
            fitting.push(item);
        }
        Self { items: fitting, left_out: 0 }
    }

    /// Writes the list, and the number of omitted items under another key.
    pub(super) fn serialize_entry<M: SerializeMap>(&self, key: &str, shown: &mut M) -> Result<(), M::Error> {
        shown.serialize_entry(key, &self.items)?;
        if self.left_out > 0 { shown.serialize_entry(&format!("{key}_left_out"), &self.left_out) } else { Ok(()) }
    }
}

/// Writes a value, or leaves all of it out if it does not fit.
pub(super) fn serialize_whole<M: SerializeMap>(
    key: &str,
    value: &Value,
    limit: u64,
    shown: &mut M,
) -> Result<(), M::Error> {
    // Most values are so small that they need not be measured.
    if most_bytes(value) <= limit || left_after(value, limit).is_some() {
        return shown.serialize_entry(key, value);
    }
    shown.serialize_entry(key, &Empty)?;
    shown.serialize_entry(&format!("{key}_left_out"), &true)
}

/// The bytes that a character takes at most as JSON, for each byte that it has: `\u0001`.
pub(super) const ESCAPED: u64 = 6;

/// The most bytes of a scalar that is not text, and of what stands around and between two values.
const AROUND: u64 = 32;

/// Returns a number of bytes that a value does not exceed as JSON.
fn most_bytes(value: &Value) -> u64 {
    let text = |text: &str| ESCAPED.saturating_mul(text.len() as u64);
    AROUND
        + match value {
            Value::String(string) => text(string),
            Value::Array(items) => items.iter().map(most_bytes).sum(),
            Value::Object(members) => members.iter().map(|(key, value)| text(key) + most_bytes(value)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}

/// An object without keys, written in place of a value that does not fit.
struct Empty;

impl Serialize for Empty {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_map(Some(0))?.end()
    }
}

/// An error, shortened where it is too long.
pub(crate) fn bounded_error(error: Value) -> Value {
    if left_after(&error, ERROR).is_some() {
        return error;
    }
    let text = |key: &str| -> String {
        error.get(key).and_then(Value::as_str).unwrap_or_default().chars().take(MESSAGE).collect()
    };
    let part = |key: &str| error.get(key).filter(|part| left_after(*part, ERROR / 4).is_some());
    json!({
        "version": error.get("version"),
        "policy": error.get("policy"),
        "class": text("class"),
        "message": text("message"),
        "backtrace": [],
        "origin": part("origin"),
        "resource": part("resource"),
        "excerpt": null,
        "hint": part("hint"),
        "causes": [],
        "left_out": true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_fit_as_they_are_written() {
        let shown = |items: &[&str], limit: u64| {
            let fitting = Fitting::of(items, limit);
            (fitting.items.len(), fitting.left_out)
        };
        assert_eq!(shown(&["abc", "def"], 10), (2, 0));
        assert_eq!(shown(&["abc", "def"], 9), (1, 1));
        // A control character takes six bytes.
        assert_eq!(shown(&["\u{1}", "\u{1}", "a"], 15), (1, 2));
        assert_eq!(shown(&[], 0), (0, 0));
    }

    #[test]
    fn bounds_never_leave_out_what_fits() {
        let shown = |items: &[&str], limit: u64, at_most: fn(&&str) -> Option<u64>| {
            let fitting = Fitting::of_known(items.iter().copied(), limit, at_most);
            (fitting.items.len(), fitting.left_out)
        };
        assert_eq!(shown(&["abc", "def"], 10, |_| Some(5)), (2, 0));
        // If an upper limit is too large, the item is measured.
        assert_eq!(shown(&["abc", "def"], 10, |_| Some(9)), (2, 0));
        assert_eq!(shown(&["abc", "def"], 9, |_| Some(5)), (1, 1));
        assert_eq!(shown(&["abc", "\u{1}"], 12, |item| (*item == "abc").then_some(5)), (1, 1));
    }

    #[test]
    fn no_value_is_longer_than_its_bound() {
        let deep = (0..60).fold(json!([1e-300]), |inner, _| json!({ "a": [inner] }));
        for value in [json!(null), json!(u64::MAX), json!("\u{1}\u{7f}ä\""), json!([[], {}, "", -1.5]), deep] {
            let mut counter = Counter { left: u64::MAX };
            serde_json::to_writer(&mut counter, &value).unwrap();
            assert!(u64::MAX - counter.left <= most_bytes(&value), "{value}");
        }
    }

    #[test]
    fn long_errors_keep_what_they_are_about() {
        let error = |message: &str| json!({"class": "RuntimeError", "message": message, "policy": "p", "version": 1});
        assert_eq!(bounded_error(error("short")), error("short"));
        let long = bounded_error(error(&"\u{1}".repeat(1 << 20)));
        assert_eq!((long["class"].as_str(), long["left_out"].as_bool()), (Some("RuntimeError"), Some(true)));
        assert_eq!(long["message"].as_str().map(str::len), Some(MESSAGE));
    }
}
