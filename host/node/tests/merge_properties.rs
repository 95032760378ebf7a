//! Reads against the plain definition: merge each group, then lay the groups over one another, then walk the path.

#![cfg(test)]

use node::attributes::{Attributes, Level};
use node::deep_merge;
use node::origin::Origin;
use proptest::prelude::*;
use serde_json::{Map, Value};

fn any_key() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "0", "1"]).prop_map(str::to_owned)
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3_i64).prop_map(Value::from),
        Just(Value::from("x")),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any_key(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn any_tree() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((any_key(), any_value()), 0..4).prop_map(|pairs| pairs.into_iter().collect())
}

fn by_definition(levels: &[Map<String, Value>]) -> Map<String, Value> {
    let group = |levels: &[Map<String, Value>]| {
        let mut levels = levels.iter().cloned();
        let first = levels.next().unwrap_or_default();
        levels.fold(first, deep_merge::merge)
    };
    [&levels[..1], &levels[1..5], &levels[5..6], &levels[6..10], &levels[10..]]
        .into_iter()
        .map(group)
        .fold(Map::new(), deep_merge::hash_only_merge)
}

fn walk(tree: &Value, path: &[String]) -> Option<Value> {
    path.iter()
        .try_fold(tree, |here, step| match here {
            Value::Object(object) => object.get(step),
            Value::Array(array) => array.get(step.parse::<usize>().ok()?),
            _ => None,
        })
        .cloned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_read_is_what_the_definition_says(
        levels in prop::collection::vec(any_tree(), 11),
        paths in prop::collection::vec(prop::collection::vec(any_key(), 0..5), 1..6),
    ) {
        let mut attributes = Attributes::new();
        for (level, tree) in Level::ALL.into_iter().zip(&levels) {
            attributes.set_level(level, tree.clone(), &Origin::policy("p")).unwrap();
        }
        let merged = Value::Object(by_definition(&levels));
        prop_assert_eq!(Value::Object(attributes.merged()).to_string(), merged.to_string());
        for path in paths {
            let expected = walk(&merged, &path);
            prop_assert_eq!(attributes.is_present(&path), expected.is_some());
            prop_assert_eq!(attributes.shape(&path).is_some(), expected.is_some());
            prop_assert_eq!(attributes.read(&path), expected);
        }
    }

    #[test]
    fn a_write_is_read_back_in_its_level_and_changes_no_other(
        levels in prop::collection::vec(any_tree(), 11),
        path in prop::collection::vec(any_key(), 1..5),
        value in any_value(),
        level in prop::sample::select(Level::ALL[1..10].to_vec()),
    ) {
        let mut attributes = Attributes::new();
        for (level, tree) in Level::ALL.into_iter().zip(&levels) {
            attributes.set_level(level, tree.clone(), &Origin::policy("p")).unwrap();
        }
        let before = attributes.clone();
        attributes.write(level, &path, value.clone(), &Origin::policy("p")).unwrap();
        let read = attributes.read_level(level, &path);
        prop_assert_eq!(read.as_deref(), Some(&value));
        for other in Level::ALL.into_iter().filter(|other| *other != level) {
            prop_assert_eq!(attributes.level(other), before.level(other));
        }
    }

    #[test]
    fn what_is_removed_is_gone_from_all_but_the_facts(
        levels in prop::collection::vec(any_tree(), 11),
        name in any_key(),
    ) {
        let mut attributes = Attributes::new();
        for (level, tree) in Level::ALL.into_iter().zip(&levels) {
            attributes.set_level(level, tree.clone(), &Origin::policy("p")).unwrap();
        }
        let path = [name.as_str()];
        let seen = attributes.read(&path);
        prop_assert_eq!(attributes.remove(&path, &Origin::policy("p")).unwrap(), seen);
        for level in &Level::ALL[..10] {
            prop_assert_eq!(attributes.read_level(*level, &path), None);
        }
        prop_assert_eq!(attributes.read(&path), levels[10].get(&name).cloned());
    }
}
