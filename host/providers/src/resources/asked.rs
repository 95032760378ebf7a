//! Reads the properties of a declaration, which the schema has validated: all at once, typed, with the schema's defaults.

use contract::{ErrorKind, Known, Raised, Wanted};
use schema::typed::{DeclaredValues, PropertyError, TypedProperties};
use serde_json::Value;

/// Reads the properties of a type, or those that it shares with other types.
///
/// # Errors
/// A value has another type than its property, or a property without a default is absent.
pub(crate) fn properties<T: TypedProperties>(wanted: &Wanted<'_>) -> Result<T, Raised> {
    let values = Values(wanted);
    let own = schema::find(&wanted.declaration.kind).map(|resource| T::read_as(resource, &values));
    let read = match own {
        // `package` can mean the type of the root's own package manager, which has more properties.
        None | Some(Err(PropertyError::Unknown { .. })) => T::read(&values),
        Some(read) => read,
    };
    read.map_err(|error| Raised::new(ErrorKind::InvalidValue, error.to_string()))
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

    fn is_bytes(&self, property: &str) -> bool {
        matches!(self.0.get(property), Some(Known::Bytes(_)))
    }
}

/// Returns content as bytes, or `None` if the declaration does not set it. The value is text or bytes.
///
/// # Errors
/// The value is neither text nor bytes.
pub(crate) fn content<'w>(wanted: &'w Wanted<'_>, property: &str) -> Result<Option<&'w [u8]>, Raised> {
    match wanted.get(property) {
        None | Some(Known::Json(Value::Null)) => Ok(None),
        Some(Known::Bytes(bytes)) => Ok(Some(bytes)),
        Some(Known::Json(Value::String(text))) => Ok(Some(text.as_bytes())),
        Some(Known::Json(_)) => Err(Raised::new(ErrorKind::InvalidValue, format!("{property} must be text or bytes"))),
    }
}
