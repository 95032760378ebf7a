//! Locks that chef-cli wrote are read and written again byte for byte; damaged ones end in an error, never in a panic.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use policyfile::lock::Lock;
use serde_json::{Value, json};

/// The locks of the corpus.
fn recorded() -> Vec<(PathBuf, String)> {
    let own = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus").to_owned();
    let folder = std::env::var("WRUN_CORPUS").unwrap_or_else(|_| own());
    let mut found = vec![];
    for case in std::fs::read_dir(Path::new(&folder).join("policyfile")).unwrap() {
        for file in std::fs::read_dir(case.unwrap().path().join("expected")).into_iter().flatten() {
            let path = file.unwrap().path();
            if path.to_string_lossy().ends_with(".lock.json") {
                found.push((path.clone(), std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Locks that cannot come back as they were: chef-cli writes them, and does not read them so either.
fn is_lossy(text: &str) -> bool {
    text.contains("\"name\": null") || text.matches("\"n\": [").count() > 1 || Lock::parse(text).is_err()
}

#[test]
fn locks_of_chef_cli_are_written_as_they_were_read() {
    let all = recorded();
    let mut compared = 0;
    for (path, text) in all.iter().filter(|(_, text)| !is_lossy(text)) {
        let lock = Lock::parse(text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let document: Value = serde_json::from_str(text).unwrap();
        if document["revision_id"] != lock.revision_id().unwrap() {
            // The case has put the scratch folder's name into what the revision is made of.
            assert!(text.contains("ROOT"), "{}", path.display());
            continue;
        }
        assert_eq!(lock.to_text().unwrap(), *text, "{}", path.display());
        compared += 1;
    }
    assert!(compared * 10 >= all.len() * 8, "only {compared} of {} locks were compared", all.len());
}

#[track_caller]
fn refused(change: impl FnOnce(&mut Value), expect: &str) {
    let lock = |name: &str| {
        json!({"version": "1.0.0", "identifier": "ab", "dotted_decimal_identifier": "1.2.3",
        "source": name, "cache_key": null, "scm_info": null, "source_options": {"path": name}})
    };
    let mut document = json!({
        "name": "web", "run_list": ["recipe[web::default]"], "cookbook_locks": {"web": lock("c/web")},
        "default_attributes": {}, "override_attributes": {},
        "solution_dependencies": {"Policyfile": [["web", ">= 0.0.0"]], "dependencies": {"web (1.0.0)": []}},
    });
    assert_eq!(Lock::from_json(&document).map(|lock| lock.cookbooks.len()), Ok(1));
    change(&mut document);
    let error = Lock::from_json(&document).unwrap_err().to_string();
    assert!(error.contains(expect), "{error}");
}

#[test]
fn every_field_is_checked() {
    refused(|lock| *lock = json!([]), "a lock must be an object, not []");
    refused(|lock| *lock = json!({}), "does not have a `name`");
    refused(|lock| lock["name"] = json!(3), "`name` must be a string, not 3");
    refused(|lock| lock["name"] = json!(""), "`name` must not be empty");
    refused(|lock| lock["run_list"] = json!("web"), "`run_list` must be an array");
    refused(|lock| lock["run_list"] = json!(["web"]), "\"web\" does not");
    refused(|lock| lock["run_list"] = json!(["recipe[a b::c]"]), "recipe[COOKBOOK::RECIPE]");
    refused(|lock| lock["named_run_lists"] = json!([]), "`named_run_lists` must be an object");
    refused(|lock| lock["named_run_lists"] = json!({"x": [1]}), "`named_run_lists.x`");
    refused(|lock| lock["included_policy_locks"] = json!({}), "`included_policy_locks` must be an array");
    refused(|lock| lock["included_policy_locks"] = json!([{"name": "a"}]), "does not have a `revision_id`");
    refused(|lock| lock["cookbook_locks"] = Value::Null, "does not have a `cookbook_locks`");
    refused(|lock| lock["cookbook_locks"] = json!([]), "`cookbook_locks` must be an object");
    refused(|lock| lock["cookbook_locks"]["web"] = json!(1), "cookbook web must be an object");
    refused(|lock| lock["cookbook_locks"]["../x"] = json!({}), "cannot be a cookbook's name");
    refused(|lock| drop(lock["cookbook_locks"]["web"].as_object_mut().unwrap().remove("version")), "have version");
    refused(|lock| lock["cookbook_locks"]["web"]["version"] = json!(1), "`version` in the lock of cookbook web");
    refused(|lock| lock["cookbook_locks"]["web"]["source"] = json!(1), "`source` in the lock of cookbook web");
    refused(|lock| lock["cookbook_locks"]["web"]["cache_key"] = json!(1), "`cache_key` in the lock");
    refused(|lock| lock["cookbook_locks"]["web"]["source_options"] = json!("x"), "`source_options` in the lock");
    refused(|lock| lock["default_attributes"] = json!([]), "`default_attributes` must be an object");
    refused(|lock| lock["override_attributes"] = Value::Null, "does not have a `override_attributes`");
    refused(|lock| lock["solution_dependencies"] = json!({}), "must have `Policyfile` and `dependencies`");
    refused(|lock| lock["solution_dependencies"]["Policyfile"] = json!([["a"]]), "must be [COOKBOOK, CONSTRAINT]");
    refused(|lock| lock["solution_dependencies"]["Policyfile"] = json!([["a", "x"]]), "not a version constraint");
    refused(|lock| lock["solution_dependencies"]["dependencies"] = json!({"web": []}), "the form NAME (VERSION)");
}

#[test]
fn damaged_locks_end_in_an_error_or_in_a_sound_lock() {
    let all = recorded();
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % u64::try_from(below).unwrap()).unwrap()
    };
    let parts: &[&[u8]] = &[b"null", b"[]", b"{}", b"-1", b"\"", b"\\u0000", b"..", b"1e999", b"(", b"::", b"\xff"];
    for _ in 0..10_000 {
        let mut text = all[next(all.len())].1.clone().into_bytes();
        for _ in 0..=next(3) {
            let (from, length) = (next(text.len()), next(12));
            let to = (from + length).min(text.len());
            text.splice(from..to, parts[next(parts.len())].iter().copied());
        }
        // What is read can be written and read again.
        if let Ok(lock) = Lock::parse(&String::from_utf8_lossy(&text)) {
            let written = lock.to_text().unwrap();
            let again = Lock::parse(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
            assert_eq!(again.to_text().unwrap(), written);
        }
    }
}
