//! Attributes that a policy may not read: they are not there, and are not lost when it writes beside them.

use super::support::{ALL_OF_NORMAL, POLICIES, begin, facts, object, part, start, whole};
use node::attributes::Level;
use node::object::{NodeObject, NormalAccess, ReadFilter};
use node::origin::Origin;
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
