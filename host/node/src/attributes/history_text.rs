//! Writes the records of a policy's writes as one short text, which is saved between runs, and reads it back.
//!
//! A policy leaves thousands of similar records. So each name and source is stored once, and records refer to it by number.
//! The text is JSON: `[2, [NAME, ..], [[POLICY, COOKBOOK, RECIPE, FILE], ..], [[LEVEL, SOURCE, LINE, TIMES, [NAME, ..], KIND,
//! VALUE], ..]]`, with numbers for levels, sources and names in records, and 0 for an unknown line. The text is parsed only
//! if somebody asks for the records.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Number, Value, json};

use super::history::{Change, History, WriteRecord, WrittenValue};
use super::{Level, path};
use crate::origin::Origin;

/// Version of the text. One without a number has lines in its sources, as `[NAMES, SOURCES, RECORDS]`.
const VERSION: u32 = 2;

/// Policy, cookbook, recipe and file.
type Source = (String, Option<String>, Option<String>, Option<String>);

/// Level, source, line, times, path, kind of change and its value.
type ShortRecord<'text> = (usize, usize, u32, u64, Vec<usize>, &'text str, Scalar<'text>);

/// Version, names, sources and records.
type Text<'text> = (u32, Vec<String>, Vec<Source>, Vec<ShortRecord<'text>>);

/// Names, origins (policy, cookbook, recipe, file and line) and records of the text without a number.
type OlderText<'text> = (
    Vec<String>,
    Vec<(String, Option<String>, Option<String>, Option<String>, Option<u32>)>,
    Vec<(usize, usize, u64, Vec<usize>, &'text str, Scalar<'text>)>,
);

/// The prefix of `KIND` for a value that was merged with earlier ones.
const JOINED: char = '+';

impl History {
    /// Returns as many of the newest records as `fits` accepts, as one text. It leaves out values of the levels that
    /// `is_withheld` names.
    pub fn to_text(&self, is_withheld: impl Fn(Level) -> bool, fits: impl Fn(&str) -> bool) -> String {
        let all = self.all();
        let mut newest = all.as_slice();
        loop {
            let text = text_of(newest, &is_withheld);
            if newest.is_empty() || fits(&text) {
                return text;
            }
            let skipped = newest.len().div_ceil(4);
            newest = newest.get(skipped..).unwrap_or_default();
        }
    }

    /// Reads records back: all, or those about one path. Returns `None` if the text is not in this format.
    pub fn from_text(text: &str, about: Option<&[String]>) -> Option<Self> {
        if !text.starts_with(&format!("[{VERSION},")) {
            return Self::from_older_text(text, about);
        }
        let (_, names, sources, records): Text<'_> = serde_json::from_str(text).ok()?;
        let origin = |(policy, cookbook, recipe, file)| Origin { policy, cookbook, recipe, file, line: None };
        let sources: Vec<Origin> = sources.into_iter().map(origin).collect();
        let mut reading = Reading { names: &names, about, history: Self::default() };
        for (level, source, line, times, steps, kind, value) in records {
            let source = sources.get(source)?;
            let origin = || Origin { line: (line > 0).then_some(line), ..source.clone() };
            reading.add(level, &steps, kind, value, origin, times)?;
        }
        Some(reading.history)
    }

    fn from_older_text(text: &str, about: Option<&[String]>) -> Option<Self> {
        let (names, origins, records): OlderText<'_> = serde_json::from_str(text).ok()?;
        let origin = |(policy, cookbook, recipe, file, line)| Origin { policy, cookbook, recipe, file, line };
        let origins: Vec<Origin> = origins.into_iter().map(origin).collect();
        let mut reading = Reading { names: &names, about, history: Self::default() };
        for (level, origin, times, steps, kind, value) in records {
            let origin = origins.get(origin)?;
            reading.add(level, &steps, kind, value, || origin.clone(), times)?;
        }
        Some(reading.history)
    }
}

/// A value of a record. It is copied only if somebody asks for the record.
enum Scalar<'text> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'text, str>),
    /// The marker of a value that only the policy's code can compute.
    Guest(Value),
}

impl From<Scalar<'_>> for Value {
    fn from(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(value) => Self::Bool(value),
            Scalar::Number(number) => Self::Number(number),
            Scalar::Text(text) => Self::String(text.into_owned()),
            Scalar::Guest(value) => value,
        }
    }
}

impl<'de> Deserialize<'de> for Scalar<'de> {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        value.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a text, a number, true, false or null")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Scalar::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Number::from_f64(value).map(Scalar::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(members)).map(Scalar::Guest)
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(value)))
    }
}

/// A history that is being read.
struct Reading<'a> {
    names: &'a [String],
    about: Option<&'a [String]>,
    history: History,
}

impl Reading<'_> {
    /// Adds a record, or skips it if it is not about the path that was asked for.
    fn add(
        &mut self,
        level: usize,
        steps: &[usize],
        kind: &str,
        value: Scalar<'_>,
        origin: impl FnOnce() -> Origin,
        times: u64,
    ) -> Option<()> {
        let level = *Level::ALL.get(level)?;
        let path = || steps.iter().map(|step| self.names.get(*step).map(String::as_str));
        let is_asked = |about: &[String]| path().zip(about).all(|(one, other)| one == Some(other.as_str()));
        if self.about.is_none_or(is_asked) {
            let path: Vec<&str> = path().collect::<Option<_>>()?;
            self.history.add(level, &path, change_of(kind, value)?, &origin(), times);
        } else {
            self.history.skip();
        }
        Some(())
    }
}

fn text_of(records: &[&WriteRecord], is_withheld: &impl Fn(Level) -> bool) -> String {
    let (mut names, mut name_numbers) = (Vec::new(), HashMap::new());
    let (mut sources, mut source_numbers) = (Vec::new(), HashMap::new());
    let mut short = Vec::with_capacity(records.len());
    for record in records {
        let steps = record.path.iter().map(|step| {
            *name_numbers.entry(step.as_str()).or_insert_with(|| {
                names.push(step.as_str());
                names.len() - 1
            })
        });
        let steps: Vec<usize> = steps.collect();
        let Origin { policy, cookbook, recipe, file, line } = record.origin.as_ref();
        let source = (policy, cookbook, recipe, file);
        let source = *source_numbers.entry(source).or_insert_with(|| {
            sources.push(source);
            sources.len() - 1
        });
        let level = Level::ALL.iter().position(|level| *level == record.level).unwrap_or_default();
        let (kind, value) = kind_of(&record.change, is_withheld(record.level));
        short.push((level, source, line.unwrap_or(0), record.times, steps, kind, value));
    }
    // Texts and numbers can always be written as JSON.
    serde_json::to_string(&(VERSION, names, sources, short)).unwrap_or_default()
}

/// The kind of a change, and its value.
fn kind_of(change: &Change, is_withheld: bool) -> (String, Value) {
    let (written, joined) = match change {
        Change::Removed => return ("r".to_owned(), Value::Null),
        Change::Set(written) => (written, ""),
        Change::Joined(written) => (written, "+"),
    };
    let (kind, value) = match written {
        WrittenValue::Withheld => ("w", Value::Null),
        _ if is_withheld => ("w", Value::Null),
        WrittenValue::Value(value) => ("v", value.clone()),
        WrittenValue::LongText(bytes) => ("t", json!(bytes)),
        WrittenValue::Array(length) => ("a", json!(length)),
        WrittenValue::Object(keys) => ("o", json!(keys)),
    };
    (format!("{joined}{kind}"), value)
}

fn change_of(kind: &str, value: Scalar<'_>) -> Option<Change> {
    let (plain, is_joined) = match kind.strip_prefix(JOINED) {
        Some(plain) => (plain, true),
        None => (kind, false),
    };
    let size = || match &value {
        Scalar::Number(number) => number.as_u64().and_then(|size| usize::try_from(size).ok()),
        _ => None,
    };
    let written = match plain {
        "r" if !is_joined => return Some(Change::Removed),
        "w" => WrittenValue::Withheld,
        "v" => WrittenValue::Value(Some(value.into()).filter(|value| path::kind_of(value) == path::Kind::Scalar)?),
        "t" => WrittenValue::LongText(size()?),
        "a" => WrittenValue::Array(size()?),
        "o" => WrittenValue::Object(size()?),
        _ => return None,
    };
    Some(if is_joined { Change::Joined(written) } else { Change::Set(written) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attributes::guest_values::guest_value;

    fn history() -> History {
        let origin = |line| Origin {
            policy: "p".into(),
            cookbook: Some("c".into()),
            file: Some("a.rb".into()),
            line: Some(line),
            ..Origin::default()
        };
        let mut history = History::default();
        let set = |value: Value| Change::Set(WrittenValue::summary(&value));
        history.add(Level::Default, &["a", "b"], set(json!(1)), &origin(1), 1);
        history.add(Level::Default, &["a", "b"], set(json!("x\"y")), &origin(2), 3);
        history.add(Level::Override, &["a"], set(json!({"k": 1})), &origin(2), 1);
        history.add(Level::Normal, &["z"], Change::Joined(WrittenValue::Array(2)), &origin(3), 1);
        history.add(Level::Normal, &["z", "\u{1}"], Change::Removed, &origin(3), 1);
        history.add(Level::Default, &["t"], set(json!("x".repeat(300))), &Origin::default(), 1);
        for scalar in [json!(-1), json!(1.5), json!(u64::MAX), json!(true), Value::Null] {
            history.add(Level::Override, &["s"], set(scalar), &origin(4), 1);
        }
        let guests = guest_value(7);
        history.add(Level::Override, &["g"], Change::Set(WrittenValue::Value(guests)), &origin(5), 1);
        history
    }

    #[test]
    fn records_come_back_as_they_were() {
        let history = history();
        let text = history.to_text(|_| false, |_| true);
        assert_eq!(History::from_text(&text, None).as_ref(), Some(&history));
        let about = History::from_text(&text, Some(&["a".to_owned(), "b".to_owned()])).unwrap();
        let found: Vec<_> = about.all().into_iter().map(|record| (record.path.join("."), record.times)).collect();
        assert_eq!(found, [("a.b".to_owned(), 1), ("a.b".to_owned(), 3), ("a".to_owned(), 1)]);
        let withheld = History::from_text(&history.to_text(|level| level == Level::Default, |_| true), None).unwrap();
        let values = withheld.all().into_iter().filter(|record| record.level == Level::Default);
        assert!(values.into_iter().all(|record| record.change == Change::Set(WrittenValue::Withheld)));
    }

    #[test]
    fn the_newest_records_are_kept_and_damage_is_noticed() {
        let history = history();
        let whole = history.to_text(|_| false, |_| true);
        let part = history.to_text(|_| false, |text| text.len() < whole.len());
        let kept = History::from_text(&part, None).unwrap();
        let all = history.all();
        assert!(kept.all().len() < all.len() && !kept.all().is_empty());
        assert_eq!(kept.all().last().map(|record| &record.path), all.last().map(|record| &record.path));
        let nothing = history.to_text(|_| false, |_| false);
        assert_eq!(History::from_text(&nothing, None), Some(History::default()));
        let older = r#"[["a"], [["p", "c", null, "a.rb", 7], ["q", null, null, null, null]], [[1, 0, 2, [0], "v", 5], [1, 1, 1, [0], "r", null]]]"#;
        let older = History::from_text(older, None).unwrap();
        let lines: Vec<_> = older.all().into_iter().map(|record| (record.times, record.origin.line)).collect();
        assert_eq!(lines, [(2, Some(7)), (1, None)]);
        for wrong in [
            "",
            "[]",
            "[2, [], []]",
            "[2, [], [], [[0, 0, 1, 1, [], \"r\", null]]]",
            "[2, [], [[\"p\", null, null, null]], [[99, 0, 1, 1, [], \"r\", null]]]",
            "[2, [], [[\"p\", null, null, null]], [[0, 0, 1, 1, [7], \"r\", null]]]",
            "[2, [], [[\"p\", null, null, null]], [[0, 0, 1, 1, [], \"v\", {}]]]",
            "[2, [], [[\"p\", null, null, null]], [[0, 0, 1, 1, [], \"+r\", null]]]",
            "[[], [], [[0, 0, 1, [], \"r\", null]]]",
            "[[], [[\"p\", null, null, null, null]], [[99, 0, 1, [], \"r\", null]]]",
            "[[], [[\"p\", null, null, null, null]], [[0, 0, 1, [7], \"r\", null]]]",
            "[[], [[\"p\", null, null, null, null]], [[0, 0, 1, [], \"v\", {}]]]",
            "[[], [[\"p\", null, null, null, null]], [[0, 0, 1, [], \"+r\", null]]]",
        ] {
            assert_eq!(History::from_text(wrong, None), None, "{wrong}");
        }
    }
}
