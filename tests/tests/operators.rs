//! What operators look at: which policy ran, what earlier runs did, which settings hold, what a policy holds.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and helpers are no tests to the lints"
)]

use policy::{Artifact, artifact};
use serde_json::Value;
use specs::{Output, Program};
use std::fs;
use std::path::{Path, PathBuf};

/// A guest of the tests that does nothing.
fn empty_policy() -> Artifact {
    Artifact::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/fixtures/empty.wasm")).unwrap()
}

/// The same policy, made of other code: its component has one more custom section.
fn same_policy_of_other_code(policy: &Artifact) -> Artifact {
    let component = [policy.component(), b"\0\x05\x04note"].concat();
    let files: Vec<_> = policy.files().map(|(path, content)| (path.to_owned(), content.to_owned())).collect();
    let bytes = artifact::write(&component, policy.manifest(), &files).unwrap();
    Artifact::from_bytes(Path::new("other"), bytes).unwrap()
}

/// Puts an artifact where `converge` finds it.
fn install(program: &Program, policy: &Artifact) -> PathBuf {
    let folder = program.configuration().join("policies");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{}.wasm", policy.manifest().name)), policy.bytes()).unwrap();
    folder
}

/// Converges the policy `empty` in a root without a machine; `more` are further arguments.
fn converge(program: &Program, policy: &Artifact, more: &[&str]) -> Output {
    let root = program.configuration().join("root");
    fs::create_dir_all(&root).unwrap();
    let (root, policies) = (root.display().to_string(), install(program, policy).display().to_string());
    let fixed = ["converge", "-N", "n1", "--allow-all", "--policy-name", "empty"];
    program.run(&[&fixed[..], &["--root", &root, "--policies", &policies], more].concat()).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

#[test]
fn every_place_that_names_a_revision_names_the_artifact_too() {
    let first = empty_policy();
    let second = same_policy_of_other_code(&first);
    let revision = &first.manifest().revision_id;
    assert_eq!(revision, &second.manifest().revision_id);
    assert_ne!(first.digest(), second.digest());
    for policy in [&first, &second] {
        let program = Program::new().unwrap();
        let heading = format!("Policy empty (revision {}, artifact {})", &revision[..12], &policy.digest()[..12]);
        let shown = converge(&program, policy, &[]).expect_code(0).unwrap();
        assert!(shown.stdout.contains(&heading), "{}", shown.text());
        let run = json(&converge(&program, policy, &["--format", "json"]).expect_code(0).unwrap().stdout);
        let ran = &run["policies"][0];
        assert_eq!([&ran["revision"], &ran["artifact"]], [revision, policy.digest()]);
        let node = json(&program.run(&["node", "show"]).unwrap().expect_code(0).unwrap().stdout);
        let saved = &node["policies"]["empty"];
        assert_eq!([&saved["revision"], &saved["artifact"]], [revision, policy.digest()]);
        let refused = converge(&program, policy, &["--named-run-list", "x"]).expect_code(43).unwrap();
        assert!(refused.stderr.contains(revision) && refused.stderr.contains(policy.digest()), "{}", refused.text());
    }
}

#[test]
fn a_build_names_revision_and_artifact() {
    let program = Program::new().unwrap();
    let folder = program.configuration().join("site");
    fs::create_dir_all(folder.join("cookbooks/a/recipes")).unwrap();
    fs::write(folder.join("policy.toml"), "name = \"site\"\nrun_list = [\"a\"]\n").unwrap();
    fs::write(folder.join("cookbooks/a/metadata.rb"), "name 'a'\n").unwrap();
    fs::write(folder.join("cookbooks/a/recipes/default.rb"), "").unwrap();
    let place = folder.display().to_string();
    let said = program.run(&["policy", "build", &place]).unwrap().expect_code(0).unwrap();
    let built = Artifact::open(&folder.join("site.wasm")).unwrap();
    let versions = format!("revision {}, artifact {}", &built.manifest().revision_id[..12], &built.digest()[..12]);
    assert!(said.stdout.contains(&versions), "{}", said.text());
}
