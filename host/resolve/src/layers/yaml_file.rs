//! YAML 1.2 with its core schema, read with the line of each key.

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};
use serde_json::{Number, Value};

use super::document::{Budget, DocumentError, Members, Node};

/// Reads a YAML text of one document.
pub(super) fn parse(text: &str) -> Result<Node, DocumentError> {
    let mut reader = Reader { parser: Parser::new_from_str(text), anchors: HashMap::new(), budget: Budget::default() };
    let mut document = None;
    loop {
        match reader.next()? {
            (Event::StreamEnd, _) => return document.ok_or_else(|| DocumentError::new(1, "the file has no document")),
            (Event::Nothing | Event::StreamStart | Event::DocumentEnd, _) => {}
            (Event::DocumentStart(_), span) if document.is_some() => {
                return Err(DocumentError::new(line_of(&span), "the file has more than one document"));
            }
            (Event::DocumentStart(_), _) => {
                let (event, span) = reader.next()?;
                document = Some(reader.node(event, &span, 1)?);
            }
            (_, span) => return Err(DocumentError::new(line_of(&span), "a document must begin here")),
        }
    }
}

fn line_of(span: &Span) -> u32 {
    u32::try_from(span.start.line()).unwrap_or(u32::MAX)
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// Values that aliases stand for, by the number of their anchor.
    anchors: HashMap<usize, Node>,
    budget: Budget,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), DocumentError> {
        match self.parser.next_event() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => {
                let line = u32::try_from(error.marker().line()).unwrap_or(u32::MAX);
                Err(DocumentError::new(line, error.info()))
            }
            None => Err(DocumentError::new(0, "the document ends too early")),
        }
    }

    /// Reads the value that begins with an event.
    fn node(&mut self, event: Event<'a>, span: &Span, depth: usize) -> Result<Node, DocumentError> {
        let line = line_of(span);
        self.budget.take(depth, line)?;
        let (node, anchor) = match event {
            Event::Alias(anchor) => {
                let unknown = || DocumentError::new(line, "an alias must follow the whole value that it stands for");
                let node = self.anchors.get(&anchor).ok_or_else(unknown)?;
                // The value is counted before it is copied, because aliases of aliases grow fast.
                self.budget.take_all(node, depth, line)?;
                return Ok(node.clone());
            }
            Event::Scalar(text, style, anchor, tag) => {
                (Node::Plain(scalar(&text, style, tag.as_deref(), line)?), anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                refuse_tag(tag.as_ref(), "seq", line)?;
                let mut all = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break,
                        (event, span) => all.push(self.node(event, &span, depth + 1)?),
                    }
                }
                (Node::List(all), anchor)
            }
            Event::MappingStart(anchor, tag) => {
                refuse_tag(tag.as_ref(), "map", line)?;
                let mut members = Members::default();
                loop {
                    let (event, span) = self.next()?;
                    if matches!(event, Event::MappingEnd) {
                        break;
                    }
                    let line = line_of(&span);
                    let key = key(event, line)?;
                    let (event, span) = self.next()?;
                    members.add(key, line, self.node(event, &span, depth + 1)?)?;
                }
                (members.into_node(), anchor)
            }
            _ => return Err(DocumentError::new(line, "a value must follow")),
        };
        if anchor > 0 {
            self.budget.take_all(&node, depth, line)?;
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }
}

fn key(event: Event<'_>, line: u32) -> Result<String, DocumentError> {
    match event {
        Event::Scalar(text, style, _, _) if style == ScalarStyle::Plain && text == "<<" => {
            Err(DocumentError::new(line, "merge keys (<<) are not part of YAML 1.2: write the keys themselves"))
        }
        Event::Scalar(text, ..) => Ok(text.into_owned()),
        _ => Err(DocumentError::new(line, "a key must be text")),
    }
}

/// Refuses a tag other than the core schema's for this kind of value.
fn refuse_tag(tag: Option<&Cow<'_, Tag>>, wanted: &str, line: u32) -> Result<(), DocumentError> {
    match tag {
        Some(tag) if !(tag.is_yaml_core_schema() && tag.suffix == wanted) => {
            Err(DocumentError::new(line, format!("the tag {}{} is not known", tag.handle, tag.suffix)))
        }
        _ => Ok(()),
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, line: u32) -> Result<Value, DocumentError> {
    let plain = || plain_value(text, line);
    let Some(tag) = tag else {
        return if style == ScalarStyle::Plain { plain() } else { Ok(Value::String(text.to_owned())) };
    };
    let value = match tag.suffix.as_str() {
        _ if tag.handle == "!" && tag.suffix.is_empty() => return Ok(Value::String(text.to_owned())),
        "str" => return Ok(Value::String(text.to_owned())),
        _ => plain()?,
    };
    let fits = match (tag.suffix.as_str(), &value) {
        ("int", Value::Number(number)) => !number.is_f64(),
        ("float", Value::Number(_)) | ("bool", Value::Bool(_)) | ("null", Value::Null) => true,
        _ => false,
    };
    if tag.is_yaml_core_schema() && fits {
        return Ok(value);
    }
    Err(DocumentError::new(line, format!("{text:?} is not a value of the tag {}{}", tag.handle, tag.suffix)))
}

/// The value of a text without quotation marks.
fn plain_value(text: &str, line: u32) -> Result<Value, DocumentError> {
    let no_number = || DocumentError::new(line, format!("{text} is not a number that fits"));
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_negative = text.starts_with('-');
    let has_digits = |digits: &str, radix: u32| !digits.is_empty() && digits.chars().all(|one| one.is_digit(radix));
    let radix = [("0o", 8), ("0x", 16)].into_iter().find_map(|(prefix, radix)| {
        let digits = text.strip_prefix(prefix)?;
        has_digits(digits, radix).then_some((digits, radix))
    });
    if let Some((digits, radix)) = radix {
        return i64::from_str_radix(digits, radix).map(Value::from).map_err(|_| no_number());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        _ => {}
    }
    if has_digits(unsigned, 10) {
        let digits = if is_negative { text } else { unsigned };
        return match (digits.parse::<i64>(), digits.parse::<u64>()) {
            (Ok(number), _) => Ok(Value::from(number)),
            (_, Ok(number)) => Ok(Value::from(number)),
            _ => Err(no_number()),
        };
    }
    let is_infinite = matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN");
    if is_infinite {
        return Err(no_number());
    }
    let is_float = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && unsigned.contains(|one: char| one.is_ascii_digit())
        && unsigned.chars().all(|one| one.is_ascii_digit() || ".eE+-".contains(one));
    match text.parse::<f64>() {
        Ok(number) if is_float => Number::from_f64(number).map(Value::Number).ok_or_else(no_number),
        _ => Ok(Value::String(text.to_owned())),
    }
}
