//! Reads some keys of a run's record, and keeps nothing of the others.
//!
//! A record may have millions of values, and a JSON value needs many times the bytes of its text. Somebody else may have written
//! the file, so the size of the kept values is limited too.

use serde::de::{DeserializeSeed, Deserializer as _, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Deserializer, Map, Number, Value};
use std::cell::Cell;
use std::fmt;
use std::io::Read;

/// Bytes that a value takes in memory besides its text.
const VALUE: usize = 32;

/// Bytes that a key of an object takes in memory besides its text and its value.
const KEY: usize = 80;

/// Between the key of a list and a key of the objects in it: `policies[].name`.
const IN_LIST: &str = "[].";

/// Reads some keys of a run's JSON. `policies[].name` means only this key of each object of the list. Fails if the kept values
/// need more than `most` bytes of memory.
///
/// # Errors
/// The text is not a JSON object, cannot be read, or has too much in the keys.
pub fn part_of_reader(json: impl Read, keys: &[&str], most: usize) -> serde_json::Result<Value> {
    read(Deserializer::from_reader(json), keys, most)
}

/// Does the same with a text in memory and without a limit.
pub(crate) fn part_of(json: &[u8], keys: &[&str]) -> serde_json::Result<Value> {
    read(Deserializer::from_slice(json), keys, usize::MAX)
}

fn read<'de, R: serde_json::de::Read<'de>>(
    mut reader: Deserializer<R>,
    keys: &[&str],
    most: usize,
) -> serde_json::Result<Value> {
    let room = Cell::new(most);
    let part = reader.deserialize_map(Part { keys: Keys::Of(keys), room: &room, most })?;
    reader.end()?;
    Ok(part)
}

/// Which keys of an object are kept.
#[derive(Clone, Copy)]
enum Keys<'k> {
    All,
    /// These, as the caller wrote them.
    Of(&'k [&'k str]),
    /// Those after this key of a list.
    InList(&'k [&'k str], &'k str),
}

impl<'k> Keys<'k> {
    /// Returns which keys of a key's value are kept, or `None` if the key is skipped.
    fn below(self, key: &str) -> Option<Self> {
        match self {
            Self::All => Some(Self::All),
            Self::Of(keys) => {
                let of_list = keys.iter().find_map(|one| Some(one.split_once(IN_LIST)?.0).filter(|list| *list == key));
                match of_list {
                    Some(list) => Some(Self::InList(keys, list)),
                    None => keys.contains(&key).then_some(Self::All),
                }
            }
            Self::InList(keys, list) => {
                let is_this = |one: &&str| one.split_once(IN_LIST) == Some((list, key));
                keys.iter().any(is_this).then_some(Self::All)
            }
        }
    }
}

/// Builds the kept values.
#[derive(Clone, Copy)]
struct Part<'p> {
    keys: Keys<'p>,
    /// The bytes of memory that are left.
    room: &'p Cell<usize>,
    most: usize,
}

impl Part<'_> {
    fn take<E: Error>(self, bytes: usize) -> Result<(), E> {
        let left = self.room.get().checked_sub(bytes);
        let left =
            left.ok_or_else(|| E::custom(format!("what is read of it needs more than {} MiB", self.most >> 20)))?;
        self.room.set(left);
        Ok(())
    }

    fn value<E: Error>(self, value: impl Into<Value>) -> Result<Value, E> {
        self.take(VALUE)?;
        Ok(value.into())
    }
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.value(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.value(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.value(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.value(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.value(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.take(text.len())?;
        self.value(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Value, A::Error> {
        self.take(VALUE)?;
        let mut items = Vec::new();
        while let Some(item) = all.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Value, A::Error> {
        self.take(VALUE)?;
        let mut part = Map::new();
        while let Some(key) = all.next_key::<String>()? {
            match self.keys.below(&key) {
                Some(keys) => {
                    self.take(KEY + key.len())?;
                    let value = all.next_value_seed(Self { keys, ..self })?;
                    part.insert(key, value);
                }
                None => drop(all.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Value::Object(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const RECORD: &str = r#"{"a": [1, -2, 0.5, "x", null, {"b": true}], "c": {"d": 1}, "policies": [
        {"name": "web", "resources": [{}, {}], "outcome": "failure"}, {"name": "db"}, 3]}"#;

    #[test]
    fn the_keys_are_kept_as_they_are() {
        let check = |keys: &[&str], expect: Value| {
            assert_eq!(part_of(RECORD.as_bytes(), keys).unwrap(), expect, "{keys:?}");
            assert_eq!(part_of_reader(RECORD.as_bytes(), keys, 10_000).unwrap(), expect, "{keys:?}");
        };
        check(&[], json!({}));
        check(&["a", "none"], json!({ "a": [1, -2, 0.5, "x", null, { "b": true }] }));
        check(
            &["policies[].name", "c"],
            json!({ "c": { "d": 1 }, "policies": [{ "name": "web" }, { "name": "db" }, 3] }),
        );
        check(
            &["policies[].name", "policies[].outcome"],
            json!({ "policies": [{ "name": "web", "outcome": "failure" }, { "name": "db" }, 3] }),
        );
    }

    #[test]
    fn attack_values_without_text_need_room_too() {
        let many = format!("{{\"a\": [{}0], \"b\": 1}}", "[],".repeat(40_000));
        assert_eq!(part_of_reader(many.as_bytes(), &["b"], 1 << 20).unwrap(), json!({ "b": 1 }));
        let error = part_of_reader(many.as_bytes(), &["a"], 1 << 20).unwrap_err().to_string();
        assert!(error.contains("what is read of it needs more than 1 MiB"), "{error}");
        let keys =
            format!("{{\"a\": {{{}\"x\": 0}}}}", (0..20_000).map(|at| format!("\"{at}\": 0,")).collect::<String>());
        assert!(part_of_reader(keys.as_bytes(), &["a"], 1 << 20).is_err());
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        for damaged in ["{\"node\": {", "{} {}", "[]", "", "3"] {
            assert!(part_of_reader(damaged.as_bytes(), &["a"], 1 << 20).is_err(), "{damaged}");
        }
    }
}
