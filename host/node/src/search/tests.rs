use serde_json::{Value, json};

use super::{Query, widened};

/// Pays for every step of a search.
fn free(_: u64) -> Result<(), std::convert::Infallible> {
    Ok(())
}

#[track_caller]
fn check(index: &str, objects: &Value, query: &str, expect: &[&str]) {
    let query = Query::parse(query).unwrap();
    let objects = objects.as_object().unwrap();
    let found = objects.iter().filter(|(name, object)| query.finds(index, name, object, &mut free).unwrap());
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
    check("port:[80 TO 81]", &["one", "two"]);
    check("port:{80 TO 81]", &["two"]);
    check("port:[80 TO 81}", &["one"]);
    check("port:[80 TO 80}", &[]);
    check("port:[9 TO 100]", &["one", "three", "two"]);
    check("port:[-5 TO 80.5]", &["one"]);
    check("port:[* TO 81]", &["one", "two"]);
    check("port:[82 TO *]", &["three"]);
    check("id:[o TO tj]", &["one", "three"]);
    check("path:[\"/srv/t\" TO \\/srv\\/u]", &["two"]);
    check("missing:[* TO *]", &[]);
    check("* : *", &["one", "three", "two"]);
    check("kind:(web AND NOT db)", &["one", "two"]);
    check("kind:web^2 AND port:80", &["one"]);
    check("owner_groups:\"a\"", &["one"]);
    check("note:\"a web-like\"", &["three"]);
    check("note:\"web-like a\"", &[]);
    check("note:*b-l*", &["three"]);
    check("note:***", &["three"]);
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
    check("kind:web AND (a", ", at character 14: a `)` is missing");
    check("a b) c", ", at character 4: `)` closes nothing");
    check("x:+a", ", at character 3: `+` is not supported; write `\\+` for the character");
    check(&"a ".repeat(1_025), "it has more than 1024 terms");
    check("", "an expression is missing at its end");
    check("a AND", "an expression is missing at its end");
    check("AND a", "`AND` has nothing before it");
    check("(a", "a `)` is missing");
    check("a:[1 2]", "the range has no `TO`");
    check("a:[1 TO 2", "the range is not closed");
    check("\"a", "a quotation mark is not closed");
    check("a~", "`~` is not supported; write `\\~` for the character");
    check(&"(".repeat(10_000), "it is nested more than 200 deep");
    check(&"a".repeat(70_000), "it has more than 65536 characters");
    check(&"?*".repeat(513), "it has more than 1024 wildcards");
    check(&"a*:b?*c ".repeat(342), "it has more than 1024 wildcards");
}

#[test]
fn a_word_without_a_field_is_looked_for_where_people_expect_it() {
    assert_eq!(widened("role", "web"), "name:*web*");
    assert_eq!(widened("users", "ann"), "id:*ann*");
    assert_eq!(widened("node", "role:web"), "role:web");
    let node =
        json!({ "n1": { "name": "n1", "automatic": { "fqdn": "n1.berlin.example.org" } }, "n2": { "name": "n2" } });
    check("node", &node, &widened("node", "berlin"), &["n1"]);
}

#[test]
fn of_a_node_with_policies_their_groups_are_found_and_what_each_left_is_not() {
    let nodes = json!({ "n": {
        "name": "n", "policy_name": ["web", "db"], "policy_group": null,
        "default": { "port": 2 },
        "policies": {
            "web": { "group": "prod", "revision": "r1", "default": { "port": 1 } },
            "db": { "group": "staging", "revision": "r2", "default": { "port": 2 } },
        },
    } });
    let check = |query: &str, expect: &[&str]| check("node", &nodes, query, expect);
    check("policy_name:db AND policy_group:prod", &["n"]);
    check("policy_group:staging", &["n"]);
    check("policy_revision:r2", &["n"]);
    check("port:2", &["n"]);
    check("port:1", &[]);
}

/// Queries and objects that would take hours if each of their parts met each other: they end when nobody pays any more, and
/// each step is paid for before it is made.
#[test]
fn a_hostile_search_ends_when_nobody_pays() {
    let wide: serde_json::Map<String, Value> =
        (0..20_000).map(|key| (format!("key{key}{}", "a".repeat(40)), json!("b ".repeat(20)))).collect();
    let long = json!({ "id": ",".repeat(4 << 20), "text": "a ".repeat(2 << 20) });
    let deep = (0..250).fold(json!("x"), |inner, _| json!({ "a".repeat(200): inner, "b": [1, 2, 3] }));
    let mut wildcards = (0..100).map(|at| format!("*a*a*a{at}*:*b*b?b*c")).collect::<Vec<_>>();
    wildcards.push("id:\"* * * * *\"".to_owned());
    for object in [Value::Object(wide), long, deep] {
        for query in
            [wildcards.join(" OR "), format!("id:\"{}b\"", "* ".repeat(1_000)), format!("{}*", "?*".repeat(511))]
        {
            let query = Query::parse(&query).unwrap();
            let mut paid = 0;
            let _ = query.finds("users", "x", &object, &mut |units| {
                assert!(units < 200_000, "{units} units at once");
                paid += units;
                if paid > 400_000 { Err(()) } else { Ok(()) }
            });
            assert!(paid > 0, "nothing was paid");
        }
    }
}

/// Each piece of a pattern that can match next costs a step for each character of a text, and no other piece does. So a query
/// costs no more than its wildcards allow.
#[test]
fn attack_a_search_takes_few_steps_for_what_cannot_match() {
    let steps = |query: String, text: String| {
        let object = json!({ "id": text });
        let mut paid = 0;
        let mut pay = |units| {
            paid += units;
            Ok::<(), std::convert::Infallible>(())
        };
        Query::parse(&query).unwrap().finds("users", "x", &object, &mut pay).unwrap();
        paid * 64
    };
    let text = || "b".repeat(10_000);
    let plain = steps("id:c".to_owned(), text());
    // A long pattern that fails at once costs as much as a short one.
    assert!(steps(format!("id:{}", "c".repeat(60_000)), text()) < plain + 1_000);
    assert!(steps(format!("id:a{}", "*a".repeat(1_000)), text()) < plain + 1_000);
    let worst = steps(format!("id:{}c", "?*".repeat(512)), text());
    assert!((1_000_000..30_000_000).contains(&worst), "{worst}");
}
