//! A policy.toml, damaged ten thousand times: it ends in an error, or in a lock whose cookbooks lie where it says, under the
//! identifiers that it states.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use author::policyfile::{Place, Tools, Update, describe, update};
use policyfile::lock::{CookbookPlace, Lock};
use serde_json::json;
use std::fs;
use std::path::Path;

/// How many are damaged.
const ROUNDS: usize = 10_000;

const TEXT: &str = r#"
name = "web"
run_list = ["app", "lib::default"]

[named_run_list]
update = ["app"]

[[include]]
name = "base"
path = "base.lock.json"

[sources]
chef_repo = [{ path = "books", preferred_for = ["lib"] }, "more"]

[cookbooks]
lib = "~> 1.0"
own = { path = "own", version = ">= 1.0" }

[default.app]
port = 8080
names = ["a", "b"]

[override]
"app.debug" = false

[needs]
paths = ["/etc/app"]
"#;

/// Pieces that a damaged file gets.
const PIECES: [&str; 20] = [
    "\"", "'", "[", "]", "{", "}", "=", "\n", "#", "..", "/", "lib", "own", "app", "git", "\\u0000", "1.0", "~>", "-1",
    "\u{7f}",
];

fn cookbook(folder: &Path, path: &str, version: &str, needs: &str) {
    let (folder, name) = (folder.join(path), path.rsplit('/').next().unwrap());
    fs::create_dir_all(folder.join("recipes")).unwrap();
    let dependencies = if needs.is_empty() { json!({}) } else { json!({needs: ">= 0.0.0"}) };
    let metadata = json!({"name": name, "version": version, "dependencies": dependencies});
    fs::write(folder.join("metadata.json"), metadata.to_string()).unwrap();
    fs::write(folder.join("recipes/default.rb"), format!("log '{name}'\n")).unwrap();
}

#[test]
fn a_damaged_policy_toml_ends_in_an_error_or_in_a_lock_of_what_exists() {
    // In memory where that is possible: every lock is flushed.
    let top = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let folder = top.path().join("policy");
    cookbook(&folder, "books/app", "1.0.0", "lib");
    cookbook(&folder, "books/lib", "1.2.0", "");
    cookbook(&folder, "more/extra", "1.0.0", "");
    cookbook(&folder, "own", "1.5.0", "");
    let base = Lock::from_json(&json!({
        "name": "base", "run_list": [], "cookbook_locks": {}, "default_attributes": {"base": 1}, "override_attributes": {},
        "solution_dependencies": {"Policyfile": [], "dependencies": {}},
    }));
    fs::write(folder.join("base.lock.json"), base.unwrap().to_text().unwrap()).unwrap();
    let place = Place::of(Some(Path::new("policy.toml")), &folder).unwrap();
    let tools = Tools::offline();
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        let mut text = TEXT.to_owned();
        // The first is whole.
        for _ in 0..(if round == 0 { 0 } else { 1 + next(3) }) {
            let (from, length) = (next(text.len()), next(8));
            let piece = PIECES[next(PIECES.len())];
            if let (true, to) = (text.is_ascii(), (from + length).min(text.len())) {
                text.replace_range(from..to, if next(2) == 0 { piece } else { "" });
            }
        }
        fs::write(&place.policyfile, &text).unwrap();
        drop(fs::remove_file(&place.lock));
        if let Err(error) = update(&place, &Update::default(), &tools) {
            assert!(round > 0 && !error.to_string().is_empty(), "{error}");
            assert!(!place.lock.exists(), "round {round}: an error leaves no lock");
            refused += 1;
            continue;
        }
        accepted += 1;
        let lock = Lock::parse(&fs::read_to_string(&place.lock).unwrap());
        let lock = lock.unwrap_or_else(|error| panic!("round {round}: {error}\n{text}"));
        for (name, entry) in &lock.cookbooks {
            let CookbookPlace::Local { source, .. } = &entry.place else { panic!("round {round}: {name} was fetched") };
            let found = describe(&folder.join(source), &tools).unwrap_or_else(|error| panic!("round {round}: {error}"));
            assert_eq!(
                (entry.identifier.as_str(), &entry.version),
                (found.identifier.as_str(), &found.version),
                "round {round}\n{text}"
            );
        }
    }
    assert!(accepted > ROUNDS / 50 && refused > ROUNDS / 50, "{accepted} {refused}");
}
