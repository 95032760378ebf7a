//! The types that properties of custom resources can have.

use crate::builder::kinds;
use crate::from_value::FromValue;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// A type that a property of a custom resource can have.
///
/// | field | a recipe sets | absent |
/// |---|---|---|
/// | [`String`] | a text | an error |
/// | `bool` | true or false | an error |
/// | `u8` to `u64`, `i8` to `i64`, `usize`, `isize` | a whole number that fits | an error |
/// | `f32`, `f64` | any number | an error |
/// | [`Vec<T>`] | a list of `T` | an error |
/// | [`BTreeMap<String, T>`], [`HashMap<String, T>`] | an object whose values are `T` | an error |
/// | [`Map`](crate::Map) | an object; its keys keep their order | an error |
/// | [`Value`] | anything | an error |
/// | [`Option<T>`] | a `T` | `None` |
///
/// An absent property with a `default` has this value. To use your own type, implement [`FromValue`] and this trait:
///
/// ```no_run
/// use std::borrow::Cow;
/// use wrun_sdk::builder::kinds;
/// use wrun_sdk::custom::PropertyType;
/// use wrun_sdk::prelude::*;
/// use wrun_sdk::Mismatch;
///
/// enum Scheme {
///     Http,
///     Https,
/// }
///
/// impl FromValue for Scheme {
///     fn expected() -> Cow<'static, str> {
///         "`http` or `https`".into()
///     }
///
///     fn from_value(value: Value) -> std::result::Result<Self, Mismatch> {
///         match value.as_str() {
///             Some("http") => Ok(Self::Http),
///             Some("https") => Ok(Self::Https),
///             _ => Err(Mismatch::new(Self::expected(), &value)),
///         }
///     }
/// }
///
/// impl PropertyType for Scheme {
///     type Kind = kinds::Text;
///
///     fn to_value(&self) -> Value {
///         match self {
///             Self::Http => "http".into(),
///             Self::Https => "https".into(),
///         }
///     }
/// }
/// ```
pub trait PropertyType: FromValue {
    /// The values that recipes may set: one of [`kinds`].
    type Kind;

    /// Converts the value to JSON, to compare it and to report it.
    fn to_value(&self) -> Value;
}

macro_rules! plain {
    ($convert:path: $($value_type:ty => $kind:ident),+) => { $(
        impl PropertyType for $value_type {
            type Kind = kinds::$kind;

            fn to_value(&self) -> Value {
                $convert(self)
            }
        }
    )+ };
}
plain!(cloned: Value => Anything, String => Text, crate::Map => Map);
plain!(copied: bool => Boolean, f32 => Float, f64 => Float);
plain!(copied: i8 => Integer, i16 => Integer, i32 => Integer, i64 => Integer, isize => Integer);
plain!(copied: u8 => Integer, u16 => Integer, u32 => Integer, u64 => Integer, usize => Integer);

fn cloned<T: Clone + Into<Value>>(value: &T) -> Value {
    value.clone().into()
}

fn copied<T: Copy + Into<Value>>(value: &T) -> Value {
    (*value).into()
}

impl<T: PropertyType> PropertyType for Option<T> {
    type Kind = T::Kind;

    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_value)
    }
}

impl<T: PropertyType> PropertyType for Vec<T> {
    type Kind = kinds::List;

    fn to_value(&self) -> Value {
        self.iter().map(T::to_value).collect()
    }
}

impl<T: PropertyType> PropertyType for BTreeMap<String, T> {
    type Kind = kinds::Map;

    fn to_value(&self) -> Value {
        Value::Object(self.iter().map(|(key, value)| (key.clone(), value.to_value())).collect())
    }
}

impl<T: PropertyType> PropertyType for HashMap<String, T> {
    type Kind = kinds::Map;

    /// Sorts the keys, so that equal maps give equal texts.
    fn to_value(&self) -> Value {
        let sorted: BTreeMap<_, _> = self.iter().collect();
        Value::Object(sorted.into_iter().map(|(key, value)| (key.clone(), value.to_value())).collect())
    }
}
