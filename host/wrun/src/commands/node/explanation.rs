//! Shows the explanation of an attribute: for each policy, the value that it saw, and which writes won or lost.

use crate::printer::Tone;
use crate::table::Table;
use crate::terminal;
use node::attributes::guest_values::guest_number;
use node::attributes::{Change, Level, WrittenValue};
use node::object::{JudgedWrite, NodeExplanation, PolicyPart};
use node::origin::Origin;
use serde_json::{Value, json};
use std::fmt::Write as _;
use text::escape_line;

/// The indentation of a write's row.
const MARGIN: &str = "    ";

/// Largest number of characters of a value in one line.
const SHOWN_VALUE: usize = 60;

/// Returns the explanation as text for people. `keys`: the attribute's path.
pub(super) fn text(attribute: &str, keys: &[String], explanation: &NodeExplanation) -> String {
    let shown = |value: &Value| escape_line(&value.to_string());
    let value = explanation.value().map_or_else(|| "not set".to_owned(), shown);
    let mut text = format!("{} = {value}", escape_line(attribute));
    if let Some(fact) = &explanation.automatic {
        let _ = write!(text, "\n  fact of the machine: {}", shown(fact));
    }
    if let Some(normal) = &explanation.normal {
        let _ = write!(text, "\n  normal, which belongs to the node: {}", shown(normal));
    }
    for (at, part) in explanation.policies.iter().enumerate() {
        if part.default.is_none() && part.r#override.is_none() && part.writes.is_empty() {
            continue;
        }
        let _ = match &part.policy {
            Some(name) => write!(text, "\n  policy {}", escape_line(name)),
            None => write!(text, "\n  the run list without a policy"),
        };
        let seen =
            part.seen.as_ref().map_or_else(|| "did not see it".to_owned(), |seen| format!("saw {}", shown(seen)));
        let _ = write!(text, " {seen}");
        if let Some(now) = &part.changed_to {
            let now = now.as_ref().map_or_else(|| "it is gone".to_owned(), |now| format!("it is {}", shown(now)));
            let _ = write!(text, "; a `normal` attribute was changed since, and in the next run {now}");
        }
        let judged = explanation.judged(keys, at);
        let mut table = Table::new();
        let has_members = judged.iter().any(|write| write.record.path.len() > keys.len());
        let writes = judged.iter().filter(|write| !makes_room(keys, has_members, write));
        writes.for_each(|write| table.row(Tone::Plain, row(keys, write)));
        for (_, line) in table.lines(terminal::columns().map(|columns| columns.saturating_sub(MARGIN.len()))) {
            let _ = write!(text, "\n{MARGIN}{line}");
        }
    }
    text
}

/// Returns whether a write only created an empty object for the values below, as Ruby does for `default['web']['port'] = 80`:
/// a parent of the attribute, or the attribute itself if the writes of its members are shown.
fn makes_room(keys: &[String], has_members: bool, write: &JudgedWrite<'_>) -> bool {
    let record = write.record;
    let is_around = record.path.len() < keys.len() || (has_members && record.path.len() == keys.len());
    is_around && matches!(record.change, Change::Set(WrittenValue::Object(0)))
}

/// Returns the verdict, value, level, and place of a write.
fn row(keys: &[String], write: &JudgedWrite<'_>) -> [String; 4] {
    let record = write.record;
    let what = match &record.change {
        Change::Set(value) | Change::Joined(value) => written(value),
        Change::Removed => String::new(),
    };
    // For a write to a parent or a member of the attribute, the row includes the path.
    let what = if record.path == keys { what } else { format!("{} = {what}", record.path.join(".")) };
    let what = match what.char_indices().nth(SHOWN_VALUE) {
        Some((end, _)) => format!("{}..", what.get(..end).unwrap_or_default()),
        None => what,
    };
    let level = match write.level {
        Level::Inherited => format!("{} of policy {}", record.level, record.origin.policy),
        level => level.to_string(),
    };
    let times = if record.times > 1 { format!(" ({} times)", record.times) } else { String::new() };
    [write.verdict.as_str().to_owned(), what, level, format!("{}{times}", place(record.level, &record.origin))]
}

/// Returns whether a layer made the write, rather than a cookbook at the same level.
fn is_of_layer(level: Level, origin: &Origin) -> bool {
    matches!(level, Level::EnvDefault | Level::EnvOverride) && origin.cookbook.is_none()
}

/// Returns the role that made the write. Policy names contain no brackets, so the two cannot be confused.
fn role(origin: &Origin) -> Option<&str> {
    origin.policy.strip_prefix("role[")?.strip_suffix(']')
}

/// Returns `cookbook/file:line`, or the known parts of it. For a policy's own file, it includes the policy.
fn place(level: Level, origin: &Origin) -> String {
    let line = origin.line.map(|line| format!(":{line}")).unwrap_or_default();
    if is_of_layer(level, origin) {
        let file = origin.file.as_ref().map(|file| format!(" ({file}{line})")).unwrap_or_default();
        return format!("layer {}{file}", origin.policy);
    }
    if let Some(role) = role(origin) {
        let file = origin.file.as_ref().map(|file| format!(" ({file})")).unwrap_or_default();
        return format!("role {role}{file}");
    }
    match (origin.place(), &origin.cookbook, &origin.file) {
        (Some(place), ..) => place,
        (None, _, Some(file)) => format!("{file}{line} of policy {}", origin.policy),
        (None, Some(cookbook), None) => format!("cookbook {cookbook}"),
        (None, None, None) => origin.policy.clone(),
    }
}

fn written(value: &WrittenValue) -> String {
    match value {
        WrittenValue::Value(value) if guest_number(value).is_some() => "a value computed when it is read".to_owned(),
        WrittenValue::Value(value) => value.to_string(),
        WrittenValue::LongText(bytes) => format!("a text of {bytes} bytes"),
        WrittenValue::Array(1) => "a list of 1 element".to_owned(),
        WrittenValue::Array(length) => format!("a list of {length} elements"),
        WrittenValue::Object(0) => "an empty object".to_owned(),
        WrittenValue::Object(1) => "an object with 1 key".to_owned(),
        WrittenValue::Object(keys) => format!("an object with {keys} keys"),
        WrittenValue::Withheld => "(not kept)".to_owned(),
    }
}

/// Returns the explanation as JSON for programs: `{attribute, value, automatic, normal, layers_changed, policies: [{policy,
/// seen, changed, default, override, writes}]}`. `writes` are those that the policy saw, the strongest first; `verdict` is
/// `won`, `merged`, `lost`, `removed` or `hidden`. `changed`: an operator changed `normal` attributes since the policy saw the
/// attribute. The next run will see a different value, which is in `value`.
pub(super) fn json(attribute: &[String], explanation: &NodeExplanation, layers_changed: &[String]) -> Value {
    let parts = explanation.policies.iter().enumerate();
    json!({
        "attribute": attribute,
        "value": explanation.value(),
        "automatic": explanation.automatic,
        "normal": explanation.normal,
        "layers_changed": layers_changed,
        "policies": parts.map(|(at, one)| part(one, &explanation.judged(attribute, at))).collect::<Vec<_>>(),
    })
}

fn part(part: &PolicyPart, judged: &[JudgedWrite<'_>]) -> Value {
    let writes: Vec<_> = judged
        .iter()
        .map(|write| {
            let record = write.record;
            json!({
                "verdict": write.verdict.as_str(),
                "level": record.level.as_str(),
                "path": record.path,
                "change": match &record.change {
                    Change::Set(WrittenValue::Value(value)) if guest_number(value).is_none() => json!({ "set": value }),
                    Change::Joined(WrittenValue::Value(value)) if guest_number(value).is_none() => json!({ "joined": value }),
                    Change::Joined(value) => json!({ "joined_with": written(value) }),
                    Change::Set(value) => json!({ "set_to": written(value) }),
                    Change::Removed => json!("removed"),
                },
                "times": record.times,
                "policy": (!is_of_layer(record.level, &record.origin) && role(&record.origin).is_none()).then_some(&record.origin.policy),
                "role": role(&record.origin),
                "layer": is_of_layer(record.level, &record.origin).then_some(&record.origin.policy),
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
        "changed": part.changed_to.is_some(),
        "default": part.default,
        "override": part.r#override,
        "writes": writes,
    })
}
