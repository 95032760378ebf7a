//! What the vectors do not have: limits, guest values, records and explanations, arrays on the way.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::guest_values::{GUEST_VALUE_KEY, guest_value};
use super::limits::{MAX_BYTES, MAX_DEPTH, MAX_KEY_BYTES, MAX_PATH_STEPS, MAX_VALUES};
use super::{AttributeError, Attributes, GuestValue, Level, Outcome, Shape, WrittenValue};
use crate::origin::Origin;

fn origin() -> Origin {
    Origin { cookbook: Some("c".to_owned()), line: Some(1), ..Origin::policy("p") }
}

fn attributes(levels: &[(Level, Value)]) -> Attributes {
    let mut attributes = Attributes::new();
    for (level, data) in levels {
        attributes.set_level(*level, data.as_object().cloned().unwrap(), &origin()).unwrap();
    }
    attributes
}

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(1), |value, _| json!([value]))
}

/// A refused write changes nothing: neither a value, nor the version, nor the records.
#[track_caller]
fn refused(path: &[&str], value: Value, expect: impl Fn(&AttributeError) -> bool) {
    let mut attributes = attributes(&[(Level::Default, json!({"a": {"b": [1]}}))]);
    let (version, records) = (attributes.version(), attributes.history().all().len());
    let error = attributes.write(Level::Default, path, value.clone(), &origin()).unwrap_err();
    assert!(expect(&error), "{error:?}");
    attributes.force_default(path, value, &origin()).unwrap_err();
    assert_eq!(*attributes.level(Level::Default), json!({"a": {"b": [1]}}));
    assert_eq!((attributes.version(), attributes.history().all().len()), (version, records));
}

#[test]
fn limits_are_checked_before_anything_changes() {
    refused(&[], json!(1), |error| *error == AttributeError::EmptyPath);
    refused(&["x"; MAX_PATH_STEPS + 1], json!(1), |error| matches!(error, AttributeError::PathTooLong { .. }));
    refused(&[&"k".repeat(MAX_KEY_BYTES + 1)], json!(1), |error| matches!(error, AttributeError::KeyTooLong { .. }));
    let long_key = Value::Object(Map::from_iter([("k".repeat(MAX_KEY_BYTES + 1), json!(1))]));
    refused(&["a"], long_key, |error| matches!(error, AttributeError::KeyTooLong { .. }));
    refused(&["a"], deep(MAX_DEPTH), |error| matches!(error, AttributeError::TooDeep { .. }));
    let text = "x".repeat(usize::try_from(MAX_BYTES).unwrap() + 1);
    refused(&["new"], json!(text), |error| matches!(error, AttributeError::TooManyBytes { .. }));
    refused(&["a", "b", "99999999999999999999"], json!({GUEST_VALUE_KEY: "x"}), |error| {
        matches!(error, AttributeError::GuestValueNotAccepted { .. })
    });
    refused(&["a", GUEST_VALUE_KEY], json!(1), |error| matches!(error, AttributeError::GuestValueNotAccepted { .. }));
}

#[test]
fn an_index_far_behind_the_end_is_refused() {
    let mut attributes = attributes(&[(Level::Default, json!({"list": [1]}))]);
    for index in [MAX_VALUES + 1, u64::MAX] {
        let error = attributes.write(Level::Default, &["list", &index.to_string()], json!(1), &origin()).unwrap_err();
        assert!(matches!(error, AttributeError::TooManyValues { .. }), "{error:?}");
    }
    assert_eq!(attributes.read(&["list"]), Some(json!([1])));
}

#[test]
fn a_value_at_the_depth_limit_is_accepted() {
    let mut attributes = Attributes::new();
    attributes.write(Level::Default, &["a"], deep(MAX_DEPTH - 1), &origin()).unwrap();
}

#[test]
fn writing_the_same_again_and_again_never_reaches_a_limit() {
    let mut attributes = Attributes::new();
    let text = "x".repeat(1_000_000);
    for round in 0..200 {
        let value = json!({"text": text, "list": [round, {}]});
        attributes.write(Level::Default, &["a", "b", "c"], value, &origin()).unwrap();
        attributes.write(Level::Default, &["a", "b"], json!({}), &origin()).unwrap();
        attributes.write(Level::Default, &["a", "b", "x", "y"], json!(text), &origin()).unwrap();
        attributes.unlink(Level::Default, &["a", "b", "x"], &origin()).unwrap();
        attributes.write(Level::Default, &["a", "b"], json!("scalar"), &origin()).unwrap();
    }
    assert!(attributes.history().all().len() < 100, "records of a loop are kept short");
}

#[test]
fn many_small_values_reach_the_limit() {
    let mut attributes = Attributes::new();
    let chunk = Value::Array(vec![json!(0); 100_000]);
    let mut written = 0;
    while attributes.write(Level::Default, &[written.to_string()], chunk.clone(), &origin()).is_ok() {
        written += 1;
        assert!(written <= MAX_VALUES / 100_000);
    }
    assert_eq!(written, 9);
}

#[test]
fn arrays_are_read_and_written_by_index() {
    let mut attributes = attributes(&[(Level::Default, json!({"list": [{"x": 1}, 2]}))]);
    assert_eq!(attributes.read(&["list", "0", "x"]), Some(json!(1)));
    assert_eq!(attributes.read(&["list", "-1"]), Some(json!(2)));
    assert_eq!(attributes.read(&["list", "2"]), None);
    assert_eq!(attributes.read(&["list", "x"]), None);
    attributes.write(Level::Default, &["list", "0", "x"], json!(9), &origin()).unwrap();
    attributes.write(Level::Default, &["list", "3", "y"], json!(1), &origin()).unwrap();
    assert_eq!(attributes.read(&["list"]), Some(json!([{"x": 9}, 2, null, {"y": 1}])));
    attributes.write(Level::RoleDefault, &["list"], json!([2, 5]), &origin()).unwrap();
    assert_eq!(attributes.read(&["list", "4"]), Some(json!(5)), "united with another level's");
    assert_eq!(attributes.unlink(Level::RoleDefault, &["list", "5"], &origin()), Ok(Some(json!(5))), "by value");
    attributes.write(Level::Default, &["list", "key"], json!(1), &origin()).unwrap();
    assert_eq!(
        attributes.read_level(Level::Default, &["list"]).as_deref(),
        Some(&json!({"key": 1})),
        "no index: replaced"
    );
}

#[test]
fn strict_writes_do_not_replace() {
    let mut attributes = attributes(&[(Level::Default, json!({"a": {"b": 1}, "list": [1]}))]);
    for path in [&["a", "b", "c"][..], &["list", "x"], &["list", "5", "x"]] {
        let error = attributes.write_strict(Level::Default, path, json!(1), &origin()).unwrap_err();
        assert_eq!(error.kind(), errors::ErrorKind::AttributeTypeMismatch, "{path:?}");
    }
    attributes.write_strict(Level::Default, &["a", "new", "c"], json!(1), &origin()).unwrap();
    attributes.write_strict(Level::Default, &["list", "1"], json!(2), &origin()).unwrap();
    assert_eq!(*attributes.level(Level::Default), json!({"a": {"b": 1, "new": {"c": 1}}, "list": [1, 2]}));
}

#[test]
fn shapes_need_no_values() {
    let attributes = attributes(&[
        (Level::Default, json!({"a": {"x": 1, "y": 2}, "list": [1, 2], "hidden": {"x": 1}})),
        (Level::RoleDefault, json!({"list": [2, 3]})),
        (Level::Override, json!({"a": {"y": 3, "z": 4}, "hidden": 1})),
    ]);
    assert_eq!(attributes.shape(&["a"]), Some(Shape::Object(vec!["x".into(), "y".into(), "z".into()])));
    assert_eq!(attributes.shape(&["list"]), Some(Shape::Array(3)));
    assert_eq!(attributes.shape(&["hidden"]), Some(Shape::Scalar));
    assert_eq!(attributes.shape(&["hidden", "x"]), None);
    assert_eq!(attributes.shape(&["list", "0"]), Some(Shape::Scalar));
}

#[test]
fn guest_values_are_leaves_and_are_frozen_one_by_one() {
    let mut attributes = attributes(&[(Level::Default, json!({"a": {"x": 1}}))]);
    attributes.write(Level::Override, &["a"], guest_value(3), &origin()).unwrap();
    assert_eq!(attributes.read(&["a"]), Some(guest_value(3)), "hides the object below it");
    assert_eq!(attributes.shape(&["a"]), Some(Shape::Scalar));
    assert_eq!(attributes.read(&["a", "x"]), None);
    let found = attributes.guest_values();
    assert_eq!(found, [GuestValue { level: Level::Override, path: vec!["a".into()], number: 3 }]);
    let refused = attributes.freeze(Level::Override, &["a"], json!([guest_value(1)])).unwrap_err();
    assert!(matches!(refused, AttributeError::GuestValueNotAccepted { .. }));
    attributes.freeze(Level::Override, &["a"], json!({"y": 2})).unwrap();
    assert_eq!(attributes.read(&["a"]), Some(json!({"x": 1, "y": 2})));
    assert!(matches!(attributes.freeze(Level::Override, &["a"], json!(1)), Err(AttributeError::NoGuestValue { .. })));
    assert!(attributes.guest_values().is_empty());
}

#[test]
fn the_version_counts_changes_only() {
    let mut attributes = Attributes::new();
    let start = attributes.version();
    attributes.unlink(Level::Default, &["nothing"], &origin()).unwrap();
    attributes.write_strict(Level::Default, &["a"], json!(1), &origin()).unwrap();
    attributes.write_unless(Level::Default, &["a"], json!(2), &origin()).unwrap();
    attributes.write_strict(Level::Default, &["a", "b"], json!(1), &origin()).unwrap_err();
    assert_eq!(attributes.version(), start + 1);
}

#[test]
fn an_explanation_says_who_won_and_who_lost() {
    let mut attributes =
        attributes(&[(Level::Inherited, json!({"a": {"x": 0}})), (Level::RoleDefault, json!({"a": {"x": 1, "y": 1}}))]);
    let by = |line: u32| Origin { line: Some(line), ..origin() };
    attributes.write(Level::Default, &["a", "x"], json!("first"), &by(1)).unwrap();
    attributes.write(Level::Default, &["a", "x"], json!("second"), &by(2)).unwrap();
    attributes.write(Level::Override, &["a"], json!({"x": 3}), &by(3)).unwrap();
    attributes.write(Level::Override, &["other"], json!(1), &by(4)).unwrap();
    let explained = attributes.explain(&["a", "x"]);
    assert_eq!(explained.value, Some(json!(3)));
    let outcome = |level: Level| explained.levels.iter().find(|row| row.level == level).unwrap();
    assert_eq!(outcome(Level::Override).outcome, Outcome::Wins);
    assert_eq!(outcome(Level::RoleDefault).outcome, Outcome::Hidden);
    assert_eq!(outcome(Level::Inherited).outcome, Outcome::Hidden);
    assert_eq!(outcome(Level::Normal).outcome, Outcome::NotPresent);
    let lines = |level: Level| outcome(level).writes.iter().map(|write| write.origin.line).collect::<Vec<_>>();
    assert_eq!(lines(Level::Default), [Some(1), Some(2)], "the overwritten one is kept");
    assert_eq!(lines(Level::Override), [Some(3)]);
    let whole = attributes.explain(&["a"]);
    let contributing = whole.levels.iter().filter(|row| row.outcome == Outcome::Contributes).count();
    assert_eq!(contributing, 4);
}

#[test]
fn long_values_are_described_in_records() {
    #[track_caller]
    fn check(value: Value, expect: WrittenValue) {
        assert_eq!(WrittenValue::summary(&value), expect);
    }
    check(json!("short"), WrittenValue::Value(json!("short")));
    check(json!("x".repeat(300)), WrittenValue::LongText(300));
    check(json!([1, 2]), WrittenValue::Array(2));
    check(json!({"a": 1}), WrittenValue::Object(1));
}

#[test]
fn records_stop_where_they_would_take_too_much() {
    let mut attributes = Attributes::new();
    let long = "k".repeat(4000);
    for number in 0..400 {
        let path: Vec<String> = (0..MAX_PATH_STEPS).map(|step| format!("{number}.{step}.{long}")).collect();
        attributes.write(Level::Default, &path, json!(1), &origin()).unwrap();
        attributes.unlink(Level::Default, path.get(..1).unwrap_or_default(), &origin()).unwrap();
    }
    assert!(attributes.history().is_incomplete());
    assert!(attributes.history().all().len() < 300);
    attributes.write(Level::Default, &["still"], json!("works"), &origin()).unwrap();
    assert_eq!(attributes.read(&["still"]), Some(json!("works")));
}

#[test]
fn attributes_removed_from_a_large_object_are_gone_for_every_reader() {
    let members = |from: usize| (from..300).map(|at| (format!("k{at}"), json!(at))).collect::<Map<_, _>>();
    let mut attributes = Attributes::new();
    let plain = attributes.held_bytes();
    attributes.write(Level::Default, &["big"], json!({"in": members(0)}), &origin()).unwrap();
    attributes.write(Level::Override, &["big"], json!({"in": {"above": 1}}), &origin()).unwrap();
    attributes.write(Level::Default, &["list"], json!([{"of": members(0)}]), &origin()).unwrap();
    for at in 0..100 {
        let key = format!("k{at}");
        assert_eq!(attributes.remove(&["big", "in", &key], &origin()).unwrap(), Some(json!(at)));
        attributes.unlink(Level::Default, &["list", "0", "of", &key], &origin()).unwrap();
        attributes.unlink(Level::Default, &["list", "-1", "of", &key], &origin()).unwrap();
    }
    let mut expected = members(100);
    let text = |value: Option<Value>| value.unwrap().to_string();
    assert_eq!(text(attributes.read(&["list"])), json!([{"of": expected}]).to_string());
    assert_eq!(text(attributes.read(&["list", "0"])), json!({"of": expected}).to_string());
    let level = attributes.read_level(Level::Default, &["big"]).map(Cow::into_owned);
    assert_eq!(text(level), json!({"in": expected}).to_string());
    assert_eq!(text(attributes.combined_default(&["big", "in"])), json!(expected).to_string());
    // A name that is written again comes last.
    attributes.write(Level::Default, &["big", "in", "k0"], json!(0), &origin()).unwrap();
    expected.insert("k0".to_owned(), json!(0));
    assert_eq!(
        text(attributes.read_level(Level::Default, &["big", "in"]).map(Cow::into_owned)),
        json!(expected).to_string()
    );
    expected.insert("above".to_owned(), json!(1));
    assert_eq!(text(attributes.read(&["big", "in"])), json!(expected).to_string());
    let keys: Vec<String> = expected.keys().cloned().collect();
    assert_eq!(attributes.shape(&["big", "in"]), Some(Shape::Object(keys)));
    assert!(attributes.read(&["big", "in", "\u{0}gap"]).is_none(), "the host's own bookkeeping");
    let written = attributes.write(Level::Default, &["big", "\u{0}gap1"], json!(1), &origin());
    assert!(matches!(written, Err(AttributeError::GuestValueNotAccepted { .. })), "{written:?}");
    let below = attributes.write(Level::Default, &["new"], json!({"\u{0}gap": 1}), &origin());
    assert!(matches!(below, Err(AttributeError::GuestValueNotAccepted { .. })), "{below:?}");
    // What is gone is counted once.
    attributes.unlink(Level::Default, &["big"], &origin()).unwrap();
    attributes.unlink(Level::Override, &["big"], &origin()).unwrap();
    attributes.unlink(Level::Default, &["list"], &origin()).unwrap();
    let records = attributes.history().bytes() as u64;
    assert_eq!(attributes.held_bytes(), plain + records, "nothing is left of the values");
}
