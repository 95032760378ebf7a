//! Applies a property's specification to a value: resets it for `nil`, coerces and checks it. The messages are Chef's.

use super::{Callback, Class, Default, Matcher, Pattern, Property, responds_to};
use crate::value::Value;
use errors::chef::NESTED_PROPERTY;

/// The error about a rejected value. The message is Chef's; for a sensitive property it does not show the value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Invalid {
    /// The sentence that Chef raises, with the property's name.
    pub message: String,
}

/// The text that a message shows for a secret.
const SUPPRESSED: &str = "*sensitive value suppressed*";

/// Largest depth of nested specifications, because a constant could refer to itself.
const MAX_NESTING: usize = 16;

impl Property {
    /// Accepts a value like Chef's setter. `nil` resets the property to its default, unless the property accepts `nil` as a
    /// value. Then the value is coerced and checked. `name` is the resource's name.
    ///
    /// # Errors
    /// When a check refuses the value.
    pub fn accept(&self, value: Value, name: &str) -> Result<Value, Invalid> {
        let value = if value.is_nil() && !self.explicitly_accepts_nil() { self.raw_default(name) } else { value };
        self.coerce_and_check(value)
    }

    /// Returns the value of an unset property, coerced and checked. It is `nil` if there is no default, or if the default
    /// depends on another property or the provider.
    ///
    /// # Errors
    /// When the default is not valid for the property.
    pub fn default_value(&self, name: &str) -> Result<Value, Invalid> {
        self.coerce_and_check(self.raw_default(name))
    }

    /// Tells whether an unset property has no value at all, so that nothing needs to be coerced or checked.
    pub(crate) fn has_no_default(&self) -> bool {
        matches!(self.default, Default::Unset) && self.coerce.is_none()
    }

    fn raw_default(&self, name: &str) -> Value {
        match self.default {
            Default::Fixed(literal) => literal.to_value(),
            Default::Name => Value::text(name),
            Default::BaseNameOf("name") => Value::text(base_name(name)),
            Default::Unset | Default::SameAs(_) | Default::BaseNameOf(_) | Default::Described(_) => Value::Nil,
        }
    }

    /// Tells whether `nil` is a value of the property and does not reset it: if `is` accepts `nil`, or if there is a
    /// coercion.
    pub fn explicitly_accepts_nil(&self) -> bool {
        self.coerce.is_some() || self.is.is_some_and(|matchers| self.check_is(&Value::Nil, matchers, 0).is_ok())
    }

    fn coerce_and_check(&self, value: Value) -> Result<Value, Invalid> {
        let value = match self.coerce {
            Some(coercion) => coercion.apply(value),
            None => value,
        };
        // An unset property is checked only if it has a default value.
        if value.is_nil() && !matches!(self.default, Default::Fixed(_) | Default::Name) {
            return Ok(value);
        }
        self.check(&value)?;
        Ok(value)
    }

    /// Runs all checks on a coerced value, in the order `is`, `kind_of`, `equal_to`, `regex`, `callbacks`, `respond_to`,
    /// `cannot_be`. All but `is` let `nil` pass.
    ///
    /// # Errors
    /// The first check that refuses.
    pub fn check(&self, value: &Value) -> Result<(), Invalid> {
        self.check_nested(value, 0)
    }

    fn check_nested(&self, value: &Value, nesting: usize) -> Result<(), Invalid> {
        if let Some(matchers) = self.is {
            self.check_is(value, matchers, nesting)?;
        }
        if value.is_nil() {
            return Ok(());
        }
        if let Some(classes) = self.kind_of
            && !classes.iter().any(|class| class.includes(value))
        {
            let names = classes.iter().map(|class| class.name()).collect::<Vec<_>>().join(", ");
            return Err(self.invalid(format!(
                "Option {} must be a kind of [{names}]!  You passed {}.",
                self.name,
                self.shown(value)
            )));
        }
        if let Some(choices) = self.equal_to
            && !choices.iter().any(|choice| choice.to_value().equals(value))
        {
            let choices = choices.iter().map(|choice| choice.to_value().inspect()).collect::<Vec<_>>().join(", ");
            return Err(self.invalid(format!(
                "Option {} must be equal to one of: {choices}!  You passed {}.",
                self.name,
                self.shown(value)
            )));
        }
        if let Some(patterns) = self.regex {
            self.check_regex(value, patterns)?;
        }
        self.check_callbacks(value, self.callbacks)?;
        for method in self.respond_to {
            if !responds_to(value, method) {
                return Err(self.invalid(format!("Option {} must have a {method} method!", self.name)));
            }
        }
        for predicate in self.cannot_be {
            if methods_answer(value, predicate) {
                let shown = match self.cannot_be {
                    [only] => (*only).to_owned(),
                    several => format!("[:{}]", several.join(", :")),
                };
                return Err(self.invalid(format!("Option {} cannot be {shown}", self.name)));
            }
        }
        Ok(())
    }

    fn check_is(&self, value: &Value, matchers: &[Matcher], nesting: usize) -> Result<(), Invalid> {
        let mut errors = Vec::new();
        for matcher in matchers {
            let matches = match matcher {
                Matcher::Class(class) => class.includes(value),
                Matcher::Equal(literal) => literal.to_value().equals(value),
                Matcher::Pattern(pattern) => {
                    matches!(value, Value::Text(text) | Value::Symbol(text) if pattern.is_found_in(text))
                }
                Matcher::Test(callback) => (callback.test)(value),
                Matcher::Nested(property) if nesting < MAX_NESTING => match self.check_as(property, value, nesting) {
                    Ok(()) => true,
                    Err(error) if matchers.len() == 1 => return Err(error),
                    Err(error) => {
                        errors.push(format!("- {}", error.message));
                        false
                    }
                },
                Matcher::Nested(_) => false,
            };
            if matches {
                return Ok(());
            }
        }
        let choices = matchers.iter().map(shown_matcher).collect::<Vec<_>>().join(", ");
        let mut message =
            format!("Property {} must be one of: {choices}!  You passed {}.", self.name, self.shown(value));
        if !errors.is_empty() {
            message.push_str(" Errors:\n");
            message.push_str(&errors.join("\n"));
        }
        Err(self.invalid(message))
    }

    /// Checks a value by another specification, with this property's name in messages.
    fn check_as(&self, other: &Self, value: &Value, nesting: usize) -> Result<(), Invalid> {
        let mut other = *other;
        other.name = self.name;
        other.sensitive |= self.sensitive;
        other.check_nested(value, nesting + 1)
    }

    fn check_regex(&self, value: &Value, patterns: &[&'static Pattern]) -> Result<(), Invalid> {
        let is_found = match value {
            Value::Text(text) | Value::Symbol(text) => patterns.iter().any(|pattern| pattern.is_found_in(text)),
            other => {
                let text = other.to_text();
                patterns.iter().any(|pattern| pattern.is_found_in(&text))
            }
        };
        if is_found {
            return Ok(());
        }
        let shown = patterns.iter().map(|pattern| pattern.shown()).collect::<Vec<_>>().join(", ");
        let shown = if patterns.len() == 1 { shown } else { format!("[{shown}]") };
        let value = if self.sensitive { SUPPRESSED.to_owned() } else { value.shown() };
        Err(self.invalid(format!("Property {}'s value {value} does not match regular expression {shown}", self.name)))
    }

    fn check_callbacks(&self, value: &Value, callbacks: &[Callback]) -> Result<(), Invalid> {
        match callbacks.iter().find(|callback| !(callback.test)(value)) {
            None => Ok(()),
            Some(callback) => {
                let value = if self.sensitive { SUPPRESSED.to_owned() } else { value.shown() };
                Err(self.invalid(format!("Option {}'s value {value} {}!", self.name, callback.message)))
            }
        }
    }

    fn shown(&self, value: &Value) -> String {
        if self.sensitive { SUPPRESSED.to_owned() } else { value.inspect() }
    }

    fn invalid(&self, message: String) -> Invalid {
        Invalid { message: self.validation_message.map_or(message, str::to_owned) }
    }
}

/// Checks a constant default as Chef does when a property is declared: also `default: nil` must pass `is`. Only tests call it:
/// properties are constants of this crate, and they are checked once, by a test.
///
/// # Errors
/// When the default is not valid, as in `property :x, String, default: nil`.
pub fn validate_default(property: &Property) -> Result<(), Invalid> {
    match property.default {
        Default::Fixed(literal) => {
            let value = literal.to_value();
            property.check(&match property.coerce {
                Some(coercion) => coercion.apply(value),
                None => value,
            })
        }
        _ => Ok(()),
    }
}

fn shown_matcher(matcher: &Matcher) -> String {
    match matcher {
        Matcher::Class(class) => class.name().to_owned(),
        Matcher::Equal(literal) => literal.to_value().inspect(),
        Matcher::Pattern(pattern) => pattern.shown().to_owned(),
        Matcher::Nested(_) => NESTED_PROPERTY.to_owned(),
        Matcher::Test(callback) => callback.message.to_owned(),
    }
}

/// Answers a Ruby predicate. It is false for a value that does not have the method.
fn methods_answer(value: &Value, predicate: &str) -> bool {
    match (predicate, value) {
        ("nil", value) => value.is_nil(),
        ("empty", Value::Text(text) | Value::Symbol(text)) => text.is_empty(),
        ("empty", Value::List(items)) => items.is_empty(),
        ("empty", Value::Map(pairs)) => pairs.is_empty(),
        ("any", Value::List(items)) => items.iter().any(Value::is_truthy),
        ("any", Value::Map(pairs)) => !pairs.is_empty(),
        ("none", Value::List(items)) => !items.iter().any(Value::is_truthy),
        ("none", Value::Map(pairs)) => pairs.is_empty(),
        ("one", Value::List(items)) => items.iter().filter(|item| item.is_truthy()).count() == 1,
        ("one", Value::Map(pairs)) => pairs.len() == 1,
        ("all", Value::List(items)) => items.iter().all(Value::is_truthy),
        ("all", Value::Map(_)) => true,
        ("zero", Value::Integer(number)) => *number == 0,
        ("zero", Value::Float(number)) => *number == 0.0,
        ("positive", Value::Integer(number)) => *number > 0,
        ("positive", Value::Float(number)) => *number > 0.0,
        ("negative", Value::Integer(number)) => *number < 0,
        ("negative", Value::Float(number)) => *number < 0.0,
        ("even", Value::Integer(number)) => number % 2 == 0,
        ("odd", Value::Integer(number)) => number % 2 != 0,
        ("integer" | "finite", Value::Integer(_)) | ("real", Value::Integer(_) | Value::Float(_)) => true,
        ("finite", Value::Float(number)) => number.is_finite(),
        ("infinite", Value::Float(number)) => number.is_infinite(),
        ("nan", Value::Float(number)) => number.is_nan(),
        ("ascii_only", Value::Text(text)) => text.is_ascii(),
        ("valid_encoding", Value::Text(_)) => true,
        ("frozen", value) => !matches!(Class::of(value), Class::Text | Class::List | Class::Map),
        _ => false,
    }
}

/// The last component of a path, as Ruby's `File.basename`.
pub(crate) fn base_name(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit('/').next() {
        Some("") | None => {
            if path.is_empty() {
                ""
            } else {
                "/"
            }
        }
        Some(last) => last,
    }
}
