//! How attributes pass from policy to policy: what is committed, what is rolled back, what is inherited and saved.

#![cfg(test)]

use node::attributes::guest_values::guest_value;
use node::attributes::{Attributes, Level};
use node::object::{JudgedWrite, NodeObject, NormalAccess, ObjectError, PolicyStart, ReadFilter, attribute_key};
use node::origin::Origin;
use node::run_list::RunList;
use node::saved_filter::{FilterItem, LevelFilter, SavedFilters};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

const POLICIES: [&str; 3] = ["core", "database", "monitoring"];

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn start(policy: &str) -> PolicyStart {
    let start = PolicyStart::of_policy(
        policy,
        Some("production"),
        Some(&format!("{policy}-r1")),
        RunList::parse([format!("recipe[{policy}::default]")]).unwrap(),
        object(json!({"shared": {"from_lock": policy}, "production": {"shared": {"hoisted": policy}}})),
        object(json!({"forced": policy})),
    );
    PolicyStart { artifact: Some(format!("{policy}-a1")), ..start }
}

fn facts() -> Map<String, Value> {
    object(json!({"platform": "debian", "platform_version": "12"}))
}

fn whole(all: &Value) -> Cow<'_, Value> {
    Cow::Borrowed(all)
}

/// A part that a policy may read.
fn part<'all>(part: Value) -> Cow<'all, Value> {
    Cow::Owned(part)
}

/// Every attribute of `normal`, by whomever it was written.
const ALL_OF_NORMAL: NormalAccess<'static> = NormalAccess { given: &whole, others: &whole, overwrites: &|_| true };

/// The attributes of a policy that may read everything.
fn begin(node: &NodeObject, start: &PolicyStart, facts: &Map<String, Value>) -> Result<Attributes, ObjectError> {
    node.begin_policy_seeing(start, facts, &ReadFilter { inherited: &whole, normal: ALL_OF_NORMAL, facts: &whole })
}

/// What every policy of these tests does: one write per kind of level, all to names of its own and to shared ones.
fn act(attributes: &mut Attributes, policy: &str) {
    let origin = Origin { cookbook: Some(policy.to_owned()), ..Origin::policy(policy) };
    for (level, value) in [(Level::Default, "default"), (Level::Override, "override"), (Level::Normal, "normal")] {
        attributes.write(level, &[policy, value], json!(policy), &origin).unwrap();
        attributes.write(level, &["shared", value], json!(policy), &origin).unwrap();
    }
    attributes.write(Level::Normal, &["log", policy], json!(true), &origin).unwrap();
    attributes.remove(&["forced"], &origin).unwrap();
}

/// Runs the three policies; those in `failing` are rolled back after they have acted.
fn run(node: &mut NodeObject, failing: &[&str], json_attributes: Value) {
    node.begin_run(&POLICIES, object(json_attributes));
    for policy in POLICIES {
        let start = start(policy);
        let mut attributes = begin(node, &start, &facts()).unwrap();
        act(&mut attributes, policy);
        if failing.contains(&policy) {
            drop(attributes);
        } else {
            node.commit(&start, attributes, &ALL_OF_NORMAL).unwrap();
        }
    }
}

fn saved(node: &NodeObject) -> Value {
    node.to_saved_json(&SavedFilters::default()).unwrap()
}

#[test]
fn three_policies_that_succeed_leave_their_parts() {
    let mut node = NodeObject::new("db1.example.com").unwrap();
    run(&mut node, &[], json!({"from_command_line": [1]}));
    let part = |policy: &str| {
        json!({
            "group": "production",
            "revision": format!("{policy}-r1"),
            "artifact": format!("{policy}-a1"),
            "run_list": [format!("recipe[{policy}::default]")],
            "default": {
                policy: {"default": policy},
                "shared": {"default": policy, "from_lock": policy, "hoisted": policy},
                "production": {"shared": {"hoisted": policy}},
            },
            "override": {policy: {"override": policy}, "shared": {"override": policy}},
        })
    };
    let mut saved = saved(&node);
    for policy in POLICIES {
        let added = saved["policies"][policy].as_object_mut().unwrap().shift_remove("normal_bytes");
        assert!(added.and_then(|bytes| bytes.as_u64()).is_some_and(|bytes| (100..400).contains(&bytes)), "{policy}");
    }
    assert_eq!(
        saved,
        json!({
            "name": "db1.example.com",
            "chef_environment": "production",
            "json_class": "Chef::Node",
            "chef_type": "node",
            "automatic": {
                "platform": "debian",
                "platform_version": "12",
                "name": "db1.example.com",
                "roles": [],
                "recipes": ["core::default", "database::default", "monitoring::default"],
                "chef_environment": "production",
            },
            "normal": {
                "from_command_line": [1],
                "tags": [],
                "core": {"normal": "core"},
                "database": {"normal": "database"},
                "monitoring": {"normal": "monitoring"},
                "shared": {"normal": "monitoring"},
                "log": {"core": true, "database": true, "monitoring": true},
            },
            "default": {
                "core": {"default": "core"},
                "database": {"default": "database"},
                "monitoring": {"default": "monitoring"},
                "shared": {"default": "monitoring", "from_lock": "monitoring", "hoisted": "monitoring"},
                "production": {"shared": {"hoisted": "monitoring"}},
            },
            "override": {
                "core": {"override": "core"},
                "database": {"override": "database"},
                "monitoring": {"override": "monitoring"},
                "shared": {"override": "monitoring"},
            },
            "run_list": ["recipe[core::default]", "recipe[database::default]", "recipe[monitoring::default]"],
            "policy_name": ["core", "database", "monitoring"],
            "policy_group": "production",
            "policies": {"core": part("core"), "database": part("database"), "monitoring": part("monitoring")},
        })
    );
}

#[test]
fn a_failure_in_any_policy_leaves_no_trace_of_it() {
    for failing in POLICIES {
        let mut node = NodeObject::new("n").unwrap();
        run(&mut node, &[failing], json!({"from_command_line": true}));
        let saved = saved(&node);
        // No name of the failing policy stands anywhere: as a key, as a value, as a run-list item.
        assert!(!saved.to_string().contains(failing), "{failing} left a trace: {saved}");
        for other in POLICIES.iter().filter(|policy| **policy != failing) {
            assert_eq!(saved["normal"]["log"][*other], json!(true), "{other} lost its writes when {failing} failed");
            assert_eq!(saved["policies"][*other]["revision"], json!(format!("{other}-r1")));
        }
        assert_eq!(saved["normal"]["from_command_line"], json!(true));
        assert!(
            node.histories().iter().flat_map(|history| history.all()).all(|record| record.origin.policy != failing)
        );
    }
}

#[test]
fn a_failure_in_every_policy_leaves_the_node_as_it_was() {
    let mut node = NodeObject::new("n").unwrap();
    run(&mut node, &[], json!({}));
    let before = saved(&node);
    run(&mut node, &POLICIES, json!({"from_command_line": true}));
    assert_eq!(saved(&node), before);
}

#[test]
fn a_failed_policy_keeps_what_it_left_when_it_last_succeeded() {
    let mut node = NodeObject::new("n").unwrap();
    run(&mut node, &[], json!({}));
    run(&mut node, &["database"], json!({}));
    let saved = saved(&node);
    assert_eq!(saved["policy_name"], json!(POLICIES));
    assert_eq!(saved["policies"]["database"]["default"]["database"], json!({"default": "database"}));
}

#[test]
fn an_earlier_policy_informs_a_later_one_and_never_overrules_it() {
    let mut node = NodeObject::new("n").unwrap();
    node.begin_run(&POLICIES, Map::new());
    let origin = Origin::policy("core");
    let first = start("core");
    let mut attributes = begin(&node, &first, &facts()).unwrap();
    for (path, value) in [("told", json!({"a": 1})), ("list", json!([1, 2])), ("cleared", json!({"old": 1}))] {
        attributes.write(Level::ForceOverride, &[path], value, &origin).unwrap();
    }
    node.commit(&first, attributes, &ALL_OF_NORMAL).unwrap();

    let second = start("database");
    let mut attributes = begin(&node, &second, &facts()).unwrap();
    let origin = Origin::policy("database");
    assert_eq!(attributes.read(&["told", "a"]), Some(json!(1)), "what was left is read");
    attributes.write(Level::Default, &["told", "a"], json!(2), &origin).unwrap();
    attributes.write(Level::Default, &["list"], json!([3]), &origin).unwrap();
    assert_eq!(attributes.read(&["told", "a"]), Some(json!(2)), "the lowest level wins over it");
    assert_eq!(attributes.read(&["list"]), Some(json!([3])), "its arrays are not united with one's own");
    attributes.force_default(&["cleared"], json!({"new": 1}), &origin).unwrap();
    assert_eq!(attributes.read(&["cleared"]), Some(json!({"new": 1})), "what is cleared does not come back");
    let refused = attributes.write(Level::Inherited, &["told"], json!(3), &origin).unwrap_err();
    assert_eq!(refused.chef_class(), "Chef::Exceptions::ImmutableAttributeModification");
    assert_eq!(attributes.combined_override(&["told"]), None, "the override of another policy is not one's own");
}

#[test]
fn a_new_run_inherits_nothing_from_the_last_one() {
    let mut node = NodeObject::new("n").unwrap();
    run(&mut node, &[], json!({}));
    node.begin_run(&POLICIES, Map::new());
    assert!(node.inherited().is_empty());
    let attributes = begin(&node, &start("core"), &facts()).unwrap();
    assert_eq!(attributes.read(&["monitoring"]), Some(json!({"normal": "monitoring"})), "only normal outlives a run");
}

#[test]
fn a_run_in_which_nothing_is_new_leaves_the_saved_node_as_it_was_after_each_policy() {
    let mut node = NodeObject::new("n").unwrap();
    let one_run = |node: &mut NodeObject| -> Vec<Value> {
        node.begin_run(&POLICIES, Map::new());
        let after = |policy: &&str| {
            let start = start(policy);
            let attributes = begin(node, &start, &facts()).unwrap();
            node.commit(&start, attributes, &ALL_OF_NORMAL).unwrap();
            saved(node)
        };
        POLICIES.iter().map(after).collect()
    };
    let first = one_run(&mut node).pop().unwrap();
    let recipes: Vec<_> = POLICIES.iter().map(|policy| format!("{policy}::default")).collect();
    assert_eq!(first["automatic"]["recipes"], json!(recipes));
    for after in one_run(&mut node) {
        assert_eq!(after, first);
    }
    // What no policy of the run has any more goes with the last one.
    node.begin_run(&["core"], Map::new());
    let start = start("core");
    let attributes = begin(&node, &start, &facts()).unwrap();
    node.commit(&start, attributes, &ALL_OF_NORMAL).unwrap();
    assert_eq!(saved(&node)["automatic"]["recipes"], json!(["core::default"]));
}

#[test]
fn a_policy_knows_itself_and_cannot_change_what_the_host_says() {
    let mut node = NodeObject::new("n").unwrap();
    node.begin_run(&POLICIES, Map::new());
    let cookbooks = vec![("pg".to_owned(), "1.2.0".to_owned())];
    let start = PolicyStart { cookbooks, ..start("database") };
    let sight = ReadFilter {
        inherited: &|_| part(json!({})),
        normal: ALL_OF_NORMAL,
        facts: &|all| part(json!({"platform": all["platform"]})),
    };
    let mut attributes = node.begin_policy_seeing(&start, &facts(), &sight).unwrap();
    for (name, value) in [
        ("cookbooks", json!({"pg": {"version": "1.2.0"}})),
        ("policy_name", json!("database")),
        ("policy_group", json!("production")),
        ("policy_revision", json!("database-r1")),
        ("chef_environment", json!("production")),
        ("recipes", json!(["database::default"])),
        ("roles", json!([])),
        ("platform", json!("debian")),
    ] {
        assert_eq!(attributes.read(&[name]), Some(value), "{name}");
    }
    let origin = Origin::policy("database");
    let refused = [
        attributes.write(Level::Automatic, &["platform"], json!("x"), &origin),
        attributes.write_strict(Level::Automatic, &["platform"], json!("x"), &origin),
        attributes.write_unless(Level::Automatic, &["new"], json!("x"), &origin).map(|_| ()),
        attributes.unlink(Level::Automatic, &["platform"], &origin).map(|_| ()),
        attributes.unlink_strict(Level::Automatic, &["platform"], &origin).map(|_| ()),
    ];
    for refused in refused {
        assert_eq!(refused.unwrap_err().chef_class(), "Chef::Exceptions::ImmutableAttributeModification");
    }
    attributes.remove(&["platform"], &origin).unwrap();
    assert_eq!(attributes.read(&["platform"]), Some(json!("debian")), "rm does not reach the facts");
}

#[test]
fn values_that_only_the_guest_can_compute_do_not_outlive_its_policy() {
    let mut node = NodeObject::new("n").unwrap();
    node.begin_run(&POLICIES, Map::new());
    let first = start("core");
    let mut attributes = begin(&node, &first, &facts()).unwrap();
    let origin = Origin::policy("core");
    attributes.write(Level::Default, &["lazy", "deep"], json!([guest_value(7)]), &origin).unwrap();
    let before = saved(&node);
    let refused = node.clone().commit(&first, attributes.clone(), &ALL_OF_NORMAL).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "attribute lazy.deep.0 in the default level still holds a value that only the policy can compute"
    );
    assert_eq!(saved(&node), before);
    for found in attributes.guest_values() {
        assert_eq!(found.number, 7);
        attributes.freeze(found.level, &found.path, json!("computed")).unwrap();
    }
    node.commit(&first, attributes, &ALL_OF_NORMAL).unwrap();
    assert_eq!(node.inherited()["lazy"], json!({"deep": ["computed"]}));
}

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

#[test]
fn markers_do_not_come_in_from_outside() {
    let mut node = NodeObject::new("n").unwrap();
    node.begin_run(&POLICIES, object(json!({"x": guest_value(1)})));
    let refused = begin(&node, &start("core"), &facts()).unwrap_err();
    assert_eq!(refused.chef_class(), "ArgumentError");
    node.begin_run(&POLICIES, Map::new());
    let mut lock = start("core");
    lock.role_default = object(json!({"x": guest_value(1)}));
    assert!(begin(&node, &lock, &facts()).is_err());
    assert!(begin(&node, &start("core"), &object(json!({"x": [guest_value(1)]}))).is_err());
}

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
    read_back.set_histories_from_json(&node.histories_to_json(&SavedFilters::default())).unwrap();
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
    let document = node.histories_to_json(&kept_secret);
    let records = document["policies"]["core"].as_array().unwrap();
    let values_of =
        |level: &str| records.iter().filter(|record| record["level"] == level && record.get("value").is_some()).count();
    assert_eq!(values_of("normal"), 0);
    assert!(values_of("override") > 0);
    for wrong in [json!({}), json!({"version": 2, "policies": {}}), json!({"version": 1, "policies": {"a": [{}]}})] {
        assert!(read_back.set_histories_from_json(&wrong).is_err());
    }
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
fn what_a_policy_may_not_read_is_not_there_and_is_not_lost() {
    let mut node = NodeObject::new("n").unwrap();
    node.begin_run(&POLICIES, Map::new());
    let first = start("core");
    let mut attributes = begin(&node, &first, &facts()).unwrap();
    let left = json!({"open": {"a": 1, "secret": 2}, "closed": {"b": 1}, "cleared": 1});
    for (name, value) in object(left) {
        attributes.write(Level::Default, &[name], value, &Origin::policy("core")).unwrap();
    }
    node.commit(&first, attributes, &ALL_OF_NORMAL).unwrap();

    let second = start("database");
    let sight = ReadFilter {
        normal: NormalAccess {
            given: &|all| part(json!({"tags": all["tags"]})),
            others: &|_| part(json!({})),
            overwrites: &|_| false,
        },
        inherited: &|all| part(json!({"open": {"a": all["open"]["a"]}, "cleared": all["cleared"]})),
        facts: &|all| part(json!({"platform": all["platform"]})),
    };
    let mut attributes = node.begin_policy_seeing(&second, &facts(), &sight).unwrap();
    for hidden in [&["open", "secret"][..], &["closed"], &["platform_version"]] {
        assert_eq!(attributes.read(hidden), None, "{hidden:?}");
    }
    assert_eq!(attributes.read(&["open"]), Some(json!({"a": 1})));
    assert_eq!(attributes.read(&["policy_name"]), Some(json!("database")));
    assert_eq!(attributes.read(&["platform"]), Some(json!("debian")));
    let origin = Origin::policy("database");
    attributes.write(Level::Default, &["open", "a"], json!(9), &origin).unwrap();
    attributes.remove(&["cleared"], &origin).unwrap();
    node.commit(&second, attributes, &sight.normal).unwrap();
    assert_eq!(node.inherited()["open"], json!({"secret": 2, "a": 9}));
    assert_eq!(node.inherited()["closed"], json!({"b": 1}));
    assert_eq!(node.inherited().get("cleared"), None);
    assert_eq!(node.automatic()["platform_version"], json!("12"));
}

#[test]
fn normal_attributes_that_a_policy_may_not_read_are_not_there_and_are_not_lost() {
    let mut node = NodeObject::new("n").unwrap();
    node.begin_run(&POLICIES, object(json!({"given": {"password": "x"}})));
    let first = start("core");
    let mut attributes = begin(&node, &first, &facts()).unwrap();
    for (name, value) in object(json!({"mine": {"a": 1, "key": 2}, "closed": {"b": 1}, "replaced": {"c": 1}})) {
        attributes.write(Level::Normal, &[name], value, &Origin::policy("core")).unwrap();
    }
    node.commit(&first, attributes, &ALL_OF_NORMAL).unwrap();

    let second = start("database");
    let normal = NormalAccess {
        given: &|_| part(json!({})),
        others: &|all| part(json!({"mine": {"a": all["mine"]["a"]}})),
        overwrites: &|_| true,
    };
    let sight = ReadFilter { inherited: &|_| part(json!({})), normal, facts: &whole };
    let mut attributes = node.begin_policy_seeing(&second, &facts(), &sight).unwrap();
    assert_eq!(attributes.level(Level::Normal), &json!({"tags": [], "mine": {"a": 1}}));
    for hidden in [&["given"][..], &["mine", "key"], &["closed"]] {
        assert_eq!(attributes.read(hidden), None, "{hidden:?}");
    }
    let origin = Origin::policy("database");
    attributes.write(Level::Normal, &["mine", "a"], json!(9), &origin).unwrap();
    attributes.write(Level::Normal, &["new"], json!(3), &origin).unwrap();
    attributes.write(Level::Normal, &["replaced"], json!(4), &origin).unwrap();
    attributes.remove(&["closed"], &origin).unwrap();
    node.commit(&second, attributes, &sight.normal).unwrap();
    let expect = json!({
        "given": {"password": "x"}, "mine": {"key": 2, "a": 9}, "closed": {"b": 1}, "replaced": 4, "tags": [], "new": 3,
    });
    assert_eq!(Value::Object(node.normal().clone()), expect);
}

/// A policy of its own that writes one value.
fn write(node: &mut NodeObject, policy: &str, level: Level, path: &[&str], value: Value) -> Result<(), ObjectError> {
    node.begin_run(&[policy], Map::new());
    let start = start(policy);
    let mut attributes = begin(node, &start, &facts())?;
    attributes.write(level, path, value, &Origin::policy(policy)).unwrap();
    node.commit(&start, attributes, &ALL_OF_NORMAL)
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
