//! Converts JSON values to Rust types, with an error message for a wrong type.

use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// A type to which attributes and properties can be converted, for example by [`node::get`](crate::node::get).
///
/// | type | accepts |
/// |---|---|
/// | [`String`] | a string |
/// | `bool` | true or false |
/// | `u8` to `u64`, `i8` to `i64`, `usize`, `isize` | a whole number that fits |
/// | `f32`, `f64` | any number |
/// | [`Vec<T>`] | a list of `T` |
/// | [`BTreeMap<String, T>`], [`HashMap<String, T>`] | an object whose values are `T` |
/// | [`Map`](crate::Map) | an object; its keys keep their order |
/// | [`Value`] | anything |
/// | [`Option<T>`] | `T`, null, or nothing at all |
#[diagnostic::on_unimplemented(
    message = "an attribute or a property cannot be read as `{Self}`",
    label = "not a type of values",
    note = "read it as `String`, `bool`, `i64`, `u16`, `f64`, `Vec<String>`, `Option<String>`, `Map` or `Value`"
)]
pub trait FromValue: Sized {
    /// Returns the description of accepted values, as in `must be a whole number`.
    fn expected() -> Cow<'static, str>;

    /// Converts a value.
    ///
    /// # Errors
    /// The value, or a part of it, is of another kind.
    fn from_value(value: Value) -> Result<Self, Mismatch>;

    /// Returns the result for an absent value, or `None` if the value is required.
    fn from_absent() -> Option<Self> {
        None
    }
}

/// The error about a value of the wrong kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The keys and positions from the value that was read to the part that does not fit.
    path: Vec<String>,
    expected: Cow<'static, str>,
    found: String,
}

impl Mismatch {
    /// Creates a mismatch for a value, for implementations of [`FromValue`].
    pub fn new(expected: impl Into<Cow<'static, str>>, found: &Value) -> Self {
        Self { path: vec![], expected: expected.into(), found: describe(found) }
    }

    /// Adds the key of the value's parent to the path.
    #[must_use]
    pub fn below(mut self, key: impl fmt::Display) -> Self {
        self.path.insert(0, key.to_string());
        self
    }

    /// Returns the path of the part with the wrong kind: `ports.2` of `web` is `web.ports.2`.
    pub(crate) fn path_from(&self, start: &str) -> String {
        [start].into_iter().chain(self.path.iter().map(String::as_str)).collect::<Vec<_>>().join(".")
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "must be {}, not {}", self.expected, self.found)
    }
}

/// The maximum number of characters of a value in an error.
const MAX_SHOWN: usize = 60;

/// Describes a value by its kind and, if it is short, its text.
fn describe(value: &Value) -> String {
    let (kind, text) = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(truth) => return truth.to_string(),
        Value::Number(number) => ("the number", number.to_string()),
        Value::String(_) => ("the string", value.to_string()),
        Value::Array(_) => ("the list", value.to_string()),
        Value::Object(_) => ("the object", value.to_string()),
    };
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{kind} {}..", text.get(..end).unwrap_or_default()),
        None => format!("{kind} {text}"),
    }
}

impl FromValue for Value {
    fn expected() -> Cow<'static, str> {
        "any value".into()
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        Ok(value)
    }
}

impl FromValue for String {
    fn expected() -> Cow<'static, str> {
        "a string".into()
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(Mismatch::new(Self::expected(), &other)),
        }
    }
}

impl FromValue for bool {
    fn expected() -> Cow<'static, str> {
        "true or false".into()
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        value.as_bool().ok_or_else(|| Mismatch::new(Self::expected(), &value))
    }
}

macro_rules! integers {
    ($($integer:ty),+) => { $(
        impl FromValue for $integer {
            fn expected() -> Cow<'static, str> {
                match <$integer>::BITS {
                    64 if <$integer>::MIN == 0 => "a whole number from 0".into(),
                    64 => "a whole number".into(),
                    _ => format!("a whole number from {} to {}", <$integer>::MIN, <$integer>::MAX).into(),
                }
            }

            fn from_value(value: Value) -> Result<Self, Mismatch> {
                let signed = value.as_i64().and_then(|number| number.try_into().ok());
                let number = signed.or_else(|| value.as_u64()?.try_into().ok());
                number.ok_or_else(|| Mismatch::new(Self::expected(), &value))
            }
        }
    )+ };
}
integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

macro_rules! floats {
    ($($float:ty),+) => { $(
        impl FromValue for $float {
            fn expected() -> Cow<'static, str> {
                "a number".into()
            }

            fn from_value(value: Value) -> Result<Self, Mismatch> {
                value.as_f64().map(|number| number as $float).ok_or_else(|| Mismatch::new(Self::expected(), &value))
            }
        }
    )+ };
}
floats!(f32, f64);

impl<T: FromValue> FromValue for Option<T> {
    fn expected() -> Cow<'static, str> {
        T::expected()
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }

    fn from_absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: FromValue> FromValue for Vec<T> {
    fn expected() -> Cow<'static, str> {
        "a list".into()
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        let Value::Array(items) = value else { return Err(Mismatch::new(Self::expected(), &value)) };
        let item = |(at, item)| T::from_value(item).map_err(|mismatch| mismatch.below(at));
        items.into_iter().enumerate().map(item).collect()
    }
}

impl FromValue for Map<String, Value> {
    fn expected() -> Cow<'static, str> {
        "an object".into()
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Object(entries) => Ok(entries),
            other => Err(Mismatch::new(Self::expected(), &other)),
        }
    }
}

/// Converts the entries of an object.
fn entries<T: FromValue, C: FromIterator<(String, T)>>(value: Value) -> Result<C, Mismatch> {
    let entry = |(key, value)| match T::from_value(value) {
        Ok(value) => Ok((key, value)),
        Err(mismatch) => Err(mismatch.below(key)),
    };
    Map::from_value(value)?.into_iter().map(entry).collect()
}

impl<T: FromValue> FromValue for BTreeMap<String, T> {
    fn expected() -> Cow<'static, str> {
        "an object".into()
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        entries(value)
    }
}

impl<T: FromValue> FromValue for HashMap<String, T> {
    fn expected() -> Cow<'static, str> {
        "an object".into()
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        entries(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused<T: FromValue>(value: Value) -> String {
        match T::from_value(value) {
            Ok(_) => "it fits".to_owned(),
            Err(mismatch) => format!("{} {mismatch}", mismatch.path_from("web")),
        }
    }

    #[test]
    fn values_that_fit_are_converted() {
        assert_eq!(u16::from_value(json!(80)), Ok(80));
        assert_eq!(u64::from_value(json!(u64::MAX)), Ok(u64::MAX));
        assert_eq!(Option::<u16>::from_value(json!(null)), Ok(None));
        assert_eq!(Option::<u16>::from_absent(), Some(None));
        assert_eq!(u16::from_absent(), None);
        assert_eq!(Vec::<String>::from_value(json!(["a", "b"])), Ok(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(BTreeMap::from_value(json!({ "a": 1 })), Ok(BTreeMap::from([("a".to_owned(), 1_u8)])));
        assert_eq!(f64::from_value(json!(2)), Ok(2.0));
    }

    #[test]
    fn a_mismatch_names_the_path_and_both_kinds() {
        assert_eq!(refused::<u16>(json!("80")), "web must be a whole number from 0 to 65535, not the string \"80\"");
        assert_eq!(refused::<u16>(json!(70000)), "web must be a whole number from 0 to 65535, not the number 70000");
        assert_eq!(refused::<i64>(json!(1.5)), "web must be a whole number, not the number 1.5");
        assert_eq!(refused::<String>(json!(true)), "web must be a string, not true");
        assert_eq!(
            refused::<Vec<Vec<u8>>>(json!([[1], [2, null]])),
            "web.1.1 must be a whole number from 0 to 255, not null"
        );
        assert_eq!(
            refused::<BTreeMap<String, bool>>(json!({ "on": 1 })),
            "web.on must be true or false, not the number 1"
        );
        let long = refused::<bool>(json!("x".repeat(100)));
        assert!(long.ends_with("x.."), "{long}");
    }
}
