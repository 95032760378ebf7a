use serde_json::{Value, json};

use super::{Document, Query};

#[track_caller]
fn check(index: &str, objects: &Value, query: &str, expect: &[&str]) {
    let query = Query::parse(query).unwrap();
    let objects = objects.as_object().unwrap();
    let found = objects.iter().filter(|(name, object)| query.matches(&Document::of(index, name, object)));
    assert_eq!(found.map(|(name, _)| name.as_str()).collect::<Vec<_>>(), expect);
}

#[test]
fn items_are_found_by_their_fields() {
    let items = json!({
        "one": {"id": "one", "kind": "web", "port": 80, "owner": {"name": "Ann Lee", "groups": ["a", "ops"]}},
        "three": {"id": "three", "kind": "db", "port": 82, "note": "a web-like db"},
        "two": {"id": "two", "kind": "web", "port": 81, "path": "/srv/two", "on": true},
    });
    let check = |query: &str, expect: &[&str]| check("apps", &items, query, expect);
    check("*:*", &["one", "three", "two"]);
    check("kind:web", &["one", "two"]);
    check("KIND:web", &[]);
    check("kind:WEB", &["one", "two"]);
    check("kind:we", &[]);
    check("kind:we*", &["one", "two"]);
    check("kind:w?b AND port:81", &["two"]);
    check("NOT kind:web", &["three"]);
    check("-kind:web", &["three"]);
    check("id:t*", &["three", "two"]);
    check("kind:db OR port:80", &["one", "three"]);
    check("kind:db port:80", &["one", "three"]);
    check("kind:db OR kind:web AND port:81", &["three", "two"]);
    check("(kind:db OR kind:web) AND port:81", &["two"]);
    check("kind:(db OR web) AND NOT id:one", &["three", "two"]);
    check("owner_name:lee", &["one"]);
    check("name:ann", &["one"]);
    check("owner_name:\"ann lee\"", &["one"]);
    check("owner_name:\"ann x\"", &[]);
    check("owner_groups:ops", &["one"]);
    check("path:\\/srv\\/two", &["two"]);
    check("path:srv", &["two"]);
    check("on:true", &["two"]);
    check("own*:ops", &["one"]);
    check("owner:*", &["one"]);
    check("owner:lee", &["one"]);
    check("owner:groups", &["one"]);
    check("groups:ops", &["one"]);
    check("note:web", &[]);
    check("note:web-like", &["three"]);
    // As in local mode; a real index would find `two` as well.
    check("port:[80 TO 81]", &["one"]);
    check("port:[80 TO 80}", &[]);
    check("port:[* TO 81]", &["one", "two"]);
    check("missing:[* TO *]", &[]);
}

#[test]
fn of_a_node_the_merged_view_counts() {
    let nodes = json!({
        "n1": {"name": "n1", "chef_environment": "prod", "run_list": ["recipe[web::x]", "role[base]"],
               "default": {"app": {"role": "web"}}, "normal": {"app": {"role": "db"}}, "automatic": {"platform": "debian"}},
        "n2": {"name": "n2", "chef_environment": "_default", "run_list": ["ntp"], "override": {"app": {"role": "db", "tier": [1, 2]}}},
    });
    let check = |query: &str, expect: &[&str]| check("node", &nodes, query, expect);
    check("app_role:db", &["n1", "n2"]);
    check("app_role:web", &[]);
    check("role:db AND chef_environment:prod", &["n1"]);
    check("recipe:web\\:\\:x", &["n1"]);
    check("role:base", &["n1"]);
    check("recipe:ntp", &["n2"]);
    check("run_list:recipe\\[ntp\\]", &["n2"]);
    check("platform:debian", &["n1"]);
    check("app_tier:2", &["n2"]);
    check("name:n2", &["n2"]);
}

#[test]
fn what_is_no_query_is_refused() {
    #[track_caller]
    fn check(query: &str, why: &str) {
        let error = Query::parse(query).unwrap_err().to_string();
        assert!(error.ends_with(why), "{error}");
    }
    check("", "an expression is missing at its end");
    check("a AND", "an expression is missing at its end");
    check("AND a", "`AND` has nothing before it");
    check("(a", "a `)` is missing");
    check("a:[1 2]", "the range has no `TO`");
    check("a:[1 TO 2", "the range is not closed");
    check("\"a", "a quotation mark is not closed");
    check("a~", "`~` is not supported");
    check(&"(".repeat(10_000), "it is nested more than 200 deep");
    check(&"a".repeat(70_000), "it has more than 65536 characters");
}
