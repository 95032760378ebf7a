//! Reading the properties of a declaration, which the schema has validated.
//!
//! [`properties`] reads all of a type at once, typed and with the schema's defaults. The other readers are of the types that do
//! not have a struct yet; a value of another kind counts as absent there.

use contract::{Raised, Wanted};
use schema::typed::{DeclaredValues, TypedProperties};
use serde_json::Value;

/// Reads the properties of a type.
///
/// # Errors
/// A value is of another kind than its property, or one is absent that has no default.
pub(crate) fn properties<T: TypedProperties>(wanted: &Wanted<'_>) -> Result<T, Raised> {
    T::read(&Values(wanted)).map_err(|error| Raised::new("Chef::Exceptions::ValidationFailed", error.to_string()))
}

/// The values of a declaration, as the schema reads them.
struct Values<'w>(&'w Wanted<'w>);

impl DeclaredValues for Values<'_> {
    fn name(&self) -> &str {
        &self.0.declaration.name
    }

    fn value(&self, property: &str) -> Option<&Value> {
        crate::value(self.0, property)
    }
}

/// A property's JSON; null is Chef's "not set".
pub(super) fn json<'a>(wanted: &'a Wanted<'_>, name: &str) -> Option<&'a Value> {
    crate::value(wanted, name)
}

/// A text property; a number as text.
pub(super) fn text(wanted: &Wanted<'_>, name: &str) -> Option<String> {
    json(wanted, name).and_then(as_text)
}

/// The property that is the resource's name unless it is set.
pub(super) fn name(wanted: &Wanted<'_>, property: &str) -> String {
    text(wanted, property).unwrap_or_else(|| wanted.declaration.name.clone())
}

/// A switch; false if nobody set it.
pub(super) fn flag(wanted: &Wanted<'_>, name: &str) -> bool {
    json(wanted, name).and_then(Value::as_bool).unwrap_or(false)
}

/// A whole number that fits, written as number or text.
pub(super) fn number<N: std::str::FromStr>(wanted: &Wanted<'_>, name: &str) -> Option<N> {
    text(wanted, name)?.trim().parse().ok()
}

/// A list of texts, or a single one; none: not set. Entries that are null stay, as empty texts, to keep their place.
pub(super) fn list(wanted: &Wanted<'_>, name: &str) -> Option<Vec<String>> {
    match json(wanted, name)? {
        Value::Array(values) => Some(values.iter().map(|value| as_text(value).unwrap_or_default()).collect()),
        single => as_text(single).map(|text| vec![text]),
    }
}

/// A map's entries as texts, in order.
pub(super) fn map(wanted: &Wanted<'_>, name: &str) -> Vec<(String, String)> {
    let Some(Value::Object(entries)) = json(wanted, name) else { return vec![] };
    entries.iter().map(|(key, value)| (key.clone(), as_text(value).unwrap_or_default())).collect()
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}
