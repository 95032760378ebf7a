//! Attributes of a policy, and their canonical text for its revision.
//!
//! Authors write attributes in languages with more types than JSON (dates, symbols, infinite numbers). Values that JSON
//! cannot express are kept until here, so that the error can name them.

use serde_json::{Map, Value};

/// How deep attributes may be nested: as deep as the JSON reader goes.
const MAX_DEPTH: usize = 128;

/// The value of an attribute, as its author wrote it.
#[derive(Debug, Clone, PartialEq)]
pub enum AttributeValue {
    /// No value: JSON's `null`.
    Null,
    /// The value true or false.
    Boolean(bool),
    /// A whole number; a lock can hold up to 64 bits.
    Integer(i128),
    /// A number with a fraction.
    Float(f64),
    /// Text, in UTF-8 as in JSON.
    Text(String),
    /// A list of values, in order.
    List(Vec<Self>),
    /// Keys and values, in the order in which they were written.
    Map(Vec<(AttributeKey, Self)>),
    /// Something that the author's language has and JSON does not.
    Foreign {
        /// The value, as that language shows it.
        shown: String,
        /// The name of its type in that language.
        class: String,
    },
}

/// The key of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeKey {
    /// Text, the only kind that JSON knows.
    Text(String),
    /// Another kind of key.
    Foreign {
        /// The key, as the author's language shows it.
        shown: String,
        /// The name of its type in that language.
        class: String,
    },
}

/// The reasons why an attribute is not allowed in a policy. The messages are Chef's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAttribute {
    /// A number that JSON cannot write.
    #[error("Floating point numbers cannot be infinite or NaN. You gave {shown}")]
    NotFinite {
        /// The number, as the author's language shows it.
        shown: String,
    },
    /// A value of a kind that JSON does not have.
    #[error(
        "Invalid type in attributes. Only Hash, Array, String, Integer, Float, true, false, and nil are accepted. \
         You gave {shown} ({class})"
    )]
    ForeignValue {
        /// The value, as the author's language shows it.
        shown: String,
        /// The name of its kind in that language.
        class: String,
    },
    /// A key that is not text.
    #[error("Attribute keys must be Strings (other types are not allowed in JSON). You gave: {shown} ({class})")]
    ForeignKey {
        /// The key, as the author's language shows it.
        shown: String,
        /// The name of its kind in that language.
        class: String,
    },
    /// A whole number of more than 64 bits, which would be read back as another number.
    #[error("whole numbers of more than 64 bits are not supported. You gave {shown}")]
    LargeInteger {
        /// The number, as the author wrote it.
        shown: String,
    },
    /// The attributes are nested too deeply to be read back.
    #[error("attributes are nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
}

impl AttributeValue {
    /// Returns the canonical text of the value for a policy's revision. Keys are sorted by their bytes, there are no spaces,
    /// texts are not escaped, and numbers have up to 15 significant digits.
    ///
    /// # Errors
    /// The value has no JSON form.
    pub fn canonical(&self) -> Result<String, InvalidAttribute> {
        let mut text = String::new();
        self.write_canonical(&mut text, 0)?;
        Ok(text)
    }

    fn write_canonical(&self, text: &mut String, depth: usize) -> Result<(), InvalidAttribute> {
        if depth > MAX_DEPTH {
            return Err(InvalidAttribute::TooDeep);
        }
        match self {
            Self::Null => text.push_str("null"),
            Self::Boolean(value) => text.push_str(if *value { "true" } else { "false" }),
            Self::Integer(value) => text.push_str(&value.to_string()),
            Self::Float(value) => text.push_str(&fifteen_digits(finite(*value)?)),
            Self::Text(value) => push_quoted(text, value),
            Self::List(values) => {
                text.push('[');
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    value.write_canonical(text, depth + 1)?;
                }
                text.push(']');
            }
            Self::Map(entries) => {
                let mut sorted =
                    entries.iter().map(|(key, value)| Ok((key.text()?, value))).collect::<Result<Vec<_>, _>>()?;
                sorted.sort_by_key(|(key, _)| *key);
                text.push('{');
                for (index, (key, value)) in sorted.into_iter().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    push_quoted(text, key);
                    text.push(':');
                    value.write_canonical(text, depth + 1)?;
                }
                text.push('}');
            }
            Self::Foreign { shown, class } => {
                return Err(InvalidAttribute::ForeignValue { shown: shown.clone(), class: class.clone() });
            }
        }
        Ok(())
    }

    /// The value as JSON.
    ///
    /// # Errors
    /// The value has no JSON form.
    pub fn to_json(&self) -> Result<Value, InvalidAttribute> {
        self.json_below(0)
    }

    fn json_below(&self, depth: usize) -> Result<Value, InvalidAttribute> {
        if depth > MAX_DEPTH {
            return Err(InvalidAttribute::TooDeep);
        }
        Ok(match self {
            Self::Null => Value::Null,
            Self::Boolean(value) => Value::Bool(*value),
            Self::Integer(value) => serde_json::Number::from_i128(*value)
                .map(Value::Number)
                .ok_or_else(|| InvalidAttribute::LargeInteger { shown: value.to_string() })?,
            Self::Float(value) => Value::from(finite(*value)?),
            Self::Text(value) => Value::String(value.clone()),
            Self::List(values) => {
                Value::Array(values.iter().map(|value| value.json_below(depth + 1)).collect::<Result<_, _>>()?)
            }
            Self::Map(entries) => {
                let mut map = Map::new();
                for (key, value) in entries {
                    map.insert(key.text()?.to_owned(), value.json_below(depth + 1)?);
                }
                Value::Object(map)
            }
            Self::Foreign { shown, class } => {
                return Err(InvalidAttribute::ForeignValue { shown: shown.clone(), class: class.clone() });
            }
        })
    }
}

impl AttributeKey {
    fn text(&self) -> Result<&str, InvalidAttribute> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Foreign { shown, class } => {
                Err(InvalidAttribute::ForeignKey { shown: shown.clone(), class: class.clone() })
            }
        }
    }
}

impl From<&Value> for AttributeValue {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Boolean(*value),
            Value::Number(number) => match number.as_i128() {
                Some(integer) => Self::Integer(integer),
                None => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(values) => Self::List(values.iter().map(Self::from).collect()),
            Value::Object(map) => Self::from(map),
        }
    }
}

impl From<&Map<String, Value>> for AttributeValue {
    fn from(map: &Map<String, Value>) -> Self {
        Self::Map(map.iter().map(|(key, value)| (AttributeKey::Text(key.clone()), Self::from(value))).collect())
    }
}

impl From<&toml::Value> for AttributeValue {
    fn from(value: &toml::Value) -> Self {
        match value {
            toml::Value::String(text) => Self::Text(text.clone()),
            toml::Value::Integer(integer) => Self::Integer(i128::from(*integer)),
            toml::Value::Float(float) => Self::Float(*float),
            toml::Value::Boolean(value) => Self::Boolean(*value),
            toml::Value::Datetime(moment) => Self::Foreign { shown: moment.to_string(), class: "Time".into() },
            toml::Value::Array(values) => Self::List(values.iter().map(Self::from).collect()),
            toml::Value::Table(table) => Self::from(table),
        }
    }
}

impl From<&toml::Table> for AttributeValue {
    fn from(table: &toml::Table) -> Self {
        Self::Map(table.iter().map(|(key, value)| (AttributeKey::Text(key.clone()), Self::from(value))).collect())
    }
}

fn push_quoted(text: &mut String, value: &str) {
    text.push('"');
    text.push_str(value);
    text.push('"');
}

fn finite(value: f64) -> Result<f64, InvalidAttribute> {
    if value.is_finite() {
        return Ok(value);
    }
    let shown = if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    };
    Err(InvalidAttribute::NotFinite { shown: shown.into() })
}

/// Formats a number like C's `%.15g`: 15 significant digits without trailing zeros, in scientific notation if the exponent is
/// below -4 or above 14.
fn fifteen_digits(value: f64) -> String {
    const DIGITS: i32 = 15;
    let scientific = format!("{value:.14e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..DIGITS).contains(&exponent) {
        let places = usize::try_from(DIGITS - 1 - exponent).unwrap_or_default();
        return without_end_zeros(&format!("{value:.places$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_end_zeros(mantissa), exponent.unsigned_abs())
}

fn without_end_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: f64, expect: &str) {
        assert_eq!(fifteen_digits(value), expect);
    }

    #[test]
    fn floats_are_written_as_c_does() {
        check(0.0, "0");
        check(-0.0, "-0");
        check(1.5, "1.5");
        check(1e9, "1000000000");
        check(0.1 + 0.2, "0.3");
        check(123_456_789.123_456_79, "123456789.123457");
        check(999_999_999_999_999.9, "1e+15");
        check(1e15, "1e+15");
        check(123_456_789_012_345.0, "123456789012345");
        check(0.0001, "0.0001");
        check(0.000_012_5, "1.25e-05");
        check(2.5e-10, "2.5e-10");
        check(-1e100, "-1e+100");
    }

    #[test]
    fn what_json_cannot_carry_is_refused_wherever_it_is() {
        let inside = AttributeValue::List(vec![AttributeValue::Float(f64::NAN)]);
        let error = inside.canonical().unwrap_err();
        assert_eq!(error.to_string(), "Floating point numbers cannot be infinite or NaN. You gave NaN");
        assert_eq!(inside.to_json().unwrap_err(), error);
        let moment: toml::Table = toml::from_str("a = 1970-01-01T00:00:00Z").unwrap();
        let error = AttributeValue::from(&moment).to_json().unwrap_err().to_string();
        assert!(error.ends_with("You gave 1970-01-01T00:00:00Z (Time)"), "{error}");
    }

    #[test]
    fn nesting_ends_somewhere() {
        let deep = (0..200).fold(AttributeValue::Null, |inner, _| AttributeValue::List(vec![inner]));
        assert_eq!(deep.canonical().unwrap_err(), InvalidAttribute::TooDeep);
        assert_eq!(deep.to_json().unwrap_err(), InvalidAttribute::TooDeep);
    }

    #[test]
    fn order_is_kept_in_json_and_lost_in_the_revision() {
        let table: toml::Table = toml::from_str("b = 1\na = [true, 2.0]").unwrap();
        let value = AttributeValue::from(&table);
        assert_eq!(value.to_json().unwrap().to_string(), r#"{"b":1,"a":[true,2.0]}"#);
        assert_eq!(value.canonical().unwrap(), r#"{"a":[true,2],"b":1}"#);
    }
}
