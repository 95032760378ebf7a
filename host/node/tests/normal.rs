//! The node's `normal` attributes of policies that do not trust each other: what one of them wrote is neither seen,
//! overwritten nor lost, in one run and over several.

#![cfg(test)]

#[path = "support/attributes.rs"]
mod calls;

use node::attributes::{Attributes, Level};
use node::object::{NodeObject, NormalAccess, PolicyStart, ReadFilter};
use node::origin::Origin;
use node::saved_filter::SavedFilters;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

fn whole(all: &Value) -> Cow<'_, Value> {
    Cow::Borrowed(all)
}

fn nothing(_: &Value) -> Cow<'_, Value> {
    Cow::Owned(json!({}))
}

/// A policy without grants. It reads what the operator gave.
const STRANGER: NormalAccess<'static> = NormalAccess { given: &whole, others: &nothing, overwrites: &|_| false };

/// A policy that may read and write everything.
const TRUSTED: NormalAccess<'static> = NormalAccess { given: &whole, others: &whole, overwrites: &|_| true };

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// Runs one policy in a run of its own; gives what it saw of `normal` when it began.
fn run_given(
    node: &mut NodeObject,
    given: Value,
    policy: &str,
    normal: NormalAccess<'_>,
    act: impl FnOnce(&mut Attributes, &Origin),
) -> Value {
    node.begin_run(&[policy], object(given));
    let start = PolicyStart { name: Some(policy.to_owned()), ..PolicyStart::default() };
    let sight = ReadFilter { inherited: &nothing, normal, facts: &whole };
    let mut attributes = node.begin_policy_seeing(&start, &mut Map::new().into(), &sight).unwrap();
    let seen = attributes.level(Level::Normal).into_owned();
    act(&mut attributes, &Origin::policy(policy));
    node.commit(&start, attributes, &normal).unwrap();
    seen
}

fn run(
    node: &mut NodeObject,
    policy: &str,
    normal: NormalAccess<'_>,
    act: impl FnOnce(&mut Attributes, &Origin),
) -> Value {
    run_given(node, json!({}), policy, normal, act)
}

fn write(path: &[&str], value: Value) -> impl FnOnce(&mut Attributes, &Origin) {
    move |attributes, origin| attributes.write(Level::Normal, path, value, origin).unwrap()
}

/// Saves the node and reads it back.
fn saved_and_read(node: &NodeObject) -> NodeObject {
    let filters = SavedFilters::default();
    let mut read = NodeObject::from_saved_json(&node.to_saved_json(&filters).unwrap()).unwrap();
    read.set_histories_from_json(node.histories_to_json(&filters)).unwrap();
    read.set_normal_writers_from_json(&node.normal_writers_to_json(&filters).unwrap()).unwrap();
    read
}

fn normal(node: &NodeObject) -> Value {
    Value::Object(node.normal().clone())
}

#[test]
fn two_policies_with_one_cookbook_do_not_meet_in_normal() {
    let mut node = NodeObject::new("n").unwrap();
    run(&mut node, "evil", STRANGER, write(&["nginx", "check"], json!("touch /pwned")));
    let mut node = saved_and_read(&node);
    let seen = run(&mut node, "victim", STRANGER, write(&["nginx", "port"], json!(80)));
    assert_eq!(seen, json!({"tags": []}), "a cookbook's name is not a right");
    let mut node = saved_and_read(&node);
    let seen = run(&mut node, "evil", STRANGER, |attributes, origin| {
        attributes.write(Level::Normal, &["nginx"], json!({"port": 666}), origin).unwrap();
    });
    assert_eq!(seen, json!({"nginx": {"check": "touch /pwned"}, "tags": []}), "its own it sees again");
    let mut node = saved_and_read(&node);
    let seen = run(&mut node, "victim", STRANGER, |attributes, origin| {
        attributes.remove(&["nginx", "check"], origin).unwrap();
    });
    assert_eq!(seen, json!({"nginx": {"port": 80}, "tags": []}), "neither overwritten nor removed");
    // Tools see one tree, with the value of whoever wrote to the node first.
    assert_eq!(normal(&saved_and_read(&node)), json!({"nginx": {"port": 666}, "tags": []}));
    // Who is granted it sees all of that.
    let seen = run(&mut node, "monitoring", TRUSTED, |_, _| {});
    assert_eq!(seen, json!({"nginx": {"port": 666}, "tags": []}));
}

#[test]
fn a_grant_overwrites_and_removes_what_others_wrote() {
    let mut node = NodeObject::new("n").unwrap();
    run(&mut node, "web", STRANGER, write(&["web", "port"], json!(80)));
    run(&mut node, "web", STRANGER, write(&["web", "user"], json!("www")));
    run(&mut node, "web", STRANGER, write(&["web", "list"], json!(["a"])));
    let mut node = saved_and_read(&node);
    run(&mut node, "site", TRUSTED, |attributes, origin| {
        attributes.write(Level::Normal, &["web", "port"], json!(8080), origin).unwrap();
        attributes.remove(&["web", "list"], origin).unwrap();
    });
    let mut node = saved_and_read(&node);
    assert_eq!(normal(&node), json!({"web": {"port": 8080, "user": "www"}, "tags": []}));
    let seen = run(&mut node, "web", STRANGER, |_, _| {});
    assert_eq!(seen, json!({"web": {"user": "www"}, "tags": []}), "the port is another policy's now");
    // Whoever writes without seeing writes only what it says.
    let blind = NormalAccess { others: &nothing, ..TRUSTED };
    run(&mut node, "blind", blind, write(&["web", "group"], json!("www")));
    assert_eq!(normal(&node)["web"], json!({"port": 8080, "user": "www", "group": "www"}));
}

#[test]
fn no_policy_takes_from_others_what_the_operator_gave() {
    let mut node = NodeObject::new("n").unwrap();
    let given = json!({"nginx": {"port": 80, "admins": ["op"]}});
    run_given(&mut node, given, "evil", STRANGER, |attributes, origin| {
        attributes.write(Level::Normal, &["nginx", "port"], json!(666), origin).unwrap();
        attributes.write(Level::Normal, &["nginx", "admins"], json!(["evil"]), origin).unwrap();
    });
    let mut node = saved_and_read(&node);
    let seen = run(&mut node, "victim", STRANGER, |_, _| {});
    assert_eq!(seen["nginx"], json!({"port": 80, "admins": ["op"]}));
    // What is given now goes before what a policy wrote; lists are united for each policy alone.
    let now = json!({"nginx": {"port": 81, "admins": ["root"]}});
    let seen = run_given(&mut node, now.clone(), "victim", STRANGER, |_, _| {});
    assert_eq!(seen["nginx"], json!({"port": 81, "admins": ["op", "root"]}));
    let seen = run(&mut saved_and_read(&node), "evil", STRANGER, |_, _| {});
    assert_eq!(seen["nginx"], json!({"port": 81, "admins": ["evil", "root"]}));
}

#[test]
fn tags_are_those_of_the_operator_and_of_all_policies_and_each_sees_its_own() {
    let tag = |tag: &'static str| {
        move |attributes: &mut Attributes, origin: &Origin| {
            drop(calls::tag(attributes, &[tag.to_owned()], origin).unwrap());
        }
    };
    let mut node = NodeObject::new("n").unwrap();
    run_given(&mut node, json!({"tags": ["given"]}), "a", STRANGER, tag("one"));
    let mut node = saved_and_read(&node);
    assert_eq!(run(&mut node, "b", STRANGER, tag("two"))["tags"], json!(["given"]));
    let mut node = saved_and_read(&node);
    assert_eq!(run(&mut node, "a", STRANGER, |_, _| {})["tags"], json!(["given", "one"]));
    run(&mut node, "b", STRANGER, |attributes, origin| {
        drop(calls::untag(attributes, &["one", "given", "two"].map(str::to_owned), origin).unwrap());
    });
    assert_eq!(normal(&saved_and_read(&node))["tags"], json!(["given", "one"]), "it took away its own");
    run(&mut node, "c", TRUSTED, |attributes, origin| {
        drop(calls::untag(attributes, &["one".to_owned()], origin).unwrap());
    });
    assert_eq!(normal(&saved_and_read(&node))["tags"], json!(["given"]));
}

#[test]
fn the_record_names_one_writer_where_there_is_one_and_is_read_back_exactly() {
    let mut node = NodeObject::new("n").unwrap();
    let given = json!({"os": {"x": 1}, "mixed": {"given": 1, "empty": {}}});
    run_given(&mut node, given, "a", STRANGER, write(&["a"], json!({"b": {"c": [1], "d": {}}, "e": null})));
    run(&mut node, "a", STRANGER, write(&["mixed", "a"], json!("x")));
    run(&mut node, "b", STRANGER, write(&["mixed"], json!("scalar")));
    run(&mut node, "b", STRANGER, write(&["a", "b"], json!(5)));
    let record = node.normal_writers_to_json(&SavedFilters::default()).unwrap();
    assert_eq!(record["by"], json!({"a": "a", "mixed": "a"}));
    assert_eq!(record["written"], json!(["a", "b"]));
    let beside = json!([
        {"by": null, "values": {"mixed": {"given": 1, "empty": {}}}},
        {"by": "b", "values": {"mixed": "scalar", "a": {"b": 5}}},
    ]);
    assert_eq!(record["beside"], beside, "what the one tree does not show");
    let mut read = saved_and_read(&node);
    assert_eq!(read.normal(), node.normal());
    for policy in ["a", "b", "c"] {
        let [one, other] = [&mut node, &mut read].map(|node| run(node, policy, STRANGER, |_, _| {}));
        assert_eq!(one, other, "{policy}");
    }
}

#[test]
fn of_a_node_that_was_saved_without_the_record_the_histories_tell_the_writers() {
    let mut node = NodeObject::new("n").unwrap();
    run_given(&mut node, json!({"nginx": {"given": 1}}), "evil", STRANGER, |attributes, origin| {
        attributes.write(Level::Normal, &["nginx", "check"], json!("x"), origin).unwrap();
        attributes.write(Level::Normal, &["nginx", "list"], json!(["a", "b"]), origin).unwrap();
        attributes.write(Level::Normal, &["nginx", "list", "1"], json!("c"), origin).unwrap();
    });
    let filters = SavedFilters::default();
    let mut old = NodeObject::from_saved_json(&node.to_saved_json(&filters).unwrap()).unwrap();
    old.set_histories_from_json(node.histories_to_json(&filters)).unwrap();
    old.normal_writers_from_histories();
    assert_eq!(old.normal(), node.normal());
    let seen = run(&mut old, "victim", STRANGER, |_, _| {});
    assert_eq!(seen, json!({"nginx": {"given": 1}, "tags": []}));
    let seen = run(&mut old, "evil", STRANGER, |_, _| {});
    assert_eq!(seen["nginx"], json!({"check": "x", "list": ["a", "c"], "given": 1}));
    // Without histories all of it is the operator's.
    let mut older = NodeObject::from_saved_json(&node.to_saved_json(&filters).unwrap()).unwrap();
    older.normal_writers_from_histories();
    assert_eq!(
        run(&mut older, "victim", STRANGER, |_, _| {})["nginx"],
        json!({"given": 1, "check": "x", "list": ["a", "c"]})
    );
}

#[test]
fn a_damaged_record_is_refused() {
    let mut node = NodeObject::new("n").unwrap();
    run(&mut node, "a", STRANGER, write(&["a", "b"], json!(1)));
    let before = node.normal().clone();
    for record in [
        json!({}),
        json!({"version": 2}),
        json!({"version": 1, "written": ["a"], "by": {"a": 5}, "beside": []}),
        json!({"version": 1, "written": [], "by": {"a": "a"}, "beside": []}),
        json!({"version": 1, "written": ["a"], "by": {}, "beside": [{"by": "x", "values": {}}]}),
        json!({"version": 1, "written": ["a"], "by": "a"}),
    ] {
        let refused = node.set_normal_writers_from_json(&record).unwrap_err().to_string();
        assert!(refused.contains("writers of normal attributes"), "{record}: {refused}");
        assert_eq!(node.normal(), &before);
    }
}
