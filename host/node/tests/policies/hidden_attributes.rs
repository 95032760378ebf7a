//! Attributes that a policy may not read: they are not there, and are not lost when it writes beside them.

use super::support::{ALL_OF_NORMAL, POLICIES, begin, facts, object, part, start, whole};
use node::attributes::{Attributes, Level, SharedFacts};
use node::object::{NodeObject, NormalAccess, ReadFilter, Verdict};
use node::origin::Origin;
use node::saved_filter::SavedFilters;
use serde_json::{Map, Value, json};

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
    let mut attributes = node.begin_policy_seeing(&second, &mut facts().into(), &sight).unwrap();
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

/// Users choose the names of their mounts, which are keys of facts.
#[test]
fn attack_facts_that_no_attribute_can_be_end_no_policy() {
    let mut node = NodeObject::new("n").unwrap();
    node.begin_run(&POLICIES, Map::new());
    let long = "x".repeat(5_000);
    let deep = (0..95).fold(json!(1), |value, _| json!({ "a": value }));
    let facts = json!({"filesystem": {"by_pair": {long: {"a": 1}, "b,/b": {"a": 1}}}, "deep": deep, "all": [[1]]});
    let sight = ReadFilter { inherited: &whole, normal: ALL_OF_NORMAL, facts: &whole };
    let attributes = node.begin_policy_seeing(&start("core"), &mut object(facts).into(), &sight).unwrap();
    assert_eq!(attributes.read(&["filesystem"]), Some(json!({"by_pair": {"b,/b": {"a": 1}}})));
    assert_eq!(attributes.read(&["all"]), Some(json!([[1]])));
}

#[test]
fn policies_share_the_facts_but_neither_sight_nor_new_facts() {
    let mut node = NodeObject::new("n").unwrap();
    node.begin_run(&POLICIES, Map::new());
    let mut shared = SharedFacts::from(object(json!({"platform": "debian", "uptime": "1 s", "roles": ["given"]})));
    let mut begin = |node: &NodeObject, policy: &str, sees_all: bool| -> Attributes {
        let platform = |all: &Value| part(json!({"platform": all["platform"]})).into_owned();
        let sight = ReadFilter {
            inherited: &whole,
            normal: ALL_OF_NORMAL,
            facts: &|all| if sees_all { whole(all) } else { part(platform(all)) },
        };
        node.begin_policy_seeing(&start(policy), &mut shared, &sight).unwrap()
    };
    let origin = Origin::policy("wrun");
    let mut first = begin(&node, "core", true);
    assert_eq!(first.read(&["roles"]), Some(json!([])), "what the policy is goes before a fact of that name");
    first.host_write(Level::Automatic, &["uptime"], json!("2 s"), &origin).unwrap();
    first.host_write(Level::Automatic, &["new"], json!(1), &origin).unwrap();
    assert_eq!(first.read(&["uptime"]), Some(json!("2 s")));
    node.commit(&start("core"), first, &ALL_OF_NORMAL).unwrap();
    assert_eq!((&node.automatic()["uptime"], &node.automatic()["new"]), (&json!("2 s"), &json!(1)));

    for policy in ["database", "monitoring"] {
        let mut next = begin(&node, policy, false);
        assert_eq!((next.read(&["uptime"]), next.read(&["new"])), (None, None), "{policy}");
        assert_eq!(next.withheld_fact(&["uptime"]), Some(&json!("1 s")), "{policy}");
        assert_eq!(next.read(&["policy_name"]), Some(json!(policy)));
        let level: Vec<_> = next.level(Level::Automatic).as_object().unwrap().keys().cloned().collect();
        assert_eq!(level.first().map(String::as_str), Some("platform"));
        assert!(level.iter().any(|key| key == "recipes") && !level.iter().any(|key| key == "uptime"), "{level:?}");
        next.host_write(Level::Automatic, &["platform"], json!(policy), &origin).unwrap();
        node.commit(&start(policy), next, &ALL_OF_NORMAL).unwrap();
        assert_eq!((&node.automatic()["platform"], &node.automatic()["uptime"]), (&json!(policy), &json!("1 s")));
    }
    assert_eq!(begin(&node, "core", true).read(&["platform"]), Some(json!("debian")));
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
    let mut attributes = node.begin_policy_seeing(&second, &mut facts().into(), &sight).unwrap();
    assert_eq!(*attributes.level(Level::Normal), json!({"tags": [], "mine": {"a": 1}}));
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

#[test]
fn an_explanation_does_not_claim_that_a_policy_saw_what_it_may_not_read() {
    let mut node = NodeObject::new("n").unwrap();
    node.begin_run(&POLICIES, Map::new());
    let first = start("core");
    let mut attributes = begin(&node, &first, &facts()).unwrap();
    attributes.write(Level::Override, &["redis", "mem"], json!(5), &Origin::policy("core")).unwrap();
    attributes.write(Level::Default, &["open"], json!(1), &Origin::policy("core")).unwrap();
    attributes.write(Level::Normal, &["kept", "key"], json!(2), &Origin::policy("core")).unwrap();
    node.commit(&first, attributes, &ALL_OF_NORMAL).unwrap();
    let second = start("database");
    let normal = NormalAccess { given: &whole, others: &|_| part(json!({})), overwrites: &|_| false };
    let sight =
        ReadFilter { inherited: &|all| part(json!({"open": all["open"]})), normal, facts: &|_| part(json!({})) };
    let attributes = node.begin_policy_seeing(&second, &mut facts().into(), &sight).unwrap();
    node.commit(&second, attributes, &sight.normal).unwrap();
    let saved = node.to_saved_json(&SavedFilters::default()).unwrap();
    assert_eq!(saved["policies"]["core"].get("hidden_inherited"), None);
    assert_eq!(saved["policies"]["database"]["hidden_inherited"]["redis"], json!(true));

    for node in [node, NodeObject::from_saved_json(&saved).unwrap()] {
        for (path, of_core) in [(["redis", "mem"], json!(5)), (["kept", "key"], json!(2))] {
            let explanation = node.explain(&path);
            let seen: Vec<_> = explanation.policies.iter().map(|part| part.seen.clone()).collect();
            assert_eq!(seen, [Some(of_core.clone()), None], "{path:?}");
            assert_eq!(explanation.now, Some(of_core), "the node has it all the same");
            let writes = explanation.judged(&path, 1);
            assert!(writes.iter().all(|write| write.verdict == Verdict::Hidden), "{writes:?}");
        }
        let open = node.explain(&["open"]);
        assert_eq!(open.policies.get(1).and_then(|part| part.seen.clone()), Some(json!(1)));
    }
}
