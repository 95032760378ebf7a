//! How an attribute's explanation is shown: each policy's part and every write, with who wins.

use crate::printer::escape_line;
use node::attributes::guest_values::guest_number;
use node::attributes::{Change, WriteRecord, WrittenValue};
use node::object::{NodeExplanation, PolicyPart};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// For people.
pub(super) fn text(attribute: &str, explanation: &NodeExplanation) -> String {
    let shown = |value: &Value| escape_line(&value.to_string());
    let value = explanation.value().map_or_else(|| "not set".to_owned(), shown);
    let mut text = format!("{} = {value}", escape_line(attribute));
    if let Some(fact) = &explanation.automatic {
        let _ = write!(text, "\n  fact of the machine: {}", shown(fact));
    }
    if let Some(normal) = &explanation.normal {
        let _ = write!(text, "\n  normal, which belongs to the node: {}", shown(normal));
    }
    for part in &explanation.policies {
        let touched = part.default.is_some() || part.r#override.is_some() || !part.writes.is_empty();
        if !touched {
            continue;
        }
        let _ = match &part.policy {
            Some(name) => write!(text, "\n  policy {}", escape_line(name)),
            None => write!(text, "\n  the run list without a policy"),
        };
        if let Some(seen) = &part.seen {
            let _ = write!(text, " saw {}", shown(seen));
        }
        for (level, value) in [("default", &part.default), ("override", &part.r#override)] {
            if let Some(value) = value {
                let _ = write!(text, "\n    its {level} levels: {}", shown(value));
            }
        }
        for record in &part.writes {
            let _ = write!(text, "\n    {}", write_line(record));
        }
    }
    text
}

fn write_line(record: &WriteRecord) -> String {
    let path = record.path.join(".");
    let done = match &record.change {
        Change::Set(value) => format!("{} {path} = {}", record.level.as_str(), written(value)),
        Change::Removed => format!("removed {path} from {}", record.level.as_str()),
    };
    let times = if record.times > 1 { format!(" ({} times)", record.times) } else { String::new() };
    escape_line(&format!("{done} by {}{times}", record.origin))
}

fn written(value: &WrittenValue) -> String {
    match value {
        WrittenValue::Value(value) if guest_number(value).is_some() => "a value computed when it is read".to_owned(),
        WrittenValue::Value(value) => value.to_string(),
        WrittenValue::LongText(bytes) => format!("a text of {bytes} bytes"),
        WrittenValue::Array(length) => format!("a list of {length}"),
        WrittenValue::Object(keys) => format!("an object with {keys} keys"),
        WrittenValue::Withheld => "(not kept)".to_owned(),
    }
}

/// For programs: `{attribute, value, automatic, normal, policies: [{policy, seen, default, override, writes}]}`.
pub(super) fn json(attribute: &[String], explanation: &NodeExplanation) -> Value {
    json!({
        "attribute": attribute,
        "value": explanation.value(),
        "automatic": explanation.automatic,
        "normal": explanation.normal,
        "policies": explanation.policies.iter().map(part).collect::<Vec<_>>(),
    })
}

fn part(part: &PolicyPart) -> Value {
    let writes: Vec<_> = part
        .writes
        .iter()
        .map(|record| {
            json!({
                "level": record.level.as_str(),
                "path": record.path,
                "change": match &record.change {
                    Change::Set(WrittenValue::Value(value)) if guest_number(value).is_none() => json!({ "set": value }),
                    Change::Set(value) => json!({ "set_to": written(value) }),
                    Change::Removed => json!("removed"),
                },
                "times": record.times,
                "policy": record.origin.policy,
                "cookbook": record.origin.cookbook,
                "recipe": record.origin.recipe,
                "file": record.origin.file,
                "line": record.origin.line,
            })
        })
        .collect();
    json!({
        "policy": part.policy,
        "seen": part.seen,
        "default": part.default,
        "override": part.r#override,
        "writes": writes,
    })
}
