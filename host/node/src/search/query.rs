//! A query, and what it finds.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::Value;
use thiserror::Error;

use super::document::Document;
use super::meter::Meter;
use super::parser::{self, Wrong};
use super::words::Pattern;

/// The field in which terms without a field are looked for.
const DEFAULT_FIELD: &str = "text";

/// Characters of a query that an error shows.
const SHOWN: usize = 1_000;

/// The reason why a query cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid search query: '{query}'{}: {why}", at.map(|at| format!(", at character {at}")).unwrap_or_default())]
pub struct BadQuery {
    query: String,
    at: Option<usize>,
    why: String,
}

/// A query in Chef's syntax.
#[derive(Debug)]
pub struct Query {
    expression: Expression,
    fields: Fields,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    /// `*:*`, which finds everything.
    Everything,
    Words(Pattern),
    Range {
        from: Option<Bound>,
        to: Option<Bound>,
    },
    Not(Box<Self>),
    Both(Box<Self>, Operator, Box<Self>),
    Field(Pattern, Box<Self>),
    Group(Box<Self>),
}

/// One end of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) text: String,
    /// Whether the bound itself is in the range.
    pub(super) is_inside: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operator {
    Or,
    And,
    /// `^`, a weight; it decides nothing.
    Boost,
}

/// The names of the fields that a query asks for.
#[derive(Debug, Default)]
pub(super) struct Fields {
    names: HashSet<String>,
    patterns: Vec<Pattern>,
}

impl Fields {
    /// Tells whether a field is asked for.
    ///
    /// # Errors
    /// Nobody pays for it.
    pub(super) fn has<E>(&self, name: &str, meter: &mut Meter<'_, E>) -> Result<bool, E> {
        meter.step(name.len() as u64 + 1)?;
        if self.names.contains(name) {
            return Ok(true);
        }
        for pattern in &self.patterns {
            if pattern.matches(name, meter)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn of(expression: &Expression) -> Self {
        let mut fields = Self { names: HashSet::from([DEFAULT_FIELD.to_owned()]), patterns: vec![] };
        fields.add(expression);
        fields
    }

    fn add(&mut self, expression: &Expression) {
        match expression {
            Expression::Field(field, _) => match field.literal() {
                Some(name) => drop(self.names.insert(name)),
                None if self.patterns.contains(field) => {}
                None => self.patterns.push(field.clone()),
            },
            Expression::Not(inner) | Expression::Group(inner) => self.add(inner),
            Expression::Both(left, _, right) => {
                self.add(left);
                self.add(right);
            }
            Expression::Everything | Expression::Words(_) | Expression::Range { .. } => {}
        }
    }
}

impl Query {
    /// Parses the text of a query.
    ///
    /// # Errors
    /// It is malformed; the text says where.
    pub fn parse(text: &str) -> Result<Self, BadQuery> {
        let bad = |Wrong { at, why }| BadQuery { query: text.chars().take(SHOWN).collect(), at, why };
        let expression = parser::parse(text).map_err(bad)?;
        Ok(Self { fields: Fields::of(&expression), expression })
    }

    /// Tells whether the query finds an object of an index. It calls `pay` with the units of work before it does them; a unit
    /// is 64 steps. If `pay` fails, the search ends.
    ///
    /// # Errors
    /// The reason why `pay` refuses.
    pub fn finds<E>(
        &self,
        index: &str,
        name: &str,
        object: &Value,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<bool, E> {
        if self.expression == Expression::Everything {
            return Ok(true);
        }
        let meter = &mut Meter::new(pay);
        let document = Document::of(index, name, object, &self.fields, meter)?;
        self.expression.is_true(&document, meter)
    }
}

/// Widens a query without a field name to the usual fields, as `knife search` does: a node is searched by name, tags, roles
/// and so on.
pub fn widened(index: &str, query: &str) -> String {
    if query.contains(':') {
        return query.to_owned();
    }
    let fields: &[&str] = match index {
        "node" => &["name", "tags", "roles", "fqdn", "addresses", "policy_name", "policy_group"],
        "role" | "environment" | "client" => &["name"],
        _ => &["id"],
    };
    fields.iter().map(|field| format!("{field}:*{query}*")).collect::<Vec<_>>().join(" OR ")
}

impl Expression {
    fn is_true<E>(&self, document: &Document, meter: &mut Meter<'_, E>) -> Result<bool, E> {
        Ok(match self {
            Self::Everything => true,
            Self::Words(_) | Self::Range { .. } => self.holds(&refer(document.values(DEFAULT_FIELD)), meter)?,
            Self::Not(inner) => !inner.is_true(document, meter)?,
            Self::Group(inner) | Self::Both(inner, Operator::Boost, _) => inner.is_true(document, meter)?,
            Self::Both(left, Operator::And, right) => {
                left.is_true(document, meter)? && right.is_true(document, meter)?
            }
            Self::Both(left, Operator::Or, right) => {
                left.is_true(document, meter)? || right.is_true(document, meter)?
            }
            Self::Field(field, value) => {
                if let Some(name) = field.literal() {
                    return value.holds(&refer(document.values(&name)), meter);
                }
                let mut all = vec![];
                for (name, values) in document.fields() {
                    if field.matches(name, meter)? {
                        meter.step(values.len() as u64)?;
                        all.extend(refer(values));
                    }
                }
                value.holds(&all, meter)?
            }
        })
    }

    /// Tells whether one of a field's values matches.
    fn holds<E>(&self, values: &[&str], meter: &mut Meter<'_, E>) -> Result<bool, E> {
        match self {
            Self::Words(pattern) => {
                for value in values {
                    if pattern.matches(value, meter)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Range { from, to } => {
                for value in values {
                    meter.step(value.len() as u64 + 1)?;
                    if is_between(value, from.as_ref(), to.as_ref()) {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Not(inner) => Ok(!inner.holds(values, meter)?),
            Self::Group(inner) | Self::Both(inner, Operator::Boost, _) => inner.holds(values, meter),
            Self::Both(left, Operator::And, right) => Ok(left.holds(values, meter)? && right.holds(values, meter)?),
            Self::Both(left, Operator::Or, right) => Ok(left.holds(values, meter)? || right.holds(values, meter)?),
            Self::Everything | Self::Field(..) => Ok(false),
        }
    }
}

fn refer(values: &[String]) -> Vec<&str> {
    values.iter().map(String::as_str).collect()
}

/// Tells whether a value is in a range. Numbers are compared as numbers, all else as text.
fn is_between(value: &str, from: Option<&Bound>, to: Option<&Bound>) -> bool {
    let compared = |bound: &Bound| match (number(value), number(&bound.text)) {
        (Some(value), Some(bound)) => value.total_cmp(&bound),
        _ => value.cmp(&bound.text),
    };
    let fits = |bound: Option<&Bound>, wanted: Ordering| {
        bound.is_none_or(|bound| match compared(bound) {
            Ordering::Equal => bound.is_inside,
            other => other == wanted,
        })
    };
    fits(from, Ordering::Greater) && fits(to, Ordering::Less)
}

fn number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse().ok().filter(|_| is_plain)
}
