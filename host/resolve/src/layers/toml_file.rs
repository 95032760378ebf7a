//! TOML, read with the line of each key.

use serde_json::{Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::document::{Budget, DocumentError, Members, Node};

/// Reads a TOML text.
pub(super) fn parse(text: &str) -> Result<Node, DocumentError> {
    let lines = Lines::of(text);
    let parsed = DeTable::parse(text).map_err(|error| {
        let (line, what) = text::toml_fault(text, error.span().map_or(0, |span| span.start), error.message());
        DocumentError::new(u32::try_from(line).unwrap_or(u32::MAX), what.replace('\n', ", "))
    })?;
    let mut budget = Budget::default();
    table(parsed.get_ref(), 1, &lines, &mut budget)
}

/// The offsets in bytes at which lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(ends.map(|(at, _)| at + 1).collect())
    }

    fn at(&self, byte: usize) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= byte) + 1).unwrap_or(u32::MAX)
    }
}

fn table(table: &DeTable<'_>, depth: usize, lines: &Lines, budget: &mut Budget) -> Result<Node, DocumentError> {
    let mut members = Members::default();
    for (key, member) in table {
        let line = lines.at(key.span().start);
        members.add(key.get_ref().to_string(), line, value(member, depth + 1, lines, budget)?)?;
    }
    Ok(members.into_node())
}

fn value(
    spanned: &Spanned<DeValue<'_>>,
    depth: usize,
    lines: &Lines,
    budget: &mut Budget,
) -> Result<Node, DocumentError> {
    let line = lines.at(spanned.span().start);
    budget.take(depth, line)?;
    let wrong = |what: &str| DocumentError::new(line, format!("{what} is not a number that fits"));
    let plain = match spanned.get_ref() {
        DeValue::Table(below) => return table(below, depth, lines, budget),
        DeValue::Array(all) => {
            let all = all.iter().map(|one| value(one, depth + 1, lines, budget));
            return Ok(Node::List(all.collect::<Result<_, _>>()?));
        }
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix());
            Value::from(parsed.map_err(|_| wrong(number.as_str()))?)
        }
        DeValue::Float(number) => {
            let parsed = number.as_str().parse().ok().and_then(Number::from_f64);
            Value::Number(parsed.ok_or_else(|| wrong(number.as_str()))?)
        }
        // Attributes do not have a type for dates, so they become text.
        DeValue::Datetime(moment) => Value::String(moment.to_string()),
    };
    Ok(Node::Plain(plain))
}
