//! Artifacts of teams that mean harm, each as the middle one of three policies: what it costs is bounded, and the others run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use artifact::{CookbookEntry, Language, Manifest, ManifestParts, Runtime};
use serde_json::Value;
use specs::{Network, Output, Program, Root, fixture};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Three policies: `empty`, the hostile one, and `load`.
struct Bench {
    program: Program,
    root: Root,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { program: Program::new().unwrap(), root: Root::new().unwrap() };
        let folder = bench.policies();
        std::fs::create_dir(&folder).unwrap();
        for name in ["empty", "load"] {
            std::fs::copy(fixture(name), folder.join(format!("{name}.wasm"))).unwrap();
        }
        let grants = "[policy.empty]\n[policy.load]\npaths = [\"/srv/load\", \"/srv/load/**\"]\n[policy.evil]\n[policy.everything]\n";
        std::fs::write(bench.program.configuration().join("grants.toml"), grants).unwrap();
        let attributes = "{\"load\": {\"count\": 1, \"folder\": \"/srv/load\"}}";
        std::fs::write(bench.program.configuration().join("attributes.json"), attributes).unwrap();
        bench
    }

    fn policies(&self) -> PathBuf {
        self.program.configuration().join("policies")
    }

    fn settings(&self, more: &str) {
        // Nothing that another test compiled is found.
        let cache = self.program.configuration().join("cache").display().to_string();
        std::fs::write(self.program.configuration().join("wrun.toml"), format!("cache_dir = '{cache}'\n{more}"))
            .unwrap();
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.policies().join(format!("{name}.wasm")), bytes).unwrap();
    }

    fn wrun(&self, command: &[&str], middle: &str, more: &[&str]) -> Output {
        let path = |path: &Path| path.display().to_string();
        let configuration = self.program.configuration();
        let (root, policies) = (path(self.root.path()), path(&self.policies()));
        let (grants, attributes) =
            (path(&configuration.join("grants.toml")), path(&configuration.join("attributes.json")));
        let names = format!("empty,{middle},load");
        let fixed = ["--root", &root, "--policies", &policies, "--policy-name", &names, "--node-name", "test"];
        let mut all = [command, &fixed, &["-j", &attributes]].concat();
        if command == ["converge"] {
            all.extend(["--grants", &grants]);
        }
        let machine = self.root.machine(Network::Own).unwrap();
        self.program.run_in(&machine, &[&all[..], more].concat()).unwrap()
    }

    /// The middle policy fails before anything runs, is told at once, and the others do as they would without it.
    #[track_caller]
    fn check(&self, middle: &str, says: &str) {
        let told = |output: &Output| {
            let text = output.text();
            assert!(output.stderr.contains(says), "{says:?} is not in\n{text}");
            let in_its_turn = format!("policy {middle} will fail when its turn comes");
            assert!(output.stderr.contains(&in_its_turn), "{text}");
        };
        // A dry run tells of all, changes nothing, and ends in the same way.
        let dry = self.wrun(&["converge"], middle, &["--why-run", "--format", "json"]).expect_code(1).unwrap();
        told(&dry);
        assert_eq!(outcomes(&dry), [("empty", "success"), (middle, "failure"), ("load", "success")].map(named));
        let without = self.wrun(&["converge"], middle, &["--format", "json"]).expect_code(1).unwrap();
        told(&without);
        assert_eq!(outcomes(&without), [("empty", "success"), (middle, "failure"), ("load", "not-run")].map(named));
        assert!(!self.root.exists("srv/load"));
        let going = self.wrun(&["converge"], middle, &["--keep-going", "--format", "json"]).expect_code(1).unwrap();
        told(&going);
        assert_eq!(outcomes(&going), [("empty", "success"), (middle, "failure"), ("load", "success")].map(named));
        assert!(self.root.exists("srv/load/file-0"));
    }

    /// The same, also where everything would be granted.
    #[track_caller]
    fn check_and_suggest(&self, middle: &str, says: &str) {
        self.check(middle, says);
        // What the others ask for is suggested, and the error is told.
        let suggested = self.wrun(&["grants", "suggest"], middle, &[]).expect_code(1).unwrap();
        assert!(suggested.stderr.contains(says), "{}", suggested.text());
        assert!(suggested.stdout.contains("[policy.load]"), "{}", suggested.text());
    }
}

fn named((policy, outcome): (&str, &str)) -> (String, String) {
    (policy.to_owned(), outcome.to_owned())
}

fn outcomes(output: &Output) -> Vec<(String, String)> {
    let run: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}:\n{}", output.text()));
    let policies = run["policies"].as_array().unwrap().iter();
    policies.map(|one| named((one["name"].as_str().unwrap(), one["outcome"].as_str().unwrap()))).collect()
}

/// A policy's artifact around a component.
fn artifact(name: &str, component: &[u8]) -> Vec<u8> {
    let cookbook = CookbookEntry {
        name: name.into(),
        version: "1.0.0".into(),
        identifier: "8".repeat(40),
        dependencies: std::collections::BTreeMap::default(),
        language: Language::Rust,
    };
    let manifest = Manifest::new(ManifestParts {
        name: name.into(),
        run_list: vec![format!("recipe[{name}::default]")],
        cookbooks: vec![cookbook],
        runtime: Runtime::Rust,
        ..ManifestParts::default()
    });
    artifact::write(component, &manifest.unwrap(), &[]).unwrap()
}

#[test]
fn broken_artifact_that_is_damaged() {
    let bench = Bench::new();
    let mut bytes = artifact("evil", &wat::parse_str("(component)").unwrap());
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    bench.put("evil", &bytes);
    bench.check_and_suggest("evil", "evil.wasm is damaged");
}

#[test]
fn broken_artifact_that_is_no_valid_component() {
    let bench = Bench::new();
    // A core module with a section that is nonsense.
    let mut component = wat::parse_str("(component (core module (func)))").unwrap();
    let at = component.windows(3).position(|bytes| bytes == [0x60, 0, 0]).unwrap();
    component[at] = 0x61;
    bench.put("evil", &artifact("evil", &component));
    bench.check_and_suggest("evil", "policy `evil` is not a valid component");
    let file = bench.policies().join("evil.wasm").display().to_string();
    let shown = bench.program.run(&["policy", "show", &file]).unwrap().expect_code(43).unwrap();
    assert!(shown.stderr.contains("evil.wasm") && shown.stderr.contains("at byte"), "{}", shown.text());
}

#[test]
fn broken_artifact_that_imports_what_no_host_offers() {
    let bench = Bench::new();
    let wasi = r#"(component (import "wasi:cli/environment@0.2.0" (instance
        (export "get-environment" (func (result (list (tuple string string)))))))) "#;
    bench.put("evil", &artifact("evil", &wat::parse_str(wasi).unwrap()));
    bench.check_and_suggest("evil", "imports `wasi:cli/environment@0.2.0`");
}

/// The compiler's message has the name of an import. It is longer than a pipe takes before somebody reads it.
#[test]
fn attack_a_long_message_about_an_invalid_component_does_not_wait_for_its_reader() {
    let bench = Bench::new();
    // Enough for the other policies on a busy machine, and far less than the default.
    bench.settings("compile_seconds = 15\n");
    let name = "a".repeat(99_000);
    let text =
        format!("(component (core module $m (import \"{name}\" \"x\" (func))) (core instance (instantiate $m)))");
    bench.put("evil", &artifact("evil", &wat::parse_str(text).unwrap()));
    bench.check("evil", "policy `evil` is not a valid component");
}

#[test]
fn broken_artifact_that_is_no_file() {
    for what in ["link to nothing", "link to itself", "folder", "gone since yesterday"] {
        let bench = Bench::new();
        let path = bench.policies().join("evil.wasm");
        match what {
            "link to nothing" => std::os::unix::fs::symlink("nowhere.wasm", path).unwrap(),
            "link to itself" => std::os::unix::fs::symlink("evil.wasm", path).unwrap(),
            "folder" => std::fs::create_dir(path).unwrap(),
            _ => {}
        }
        bench.check("evil", if what.starts_with("gone") { "there is no policy \"evil\"" } else { "evil.wasm" });
    }
    let misspelt = Bench::new().wrun(&["converge"], "evli", &["--keep-going"]).expect_code(43).unwrap();
    assert!(misspelt.stderr.contains("there is no policy \"evli\""), "{}", misspelt.text());
}

#[test]
fn component_image_costs_no_memory() {
    let bench = Bench::new();
    let module = r#"(core module (memory 8191) (data (i32.const 0) "a") (data (i32.const 535818240) "b"))"#;
    bench.put("evil", &artifact("evil", &wat::parse_str(format!("(component {})", module.repeat(4))).unwrap()));
    bench.check("evil", "MiB of memory at the start, more than the 256 MiB");
}

/// One function of many loops and branches over many variables: what register allocation likes least.
fn slow_function() -> String {
    let mut seed = 1_u32;
    let mut random = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    let (mut text, mut depth) = (format!("(local {})", "i64 ".repeat(2000)), 0);
    for _ in 0..20_000 {
        match random(20) {
            0 | 1 if depth < 200 => {
                text.push_str(" loop");
                depth += 1;
            }
            2 | 3 if depth > 0 => {
                write!(text, " local.get {} i32.wrap_i64 br_if {}", random(2000), random(depth)).unwrap();
            }
            4 if depth > 0 => {
                text.push_str(" end");
                depth -= 1;
            }
            _ => {
                let [one, other, to] = [random(2000), random(2000), random(2000)];
                write!(text, " local.get {one} local.get {other} i64.mul local.set {to}").unwrap();
            }
        }
    }
    text + &" end".repeat(usize::try_from(depth).unwrap())
}

#[test]
fn component_compile_takes_no_more_than_it_may() {
    let bench = Bench::new();
    let component = format!("(component (core module (func {})))", slow_function());
    bench.put("evil", &artifact("evil", &wat::parse_str(component).unwrap()));
    bench.settings("compile_mib = 256\n");
    bench.check("evil", "policy `evil` cannot be compiled: it takes more than 256 MiB of memory");
    // The verdict is remembered until a limit is raised.
    let remembered =
        "of memory, as an earlier run found; to try again, raise `compile_seconds` or `compile_mib`, or remove /";
    let output = bench.wrun(&["converge"], "evil", &["--why-run"]).expect_code(1).unwrap();
    assert!(output.stderr.contains(remembered), "{}", output.text());
    bench.settings("compile_seconds = 1\n");
    let output = bench.wrun(&["converge"], "evil", &["--why-run"]).expect_code(1).unwrap();
    assert!(output.stderr.contains("policy `evil` cannot be compiled: it takes "), "{}", output.text());
    assert!(!output.stderr.contains("as an earlier run found"), "{}", output.text());
}
