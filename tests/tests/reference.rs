//! The examples of the book's reference of resource types: in Rust and in Ruby they do the same.
//!
//! `guests/fixtures/reference` has both, one recipe for each type. Each recipe is run dry on a fresh machine with everything
//! granted, and what the two languages declare and what would come of it is compared. Where they have to differ, this says why.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and helpers are no tests to the lints"
)]

use serde_json::Value;
use specs::{Machine, Network, Program, Root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Types whose examples are in one language, since cookbooks of the other one cannot declare them.
const ONLY_IN_RUST: [&str; 1] = ["guest_block"];

/// Types whose rows differ between the languages although the machine would be the same, and why.
const SHOWN_OTHERWISE: [(&str, &str); 4] = [
    ("cron_d", "in Ruby it is made of other resources, as in Chef, which are shown below it"),
    ("ohai_hint", "in Ruby it acts while the recipe is compiled, as in Chef, and its turn afterwards is shown too"),
    ("package", "in Ruby it is one of the platform's own type, as in Chef"),
    ("user", "in Ruby it is one of the platform's own type, as in Chef"),
];

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../guests/fixtures/reference").canonicalize().unwrap()
}

/// The types that have an example in Ruby.
fn in_ruby() -> BTreeSet<String> {
    let recipes = std::fs::read_dir(fixture().join("cookbooks/reference/recipes")).unwrap();
    recipes.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

/// The types that have an example in Rust.
fn in_rust() -> BTreeSet<String> {
    let source = std::fs::read_to_string(fixture().join("src/lib.rs")).unwrap();
    let recipes = source.split(".recipe(\"").skip(1).filter_map(|rest| rest.split('"').next());
    recipes.map(str::to_owned).collect()
}

/// Every type that the reference lists, with the languages that may declare it.
fn types() -> BTreeMap<String, BTreeSet<String>> {
    let all = schema::reference::all_json(&author::check::grant_keys);
    let types = all["resources"].as_array().unwrap().iter();
    let words = |list: &Value| list.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect();
    types.map(|kind| (kind["name"].as_str().unwrap().to_owned(), words(&kind["languages"]))).collect()
}

#[test]
fn every_type_has_an_example_in_each_of_its_languages() {
    let with = |language: &str| -> BTreeSet<String> {
        types().into_iter().filter(|(_, languages)| languages.contains(language)).map(|(name, _)| name).collect()
    };
    assert_eq!(in_ruby(), with("ruby"));
    assert_eq!(in_rust(), with("rust"));
}

/// One recipe's dry run: the resources of its run list with what would come of them.
fn dry_run(program: &Program, machine: &Machine<'_>, from: &[&str], run_list: &str) -> Vec<String> {
    let root = machine.root().path().display().to_string();
    let fixed =
        ["converge", "--format", "json", "--why-run", "--allow-all", "-N", "n1", "--root", &root, "-o", run_list];
    let output = program.run_in(machine, &[&fixed[..], from].concat()).unwrap();
    let run: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", output.text()));
    // The run of a policy has them below its policy.
    let rows = run.get("resources").unwrap_or(&run["policies"][0]["resources"]);
    let rows = rows.as_array().unwrap_or_else(|| panic!("{}", output.text())).iter();
    let rows = rows.map(|row| {
        let error = row["error"]["message"].as_str().unwrap_or_default();
        let shown = [&row["type"], &row["name"], &row["action"], &row["status"], &row["updates"], &row["uncertain"]];
        let shown: Vec<String> = shown.into_iter().map(Value::to_string).collect();
        format!("{} {error}", shown.join(" "))
    });
    rows.collect()
}

#[test]
fn examples_in_both_languages_would_do_the_same() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let cookbooks = fixture().join("cookbooks").display().to_string();
    let policies = specs::fixtures().display().to_string();
    let mut problems = Vec::new();
    for kind in in_ruby().intersection(&in_rust()) {
        let item = format!("recipe[reference::{kind}]");
        let ruby = dry_run(&program, &machine, &["--cookbooks", &cookbooks], &item);
        let from = ["--policies", &policies, "--policy-name", "reference"];
        let rust = dry_run(&program, &machine, &from, &format!("reference={item}"));
        let differs = SHOWN_OTHERWISE.iter().any(|(name, _)| *name == kind.as_str());
        if (ruby == rust) == differs || ruby.is_empty() || rust.is_empty() {
            problems.push(format!("{kind}\n  Ruby: {}\n  Rust: {}", ruby.join("\n        "), rust.join("\n        ")));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn examples_in_one_language_are_declared() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let cookbooks = fixture().join("cookbooks").display().to_string();
    for kind in in_ruby().difference(&in_rust()) {
        let rows = dry_run(&program, &machine, &["--cookbooks", &cookbooks], &format!("recipe[reference::{kind}]"));
        assert!(rows.iter().any(|row| row.starts_with(&format!("\"{kind}\" "))), "{kind}: {rows:?}");
    }
    let policies = specs::fixtures().display().to_string();
    for kind in ONLY_IN_RUST {
        let from = ["--policies", &policies, "--policy-name", "reference"];
        let rows = dry_run(&program, &machine, &from, &format!("reference=recipe[reference::{kind}]"));
        assert!(rows.iter().any(|row| row.starts_with(&format!("\"{kind}\" "))), "{kind}: {rows:?}");
    }
}
