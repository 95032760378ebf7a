//! What strangers say, damaged ten thousand times: answers about Policyfiles, and lists of what a server offers. Each ends in an
//! error or in a lock whose cookbooks exist under the identifiers that it states.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use policyfile::compile::{Chosen, From, Input, OwnCookbook, Source, check_recipes, choose, lock};
use policyfile::lock::{CookbookLock, CookbookPlace, Lock};
use policyfile::model::{CookbookSource, Policy};
use policyfile::solver::Universe;
use policyfile::universe::{Offered, reachable};
use policyfile::written::Written;
use serde_json::{Map, Value, json};

/// How many are damaged.
const ROUNDS: usize = 10_000;

/// A generator with a fixed seed: the same damage each time.
struct Random(u64);

impl Random {
    fn new() -> Self {
        Self(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit).unwrap()).unwrap()
    }

    /// Another value in the place of one that is reached from the top, by steps that are taken at random.
    fn damage(&mut self, value: &mut Value) {
        let strange = [
            Value::Null,
            json!(-1),
            json!(""),
            json!("lib"),
            json!("~> 9"),
            json!("1.0.0"),
            json!("../x"),
            json!("\u{0}"),
            json!([]),
            json!({}),
            json!(["app"]),
            json!({"map": ["a"]}),
            json!({"list": {}}),
            json!("x".repeat(300)),
            json!(1e300),
        ];
        let size = match value {
            Value::Array(items) => items.len(),
            Value::Object(fields) => fields.len(),
            _ => 0,
        };
        // Mostly a text for a text: what is of another kind is refused at once.
        let texts =
            ["lib", "own", "app::default", "~> 1.0", "1.0.0", "x/y", ":supermarket", "default", "\u{7f}", "base x"];
        if value.is_string() && self.below(4) != 0 {
            *value = json!(texts[self.below(texts.len())]);
            return;
        }
        if size == 0 || self.below(12) == 0 {
            *value = strange[self.below(strange.len())].clone();
            return;
        }
        let at = self.below(size);
        match (value, self.below(12)) {
            (Value::Array(items), 0) => drop(items.remove(at)),
            (Value::Array(items), 1) => items.push(items[at].clone()),
            (Value::Array(items), _) => self.damage(&mut items[at]),
            (Value::Object(fields), turn) => {
                let key = fields.keys().nth(at).unwrap().clone();
                if turn == 0 {
                    fields.shift_remove(&key);
                } else {
                    self.damage(fields.get_mut(&key).unwrap());
                }
            }
            _ => unreachable!("it has parts"),
        }
    }
}

/// An answer with everything that a Policyfile can say.
fn answer() -> Value {
    let cookbook = |name: &str, constraint: Value, options: Value| json!({"name": name, "constraint": constraint, "options": options, "line": 4});
    json!({
        "name": "web", "run_list": {"items": ["app", "recipe[lib::default]"], "line": 2},
        "named_run_lists": [{"name": "update", "symbol": true, "items": ["app"], "line": 3}],
        "default_sources": [
            {"kind": ":chef_repo", "argument": "books", "preferred": ["lib"], "line": 5},
            {"kind": ":supermarket", "argument": null, "preferred": [], "line": 6},
        ],
        "cookbooks": [
            cookbook("own", json!(null), json!([["path", "c/own"]])),
            cookbook("lib", json!("~> 1.0"), json!([])),
            cookbook("git", json!(">= 1.0"), json!([["git", "https://localhost/x"], ["branch", "main"], ["rel", "a"]])),
            cookbook("kept", json!("= 1.0.0"), json!([["artifactserver", "https://localhost/x"], ["version", "1.0.0"]])),
            cookbook("far", json!(null), json!([["chef_server_artifact", "https://localhost"], ["identifier", "ab"]])),
        ],
        "includes": [], "override": {"map": ["x", 1]},
        "default": {"map": ["a", {"map": ["b", {"list": [1, null, 2]}]}, "c", "d"]},
        "lines": [{"level": "default", "path": ["a", "b"], "line": 9}],
    })
}

fn dependencies(names: &[(&str, &str)]) -> Vec<(String, String)> {
    names.iter().map(|(name, constraint)| ((*name).to_owned(), (*constraint).to_owned())).collect()
}

/// A version of a cookbook with what it depends on.
type Version<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

/// What there is: cookbooks of the default source.
fn universe() -> Universe {
    let mut all = Universe::new();
    let cookbooks: [Version<'_>; 4] = [
        ("app", "1.0.0", &[("lib", "~> 1.0")]),
        ("app", "2.0.0", &[("lib", ">= 2.0")]),
        ("lib", "1.0.0", &[]),
        ("lib", "2.0.0", &[]),
    ];
    for (name, version, needs) in cookbooks {
        all.entry(name.to_owned()).or_default().insert(version.to_owned(), dependencies(needs));
    }
    all
}

/// The identifier of a cookbook here: who has another name, version or origin has another identifier.
fn identifier(name: &str, version: &str, origin: &str) -> String {
    format!("{name}/{version}/{origin}")
}

/// The lock of a policy, with the identifiers of what was chosen.
fn locked(policy: &Policy) -> Option<(Lock, BTreeMap<String, Chosen>)> {
    let own = policy.cookbooks.iter().filter(|spec| spec.source.is_some());
    let own = own.map(|spec| {
        let cookbook = OwnCookbook { version: "1.0.0".into(), dependencies: dependencies(&[("lib", ">= 1.0")]) };
        (spec.name.clone(), cookbook)
    });
    let own: BTreeMap<_, _> = own.collect();
    let sources = [Source { name: "books".into(), universe: universe(), preferred: vec![] }];
    let input = Input { policy, file: "Policyfile.rb", includes: &[], own: &own, sources: &sources };
    let chosen = choose(&input).ok()?;
    check_recipes(&input, &chosen, |_, recipe| recipe == "default", str::to_owned).ok()?;
    let own_source = |name: &str| policy.cookbooks.iter().find(|spec| spec.name == name)?.source.clone();
    let mut entries = BTreeMap::new();
    for (name, one) in &chosen {
        let origin = match &one.from {
            From::Source(_) => "books".to_owned(),
            _ => own_source(name).map(|source: CookbookSource| source.origin().to_owned()).unwrap(),
        };
        let entry = CookbookLock {
            version: one.version.clone(),
            identifier: identifier(name, &one.version, &origin),
            dotted_decimal_identifier: json!("1.2.3"),
            place: CookbookPlace::Local { source: origin.clone(), scm_info: Value::Null },
            source_options: Map::from_iter([("path".to_owned(), origin.into())]),
        };
        entries.insert(name.clone(), entry);
    }
    Some((lock(&input, &chosen, entries).ok()?, chosen))
}

#[test]
fn damaged_answers_end_in_errors_or_in_locks_of_what_exists() {
    let (mut random, mut accepted, mut refused) = (Random::new(), 0, 0);
    let universe = universe();
    for round in 0..ROUNDS {
        let mut answer = answer();
        for _ in 0..=random.below(2) {
            random.damage(&mut answer);
        }
        let Some(policy) = Written::read(&answer).ok().and_then(|written| written.check(Some("around")).ok()) else {
            refused += 1;
            continue;
        };
        let Some((lock, chosen)) = locked(&policy) else {
            refused += 1;
            continue;
        };
        accepted += 1;
        for (name, entry) in &lock.cookbooks {
            let place = match &entry.place {
                CookbookPlace::Local { source, .. } => source.clone(),
                CookbookPlace::Cached { .. } => unreachable!("nothing is fetched here"),
            };
            assert_eq!(entry.identifier, identifier(name, &entry.version, &place), "round {round}: {answer}");
            let exists = match &chosen[name].from {
                From::Source(_) => universe[name].contains_key(&entry.version),
                _ => policy.cookbooks.iter().any(|spec| spec.name == *name && spec.source.is_some()),
            };
            assert!(exists, "round {round}: {name} {}: {answer}", entry.version);
        }
        // Whatever a run list names is locked, and the lock is one that can be read, unless it has no name.
        let lists = lock.named_run_lists.iter().flat_map(|(_, list)| list).chain(&lock.run_list);
        for item in lists {
            let cookbook = item.strip_prefix("recipe[").and_then(|item| item.split("::").next()).unwrap();
            assert!(lock.cookbooks.contains_key(cookbook), "round {round}: {item}: {answer}");
        }
        let text = lock.to_text().unwrap();
        if lock.name.as_ref().is_some_and(|name| !name.is_empty()) {
            let again = Lock::parse(&text).unwrap_or_else(|error| panic!("round {round}: {error}: {answer}"));
            assert_eq!(again.revision_id().unwrap(), lock.revision_id().unwrap(), "round {round}: {answer}");
        }
    }
    assert!(accepted > ROUNDS / 20 && refused > ROUNDS / 20, "{accepted} {refused}");
}

#[test]
fn damaged_lists_of_cookbooks_leave_what_is_sound() {
    let of = |version: &str, needs: Value| json!({"location_path": "https://localhost", "download_url": format!("https://localhost/{version}"), "dependencies": needs});
    let document = json!({
        "app": {"1.0.0": of("a1", json!({"lib": "~> 1.0"})), "2.0.0": of("a2", json!({"lib": ">= 2.0"}))},
        "lib": {"1.0.0": of("l1", json!({})), "2.0.0": of("l2", json!({"app": ">= 0.0.0"}))},
    });
    let (mut random, mut whole) = (Random::new(), 0);
    for round in 0..ROUNDS {
        let mut damaged = document.clone();
        random.damage(&mut damaged);
        let mut text = damaged.to_string().into_bytes();
        if random.below(4) == 0 {
            let at = random.below(text.len());
            text[at] = u8::try_from(random.below(256)).unwrap();
        }
        let Ok(mut offered) = Offered::parse(&text, true) else { continue };
        let wanted = reachable(&[&offered.universe], ["app"]);
        let notes = offered.keep(&wanted);
        assert!(notes.len() <= 11, "round {round}");
        for (name, versions) in &offered.universe {
            for version in versions.keys() {
                let key = (name.clone(), version.clone());
                assert!(offered.archives.contains_key(&key), "round {round}: {name} {version} has no archive");
            }
        }
        // All that is left can be chosen from: nothing in it is malformed.
        let demand = policyfile::solver::Demand {
            by: policyfile::solver::Demander::Policyfile,
            cookbook: "app".into(),
            constraint: policyfile::constraint::Constraint::any(),
        };
        match policyfile::solver::solve(&offered.universe, &[demand]) {
            Ok(solution) => {
                whole += 1;
                assert!(solution.iter().all(|(name, version)| offered.universe[name].contains_key(version)));
            }
            Err(policyfile::solver::SolveError::Malformed { .. }) => panic!("round {round}: {damaged}"),
            Err(_) => {}
        }
    }
    assert!(whole > ROUNDS / 10, "{whole}");
}
