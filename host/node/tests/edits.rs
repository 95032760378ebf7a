//! Changes of operators.

#![cfg(test)]

use node::layers::{Layer, LayerFormat, Place};
use node::object::{NodeEdit, NodeObject};
use serde_json::{Value, json};

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}

fn node() -> NodeObject {
    let saved = json!({
        "name": "n", "run_list": ["recipe[a]", "role[b]"], "normal": {"tags": ["x"], "web": {"port": 80, "l": [1]}},
    });
    NodeObject::from_saved_json(&saved).unwrap()
}

/// A node with a policy.
fn with_policies() -> NodeObject {
    let saved = json!({"name": "n", "policy_name": ["web"], "policies": {"web": {}}});
    NodeObject::from_saved_json(&saved).unwrap()
}

/// Applies the change as it comes back from the disk.
fn apply(node: &mut NodeObject, edit: &NodeEdit) -> Result<bool, String> {
    let kept = NodeEdit::from_json(&serde_json::from_str(&edit.to_json().to_string()).unwrap()).unwrap();
    assert_eq!(&kept, edit);
    node.apply(&kept).map_err(|error| error.to_string())
}

#[track_caller]
fn run_list(edit: NodeEdit, expect: Result<&[&str], &str>) {
    let mut node = node();
    match (apply(&mut node, &edit), expect) {
        (Ok(_), Ok(expect)) => assert_eq!(node.run_list().to_strings(), expect),
        (Err(error), Err(expect)) => {
            assert!(error.contains(expect), "{error}");
            assert_eq!(node.run_list().to_strings(), ["recipe[a]", "role[b]"]);
        }
        (found, expect) => panic!("{found:?}, expected {expect:?}"),
    }
}

#[test]
fn a_value_that_could_not_be_read_again_is_refused() {
    let nested = |levels: usize| (1..levels).fold(json!([]), |inner, _| json!([inner]));
    let path = texts(&["web", "deep"]);
    let set = |levels| NodeEdit::SetAttribute { path: path.clone(), value: nested(levels) };
    let error = apply(&mut node(), &set(126)).unwrap_err();
    assert!(error.contains("web.deep would be nested deeper than the limit of 90 levels"), "{error}");
    assert_eq!(apply(&mut node(), &set(88)), Ok(true));
    let replace = NodeEdit::Replace { expected: None, new: Box::new(json!({"normal": {"a": nested(100)}})) };
    assert!(apply(&mut node(), &replace).unwrap_err().contains("nested deeper"));
}

#[test]
fn run_lists_change_at_their_place() {
    let add = |items: &[&str], place: Place| NodeEdit::AddToRunList { items: texts(items), place };
    run_list(add(&["c", "role[b]"], Place::Last), Ok(&["recipe[a]", "role[b]", "recipe[c]"]));
    run_list(
        add(&["c", "d"], Place::Before("role[b]".into())),
        Ok(&["recipe[a]", "recipe[c]", "recipe[d]", "role[b]"]),
    );
    run_list(add(&["c"], Place::After("a".into())), Ok(&["recipe[a]", "recipe[c]", "role[b]"]));
    run_list(
        add(&["c"], Place::After("z".into())),
        Err("recipe[z] is not in the run list; it has: recipe[a], role[b]"),
    );
    run_list(add(&["recipe[c"], Place::Last), Err("recipe[c"));
    run_list(NodeEdit::SetRunList(texts(&["z", "z"])), Ok(&["recipe[z]"]));
    run_list(NodeEdit::RemoveFromRunList(texts(&["recipe[a]"])), Ok(&["role[b]"]));
    run_list(NodeEdit::RemoveFromRunList(texts(&["b"])), Err("recipe[b] is not in the run list"));
}

#[test]
fn nodes_with_policies_have_neither_run_list_nor_environment() {
    let mut node = with_policies();
    let error = apply(&mut node, &NodeEdit::SetRunList(texts(&["a"]))).unwrap_err();
    assert!(error.contains("each has its own run list"), "{error}");
    let error = apply(&mut node, &NodeEdit::SetEnvironment("prod".into())).unwrap_err();
    assert!(error.contains("`wrun layer add FILE`"), "{error}");
}

#[test]
fn tags_and_attributes_change() {
    let mut node = node();
    assert_eq!(apply(&mut node, &NodeEdit::AddTags(texts(&["y", "x"]))), Ok(true));
    assert_eq!(apply(&mut node, &NodeEdit::AddTags(texts(&["x"]))), Ok(false));
    assert_eq!(node.normal()["tags"], json!(["x", "y"]));
    assert_eq!(apply(&mut node, &NodeEdit::RemoveTags(texts(&["x", "z"]))), Ok(true));
    assert_eq!(node.normal()["tags"], json!(["y"]));
    let set = |path: &[&str], value: Value| NodeEdit::SetAttribute { path: texts(path), value };
    let unset = |path: &[&str]| NodeEdit::UnsetAttribute { path: texts(path) };
    assert_eq!(apply(&mut node, &set(&["web", "l"], json!([2]))), Ok(true));
    assert_eq!(apply(&mut node, &set(&["web", "port", "x"], json!(1))), Ok(true));
    assert_eq!(node.normal()["web"], json!({"port": {"x": 1}, "l": [2]}));
    assert_eq!(apply(&mut node, &unset(&["web", "port"])), Ok(true));
    assert_eq!(node.normal()["web"], json!({"l": [2]}));
    for (edit, expect) in [
        (unset(&["web", "gone"]), "n has no normal attribute web.gone"),
        (set(&[], json!(1)), "an attribute is named by 1 to 64 keys"),
        (set(&["a", ""], json!(1)), "an attribute is named by 1 to 64 keys"),
        (set(&["tags"], json!(1)), "`wrun node tag`"),
        (NodeEdit::AddTags(texts(&[""])), "a tag is text that is not empty"),
        (NodeEdit::SetEnvironment("a b".into()), "may only have letters"),
    ] {
        let error = apply(&mut node, &edit).unwrap_err();
        assert!(error.contains(expect), "{error}");
    }
    assert_eq!(apply(&mut node, &NodeEdit::SetEnvironment("prod".into())), Ok(true));
    assert_eq!(node.chef_environment(), "prod");
}

#[test]
fn a_whole_node_is_replaced_unless_it_has_changed_meanwhile() {
    let mut node = node();
    let before = node.editable();
    let expected = json!({"name": "n", "chef_environment": "_default", "run_list": ["recipe[a]", "role[b]"],
        "normal": {"tags": ["x"], "web": {"port": 80, "l": [1]}}});
    assert_eq!(before, expected);
    let replace = |expected: Option<&Value>, new: Value| NodeEdit::Replace {
        expected: expected.cloned().map(Box::new),
        new: Box::new(new),
    };
    let edited = json!({"name": "n", "run_list": ["c"], "chef_environment": "prod",
        "normal": {"tags": ["y"], "web": {"l": [2]}, "new": {"a": 1}}});
    let mut new = edited.clone();
    new["automatic"] = json!({"x": 1});
    let error = apply(&mut node, &replace(Some(&before), new.clone())).unwrap_err();
    assert!(error.starts_with("`automatic` cannot be changed in a node's document; it has name"), "{error}");
    assert_eq!(apply(&mut node, &replace(Some(&before), edited)), Ok(true));
    let expected = json!({"name": "n", "chef_environment": "prod", "run_list": ["recipe[c]"],
        "normal": {"tags": ["y"], "web": {"l": [2]}, "new": {"a": 1}}});
    assert_eq!(node.editable(), expected);
    let error = apply(&mut node, &replace(Some(&before), before.clone())).unwrap_err();
    assert_eq!(error, "the node n has changed meanwhile");
    assert_eq!(apply(&mut node, &replace(None, new)), Ok(false));
    for (new, expect) in [
        (json!([]), "the whole must be an object"),
        (json!({"name": "m"}), "name must be the node's own name"),
        (json!({"run_list": ["recipe[x"]}), "recipe[x"),
        (json!({"run_list": 1}), ""),
        (json!({"normal": []}), "normal must be an object"),
        (json!({"nromal": {"a": 1}}), "`nromal` cannot be changed in a node's document"),
        (json!({"chef_environment": 1}), "chef_environment must be text"),
    ] {
        let error = apply(&mut node, &replace(None, new)).unwrap_err();
        assert!(error.contains(expect), "{error}");
    }
    assert_eq!(with_policies().editable(), json!({"name": "n", "normal": {}}));
}

#[test]
fn an_edited_node_is_taken_apart_and_meets_a_node_that_was_written_to() {
    let before = node();
    let mut document = before.editable();
    document["normal"] = json!({"tags": ["y"], "web": {"port": 81}, "new": {"a": {"b": 1}}});
    document["run_list"] = json!(["recipe[c]"]);
    let edit = NodeEdit::Replace { expected: Some(Box::new(before.editable())), new: Box::new(document.clone()) };
    let parts = edit.parts(&before);
    let path = |path: &[&str]| texts(path);
    assert_eq!(
        parts,
        [
            NodeEdit::SetRunList(texts(&["recipe[c]"])),
            NodeEdit::RemoveTags(texts(&["x"])),
            NodeEdit::AddTags(texts(&["y"])),
            NodeEdit::UnsetAttribute { path: path(&["web", "l"]) },
            NodeEdit::SetAttribute { path: path(&["web", "port"]), value: json!(81) },
            NodeEdit::SetAttribute { path: path(&["new"]), value: json!({"a": {"b": 1}}) },
        ]
    );
    // Together they are the change.
    let mut same = before.clone();
    for part in &parts {
        apply(&mut same, part).unwrap();
    }
    assert_eq!(same.editable(), document);
    // What the run wrote elsewhere stays.
    let mut written = before.clone();
    let wrote = NodeEdit::SetAttribute { path: path(&["web", "run"]), value: json!(1) };
    apply(&mut written, &wrote).unwrap();
    assert_eq!(apply(&mut written.clone(), &edit).unwrap_err(), "the node n has changed meanwhile");
    for part in &parts {
        apply(&mut written, part).unwrap();
    }
    assert_eq!(written.normal()["web"], json!({"port": 81, "run": 1}));
    // A file says what the node is to be, whatever it was before.
    let file = NodeEdit::Replace { expected: None, new: Box::new(json!({"normal": {"web": {"port": 80, "l": [1]}}})) };
    assert_eq!(file.parts(&before), [NodeEdit::RemoveTags(texts(&["x"]))]);
    assert_eq!(file.parts(&with_policies()).len(), 1);
    assert_eq!(wrote.parts(&before), std::slice::from_ref(&wrote));
}

#[test]
fn layers_change() {
    let mut node = with_policies();
    let layer = |name: &str, format| Box::new(Layer::empty(name, format));
    let names = |node: &NodeObject| node.layers().all().iter().map(|layer| layer.name.clone()).collect::<Vec<_>>();
    apply(&mut node, &NodeEdit::AddLayer { layer: layer("a", LayerFormat::Toml), place: Place::Last }).unwrap();
    apply(&mut node, &NodeEdit::AddLayer { layer: layer("r", LayerFormat::Ruby), place: Place::At(1) }).unwrap();
    assert_eq!(names(&node), ["r", "a"]);
    apply(&mut node, &NodeEdit::MoveLayer { name: "r".into(), place: Place::After("a".into()) }).unwrap();
    apply(&mut node, &NodeEdit::ReplaceLayer { name: "a".into(), layer: layer("b", LayerFormat::Json) }).unwrap();
    assert_eq!(names(&node), ["b", "r"]);
    let set = |name: &str| NodeEdit::SetInLayer {
        name: name.into(),
        overrides: true,
        path: texts(&["x", "y"]),
        value: json!(1),
        digest: "d".into(),
    };
    assert_eq!(apply(&mut node, &set("b")), Ok(true));
    assert_eq!(json!(node.layers().all()[0].override_attributes.values()), json!({"x": {"y": 1}}));
    assert!(apply(&mut node, &set("r")).unwrap_err().contains("`wrun layer replace r FILE`"));
    assert!(apply(&mut node, &set("other")).unwrap_err().contains("no layer other; it has: b, r"));
    apply(&mut node, &NodeEdit::RemoveLayer { name: "b".into() }).unwrap();
    assert_eq!(names(&node), ["r"]);
}

#[test]
fn what_is_no_change_is_refused() {
    for json in [
        json!(1),
        json!({"edit": "x"}),
        json!({"edit": "add_tags", "items": [1]}),
        json!({"edit": "move_layer", "name": "a", "place": 1}),
    ] {
        assert!(NodeEdit::from_json(&json).is_err(), "{json}");
    }
}
