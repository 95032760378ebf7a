//! Ways to other people's files and to root's rights, tried by a policy that is granted one folder: paths with dots,
//! links, races, commands, options, bits, jobs. Each is refused with a sentence that says what would allow it, the
//! machine is as it was, and the next policy runs.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use serde_json::Value;
use specs::{Machine, Network, Program, Root};
use std::path::Path;

/// What the operator grants: a folder, a package's name, a job's user, and the clock, which the guest imports.
const GRANTS: &str = r#"
[policy.hostile]
clock = true
paths = ["/srv/hostile", "/srv/hostile/**"]
packages = ["hello"]
cron_users = ["nobody"]
"#;

/// The folder as the policy finds it.
const FOLDER: &str = "srv/hostile";

fn fixtures() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/fixtures");
    assert!(folder.is_dir(), "{} is missing: run `cargo xtask guests`", folder.display());
    folder.canonicalize().unwrap().display().to_string()
}

/// Runs one of the hostile policy's recipes, and then a policy that has nothing to do.
fn attack(program: &Program, machine: &Machine<'_>, recipe: &str) -> Value {
    let grants = program.configuration().join("grants.toml");
    std::fs::write(&grants, GRANTS).unwrap();
    let (fixtures, place) = (fixtures(), machine.root().path().display().to_string());
    let grants = grants.display().to_string();
    let list = format!("hostile=recipe[hostile::{recipe}]");
    let arguments = [
        "converge",
        "--format",
        "json",
        "--keep-going",
        "--node-name",
        "node1",
        "--policy-name",
        "hostile,empty",
        "--policies",
        &fixtures,
        "--root",
        &place,
        "--grants",
        &grants,
        "--override-runlist",
        &list,
    ];
    let output = program.run_in(machine, &arguments).unwrap().expect_code(1).unwrap();
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{recipe}: {error} in\n{}", output.text()))
}

/// Runs each attack on a fresh machine; `kept` is what it may leave in its own folder.
#[track_caller]
fn check(recipe: &str, class: &str, says: &str, kept: &[&str]) {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["mkdir", "-p", "/srv/hostile"]).unwrap();
    let run = attack(&program, &machine, recipe);
    let error = &run["error"];
    assert_eq!(error["class"], class, "{recipe}: {error:#}");
    // What a guest hears names no path that it did not write; the operator's list does.
    let text = format!("{error} {}", run["denials"]);
    assert!(text.contains(says), "{recipe}: `{says}` is missing in {text}");
    assert_eq!(run["policies"][1]["outcome"], "success", "{recipe}: the next policy was harmed");
    let changes = root.changes().unwrap();
    let mut paths: Vec<_> = changes.entries.keys().map(|path| path.display().to_string()).collect();
    paths.retain(|path| path != "srv" && path != FOLDER);
    let wanted: Vec<_> = kept.iter().map(|name| format!("{FOLDER}/{name}")).collect();
    assert_eq!(paths, wanted, "{recipe} changed something else");
}

#[test]
fn paths_do_not_lead_out() {
    check("outside", "Wrun::Denied", r#"paths = [\"/etc/shadow\"]"#, &[]);
    check("dots", "Wrun::Denied", r#""value":"\"/etc/shadow\"""#, &[]);
    check("relative", "Errno::EINVAL", "../../etc/shadow", &[]);
    check("zero_byte", "Errno::EINVAL", "/srv/hostile/a", &[]);
}

/// The link itself lies in the granted folder and may stay; nothing goes through it.
#[test]
fn links_do_not_lead_out() {
    check("link_then_file", "Wrun::Denied", r#""value":"\"/etc/shadow\"""#, &["way"]);
    check("link_to_file", "Wrun::Denied", r#""value":"\"/etc/shadow\"""#, &["shadow"]);
    check("hard_link", "Wrun::Denied", r#"paths = [\"/etc/shadow\"]"#, &[]);
    check("download", "Wrun::Denied", r#"read_paths = [\"/etc/shadow\"]"#, &[]);
}

/// A link takes the folder's place while the content is staged in it: the handle leads to the folder that was.
#[test]
fn a_link_swapped_in_between_leads_nowhere() {
    check("race", "Errno::ENOENT", "/srv/hostile/place/shadow", &["place"]);
}

#[test]
fn reads_and_commands_are_refused() {
    check("read_shadow", "Wrun::Denied", r#"read_paths = [\"/etc/shadow\"]"#, &[]);
    check("list_proc", "Wrun::Denied", r#"read_paths = [\"/proc/1/environ\"]"#, &[]);
    check("command", "Wrun::Denied", "commands = ", &[]);
    check("execute", "Wrun::Denied", r#"commands = [\"cat /etc/shadow\"]"#, &[]);
    check("guard_command", "Wrun::Denied", r#"commands = [\"touch /etc/nologin\"]"#, &[]);
    check("shell", "Wrun::Denied", "commands = ", &[]);
}

#[test]
fn rights_to_the_outer_thing_are_no_rights_to_the_inner_one() {
    check("package_option", "Wrun::Denied", "package_options", &[]);
    check("setuid", "Wrun::Denied", r#"setuid = [\"/srv/hostile/root-shell\"]"#, &[]);
    check("cron", "Chef::Exceptions::ValidationFailed", "minute", &[]);
}
