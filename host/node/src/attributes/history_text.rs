//! Records of writes as one short text, for keeping them from run to run.
//!
//! A policy leaves thousands of records that say much the same: so names and origins stand once, and records refer to them. The
//! text is JSON: `[[NAME, ..], [[POLICY, COOKBOOK, RECIPE, FILE, LINE], ..], [[LEVEL, ORIGIN, TIMES, [NAME, ..], KIND, VALUE],
//! ..]]`, with numbers for levels, origins and names in records. Whoever does not ask for it need not take it apart.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::history::{Change, History, WriteRecord, WrittenValue};
use super::{Level, path};
use crate::origin::Origin;

/// Policy, cookbook, recipe, file and line.
type ShortOrigin = (String, Option<String>, Option<String>, Option<String>, Option<u32>);

/// Level, origin, times, path, kind of change and its value.
type ShortRecord = (usize, usize, u64, Vec<usize>, String, Value);

/// Names, origins and records.
type Text = (Vec<String>, Vec<ShortOrigin>, Vec<ShortRecord>);

/// What begins the kind of a value that was joined with earlier ones.
const JOINED: char = '+';

impl History {
    /// The newest records as a text that `fits`; without their values in the levels that `is_withheld` names.
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

    /// Reads records back: all, or those that bear on a path. `None`: it is not such a text.
    pub fn from_text(text: &str, about: Option<&[String]>) -> Option<Self> {
        let (names, origins, records): Text = serde_json::from_str(text).ok()?;
        let origin =
            |(policy, cookbook, recipe, file, line): ShortOrigin| Origin { policy, cookbook, recipe, file, line };
        let origins: Vec<Origin> = origins.into_iter().map(origin).collect();
        let mut history = Self::default();
        for (level, origin, times, steps, kind, value) in records {
            let level = *Level::ALL.get(level)?;
            let origin = origins.get(origin)?;
            let path: Vec<&str> =
                steps.into_iter().map(|step| names.get(step).map(String::as_str)).collect::<Option<_>>()?;
            let change = change_of(&kind, value)?;
            if about.is_none_or(|about| path.iter().zip(about).all(|(one, other)| one == other)) {
                history.add(level, &path, change, origin, times);
            } else {
                history.skip();
            }
        }
        Some(history)
    }
}

fn text_of(records: &[&WriteRecord], is_withheld: &impl Fn(Level) -> bool) -> String {
    let (mut names, mut name_numbers) = (Vec::new(), HashMap::new());
    let (mut origins, mut origin_numbers) = (Vec::new(), HashMap::new());
    let mut short = Vec::with_capacity(records.len());
    for record in records {
        let steps = record.path.iter().map(|step| {
            *name_numbers.entry(step.as_str()).or_insert_with(|| {
                names.push(step.as_str());
                names.len() - 1
            })
        });
        let steps: Vec<usize> = steps.collect();
        let origin = *origin_numbers.entry(record.origin.as_ref()).or_insert_with(|| {
            let Origin { policy, cookbook, recipe, file, line } = record.origin.as_ref();
            origins.push(json!([policy, cookbook, recipe, file, line]));
            origins.len() - 1
        });
        let level = Level::ALL.iter().position(|level| *level == record.level).unwrap_or_default();
        let (kind, value) = kind_of(&record.change, is_withheld(record.level));
        short.push(json!([level, origin, record.times, steps, kind, value]));
    }
    json!([names, origins, short]).to_string()
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

fn change_of(kind: &str, value: Value) -> Option<Change> {
    let (plain, is_joined) = match kind.strip_prefix(JOINED) {
        Some(plain) => (plain, true),
        None => (kind, false),
    };
    let size = || value.as_u64().and_then(|size| usize::try_from(size).ok());
    let written = match plain {
        "r" if !is_joined => return Some(Change::Removed),
        "w" => WrittenValue::Withheld,
        "v" if path::kind_of(&value) == path::Kind::Scalar => WrittenValue::Value(value),
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
        for wrong in [
            "",
            "[]",
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
