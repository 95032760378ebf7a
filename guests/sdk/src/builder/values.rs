//! Converts Rust values to values of properties. A value is known now or computed right before the action.

use crate::error::Result;
use crate::table::{Closure, Got};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::rc::Rc;

/// Empty marker types for the shapes of values that a property accepts.
pub mod kinds {
    macro_rules! kinds { ($($(#[$doc:meta])* $kind:ident),+ $(,)?) => { $($(#[$doc])* #[derive(Debug)] pub enum $kind {})+ } }
    kinds! {
        /// Any value that JSON has.
        Anything,
        /// The value true or false.
        Boolean,
        /// True, false or a whole number.
        BooleanOrInteger,
        /// True, false or a text.
        BooleanOrText,
        /// A number with or without a fraction.
        Float,
        /// A whole number, of any Rust type up to 64 bits.
        Integer,
        /// A whole number or a list.
        IntegerOrList,
        /// A list; a single text is a list of one.
        List,
        /// A list or an object.
        ListOrMap,
        /// An object: texts with their values.
        Map,
        /// Permission bits: octal text or a number.
        Mode,
        /// A text, owned or borrowed.
        Text,
        /// A text or a whole number.
        TextOrInteger,
        /// A text or a list.
        TextOrList,
        /// A text or an object.
        TextOrMap,
    }
}
use kinds::*;

/// A property's value for the host: known now, or computed right before the action.
pub struct Property(pub(super) Given);

/// The source of the value.
pub(super) enum Given {
    Plain(Value),
    Bytes(Vec<u8>),
    Lazy(Closure),
    Rendered(Closure),
    /// The property stays as it is.
    Absent,
}

impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Given::Plain(value) => value.fmt(f),
            Given::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Given::Lazy(_) | Given::Rendered(_) => f.write_str("lazy"),
            Given::Absent => f.write_str("absent"),
        }
    }
}

/// A type that can be the value of a property of shape `Kind`. `None` leaves the property unchanged.
pub trait IntoProperty<Kind> {
    /// Converts the value for the host.
    fn into_property(self) -> Property;
}

/// A value that is computed right before the action, after the guards.
pub struct Lazy<F>(F);

/// Computes a property's value right before the action: `file("/x").content(lazy(|| node::get::<String>("x")))`.
pub fn lazy<T: Into<Value>, F: Fn() -> Result<T> + 'static>(value: F) -> Lazy<F> {
    Lazy(value)
}

impl<Kind, T: Into<Value>, F: Fn() -> Result<T> + 'static> IntoProperty<Kind> for Lazy<F> {
    fn into_property(self) -> Property {
        let value = self.0;
        Property(Given::Lazy(Rc::new(move |_| Ok(Got::Json(value()?.into())))))
    }
}

impl<Kind, T: IntoProperty<Kind>> IntoProperty<Kind> for Option<T> {
    fn into_property(self) -> Property {
        self.map_or(Property(Given::Absent), T::into_property)
    }
}

macro_rules! plain {
    ($($from:ty => $($kind:ident),+;)+) => { $($(
        impl IntoProperty<$kind> for $from {
            fn into_property(self) -> Property {
                Property(Given::Plain(Value::from(self)))
            }
        }
    )+)+ };
}
plain! {
    &str => Anything, BooleanOrText, List, IntegerOrList, ListOrMap, Mode, Text, TextOrInteger, TextOrList, TextOrMap;
    String => Anything, BooleanOrText, List, IntegerOrList, ListOrMap, Mode, Text, TextOrInteger, TextOrList, TextOrMap;
    Cow<'_, str> => Anything, BooleanOrText, List, Text, TextOrInteger, TextOrList;
    bool => Anything, Boolean, BooleanOrInteger, BooleanOrText;
    u8 => Anything, BooleanOrInteger, Integer, IntegerOrList, TextOrInteger;
    i8 => Anything, BooleanOrInteger, Integer, IntegerOrList, TextOrInteger;
    i16 => Anything, BooleanOrInteger, Integer, IntegerOrList, TextOrInteger;
    isize => Anything, BooleanOrInteger, Integer, IntegerOrList, TextOrInteger;
    i32 => Anything, BooleanOrInteger, Float, Integer, IntegerOrList, Mode, TextOrInteger;
    i64 => Anything, BooleanOrInteger, Float, Integer, IntegerOrList, TextOrInteger;
    u16 => Anything, BooleanOrInteger, Integer, IntegerOrList, Mode, TextOrInteger;
    u32 => Anything, BooleanOrInteger, Integer, IntegerOrList, Mode, TextOrInteger;
    u64 => Anything, BooleanOrInteger, Integer, IntegerOrList, TextOrInteger;
    usize => Anything, BooleanOrInteger, Integer, IntegerOrList, TextOrInteger;
    f32 => Anything, Float;
    f64 => Anything, Float;
    crate::Map => Anything, Map, TextOrMap;
}

macro_rules! texts {
    ($($kind:ident),+) => { $(
        impl IntoProperty<$kind> for &String {
            fn into_property(self) -> Property {
                Property(Given::Plain(Value::from(self.as_str())))
            }
        }
    )+ };
}
texts!(Anything, BooleanOrText, List, Mode, Text, TextOrInteger, TextOrList);

macro_rules! json {
    ($($kind:ident),+) => { $(
        impl IntoProperty<$kind> for Value {
            fn into_property(self) -> Property {
                Property(Given::Plain(self))
            }
        }
    )+ };
}
json!(
    Anything,
    BooleanOrInteger,
    BooleanOrText,
    Float,
    Integer,
    IntegerOrList,
    List,
    ListOrMap,
    Map,
    Text,
    TextOrInteger,
    TextOrList,
    TextOrMap
);

fn list<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Property {
    Property(Given::Plain(Value::Array(items.into_iter().map(Into::into).collect())))
}

fn object<K: Into<String>, V: Into<Value>>(entries: impl IntoIterator<Item = (K, V)>) -> Property {
    Property(Given::Plain(Value::Object(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect())))
}

macro_rules! lists {
    ($($kind:ident),+) => { $(
        impl<T: Into<Value>> IntoProperty<$kind> for Vec<T> {
            fn into_property(self) -> Property { list(self) }
        }
        impl<T: Into<Value>, const N: usize> IntoProperty<$kind> for [T; N] {
            fn into_property(self) -> Property { list(self) }
        }
        impl<T: Into<Value> + Clone> IntoProperty<$kind> for &[T] {
            fn into_property(self) -> Property { list(self.iter().cloned()) }
        }
        impl<T: Into<Value> + Clone, const N: usize> IntoProperty<$kind> for &[T; N] {
            fn into_property(self) -> Property { list(self.iter().cloned()) }
        }
        impl<T: Into<Value> + Clone> IntoProperty<$kind> for &Vec<T> {
            fn into_property(self) -> Property { list(self.iter().cloned()) }
        }
    )+ };
}
lists!(Anything, IntegerOrList, List, ListOrMap, TextOrList);

macro_rules! objects {
    ($($kind:ident),+) => { $(
        impl<K: Into<String> + Ord, V: Into<Value>> IntoProperty<$kind> for BTreeMap<K, V> {
            fn into_property(self) -> Property { object(self) }
        }
        impl<K: Into<String> + Ord + Clone, V: Into<Value> + Clone> IntoProperty<$kind> for &BTreeMap<K, V> {
            fn into_property(self) -> Property { object(self.clone()) }
        }
        impl<K: Into<String> + Ord, V: Into<Value>> IntoProperty<$kind> for HashMap<K, V> {
            fn into_property(self) -> Property { object(self.into_iter().collect::<BTreeMap<_, _>>()) }
        }
        impl<K: Into<String>, V: Into<Value>, const N: usize> IntoProperty<$kind> for [(K, V); N] {
            fn into_property(self) -> Property { object(self) }
        }
    )+ };
}
objects!(Map, TextOrMap);

impl IntoProperty<Text> for Vec<u8> {
    fn into_property(self) -> Property {
        Property(Given::Bytes(self))
    }
}
