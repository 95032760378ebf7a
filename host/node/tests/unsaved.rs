//! When a node has to be written: whatever a policy changed that is saved, and nothing else.

#![cfg(test)]

use node::attributes::{Attributes, Level};
use node::object::{NodeEdit, NodeObject, NormalAccess, PolicyStart, ReadFilter};
use node::origin::Origin;
use node::run_list::RunList;
use node::saved_filter::SavedFilters;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

fn whole(all: &Value) -> Cow<'_, Value> {
    Cow::Borrowed(all)
}

const TRUSTED: NormalAccess<'static> = NormalAccess { given: &whole, others: &whole, overwrites: &|_| true };

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// Runs a policy on a node that was just written. Returns whether it has to be written again.
fn run(node: &mut NodeObject, start: &PolicyStart, facts: Value, act: impl FnOnce(&mut Attributes)) -> bool {
    let filter = ReadFilter { inherited: &whole, normal: TRUSTED, facts: &whole };
    let mut attributes = node.begin_policy_seeing(start, &mut object(facts).into(), &filter).unwrap();
    act(&mut attributes);
    node.commit(start, attributes, &TRUSTED).unwrap();
    let has_changes = node.has_unsaved_changes();
    node.mark_saved();
    has_changes
}

fn start(name: &str) -> PolicyStart {
    let run_list = RunList::parse([format!("recipe[{name}]")]).unwrap();
    PolicyStart::of_policy(name, None, Some("r1"), run_list, Map::new(), Map::new())
}

#[test]
fn a_policy_that_changes_nothing_leaves_nothing_to_write() {
    let policies = ["core", "web"];
    let mut node = NodeObject::new("n").unwrap();
    let facts = || json!({"platform": "debian", "memory": {"free": "1 kB"}});
    for run_number in 0..2 {
        node.begin_run(&policies, Map::new());
        for name in policies {
            let has_changes = run(&mut node, &start(name), facts(), |_| {});
            assert_eq!(has_changes, run_number == 0, "{name} in run {run_number}");
        }
    }
}

#[test]
fn whatever_is_saved_has_to_be_written_if_it_changes() {
    #[track_caller]
    fn check(what: &str, begun: impl FnOnce(&mut NodeObject), facts: Value, act: impl FnOnce(&mut Attributes)) {
        let origin = Origin::policy("core");
        let usual = |attributes: &mut Attributes| {
            attributes.write(Level::Default, &["core", "a"], json!(1), &origin).unwrap();
        };
        let mut node = NodeObject::new("n").unwrap();
        for _ in 0..2 {
            node.begin_run(&["core"], Map::new());
            run(&mut node, &start("core"), json!({"os": "linux"}), usual);
        }
        let before = node.to_saved_json(&SavedFilters::default()).unwrap();
        node.begin_run(&["core"], Map::new());
        begun(&mut node);
        let has_changes = run(&mut node, &start("core"), facts, |attributes| {
            usual(attributes);
            act(attributes);
        });
        let after = node.to_saved_json(&SavedFilters::default()).unwrap();
        assert_eq!(has_changes, before != after, "{what}");
    }
    let origin = Origin::policy("core");
    let linux = || json!({"os": "linux"});
    check("nothing", |_| {}, linux(), |_| {});
    check("a fact", |_| {}, json!({"os": "other"}), |_| {});
    check("a further fact", |_| {}, json!({"os": "linux", "uptime": 1}), |_| {});
    check(
        "a default",
        |_| {},
        linux(),
        |attributes| {
            attributes.write(Level::Default, &["core", "a"], json!(2), &origin).unwrap();
        },
    );
    check(
        "an override",
        |_| {},
        linux(),
        |attributes| {
            attributes.write(Level::Override, &["core", "b"], json!(2), &origin).unwrap();
        },
    );
    check(
        "a normal attribute",
        |_| {},
        linux(),
        |attributes| {
            attributes.write(Level::Normal, &["core", "b"], json!(2), &origin).unwrap();
        },
    );
    let given = || object(json!({"given": 1}));
    check("an attribute that the operator gives", |node| node.begin_run(&["core"], given()), linux(), |_| {});
    check(
        "a recipe",
        |_| {},
        linux(),
        |attributes| {
            attributes.host_add_recipe("core::more");
        },
    );
}

/// A commit is taken back if the node cannot be saved with it. The node's fields are compared, since not all are saved.
#[test]
fn a_commit_that_is_taken_back_leaves_the_node_as_it_was() {
    #[track_caller]
    fn check(what: &str, mut node: NodeObject, start: &PolicyStart, given: Value) {
        node.begin_run(&["core", "web"], object(given));
        run(&mut node, &self::start("core"), json!({"os": "linux"}), |_| {});
        let before = format!("{node:#?}");
        let filter = ReadFilter { inherited: &whole, normal: TRUSTED, facts: &whole };
        let facts = object(json!({"os": "other", "uptime": 1}));
        let mut attributes = node.begin_policy_seeing(start, &mut facts.into(), &filter).unwrap();
        let origin = Origin::policy("web");
        for level in [Level::Default, Level::Normal, Level::Override] {
            attributes.write(level, &["web", "a"], json!(2), &origin).unwrap();
        }
        attributes.host_add_recipe("web::more");
        let replaced = node.commit(start, attributes, &TRUSTED).unwrap();
        node.set_run_list(RunList::parse(["recipe[own]"]).unwrap());
        assert_ne!(format!("{node:#?}"), before, "{what}");
        node.take_back(replaced);
        assert_eq!(format!("{node:#?}"), before, "{what}");
    }
    let edit = NodeEdit::SetAttribute { path: vec!["web".to_owned(), "a".to_owned()], value: json!(1) };
    let node = || NodeObject::new("n").unwrap();
    check("a new policy", node(), &start("web"), json!({"given": 1}));
    check("a new record of a known policy", node(), &start("core"), json!({}));
    check("a run list without policies", node(), &PolicyStart::default(), json!({}));
    let mut edited = node();
    run(&mut edited, &start("web"), json!({}), |_| {});
    edited.apply(&edit).unwrap();
    check("an operator's change that the policy has not seen", edited, &start("web"), json!({}));
}

#[test]
fn a_policy_on_a_node_with_a_run_list_can_be_taken_back() {
    let mut node = NodeObject::new("n").unwrap();
    node.set_run_list(RunList::parse(["recipe[own]"]).unwrap());
    node.set_chef_environment("production").unwrap();
    node.begin_run(&["web"], Map::new());
    let before = format!("{node:#?}");
    let filter = ReadFilter { inherited: &whole, normal: TRUSTED, facts: &whole };
    let attributes = node.begin_policy_seeing(&start("web"), &mut Map::new().into(), &filter).unwrap();
    let replaced = node.commit(&start("web"), attributes, &TRUSTED).unwrap();
    assert!(node.run_list().is_empty() && node.without_policies().is_some());
    node.take_back(replaced);
    assert_eq!(format!("{node:#?}"), before);
}
