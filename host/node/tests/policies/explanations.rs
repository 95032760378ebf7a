//! What `wrun node explain` says: who wrote an attribute, and which write won.

use super::support::{ALL_OF_NORMAL, POLICIES, begin, facts, object, run, saved, start};
use node::attributes::{Change, Level, WrittenValue};
use node::object::{JudgedWrite, NodeEdit, NodeObject, PolicyStart, attribute_key};
use node::origin::Origin;
use node::run_list::RunList;
use node::saved_filter::{LevelFilter, SavedFilters};
use serde_json::{Map, Value, json};

#[test]
fn an_explanation_names_the_policies() {
    let mut node = NodeObject::new("n").unwrap();
    run(&mut node, &["monitoring"], json!({}));
    let attributes = begin(&node, &start("monitoring"), &facts()).unwrap();
    let explained = attributes.explain(&["shared", "override"]);
    assert_eq!(explained.value, Some(json!("database")));
    let text = explained.to_string();
    assert!(text.contains("inherited: wins"), "{text}");
    assert!(text.contains("shared.override by core core"), "{text}");
    assert!(text.contains("shared.override by database database"), "{text}");
}

#[test]
fn the_saved_node_explains_itself_after_the_run() {
    let mut node = NodeObject::new("n").unwrap();
    run(&mut node, &[], json!({}));
    let mut read_back = NodeObject::from_saved_json(&saved(&node)).unwrap();
    read_back.set_histories_from_json(node.histories_to_json(&SavedFilters::default())).unwrap();
    let explained = read_back.explain(&["shared", "default"]);
    assert_eq!(explained, node.explain(&["shared", "default"]));
    assert_eq!(explained.value(), Some(&json!("monitoring")));
    let parts: Vec<_> = explained.policies.iter().map(|part| (part.seen.clone(), part.writes.len())).collect();
    // What a policy's lock wrote beside the attribute does not bear on it.
    assert_eq!(parts, POLICIES.map(|policy| (Some(json!(policy)), 1)));
    let by: Vec<_> = explained.policies.iter().filter_map(|part| part.writes.last()?.origin.cookbook.clone()).collect();
    assert_eq!(by, POLICIES);
    let kept_secret =
        SavedFilters { normal: LevelFilter { allowed: Some(Vec::new()), blocked: None }, ..SavedFilters::default() };
    // The one that was read back has a text, which is not saved as it is then.
    for node in [&node, &read_back] {
        let mut secret = NodeObject::from_saved_json(&saved(node)).unwrap();
        secret.set_histories_from_json(node.histories_to_json(&kept_secret)).unwrap();
        let all = secret.explain::<&str>(&[]);
        let values_of = |level: Level| {
            let writes = all.policies.iter().flat_map(|part| &part.writes).filter(|write| write.level == level);
            writes.filter(|write| matches!(write.change, Change::Set(WrittenValue::Value(_)))).count()
        };
        assert_eq!(values_of(Level::Normal), 0);
        assert!(values_of(Level::Override) > 0);
    }
    // Nodes that were saved with records as objects are still read.
    let by = json!({"policy": "core", "cookbook": "core", "line": 3});
    let record = json!({"level": "default", "path": ["shared", "default"], "times": 2, "by": by, "value": "x"});
    read_back.set_histories_from_json(json!({"version": 1, "policies": {"core": [record]}})).unwrap();
    let writes = &read_back.explain(&["shared", "default"]).policies[0].writes;
    assert_eq!((writes[0].times, writes[0].origin.line), (2, Some(3)));
    for wrong in [
        json!({}),
        json!([]),
        json!({"version": 3, "policies": {}}),
        json!({"version": 2, "policies": {"a": [{}]}}),
        json!({"version": 1, "policies": {"a": [{}]}}),
    ] {
        assert!(read_back.set_histories_from_json(wrong).is_err());
    }
    // What only explains stops nothing.
    read_back.set_histories_from_json(json!({"version": 2, "policies": {"core": "damaged"}})).unwrap();
    assert!(read_back.explain(&["shared", "default"]).policies[0].writes.is_empty());
}

/// Verdict, level and place of each write that bears on an attribute for the policy `app`, the strongest first.
#[track_caller]
fn judged(node: &NodeObject, path: &[&str]) -> Vec<String> {
    let explained = node.explain(path);
    let at = explained.policies.iter().position(|part| part.policy.as_deref() == Some("app")).unwrap();
    let shown = |write: &JudgedWrite<'_>| {
        let origin = &write.record.origin;
        let place = origin.file.as_ref().map(|file| format!("{file}:{}", origin.line.unwrap_or(0)));
        format!("{} {} {}", write.verdict.as_str(), write.level, place.unwrap_or_else(|| origin.policy.clone()))
    };
    explained.judged(path, at).iter().map(shown).collect()
}

#[test]
fn of_all_who_wrote_an_attribute_the_explanation_names_the_winner_with_its_line() {
    let mut node = NodeObject::new("n").unwrap();
    node.begin_run(&["core", "app"], Map::new());
    let at = |policy: &str, line: u32| Origin {
        cookbook: Some(policy.to_owned()),
        file: Some("attributes/default.rb".into()),
        line: Some(line),
        ..Origin::policy(policy)
    };
    let core = start("core");
    let mut attributes = begin(&node, &core, &facts()).unwrap();
    attributes.write(Level::Override, &["redis", "port"], json!(1), &at("core", 1)).unwrap();
    node.commit(&core, attributes, &ALL_OF_NORMAL).unwrap();

    let table = object(json!({"redis": {"port": 6380, "bind": ["a"]}}));
    let lines =
        [(attribute_key("default", &["redis", "port"]), 14), (attribute_key("default", &["redis", "bind"]), 15)];
    let run_list = RunList::parse(["recipe[app::default]"]).unwrap();
    let app = PolicyStart::of_policy("app", None, Some("r1"), run_list, table, Map::new());
    let app = PolicyStart { attribute_lines: lines.into(), ..app };
    let mut attributes = begin(&node, &app, &facts()).unwrap();
    attributes.write(Level::Default, &["redis", "port"], json!(6379), &at("app", 9)).unwrap();
    attributes.write(Level::Default, &["redis", "port"], json!(6381), &at("app", 10)).unwrap();
    attributes.write(Level::Default, &["redis", "bind"], json!(["b"]), &at("app", 11)).unwrap();
    attributes.write(Level::Override, &["redis", "user"], json!("x"), &at("app", 12)).unwrap();
    attributes.write(Level::Default, &["platform"], json!("none"), &at("app", 13)).unwrap();
    node.commit(&app, attributes, &ALL_OF_NORMAL).unwrap();

    let file = "attributes/default.rb";
    let port = [
        "won role_default policy.toml:14".to_owned(),
        format!("lost default {file}:10"),
        format!("lost default {file}:9"),
        format!("lost inherited {file}:1"),
    ];
    assert_eq!(judged(&node, &["redis", "port"]), port);
    // Lists of the default levels are united.
    let bind = ["merged role_default policy.toml:15".to_owned(), format!("merged default {file}:11")];
    assert_eq!(judged(&node, &["redis", "bind"]), bind);
    assert_eq!(node.merged_value(&["redis", "bind"]), Some(json!(["b", "a"])));
    // Of an object, each value has its own winner.
    let whole = judged(&node, &["redis"]);
    assert_eq!(whole.iter().filter(|write| write.starts_with("won")).count(), 2, "{whole:?}");
    // A fact beats whoever wrote.
    assert_eq!(judged(&node, &["platform"]), [format!("lost default {file}:13")]);
}

#[test]
fn who_wrote_a_normal_attribute_is_remembered_in_later_runs() {
    let mut node = NodeObject::new("n").unwrap();
    run(&mut node, &[], json!({"given": {"by": "hand"}}));
    node.begin_run(&POLICIES, Map::new());
    let start = start("core");
    let mut attributes = begin(&node, &start, &facts()).unwrap();
    attributes.write(Level::Normal, &["later"], json!(1), &Origin::policy("core")).unwrap();
    attributes.unlink(Level::Normal, &["log"], &Origin::policy("core")).unwrap();
    node.commit(&start, attributes, &ALL_OF_NORMAL).unwrap();
    let writers = |path: &[&str]| -> Vec<String> {
        let core = node.explain(path).policies.into_iter().find(|part| part.policy.as_deref() == Some("core")).unwrap();
        core.writes.iter().map(|record| record.origin.to_string()).collect()
    };
    assert_eq!(writers(&["core", "normal"]), ["core core"]);
    assert_eq!(writers(&["given", "by"]), ["command line"]);
    assert_eq!(writers(&["later"]), ["core"]);
    assert_eq!(writers(&["log", "core"]), ["core"], "what is gone has the record of its removal only");
}

#[test]
fn what_an_operator_changes_after_a_run_is_not_told_as_seen() {
    let mut node = NodeObject::new("n").unwrap();
    run(&mut node, &[], json!({"port": 80, "old": {"name": "x"}, "same": 1}));
    let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
    let set = |path: Vec<String>, value| NodeEdit::SetAttribute { path, value };
    for edit in [
        set(path("port"), json!(81)),
        set(path("port"), json!(82)),
        set(path("port"), json!({"http": 83})),
        set(path("new.deep"), json!(true)),
        NodeEdit::UnsetAttribute { path: path("old.name") },
    ] {
        assert!(node.apply(&edit).unwrap());
    }
    let mut read_back = NodeObject::from_saved_json(&saved(&node)).unwrap();
    read_back.set_histories_from_json(node.histories_to_json(&SavedFilters::default())).unwrap();
    for node in [&node, &read_back] {
        let check = |name: &str, seen: Option<Value>, now: Option<Value>| {
            let explained = node.explain(&path(name));
            assert_eq!(explained.value(), now.as_ref(), "{name}");
            for part in &explained.policies {
                assert_eq!(part.seen, seen, "{name}");
                assert_eq!(part.changed_to, (seen != now).then(|| now.clone()), "{name}");
            }
        };
        check("port", Some(json!(80)), Some(json!({"http": 83})));
        check("port.http", None, Some(json!(83)));
        check("new.deep", None, Some(json!(true)));
        check("old.name", Some(json!("x")), None);
        check("same", Some(json!(1)), Some(json!(1)));
    }
    // The next run sees it.
    run(&mut node, &[], json!({}));
    let explained = node.explain(&["port", "http"]);
    assert!(explained.policies.iter().all(|part| part.changed_to.is_none() && part.seen == Some(json!(83))));
    assert!(node.histories_to_json(&SavedFilters::default()).get("unseen_edits").is_none());
}

#[test]
fn changes_that_a_policy_has_not_seen_stay_when_another_one_runs() {
    let mut node = NodeObject::new("n").unwrap();
    run(&mut node, &[], json!({"port": 80}));
    assert!(node.apply(&NodeEdit::SetAttribute { path: vec!["port".into()], value: json!(81) }).unwrap());
    let start = start(POLICIES[0]);
    let attributes = begin(&node, &start, &facts()).unwrap();
    node.commit(&start, attributes, &ALL_OF_NORMAL).unwrap();
    let seen: Vec<_> = node.explain(&["port"]).policies.iter().map(|part| part.seen.clone()).collect();
    assert_eq!(seen, [Some(json!(81)), Some(json!(80)), Some(json!(80))]);
}

#[test]
fn values_that_are_not_saved_are_not_kept_as_those_before_a_change() {
    let mut node = NodeObject::new("n").unwrap();
    run(&mut node, &[], json!({"token": "secret"}));
    assert!(node.apply(&NodeEdit::SetAttribute { path: vec!["token".into()], value: json!("other") }).unwrap());
    let nothing =
        SavedFilters { normal: LevelFilter { allowed: Some(Vec::new()), blocked: None }, ..SavedFilters::default() };
    assert!(!node.histories_to_json(&nothing).to_string().contains("secret"));
}
