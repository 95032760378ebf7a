//! Roles, environments and items: each row is a document and what is said of it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use node::layers::Place;
use node::run_list::RunListEdit;
use resolve::objects::{ObjectKind, change_run_list, check_object, check_object_name, empty_object, read_object};
use serde_json::json;

#[track_caller]
fn refused(kind: ObjectKind, text: &str, error: &str) {
    assert_eq!(read_object(kind, "x.json", Some("web"), text).unwrap_err().to_string(), error);
}

#[test]
fn roles_are_checked_with_their_lines() {
    let role = |text: &str, error: &str| refused(ObjectKind::Role, text, error);
    role("[]", "x.json:1: a role is an object with keys, not a list");
    role(
        "{\n\"name\": \"db\"}",
        "x.json:2: `name` is \"db\", and it must be \"web\"; create another role for another name",
    );
    role("{\"name\": 1}", "x.json:1: `name` must be text, not a number");
    role("{\"run_list\": []\n, \"run_list\": []}", "x.json:2: the key \"run_list\" is there twice");
    role("{\n\n\"default_attributes\": [1]}", "x.json:3: `default_attributes` must be an object, not a list");
    role(
        "{\n\"run_list\": [\"a\", \"b[\"]}",
        "x.json:2: Unable to create Chef::RunList::RunListItem from String:\"b[\": must be recipe[] or role[]",
    );
    role("{\"run_list\": \"a\"}", "x.json:1: a run list must be a list of texts, not text");
    role("{\"env_run_lists\": {\n\"prod\": [7]}}", "x.json:2: a run list item must be text, not a number");
    role(
        "{\n\"runlist\": []}",
        &format!(
            "x.json:2: a role has no key \"runlist\"; it has: {}",
            "name, description, json_class, chef_type, default_attributes, override_attributes, run_list, env_run_lists"
        ),
    );
    role("{\"name\": \"web\"", "x.json:1: a comma or } must follow");
    role("", "x.json:1: the document ends too early");
    let bad_name = read_object(ObjectKind::Role, "x.json", None, "{\n\"name\": \"../x\"}").unwrap_err().to_string();
    assert!(bad_name.starts_with("x.json:2: \"../x\" cannot be the name of a role"), "{bad_name}");
    let no_name = read_object(ObjectKind::Role, "x.json", None, "{}").unwrap_err().to_string();
    assert_eq!(no_name, "x.json: the role has no `name`");
}

#[test]
fn environments_are_checked_as_layers_are() {
    let environment = |text: &str, error: &str| refused(ObjectKind::Environment, text, error);
    environment(
        "{\n\"cookbook_versions\": {\n\"ntp\": \"newest\"}}",
        "x.json:3: the constraint on ntp is \"newest\"; write one like \"~> 2.0\" or \"= 1.2.3\"",
    );
    environment(
        "{\"run_list\": []}",
        "x.json:1: an environment has no key \"run_list\"; it has: name, default_attributes, override_attributes, cookbook_versions, merge_strategies, policies",
    );
    let (name, written) = read_object(
        ObjectKind::Environment,
        "x.json",
        None,
        "{\"merge_strategies\": {\"a\": \"merge\"}, \"name\": \"web\"}",
    )
    .unwrap();
    assert_eq!(name, "web");
    let keys: Vec<&String> = written.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "name",
            "description",
            "cookbook_versions",
            "json_class",
            "chef_type",
            "default_attributes",
            "override_attributes",
            "merge_strategies"
        ]
    );
    assert_eq!(written["json_class"], "Chef::Environment");
}

#[test]
fn what_is_written_is_read_again() {
    let text = "{ // a comment\n\"run_list\": [\"a\", \"role[b]\"], \"env_run_lists\": {\"prod\": [\"c\"]}, \"default_attributes\": {\"x\": {\"y\": 1}}}";
    let (_, role) = read_object(ObjectKind::Role, "x.json", Some("web"), text).unwrap();
    assert_eq!(role["run_list"], json!(["recipe[a]", "role[b]"]));
    let again = read_object(ObjectKind::Role, "x.json", None, &role.to_string()).unwrap();
    assert_eq!(again, ("web".to_owned(), role.clone()));
    assert_eq!(check_object(ObjectKind::Role, "x.rb", "web", role.clone()).unwrap(), role);
    assert!(check_object(ObjectKind::Role, "x.rb", "db", role).unwrap_err().to_string().starts_with("x.rb: `name` is"));
    for kind in [ObjectKind::Role, ObjectKind::Environment, ObjectKind::Item] {
        let empty = empty_object(kind, "web", "said");
        assert_eq!(read_object(kind, "x.json", Some("web"), &empty.to_string()).unwrap().1, empty);
    }
}

#[test]
fn run_lists_of_roles_are_changed() {
    let mut role = empty_object(ObjectKind::Role, "web", "");
    let add = |items: &[&str]| RunListEdit::Add {
        items: items.iter().map(|item| (*item).to_owned()).collect(),
        place: Place::Last,
    };
    assert!(change_run_list(&mut role, None, &add(&["a", "role[b]"])).unwrap());
    assert!(!change_run_list(&mut role, None, &add(&["a"])).unwrap());
    assert!(change_run_list(&mut role, Some("prod"), &add(&["c"])).unwrap());
    assert_eq!(role["run_list"], json!(["recipe[a]", "role[b]"]));
    assert_eq!(role["env_run_lists"], json!({"prod": ["recipe[c]"]}));
    let error = change_run_list(&mut role, Some("test"), &RunListEdit::Remove(vec!["c".into()])).unwrap_err();
    assert_eq!(error.to_string(), "recipe[c] is not in the run list; it is empty");
    assert!(change_run_list(&mut role, Some("prod"), &RunListEdit::Set(vec![])).unwrap());
    assert_eq!(role["env_run_lists"], json!({"prod": []}), "the role's own list does not count there again");
    assert!(change_run_list(&mut role, None, &add(&["x["])).is_err());
    assert_eq!(role["run_list"], json!(["recipe[a]", "role[b]"]));
}

#[test]
fn names_are_checked() {
    for name in ["web", "a-b_C9"] {
        assert!(check_object_name(ObjectKind::Role, name).is_ok(), "{name}");
    }
    for name in ["", ".", "..", "a.b", "a/b", "a b", "\u{fc}", "a\0", &"x".repeat(256)] {
        assert!(check_object_name(ObjectKind::Environment, name).is_err(), "{name}");
    }
}
