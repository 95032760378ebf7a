//! From a policy to its lock: what is chosen, what conflicts, and what is told of it.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use policyfile::compile::{From, Input, OwnCookbook, Source, attributes, check_recipes, choose, lock};
use policyfile::include::Included;
use policyfile::lock::Lock;
use policyfile::model::Policy;
use policyfile::solver::Universe;
use policyfile::written::Written;
use serde_json::{Map, Value, json};

fn policy(changes: Value) -> Policy {
    let mut answer = json!({
        "name": "web", "run_list": {"items": ["app"], "line": 2}, "named_run_lists": [], "default_sources": [],
        "cookbooks": [], "includes": [], "default": {"map": []}, "override": {"map": []}, "lines": [],
    });
    for (key, value) in changes.as_object().unwrap() {
        answer[key] = value.clone();
    }
    Written::read(&answer).unwrap().check(None).unwrap()
}

fn source(name: &str, cookbooks: &[(&str, &str, &[&str])], preferred: &[&str]) -> Source {
    let mut universe = Universe::new();
    for (name, version, dependencies) in cookbooks {
        let dependencies = dependencies.iter().map(|name| ((*name).to_owned(), ">= 0.0.0".to_owned())).collect();
        universe.entry((*name).to_owned()).or_default().insert((*version).to_owned(), dependencies);
    }
    Source { name: name.into(), universe, preferred: preferred.iter().map(|name| (*name).to_owned()).collect() }
}

fn included(name: &str, changes: Value) -> Included {
    let entry = |path: &str| {
        json!({"version": "1.0.0", "identifier": "x", "dotted_decimal_identifier": "1.2.3",
        "source": path, "cache_key": null, "source_options": {"path": path}})
    };
    let mut document = json!({
        "name": name, "run_list": ["recipe[base::default]"], "cookbook_locks": {"base": entry("c/base")},
        "default_attributes": {}, "override_attributes": {},
        "solution_dependencies": {"Policyfile": [["base", "= 1.0.0"]], "dependencies": {"base (1.0.0)": []}},
    });
    for (key, value) in changes.as_object().unwrap() {
        document[key] = value.clone();
    }
    let lock = Lock::from_json(&document).unwrap();
    let place = format!("./{name}.lock.json");
    Included { name: name.into(), lock, revision_id: json!("r"), source_options: Map::new(), place }
}

/// The names, versions and origins of what is chosen, or the error.
fn chosen(policy: &Policy, includes: &[Included], own: &[(&str, &str)], sources: &[Source]) -> String {
    let own: BTreeMap<_, _> = own
        .iter()
        .map(|(name, version)| ((*name).to_owned(), OwnCookbook { version: (*version).into(), dependencies: vec![] }))
        .collect();
    match choose(&Input { policy, file: "Policyfile.rb", includes, own: &own, sources }) {
        Err(error) => error.to_string(),
        Ok(chosen) => {
            let one = |(name, one): (&String, &policyfile::compile::Chosen)| {
                let from = match &one.from {
                    From::Own => "own".to_owned(),
                    From::Include(options) => format!("include {}", Value::Object(options.clone())),
                    From::Source(index) => format!("source {index}"),
                };
                format!("{name} {} {from}", one.version)
            };
            chosen.iter().map(one).collect::<Vec<_>>().join("; ")
        }
    }
}

#[test]
fn cookbooks_come_from_the_source_that_counts() {
    let plain = policy(json!({}));
    let one = || source("one", &[("app", "1.0.0", &["shared"]), ("shared", "1.0.0", &[])], &[]);
    let two = |preferred| source("two", &[("shared", "2.0.0", &[]), ("unused", "1.0.0", &[])], preferred);
    assert_eq!(chosen(&plain, &[], &[], &[one()]), "app 1.0.0 source 0; shared 1.0.0 source 0");
    assert_eq!(chosen(&plain, &[], &[], &[one(), two(&["shared"])]), "app 1.0.0 source 0; shared 2.0.0 source 1");
    assert_eq!(chosen(&plain, &[], &[("shared", "3.0.0")], &[one(), two(&[])]), "app 1.0.0 source 0; shared 3.0.0 own");
    let error = chosen(&plain, &[], &[], &[one(), two(&[])]);
    assert!(error.contains("- cookbook shared: one, two\n") && error.contains("s.preferred_for \"shared\""), "{error}");
    let included_too = [included("inc", json!({}))];
    let apps = || source("apps", &[("app", "1.0.0", &["base"]), ("base", "2.0.0", &[])], &[]);
    let got = chosen(&plain, &included_too, &[], &[apps()]);
    assert_eq!(got, "app 1.0.0 source 0; base 1.0.0 include {\"path\":\"c/base\"}");
    let preferring = source("apps", &[("app", "1.0.0", &[]), ("base", "2.0.0", &[])], &["base"]);
    let error = chosen(&plain, &included_too, &[], &[preferring]);
    assert!(error.contains("apps is the preferred source of base"), "{error}");
}

#[test]
fn includes_must_agree_and_every_conflict_is_told() {
    let plain = policy(json!({"run_list": {"items": ["base"], "line": 2}}));
    let entry = |path: &str, version: &str| {
        json!({"version": version, "identifier": "x",
        "dotted_decimal_identifier": "1.2.3", "source": path, "cache_key": null, "source_options": {"path": path}})
    };
    let elsewhere = included("two", json!({"cookbook_locks": {"base": entry("d/base", "1.0.0")}}));
    let error = chosen(&plain, &[included("one", json!({})), elsewhere], &[], &[]);
    let expect = "conflicting sources for cookbook base: {\"path\":\"c/base\"} in the included policy \"one\", \
                  {\"path\":\"d/base\"} in \"two\"";
    assert!(error.contains(expect), "{error}");
    let newer = json!({"Policyfile": [], "dependencies": {"base (2.0.0)": [], "lib (1.0.0)": [["x", "= 1.0.0"]]}});
    let other = json!({"Policyfile": [], "dependencies": {"base (1.0.0)": [], "lib (1.0.0)": []}});
    let three = [
        included("one", json!({"solution_dependencies": other})),
        included("two", json!({"solution_dependencies": newer})),
    ];
    let error = chosen(&plain, &three, &[], &[]);
    assert!(error.contains("conflicting versions for cookbook base: 1.0.0 in the included policy \"one\""), "{error}");
    assert!(
        error.contains("conflicting dependencies for cookbook lib: none in the included policy \"one\""),
        "{error}"
    );
}

#[test]
fn attributes_conflict_with_both_origins() {
    let own = policy(json!({
        "default": {"map": ["x", {"map": ["y", 2, "z", {"map": ["deep", 1]}]}, "only", 1]},
        "override": {"map": ["o", 1]},
        "lines": [{"level": "default", "path": ["x"], "line": 5}, {"level": "default", "path": ["x", "y"], "line": 7}],
    }));
    let includes = [included("one", json!({"default_attributes": {"x": {"y": 1, "z": 3}, "o": 2}}))];
    let input = Input { policy: &own, file: "Policyfile.rb", includes: &includes, own: &BTreeMap::new(), sources: &[] };
    assert_eq!(
        attributes(&input).unwrap_err().to_string(),
        "policies set attributes to different values:\n\
         - default[x][y]: 2 in Policyfile.rb:7, 1 in the included policy \"one\" (./one.lock.json)\n\
         - default[x][z]: {\"deep\":1} in Policyfile.rb:5, 3 in the included policy \"one\" (./one.lock.json)"
    );
}

#[test]
fn run_lists_and_demands_of_includes_come_first() {
    let own = policy(json!({"named_run_lists": [{"name": "n", "symbol": true, "items": ["app"], "line": 3}]}));
    let includes = [included("one", json!({"named_run_lists": {"n": ["recipe[base::x]"]}}))];
    let input = Input {
        policy: &own,
        file: "Policyfile.rb",
        includes: &includes,
        own: &BTreeMap::new(),
        sources: &[source("s", &[("app", "1.2.0", &["base"])], &[])],
    };
    let chosen = choose(&input).unwrap();
    let error =
        check_recipes(&input, &chosen, |_, recipe| recipe == "default", |name| format!("/c/{name}")).unwrap_err();
    assert!(error.to_string().ends_with("- cookbook base 1.0.0 (/c/base) has no recipe x"), "{error}");
    let lock = lock(&input, &chosen, BTreeMap::new()).unwrap();
    assert_eq!(lock.run_list, ["recipe[base::default]", "recipe[app::default]"]);
    let lists: Vec<_> = lock.named_run_lists.iter().map(|(name, items)| (name.as_str(), items[0].as_str())).collect();
    assert_eq!(lists, [("n", "recipe[base::x]"), ("n", "recipe[app::default]")]);
    assert_eq!(
        lock.dependencies.to_json(),
        json!({
            "Policyfile": [["app", "= 1.2.0"], ["base", "= 1.0.0"]],
            "dependencies": {"app (1.2.0)": [["base", ">= 0.0.0"]], "base (1.0.0)": []},
        })
    );
}
