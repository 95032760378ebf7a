//! Records of writes as JSON, for keeping them from run to run.
//!
//! One record: `{"level", "path": [..], "times", "by": {"policy", "cookbook"?, "recipe"?, "file"?, "line"?}}` with one
//! of `"value"`, `"text_bytes"`, `"array_length"`, `"object_keys"`, `"withheld": true`, `"removed": true`; and `"joined": true` where it was joined with earlier values.

use serde_json::{Map, Value, json};

use super::history::{Change, History, WriteRecord, WrittenValue};
use super::{Level, path};
use crate::origin::Origin;

impl History {
    /// The records in the order of writing; without their values in the levels that `is_withheld` names.
    pub fn to_json(&self, is_withheld: impl Fn(Level) -> bool) -> Value {
        self.all().into_iter().map(|record| record_to_json(record, is_withheld(record.level))).collect()
    }

    /// Reads records back; `None` where one of them is none.
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

fn record_to_json(record: &WriteRecord, is_withheld: bool) -> Value {
    let mut json = Map::new();
    json.insert("level".to_owned(), json!(record.level.as_str()));
    json.insert("path".to_owned(), json!(record.path));
    json.insert("times".to_owned(), json!(record.times));
    json.insert("by".to_owned(), origin_to_json(&record.origin));
    let (key, value) = match &record.change {
        Change::Removed => ("removed", json!(true)),
        Change::Set(written) | Change::Joined(written) => match written {
            WrittenValue::Withheld => ("withheld", json!(true)),
            _ if is_withheld => ("withheld", json!(true)),
            WrittenValue::Value(value) => ("value", value.clone()),
            WrittenValue::LongText(bytes) => ("text_bytes", json!(bytes)),
            WrittenValue::Array(length) => ("array_length", json!(length)),
            WrittenValue::Object(keys) => ("object_keys", json!(keys)),
        },
    };
    if matches!(record.change, Change::Joined(_)) {
        json.insert("joined".to_owned(), json!(true));
    }
    json.insert(key.to_owned(), value);
    Value::Object(json)
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

fn origin_to_json(origin: &Origin) -> Value {
    let mut json = Map::from_iter([("policy".to_owned(), json!(origin.policy))]);
    for (key, value) in [("cookbook", &origin.cookbook), ("recipe", &origin.recipe), ("file", &origin.file)] {
        if let Some(value) = value {
            json.insert(key.to_owned(), json!(value));
        }
    }
    if let Some(line) = origin.line {
        json.insert("line".to_owned(), json!(line));
    }
    Value::Object(json)
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
