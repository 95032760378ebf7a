//! A property's value as Ruby sees it.
//!
//! Chef's checks distinguish a symbol from a string and an integer from a float, and their messages show values in the form
//! of Ruby's `inspect`. JSON cannot do this, so values are checked in this form. Guests send values as JSON, in which a
//! symbol is a plain string. So no built-in property relies on the difference (see [`crate::property::Coercion::Symbol`]).

use serde_json::{Map, Number, Value as Json};

/// How deep lists and maps may be nested in one property. A guest's deeper value is refused, so that no walk over it can
/// exhaust the stack.
pub const MAX_DEPTH: usize = 64;

/// How many values (entries of lists and maps, at all levels) one property may hold. Real cookbooks stay below a thousand.
pub const MAX_ELEMENTS: usize = 200_000;

/// How many bytes all strings of one property may have together: room for a large rendered file, not for a memory bomb.
pub const MAX_TEXT_BYTES: usize = 32 * 1024 * 1024;

/// How many characters of a value a message shows: a guest chooses the value, and a message goes to terminals and logs.
const MAX_SHOWN_CHARACTERS: usize = 300;

/// The length, in bytes, at which writing stops if only the first [`MAX_SHOWN_CHARACTERS`] are needed. A character takes
/// at most four bytes.
const WRITTEN_FOR_MESSAGES: usize = MAX_SHOWN_CHARACTERS * 4;

/// One value of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Ruby's `nil`, JSON's `null`.
    Nil,
    /// Ruby's `true` or `false`, also JSON's.
    Boolean(bool),
    /// A whole number of up to 64 bits.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// Text; symbols are a variant of their own.
    Text(String),
    /// A Ruby symbol, without its colon.
    Symbol(String),
    /// Ruby's Array, with values of any kind.
    List(Vec<Self>),
    /// Ruby's Hash: ordered, any value as key.
    Map(Vec<(Self, Self)>),
}

/// The reasons why JSON from a guest is refused as a property's value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unacceptable {
    /// Lists or maps are nested deeper than [`MAX_DEPTH`].
    #[error("is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// More entries than [`MAX_ELEMENTS`].
    #[error("has more than {MAX_ELEMENTS} elements")]
    TooMany,
    /// More text than [`MAX_TEXT_BYTES`].
    #[error("has more than {MAX_TEXT_BYTES} bytes of text")]
    TooLong,
    /// A whole number that 64 bits cannot hold.
    #[error("holds a number beyond 64 bits")]
    TooLarge,
}

/// The rest of the limits while one value is read.
struct Budget {
    elements: usize,
    bytes: usize,
}

impl Budget {
    fn take_element(&mut self) -> Result<(), Unacceptable> {
        self.elements = self.elements.checked_sub(1).ok_or(Unacceptable::TooMany)?;
        Ok(())
    }

    fn take(&mut self, json: &Json, depth: usize) -> Result<(), Unacceptable> {
        self.take_element()?;
        let below = || depth.checked_sub(1).ok_or(Unacceptable::TooDeep);
        match json {
            Json::Null | Json::Bool(_) | Json::Number(_) => Ok(()),
            Json::String(text) => self.take_text(text),
            Json::Array(items) => {
                let depth = below()?;
                items.iter().try_for_each(|item| self.take(item, depth))
            }
            Json::Object(entries) => {
                let depth = below()?;
                entries.iter().try_for_each(|(key, entry)| {
                    self.take_text(key)?;
                    self.take(entry, depth)
                })
            }
        }
    }

    fn take_text(&mut self, text: &str) -> Result<(), Unacceptable> {
        self.bytes = self.bytes.checked_sub(text.len()).ok_or(Unacceptable::TooLong)?;
        Ok(())
    }
}

impl Value {
    /// Makes a string value, not a symbol.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Converts a guest's JSON to a value, within the limits of this module.
    pub fn from_json(json: Json) -> Result<Self, Unacceptable> {
        let mut budget = Budget { elements: MAX_ELEMENTS, bytes: MAX_TEXT_BYTES };
        Self::read(json, MAX_DEPTH, &mut budget)
    }

    /// Whether a guest's JSON is within the limits of size of this module.
    ///
    /// # Errors
    /// The first limit that is exceeded.
    pub fn check_json(json: &Json) -> Result<(), Unacceptable> {
        let mut budget = Budget { elements: MAX_ELEMENTS, bytes: MAX_TEXT_BYTES };
        budget.take(json, MAX_DEPTH)
    }

    fn read(json: Json, depth: usize, budget: &mut Budget) -> Result<Self, Unacceptable> {
        budget.take_element()?;
        Ok(match json {
            Json::Null => Self::Nil,
            Json::Bool(boolean) => Self::Boolean(boolean),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => Self::Integer(integer),
                (None, Some(float)) if !number.is_u64() => Self::Float(float),
                _ => return Err(Unacceptable::TooLarge),
            },
            Json::String(text) => {
                budget.take_text(&text)?;
                Self::Text(text)
            }
            Json::Array(items) => {
                let depth = depth.checked_sub(1).ok_or(Unacceptable::TooDeep)?;
                Self::List(items.into_iter().map(|item| Self::read(item, depth, budget)).collect::<Result<_, _>>()?)
            }
            Json::Object(entries) => {
                let depth = depth.checked_sub(1).ok_or(Unacceptable::TooDeep)?;
                let mut pairs = Vec::with_capacity(entries.len());
                for (key, entry) in entries {
                    budget.take_text(&key)?;
                    pairs.push((Self::Text(key), Self::read(entry, depth, budget)?));
                }
                Self::Map(pairs)
            }
        })
    }

    /// Converts the value to JSON. Symbols and keys become strings, and a float that JSON cannot express becomes null.
    pub fn into_json(self) -> Json {
        match self {
            Self::Nil => Json::Null,
            Self::Boolean(boolean) => Json::Bool(boolean),
            Self::Integer(integer) => Json::from(integer),
            Self::Float(float) => Number::from_f64(float).map_or(Json::Null, Json::Number),
            Self::Text(text) | Self::Symbol(text) => Json::String(text),
            Self::List(items) => Json::Array(items.into_iter().map(Self::into_json).collect()),
            Self::Map(pairs) => {
                let mut object = Map::with_capacity(pairs.len());
                for (key, entry) in pairs {
                    object.insert(key.to_text(), entry.into_json());
                }
                Json::Object(object)
            }
        }
    }

    /// Whether this is `nil`.
    pub fn is_nil(&self) -> bool {
        matches!(self, Self::Nil)
    }

    /// Whether the value counts as true in Ruby: everything but `nil` and `false`.
    pub fn is_truthy(&self) -> bool {
        !matches!(self, Self::Nil | Self::Boolean(false))
    }

    /// Compares like Ruby's `==`: an integer can equal a float, and the order of a map does not matter.
    pub fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integer(integer), Self::Float(float)) | (Self::Float(float), Self::Integer(integer)) => {
                *integer as f64 == *float
            }
            (Self::List(left), Self::List(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left.equals(right))
            }
            (Self::Map(left), Self::Map(right)) => {
                left.len() == right.len()
                    && left
                        .iter()
                        .all(|(key, entry)| right.iter().any(|(other, value)| other == key && value.equals(entry)))
            }
            _ => self == other,
        }
    }

    /// Returns the text that Ruby's `to_s` gives; text and symbols as they are.
    pub fn to_text(&self) -> String {
        match self {
            Self::Nil => String::new(),
            Self::Text(text) | Self::Symbol(text) => text.clone(),
            other => other.inspect_up_to(usize::MAX),
        }
    }

    /// Ruby's `inspect` (as of Ruby 3.1, which Chef 18 carries), shortened where it is long and with everything escaped that
    /// could disturb a terminal.
    pub fn inspect(&self) -> String {
        shorten(self.inspect_up_to(WRITTEN_FOR_MESSAGES))
    }

    /// What `to_s` gives, escaped and shortened for a message.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Text(text) | Self::Symbol(text) => {
                let mut shown = String::new();
                for character in text.chars().take(MAX_SHOWN_CHARACTERS + 1) {
                    push_escaped(&mut shown, character);
                }
                shorten(shown)
            }
            other => shorten(other.inspect_up_to(WRITTEN_FOR_MESSAGES)),
        }
    }

    fn inspect_up_to(&self, limit: usize) -> String {
        let mut written = String::new();
        self.write_inspected(&mut written, limit);
        written
    }

    fn write_inspected(&self, out: &mut String, limit: usize) {
        // Writing stops at the limit, so that a list of a hundred thousand entries is quoted quickly.
        if out.len() > limit {
            return;
        }
        match self {
            Self::Nil => out.push_str("nil"),
            Self::Boolean(boolean) => out.push_str(if *boolean { "true" } else { "false" }),
            Self::Integer(integer) => out.push_str(&integer.to_string()),
            Self::Float(float) => out.push_str(&inspect_float(*float)),
            Self::Text(text) => write_quoted(out, text, limit),
            Self::Symbol(name) => {
                out.push(':');
                if is_plain_symbol(name) {
                    out.push_str(name);
                } else {
                    write_quoted(out, name, limit);
                }
            }
            Self::List(items) => {
                out.push('[');
                for (position, item) in items.iter().enumerate() {
                    if position > 0 {
                        out.push_str(", ");
                    }
                    item.write_inspected(out, limit);
                }
                out.push(']');
            }
            Self::Map(pairs) => {
                out.push('{');
                for (position, (key, entry)) in pairs.iter().enumerate() {
                    if position > 0 {
                        out.push_str(", ");
                    }
                    key.write_inspected(out, limit);
                    out.push_str("=>");
                    entry.write_inspected(out, limit);
                }
                out.push('}');
            }
        }
    }
}

fn shorten(text: String) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn inspect_float(float: f64) -> String {
    if float.is_nan() {
        return "NaN".into();
    }
    if float.is_infinite() {
        return if float > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    let size = float.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let written = format!("{float:e}");
        let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
        let fraction = if mantissa.contains('.') { "" } else { ".0" };
        let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
        return format!("{mantissa}{fraction}e{sign}{digits:0>2}");
    }
    format!("{float:?}")
}

fn write_quoted(out: &mut String, text: &str, limit: usize) {
    out.push('"');
    let mut characters = text.chars().take(limit).peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '#' if matches!(characters.peek(), Some('{' | '$' | '@')) => out.push_str("\\#"),
            other => push_escaped(out, other),
        }
    }
    out.push('"');
}

/// Pushes the character, or Ruby's escape for one that is invisible or acts on a terminal.
fn push_escaped(out: &mut String, character: char) {
    match character {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        '\u{1b}' => out.push_str("\\e"),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{b}' => out.push_str("\\v"),
        '\u{c}' => out.push_str("\\f"),
        hidden if text::is_hidden(hidden) && u32::from(hidden) > 0xffff => {
            out.push_str(&format!("\\u{{{:X}}}", u32::from(hidden)));
        }
        hidden if text::is_hidden(hidden) => out.push_str(&format!("\\u{:04X}", u32::from(hidden))),
        plain => out.push(plain),
    }
}

fn is_plain_symbol(name: &str) -> bool {
    let body = name.strip_suffix(['?', '!', '=']).unwrap_or(name);
    let mut characters = body.chars();
    characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|character| character.is_alphanumeric() || character == '_')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn symbol(name: &str) -> Value {
        Value::Symbol(name.into())
    }

    #[test]
    fn inspect_writes_what_ruby_writes() {
        let check = |value: Value, expected: &str| assert_eq!(value.inspect(), expected);
        check(Value::Nil, "nil");
        check(Value::text("a\"b\n\u{1b}[0m#{x} #y"), r##""a\"b\n\e[0m\#{x} #y""##);
        check(symbol("a"), ":a");
        check(symbol("a-b"), ":\"a-b\"");
        check(Value::Float(1.0), "1.0");
        check(Value::Float(1e20), "1.0e+20");
        check(Value::Float(1.5e-7), "1.5e-07");
        check(Value::List(vec![Value::Integer(1), Value::Boolean(false)]), "[1, false]");
        check(Value::Map(vec![(symbol("a"), Value::Integer(10))]), "{:a=>10}");
        check(Value::text("\u{202e}x"), "\"\\u202Ex\"");
    }

    #[test]
    fn long_values_are_cut_in_messages() {
        let shown = Value::text("x".repeat(100_000)).inspect();
        assert_eq!(shown.chars().count(), MAX_SHOWN_CHARACTERS + 3);
    }

    #[test]
    fn hostile_json_is_refused() {
        let mut deep = json!(1);
        for _ in 0..=MAX_DEPTH {
            deep = json!([deep]);
        }
        assert_eq!(Value::from_json(deep), Err(Unacceptable::TooDeep));
        assert_eq!(Value::from_json(json!(vec![0; MAX_ELEMENTS])), Err(Unacceptable::TooMany));
        assert_eq!(Value::from_json(json!("x".repeat(MAX_TEXT_BYTES + 1))), Err(Unacceptable::TooLong));
        assert_eq!(Value::from_json(json!(u64::MAX)), Err(Unacceptable::TooLarge));
        let too_long = json!({ "a": ["x".repeat(MAX_TEXT_BYTES + 1)] });
        for refused in [json!(vec![0; MAX_ELEMENTS]), too_long, json!({ "a": vec![0; MAX_ELEMENTS] })] {
            assert_eq!(Value::check_json(&refused).err(), Value::from_json(refused).err());
        }
    }

    #[test]
    fn json_goes_through_unchanged() {
        let json = json!({"a": [1, 2.5, null, true, "x"], "b": {}});
        assert_eq!(Value::from_json(json.clone()).unwrap().into_json(), json);
    }
}
