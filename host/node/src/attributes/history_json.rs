//! Reads records of writes from JSON, the older format: [`super::history_text`] has replaced it, but nodes saved in it are
//! still read.
//!
//! One record: `{"level", "path": [..], "times", "by": {"policy", "cookbook"?, "recipe"?, "file"?, "line"?}}` with one
//! of `"value"`, `"text_bytes"`, `"array_length"`, `"object_keys"`, `"withheld": true`, `"removed": true`; and `"joined": true` where it was joined with earlier values.

use serde_json::{Map, Value};

use super::history::{Change, History, WrittenValue};
use super::{Level, path};
use crate::origin::Origin;

impl History {
    /// Reads records back, or returns `None` if one of them is invalid.
    pub fn from_json(json: &Value) -> Option<Self> {
        let mut history = Self::default();
        for record in json.as_array()? {
            let record = record.as_object()?;
            let level = Level::from_name(record.get("level")?.as_str()?)?;
            let steps: Vec<&str> = record.get("path")?.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
            let times = record.get("times")?.as_u64()?;
            history.add(level, &steps, change_from_json(record)?, &origin_from_json(record.get("by")?)?, times);
        }
        Some(history)
    }
}

fn change_from_json(record: &Map<String, Value>) -> Option<Change> {
    let size = |key: &str| record.get(key).and_then(Value::as_u64).and_then(|size| usize::try_from(size).ok());
    if record.contains_key("removed") {
        return Some(Change::Removed);
    }
    let written = if record.contains_key("withheld") {
        WrittenValue::Withheld
    } else if let Some(value) = record.get("value") {
        if path::kind_of(value) != path::Kind::Scalar {
            return None;
        }
        WrittenValue::Value(value.clone())
    } else if let Some(bytes) = size("text_bytes") {
        WrittenValue::LongText(bytes)
    } else if let Some(length) = size("array_length") {
        WrittenValue::Array(length)
    } else {
        WrittenValue::Object(size("object_keys")?)
    };
    Some(if record.contains_key("joined") { Change::Joined(written) } else { Change::Set(written) })
}

fn origin_from_json(json: &Value) -> Option<Origin> {
    let text = |key: &str| json.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(Origin {
        policy: text("policy")?,
        cookbook: text("cookbook"),
        recipe: text("recipe"),
        file: text("file"),
        line: json.get("line").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok()),
    })
}
