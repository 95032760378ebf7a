//! Makes a [`Property`] of a specification's text. Specifications are constants in the crate, so what is made here is leaked: a
//! test program is over soon.

use schema::property::{Callback, Class, Default, Literal, Matcher, Pattern, Property, Required};
use schema::value::Value;

use super::evaluate;
use super::ruby::{Expression, parse_arguments};

/// Options that say nothing about which values are valid.
const WITHOUT_MEANING_HERE: &[&str] = &[
    "nillable",
    "description",
    "introduced",
    "default_description",
    "skip_docs",
    "instance_variable_name",
    "deprecated",
];

/// Reads the arguments of `property :x, ..` without the name, as `[ String, nil ], default: nil`.
pub(crate) fn property(source: &str) -> Result<Property, String> {
    from_arguments("x", &parse_arguments(source)?)
}

fn from_arguments(name: &'static str, arguments: &[Expression]) -> Result<Property, String> {
    let (bare, options) = match arguments {
        [] => (None, [].as_slice()),
        [Expression::Hash(options)] => (None, options.as_slice()),
        [bare] => (Some(bare), [].as_slice()),
        [bare, Expression::Hash(options)] => (Some(bare), options.as_slice()),
        _ => return Err(format!("unexpected arguments: {arguments:?}")),
    };
    let mut property = Property::new(name, "");
    if let Some(bare) = bare {
        // A specification as the type is taken over; anything else becomes part of `is`.
        match nested(bare)? {
            Some(base) => {
                property = base;
                property.name = name;
            }
            None => property.is = Some(leak(matchers(bare)?)),
        }
    }
    for (key, value) in options {
        let Expression::Literal(Value::Symbol(option) | Value::Text(option)) = key else {
            return Err(format!("no option: {key:?}"));
        };
        set_option(&mut property, option, value)?;
    }
    Ok(property)
}

fn set_option(property: &mut Property, option: &str, value: &Expression) -> Result<(), String> {
    match option {
        "is" => {
            let mut all = property.is.map(<[Matcher]>::to_vec).unwrap_or_default();
            let is_only_nil = property.is.is_some() && *value == Expression::Literal(Value::Nil);
            if !is_only_nil {
                all.extend(matchers(value)?);
            }
            property.is = Some(leak(all));
        }
        "kind_of" => {
            let elements = elements(value);
            let classes = elements.iter().map(|element| match element {
                Expression::Constant(name) => Ok(class(name)),
                other => Err(format!("no class: {other:?}")),
            });
            property.kind_of = Some(leak(classes.collect::<Result<Vec<_>, _>>()?));
        }
        "equal_to" => {
            property.equal_to = Some(leak(elements(value).iter().map(literal).collect::<Result<Vec<_>, _>>()?));
        }
        "regex" => {
            let mut patterns = Vec::new();
            flat_patterns(value, &mut patterns)?;
            property.regex = Some(leak(patterns));
        }
        "callbacks" => property.callbacks = leak(callbacks(value)?),
        "respond_to" => property.respond_to = leak(names(value)?),
        "cannot_be" => property.cannot_be = leak(names(value)?),
        "default" => property.default = Default::Fixed(literal(value)?),
        "name_property" | "name_attribute" if is_true(value) => {
            property.default = Default::Name;
            property.desired_state = false;
        }
        "name_property" | "name_attribute" => {}
        "required" => {
            property.required = match value {
                Expression::Array(_) => Required::For(leak(names(value)?)),
                other if is_true(other) => Required::Always,
                _ => Required::Never,
            };
        }
        "sensitive" => property.sensitive = is_true(value),
        "identity" => property.identity = is_true(value),
        "desired_state" => property.desired_state = is_true(value),
        "validation_message" => match literal(value)? {
            Literal::Text(message) => property.validation_message = Some(message),
            other => return Err(format!("no message: {other:?}")),
        },
        known if WITHOUT_MEANING_HERE.contains(&known) => {}
        unknown => return Err(format!("Validation map has unknown check: {unknown}")),
    }
    Ok(())
}

/// What `is` lists: the list's elements, or the one thing.
fn matchers(value: &Expression) -> Result<Vec<Matcher>, String> {
    let elements = match value {
        Expression::Array(items) => items.as_slice(),
        single => std::slice::from_ref(single),
    };
    elements.iter().map(matcher).collect()
}

fn matcher(value: &Expression) -> Result<Matcher, String> {
    if let Some(property) = nested(value)? {
        return Ok(Matcher::Nested(leak_one(property)));
    }
    match value {
        Expression::Constant(name) => Ok(Matcher::Class(class(name))),
        Expression::Regex(source, flags) => Ok(Matcher::Pattern(leak_pattern(source, flags)?)),
        Expression::Block(parameters, body) => Ok(Matcher::Test(test("#<Proc>", parameters, body))),
        // RSpec's matcher `eq` compares as `==` does.
        Expression::Call(_, name, arguments) if name == "eq" && arguments.len() == 1 => {
            Ok(Matcher::Equal(literal(&arguments[0])?))
        }
        Expression::Range(first, last, exclusive) => {
            let (first, last) = (evaluate::constant(first)?, evaluate::constant(last)?);
            let exclusive = *exclusive;
            let within = move |value: &Value| match (value, &first, &last) {
                (Value::Integer(value), Value::Integer(first), Value::Integer(last)) => {
                    value >= first && (value < last || (!exclusive && value == last))
                }
                (Value::Text(value), Value::Text(first), Value::Text(last)) => {
                    value >= first && (value < last || (!exclusive && value == last))
                }
                _ => false,
            };
            Ok(Matcher::Test(Callback { id: "range", message: "range", test: Box::leak(Box::new(within)) }))
        }
        other => Ok(Matcher::Equal(literal(other)?)),
    }
}

/// `Chef::Property.new(..)`, or the same by another of its names.
fn nested(value: &Expression) -> Result<Option<Property>, String> {
    match value {
        Expression::Call(Some(receiver), method, arguments) if matches!(method.as_str(), "new" | "derive") => {
            match receiver.as_ref() {
                Expression::Constant(name) if name.ends_with("Property") => {
                    let arguments: Vec<Expression> = arguments.clone();
                    from_arguments("property_type", &arguments).map(Some)
                }
                _ => Ok(None),
            }
        }
        Expression::Call(None, name, arguments) if name == "property_type" => {
            from_arguments("property_type", arguments).map(Some)
        }
        _ => Ok(None),
    }
}

fn callbacks(value: &Expression) -> Result<Vec<Callback>, String> {
    let Expression::Hash(pairs) = value else { return Err("Callback list must be a hash!".into()) };
    pairs
        .iter()
        .map(|(message, block)| match (message, block) {
            (Expression::Literal(message), Expression::Block(parameters, body)) => {
                Ok(test(String::leak(message.to_text()), parameters, body))
            }
            other => Err(format!("no callback: {other:?}")),
        })
        .collect()
}

fn test(message: &'static str, parameters: &[String], body: &Expression) -> Callback {
    let (parameters, body) = (parameters.to_vec(), body.clone());
    // A block that raises accepts nothing.
    let accepts = move |value: &Value| evaluate::call(&parameters, &body, value).is_ok_and(|answer| answer.is_truthy());
    Callback { id: "test", message, test: Box::leak(Box::new(accepts)) }
}

/// Ruby's `Array()`: a list's elements, nothing of nil, the pairs of a hash, else the one thing.
fn elements(value: &Expression) -> Vec<Expression> {
    match value {
        Expression::Array(items) => items.clone(),
        Expression::Literal(Value::Nil) => Vec::new(),
        Expression::Hash(pairs) => {
            pairs.iter().map(|(key, entry)| Expression::Array(vec![key.clone(), entry.clone()])).collect()
        }
        single => vec![single.clone()],
    }
}

fn names(value: &Expression) -> Result<Vec<&'static str>, String> {
    elements(value)
        .iter()
        .map(|element| match literal(element)? {
            Literal::Text(name) | Literal::Symbol(name) => Ok(name),
            other => Err(format!("no name: {other:?}")),
        })
        .collect()
}

fn flat_patterns(value: &Expression, patterns: &mut Vec<&'static Pattern>) -> Result<(), String> {
    for element in elements(value) {
        match &element {
            Expression::Regex(source, flags) => patterns.push(leak_pattern(source, flags)?),
            Expression::Array(_) => flat_patterns(&element, patterns)?,
            other => return Err(format!("no regular expression: {other:?}")),
        }
    }
    Ok(())
}

fn is_true(value: &Expression) -> bool {
    evaluate::constant(value).is_ok_and(|value| value.is_truthy())
}

fn literal(value: &Expression) -> Result<Literal, String> {
    Ok(to_literal(evaluate::constant(value)?))
}

fn to_literal(value: Value) -> Literal {
    match value {
        Value::Nil => Literal::Nil,
        Value::Boolean(boolean) => Literal::Boolean(boolean),
        Value::Integer(integer) => Literal::Integer(integer),
        Value::Float(float) => Literal::Float(float),
        Value::Text(text) => Literal::Text(String::leak(text)),
        Value::Symbol(name) => Literal::Symbol(String::leak(name)),
        Value::List(items) => Literal::List(leak(items.into_iter().map(to_literal).collect())),
        Value::Map(pairs) => {
            Literal::Map(leak(pairs.into_iter().map(|(key, entry)| (to_literal(key), to_literal(entry))).collect()))
        }
    }
}

/// A class by its Ruby name.
pub(crate) fn class(name: &str) -> Class {
    match name {
        "String" => Class::Text,
        "Symbol" => Class::Symbol,
        "Integer" | "Fixnum" | "Bignum" => Class::Integer,
        "Float" => Class::Float,
        "Numeric" => Class::Numeric,
        "TrueClass" => Class::True,
        "FalseClass" => Class::False,
        "NilClass" => Class::Nil,
        "Array" => Class::List,
        "Hash" => Class::Map,
        "Comparable" => Class::Comparable,
        "Enumerable" => Class::Enumerable,
        "Object" | "BasicObject" | "Kernel" => Class::Object,
        other => Class::Foreign(String::leak(other.to_owned())),
    }
}

/// A pattern in Ruby's syntax: its anchors stand at lines, `m` lets the dot match line ends, `\h` is a hexadecimal digit.
pub(crate) fn leak_pattern(source: &str, flags: &str) -> Result<&'static Pattern, String> {
    let mut translated = String::from("(?m");
    if flags.contains('i') {
        translated.push('i');
    }
    if flags.contains('m') {
        translated.push('s');
    }
    if flags.contains('x') {
        translated.push('x');
    }
    translated.push(')');
    let mut characters = source.chars();
    while let Some(character) = characters.next() {
        match (character, character == '\\') {
            (_, true) => match characters.next() {
                Some('h') => translated.push_str("[0-9a-fA-F]"),
                Some('H') => translated.push_str("[^0-9a-fA-F]"),
                Some('Z') => translated.push_str("(?:\\n?\\z)"),
                Some('/') => translated.push('/'),
                Some(other) => translated.extend(['\\', other]),
                None => {}
            },
            (plain, false) => translated.push(plain),
        }
    }
    let pattern = Pattern::new(String::leak(format!("/{source}/{flags}")), String::leak(translated));
    if pattern.is_usable() { Ok(leak_one(pattern)) } else { Err(format!("cannot use /{source}/")) }
}

fn leak<T>(items: Vec<T>) -> &'static [T] {
    Box::leak(items.into_boxed_slice())
}

fn leak_one<T>(item: T) -> &'static T {
    Box::leak(Box::new(item))
}
