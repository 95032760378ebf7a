//! The saved node: it is read back as it was written, says what is wrong with it, and is never too large to be read.

use super::support::{ALL_OF_NORMAL, begin, facts, run, saved, start};
use node::attributes::Level;
use node::attributes::guest_values::guest_value;
use node::object::{NodeObject, ObjectError};
use node::origin::Origin;
use node::saved_filter::{FilterItem, LevelFilter, SavedFilters};
use serde_json::{Map, Value, json};

#[test]
fn saved_json_is_read_back_as_it_was() {
    let mut node = NodeObject::new("n").unwrap();
    run(&mut node, &["database"], json!({"a": 1}));
    let json = saved(&node);
    assert_eq!(saved(&NodeObject::from_saved_json(&json).unwrap()), json);
    let by_chef = json!({
        "name": "old", "chef_environment": "dev", "json_class": "Chef::Node", "chef_type": "node",
        "automatic": {"platform": "debian"}, "normal": {"tags": ["x"]}, "default": {"d": 1}, "override": {"o": 1},
        "run_list": ["recipe[a]", "role[b]"],
    });
    assert_eq!(saved(&NodeObject::from_saved_json(&by_chef).unwrap()), by_chef);
}

#[test]
fn a_run_with_policies_replaces_what_chef_had_saved() {
    let by_chef = json!({"name": "old", "run_list": ["recipe[a]"], "default": {"d": 1}, "normal": {"kept": 1}});
    let mut node = NodeObject::from_saved_json(&by_chef).unwrap();
    run(&mut node, &[], json!({}));
    let saved = saved(&node);
    assert_eq!(saved["default"].get("d"), None);
    assert_eq!(saved["normal"]["kept"], json!(1));
    assert_eq!(saved["run_list"][0], json!("recipe[core::default]"));
}

#[test]
fn a_run_with_policies_keeps_the_nodes_own_run_list_and_environment() {
    let own = json!({"name": "n", "run_list": ["recipe[a]"], "chef_environment": "dev"});
    let mut node = NodeObject::from_saved_json(&own).unwrap();
    run(&mut node, &[], json!({}));
    run(&mut node, &[], json!({}));
    assert_eq!(saved(&node)["chef_environment"], json!("production"));
    let kept = node.without_policies().unwrap();
    assert_eq!((kept.run_list.to_strings(), kept.chef_environment.as_str()), (vec!["recipe[a]".to_owned()], "dev"));
    node.recall_without_policies();
    assert_eq!((node.run_list().to_strings(), node.chef_environment()), (vec!["recipe[a]".to_owned()], "dev"));
    assert_eq!(node.without_policies(), None);
    // A node that only ever had policies has nothing to keep.
    let mut node = NodeObject::new("n").unwrap();
    run(&mut node, &[], json!({}));
    assert_eq!(node.without_policies(), None);
}

#[test]
fn what_is_wrong_with_a_saved_node_is_said() {
    #[track_caller]
    fn check(json: Value, expect: &str) {
        assert_eq!(NodeObject::from_saved_json(&json).unwrap_err().to_string(), expect);
    }
    check(json!([]), "saved node: the whole must be an object");
    check(json!({}), "saved node: name is missing");
    check(json!({"name": 1}), "saved node: name must be text");
    check(json!({"name": "a b"}), "node name \"a b\" may only have letters, digits, '-', '_', ':' and '.'");
    check(json!({"name": "n", "normal": []}), "saved node: normal must be an object");
    check(json!({"name": "n", "run_list": 1}), "saved node: run_list: a run list item must be text, not a number");
    check(json!({"name": "n", "policies": {}}), "saved node: policy_name is missing");
    check(
        json!({"name": "n", "policies": {"a": {}}, "policy_name": []}),
        "saved node: policy_name must be the list of all policies under policies",
    );
    check(json!({"name": "n", "policies": {}, "policy_name": ["a"]}), "saved node: policies.a is missing");
    check(
        json!({"name": "n", "policies": {"a": {"default": 1}}, "policy_name": ["a"]}),
        "saved node: policies.a.default must be an object",
    );
    check(
        json!({"name": "n", "normal": {"x": [guest_value(1)]}}),
        "saved node: an attribute holds a value that only a running policy can compute",
    );
}

#[test]
fn filters_reach_the_policies_parts_too() {
    let mut node = NodeObject::new("n").unwrap();
    run(&mut node, &[], json!({}));
    let blocked = LevelFilter { allowed: None, blocked: Some(vec![FilterItem::from_text("shared/from_lock")]) };
    let filters = SavedFilters { default: blocked, ..SavedFilters::default() };
    let saved = node.to_saved_json(&filters).unwrap();
    assert!(!saved.to_string().contains("from_lock"), "{saved}");
    assert!(saved.to_string().contains("hoisted"));
}

/// A policy of its own that writes one value.
fn write(node: &mut NodeObject, policy: &str, level: Level, path: &[&str], value: Value) -> Result<(), ObjectError> {
    node.begin_run(&[policy], Map::new());
    let start = start(policy);
    let mut attributes = begin(node, &start, &facts())?;
    attributes.write(level, path, value, &Origin::policy(policy)).unwrap();
    node.commit(&start, attributes, &ALL_OF_NORMAL).map(drop)
}

/// Control characters take six bytes each as JSON, and the levels stand in the saved node twice.
#[test]
fn node_too_large_by_what_is_written_of_it() {
    let mut node = NodeObject::new("n").unwrap();
    write(&mut node, "core", Level::Default, &["core", "a"], json!(1)).unwrap();
    let before = saved(&node);
    let refused = write(&mut node, "evil", Level::Default, &["evil", "a"], json!("\u{1}".repeat(3 << 19)));
    let refused = refused.unwrap_err();
    assert!(matches!(refused, ObjectError::PolicyTooLarge { .. }), "{refused}");
    assert_eq!(saved(&node), before, "a policy that fails leaves nothing");
    // The same number of letters is no trouble.
    write(&mut node, "evil", Level::Default, &["evil", "a"], json!("x".repeat(3 << 19))).unwrap();
    // So deep that each line has more spaces than text.
    let deep = (0..60).fold(json!(vec![0; 60_000]), |value, _| json!([value]));
    let refused = write(&mut node, "evil", Level::Override, &["evil", "b"], deep).unwrap_err();
    assert!(refused.to_string().contains("more than 16777216 bytes as they are saved"), "{refused}");
}

#[test]
fn node_too_large_by_what_many_runs_add_to_normal() {
    let mut node = NodeObject::new("n").unwrap();
    let mut again = |policy: &str, key: &str, megabytes: usize| {
        // What was saved is what the next run reads.
        let writers = node.normal_writers_to_json(&SavedFilters::default()).unwrap();
        node = NodeObject::from_saved_json(&saved(&node)).unwrap();
        node.set_normal_writers_from_json(&writers).unwrap();
        write(&mut node, policy, Level::Normal, &[policy, key], json!("x".repeat(megabytes << 20)))
    };
    for key in ["a", "b", "c"] {
        again("evil", key, 1).unwrap();
    }
    let refused = again("evil", "d", 1).unwrap_err();
    assert!(matches!(refused, ObjectError::NormalTooLarge { .. }), "{refused}");
    // Another team has its own share; less than before is always taken, and makes room.
    again("good", "a", 3).unwrap();
    again("evil", "a", 0).unwrap();
    again("evil", "d", 1).unwrap();
    again("evil", "e", 1).unwrap_err();
}
