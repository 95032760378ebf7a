//! The whole program in throw-away roots: what a run changes, what it never changes, and how it ends.
//!
//! The policies are the tests' guests; nothing here needs a network.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

use specs::{Machine, Network, Output, Program, Root, fixtures};

/// Runs `wrun converge` with the policies and further arguments.
fn converge(program: &Program, machine: &Machine<'_>, policies: &str, more: &[&str]) -> Output {
    let root = machine.root().path().display().to_string();
    let fixtures = fixtures().display().to_string();
    let fixed =
        ["converge", "--root", &root, "--policies", &fixtures, "--policy-name", policies, "--node-name", "test"];
    program.run_in(machine, &[&fixed[..], more].concat()).unwrap()
}

/// A file of attributes for the guest `load`.
fn load_attributes(program: &Program, count: u32) -> String {
    let path = program.configuration().join("attributes.json");
    let attributes = serde_json::json!({"load": {"count": count, "folder": "/srv/load"}});
    std::fs::write(&path, attributes.to_string()).unwrap();
    path.display().to_string()
}

fn grants(program: &Program, text: &str) -> String {
    let path = program.configuration().join("grants.toml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn policies_without_a_resource_change_nothing() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let output = converge(&program, &machine, "empty", &["--allow-all"]).expect_code(0).unwrap();
    assert!(output.text().contains("0 of 0 resources updated"), "{}", output.text());
    assert_eq!(without_mounts(&root), "");
}

#[test]
fn the_first_run_writes_what_was_declared_and_the_second_nothing() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let attributes = load_attributes(&program, 3);
    let grants = grants(&program, "[policy.load]\npaths = [\"/srv/load\", \"/srv/load/**\"]\n");
    let more = ["--grants", &grants, "-j", &attributes];
    let first = converge(&program, &machine, "load", &more).expect_code(0).unwrap();
    assert!(first.text().contains("4 of 4 resources updated"), "{}", first.text());
    assert!(root.read("srv/load/file-2").unwrap().starts_with("# file 2\nsetting = 2\n"));
    let before = root.changes().unwrap();
    let second = converge(&program, &machine, "load", &more).expect_code(0).unwrap();
    assert!(second.text().contains("0 of 4 resources updated"), "{}", second.text());
    assert_eq!(before.difference(&root.changes().unwrap()), "");
}

#[test]
fn a_dry_run_says_what_it_would_do_and_does_not_do_it() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let attributes = load_attributes(&program, 2);
    let output = converge(&program, &machine, "load", &["--allow-all", "--why-run", "-j", &attributes]);
    let output = output.expect_code(0).unwrap();
    assert!(output.text().contains("/srv/load/file-1"), "{}", output.text());
    assert_eq!(without_mounts(&root), "");
}

#[test]
fn what_is_not_granted_is_denied_and_the_line_that_would_allow_it_is_said() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let attributes = load_attributes(&program, 1);
    let grants = grants(&program, "[policy.load]\npaths = [\"/srv/load\"]\n");
    let output = converge(&program, &machine, "load", &["--grants", &grants, "-j", &attributes]);
    let output = output.expect_code(1).unwrap();
    let text = output.text();
    assert!(text.contains("paths") && text.contains("/srv/load/file-0") && text.contains("load"), "{text}");
    assert!(!root.exists("srv/load/file-0"));
}

#[test]
fn bad_input_is_refused_before_anything_changes() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let broken = program.configuration().join("broken.json");
    std::fs::write(&broken, "{\"load\": ").unwrap();
    let bad_grants = grants(&program, "[policy.load]\npath = [\"/srv\"]\n");
    let broken = broken.display().to_string();
    let check = |policies: &str, more: &[&str], said: &str| {
        let output = converge(&program, &machine, policies, more).expect_code(43).unwrap();
        assert!(output.stderr.contains(said), "{said:?} is not in\n{}", output.text());
        assert_eq!(without_mounts(&root), "", "{said}");
    };
    check("no-such-policy", &["--allow-all"], "no-such-policy");
    check("load", &["--allow-all", "-j", &broken], "broken.json");
    check("load", &["--grants", &bad_grants], "grants.toml");
    check("load", &["--allow-all", "--no-such-option"], "--no-such-option");
}

#[test]
fn a_damaged_artifact_is_refused() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let folder = program.configuration().join("policies");
    std::fs::create_dir(&folder).unwrap();
    let mut bytes = std::fs::read(fixtures().join("empty.wasm")).unwrap();
    bytes.truncate(bytes.len() / 2);
    std::fs::write(folder.join("empty.wasm"), bytes).unwrap();
    let (root_path, folder) = (root.path().display().to_string(), folder.display().to_string());
    let arguments = ["converge", "--root", &root_path, "--policies", &folder, "--policy-name", "empty", "--allow-all"];
    let output = program.run_in(&machine, &arguments).unwrap().expect_code(1).unwrap();
    assert_eq!(output.text().matches("empty.wasm is damaged").count(), 1, "{}", output.text());
    assert_eq!(without_mounts(&root), "");
}

/// Native code is kept beside the key that authenticates it, whatever the run remembers elsewhere.
#[test]
fn native_code_is_found_by_runs_with_another_state_and_by_dry_runs_without_one() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let run = |more: &[&str]| converge(&program, &machine, "empty", &[&["--allow-all"], more].concat());
    let _ = run(&[]).expect_code(0).unwrap();
    let other = program.configuration().join("other-state").display().to_string();
    for more in [&["--state-dir", &other, "--why-run"][..], &["--state-dir", &other]] {
        let output = run(more).expect_code(0).unwrap();
        assert!(!output.stderr.contains("compiling native code"), "{}", output.text());
    }
}

/// What changed in a root, apart from the folders that a machine mounts its system on.
fn without_mounts(root: &Root) -> String {
    root.changes().unwrap().to_string()
}
