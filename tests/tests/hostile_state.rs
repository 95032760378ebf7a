//! Policies that leave too much behind, each between two others: what is saved can be read again, and the next runs go on.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use artifact::Artifact;
use artifact::{Manifest, ManifestParts};
use serde_json::Value;
use specs::{Network, Output, Program, Root, fixture};
use std::path::PathBuf;

struct Bench {
    program: Program,
    root: Root,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { program: Program::new().unwrap(), root: Root::new().unwrap() };
        std::fs::create_dir(bench.policies()).unwrap();
        for name in ["empty", "load"] {
            std::fs::copy(fixture(name), bench.policies().join(format!("{name}.wasm"))).unwrap();
        }
        bench
    }

    fn policies(&self) -> PathBuf {
        self.program.configuration().join("policies")
    }

    /// The guest `hostile` as a policy that runs one of its recipes.
    fn hostile(self, recipe: &str) -> Self {
        let made = Artifact::open(&fixture("hostile")).unwrap();
        let parts = ManifestParts {
            name: "hostile".into(),
            run_list: vec![format!("recipe[hostile::{recipe}]")],
            cookbooks: made.manifest().cookbooks.clone(),
            ..ManifestParts::default()
        };
        let bytes = artifact::write(made.component(), &Manifest::new(parts).unwrap(), &[]).unwrap();
        std::fs::write(self.policies().join("hostile.wasm"), bytes).unwrap();
        self
    }

    fn converge(&self, policies: &str, more: &[&str]) -> Output {
        let (root, folder) = (self.root.path().display().to_string(), self.policies().display().to_string());
        let fixed = ["converge", "--root", &root, "--policies", &folder, "--policy-name", policies, "--node-name", "n"];
        let machine = self.root.machine(Network::Own).unwrap();
        self.program.run_in(&machine, &[&fixed[..], &["--allow-all"], more].concat()).unwrap()
    }

    /// What the state keeps of all runs, in bytes.
    fn state_size(&self) -> u64 {
        let files = std::process::Command::new("du").arg("-sb").arg(self.program.state()).output().unwrap();
        String::from_utf8(files.stdout).unwrap().split_whitespace().next().unwrap().parse().unwrap()
    }
}

fn outcomes(output: &Output) -> Vec<String> {
    let run: Value = serde_json::from_str(&output.stdout).unwrap();
    let policies = run["policies"].as_array().unwrap().iter();
    policies.map(|one| one["outcome"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn node_too_large_is_refused_when_it_is_written() {
    let bench = Bench::new().hostile("escaped_attributes");
    let output = bench.converge("empty,hostile,load", &["--keep-going", "--format", "json"]).expect_code(1).unwrap();
    assert_eq!(outcomes(&output), ["success", "failure", "success"]);
    let run: Value = serde_json::from_str(&output.stdout).unwrap();
    let message = run["policies"][1]["error"]["message"].as_str().unwrap();
    assert!(message.contains("more than 16777216 bytes as they are saved"), "{message}");
    assert!(bench.state_size() < 4 << 20, "{} bytes", bench.state_size());
    let again = bench.converge("empty,load", &["--format", "json"]).expect_code(0).unwrap();
    assert_eq!(outcomes(&again), ["success", "success"]);
}

/// A policy needs no right to its own attributes, and may name them as those of others that the settings keep out of the node.
#[test]
fn attack_attributes_that_the_settings_cannot_filter_fail_their_own_policy_alone() {
    let bench = Bench::new();
    let folder = bench.program.configuration();
    std::fs::write(folder.join("wrun.toml"), "blocked_default_attributes = [\"db/password\"]\n").unwrap();
    let cookbook = folder.join("evil/cookbooks/db");
    std::fs::create_dir_all(cookbook.join("recipes")).unwrap();
    std::fs::write(folder.join("evil/policy.toml"), "name = \"evil\"\nrun_list = [\"db\"]\n").unwrap();
    std::fs::write(cookbook.join("metadata.rb"), "name 'db'\n").unwrap();
    std::fs::write(cookbook.join("recipes/default.rb"), "node.default['db'] = 5\n").unwrap();
    let mut build = std::process::Command::new(bench.program.executable());
    build.args(["policy", "build"]).arg(folder.join("evil")).arg("--output").arg(bench.policies());
    assert!(build.envs(bench.program.environment()).output().unwrap().status.success());
    for _ in 0..2 {
        let output = bench.converge("empty,evil,load", &["--keep-going", "--format", "json"]).expect_code(1).unwrap();
        assert_eq!(outcomes(&output), ["success", "failure", "success"], "{}", output.text());
    }
}

#[test]
fn record_too_large_leaves_out_what_does_not_fit() {
    let bench = Bench::new().hostile("escaped_record");
    let output = bench.converge("empty,hostile,load", &["--format", "json"]).expect_code(0).unwrap();
    let run: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(run["policies"][1]["resources_left_out"], 1, "{}", run["policies"][1]["resources"]);
    assert_eq!(run["policies"][2].get("resources_left_out"), None);
    assert!(!run["policies"][2]["resources"].as_array().unwrap().is_empty());
    assert!(bench.state_size() < 4 << 20, "{} bytes", bench.state_size());
    let shown = bench.program.run(&["run", "show"]).unwrap().expect_code(0).unwrap();
    assert!(shown.stdout.contains("hostile"), "{}", shown.text());
}

/// At full size and for all recipes, `cargo xtask hostile` asks the same.
#[test]
fn an_attack_between_two_policies_leaves_them_their_result() {
    let result = |bench: &Bench, code: i32| {
        let output = bench.converge("empty,hostile,load", &["--keep-going", "--format", "json"]);
        let run: Value = serde_json::from_str(&output.expect_code(code).unwrap().stdout).unwrap();
        [0, 2].map(|at| {
            let policy = &run["policies"][at];
            let resources = policy["resources"].as_array().unwrap().iter();
            let rows = resources.map(|one| ["type", "name", "status", "updates"].map(|key| one[key].clone()));
            (policy["outcome"].clone(), rows.collect::<Vec<_>>())
        })
    };
    let expected = result(&Bench::new().hostile("default"), 0);
    for recipe in ["panic", "recursion", "huge_text", "huge_error", "deep_attribute", "not_json", "pause_too_long"] {
        let bench = Bench::new().hostile(recipe);
        assert_eq!(result(&bench, 1), expected, "{recipe}");
        assert!(bench.state_size() < 4 << 20, "{recipe}: {} bytes", bench.state_size());
        let next = bench.converge("empty,load", &["--format", "json"]).expect_code(0).unwrap();
        assert_eq!(outcomes(&next), ["success", "success"], "{recipe}");
    }
}

#[test]
fn a_damaged_node_is_set_aside_and_the_run_goes_on() {
    let bench = Bench::new();
    let _ = bench.converge("empty", &[]).expect_code(0).unwrap();
    let nodes = bench.program.state().join("nodes");
    let names = || -> Vec<String> {
        let mut names: Vec<_> =
            nodes.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    for damaged in ["{\"format\": 1, \"no", "{\"format\": 1, \"node\": {\"name\": 7}}"] {
        std::fs::write(nodes.join("n.json"), damaged).unwrap();
        let before = names();
        let dry = bench.converge("empty", &["--why-run"]).expect_code(0).unwrap();
        assert!(dry.stderr.contains("a real run sets the file aside"), "{}", dry.text());
        assert_eq!(names(), before);
        let output = bench.converge("empty", &[]).expect_code(0).unwrap();
        assert!(
            output.stderr.contains("nodes/n.json") && output.stderr.contains("the file is now"),
            "{}",
            output.text()
        );
        let set_aside: Vec<_> = names().into_iter().filter(|name| !before.contains(name)).collect();
        assert!(set_aside.len() == 1 && set_aside[0].starts_with("n.json.damaged-"), "{set_aside:?}");
        assert_eq!(std::fs::read_to_string(nodes.join(&set_aside[0])).unwrap(), damaged);
    }
    let whole = bench.converge("empty", &[]).expect_code(0).unwrap();
    assert!(!whole.stderr.contains("set aside"), "{}", whole.text());
}

#[test]
fn damaged_changes_are_set_aside_and_the_node_stays() {
    let bench = Bench::new();
    let set = ["node", "attribute", "set", "site.name=here", "-N", "n"];
    let _ = bench.converge("empty", &[]).expect_code(0).unwrap();
    let _ = bench.program.run(&set).unwrap().expect_code(0).unwrap();
    let changes = bench.program.state().join("changes");
    std::fs::create_dir_all(&changes).unwrap();
    std::fs::write(changes.join("n.json"), "{\"format\": 1, \"ch").unwrap();
    let dry = bench.converge("empty", &["--why-run"]).expect_code(0).unwrap();
    assert!(dry.stderr.contains("a real run sets the file aside"), "{}", dry.text());
    let output = bench.converge("empty", &[]).expect_code(0).unwrap();
    assert!(output.stderr.contains("changes/n.json") && output.stderr.contains("not applied"), "{}", output.text());
    let names: Vec<_> = changes.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.len() == 1 && names[0].to_string_lossy().starts_with("n.json.damaged-"), "{names:?}");
    let whole = bench.converge("empty", &[]).expect_code(0).unwrap();
    assert!(!whole.stderr.contains("changes/n.json"), "{}", whole.text());
    let shown = bench.program.run(&["node", "show", "site.name", "-N", "n"]).unwrap().expect_code(0).unwrap();
    assert!(shown.stdout.contains("here"), "{}", shown.text());
}

#[test]
fn a_damaged_journal_is_set_aside_and_the_run_goes_on() {
    let bench = Bench::new();
    let _ = bench.converge("empty", &[]).expect_code(0).unwrap();
    let pending = bench.program.state().join("pending");
    std::fs::create_dir_all(&pending).unwrap();
    std::fs::write(pending.join("n.v1"), "nonsense\n[\"due\",\"load\",\"log[x]\",\"write\"]\n").unwrap();
    std::os::unix::fs::PermissionsExt::set_mode(&mut pending.metadata().unwrap().permissions(), 0o700);
    let output = bench.converge("empty", &[]).expect_code(0).unwrap();
    assert!(
        output.stderr.contains("pending/n.v1:1: ") && output.stderr.contains("the file is now"),
        "{}",
        output.text()
    );
    let kept = std::fs::read_to_string(pending.join("n.v1")).unwrap();
    assert!(kept.contains("log[x]"), "{kept}");
}

#[test]
fn nothing_is_saved_where_the_disk_is_nearly_full() {
    let bench = Bench::new();
    let _ = bench.converge("empty", &[]).expect_code(0).unwrap();
    let kept = || {
        let state = bench.program.state();
        (std::fs::read(state.join("nodes/n.json")).unwrap(), state.join("runs").read_dir().unwrap().count())
    };
    let before = kept();
    std::fs::write(bench.program.configuration().join("wrun.toml"), "min_free_mib = 1_000_000_000\n").unwrap();
    let output = bench.converge("empty,load", &["--keep-going"]).expect_code(1).unwrap();
    assert!(output.text().contains("`min_free_mib`"), "{}", output.text());
    assert_eq!(kept(), before);
}
