//! How attributes pass from policy to policy: what is committed, what is rolled back, what is inherited.

use super::support::{ALL_OF_NORMAL, POLICIES, begin, facts, object, part, run, saved, start};
use node::attributes::Level;
use node::attributes::guest_values::guest_value;
use node::object::{NodeObject, PolicyStart, ReadFilter};
use node::origin::Origin;
use serde_json::{Map, Value, json};

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
                "policy_name": POLICIES,
                "policy_group": ["production", "production", "production"],
                "policy_revision": ["core-r1", "database-r1", "monitoring-r1"],
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
    assert_eq!(refused.kind(), errors::ErrorKind::ReadOnlyAttribute);
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
    let mut attributes = node.begin_policy_seeing(&start, &mut facts().into(), &sight).unwrap();
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
        assert_eq!(refused.unwrap_err().kind(), errors::ErrorKind::ReadOnlyAttribute);
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
fn markers_do_not_come_in_from_outside() {
    let mut node = NodeObject::new("n").unwrap();
    node.begin_run(&POLICIES, object(json!({"x": guest_value(1)})));
    let refused = begin(&node, &start("core"), &facts()).unwrap_err();
    assert_eq!(refused.kind(), errors::ErrorKind::InvalidArgument);
    node.begin_run(&POLICIES, Map::new());
    let mut lock = start("core");
    lock.role_default = object(json!({"x": guest_value(1)}));
    assert!(begin(&node, &lock, &facts()).is_err());
    // What a fact says never ends a policy, so a marker in one is left out.
    let attributes = begin(&node, &start("core"), &object(json!({"x": [guest_value(1), 2]}))).unwrap();
    assert_eq!(attributes.read(&["x"]), Some(json!([2])));
}
