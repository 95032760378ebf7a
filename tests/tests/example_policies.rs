//! Whole runs of the program: three teams' real policies in a throw-away root, and everything that can be wrong with what
//! the program is given.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and helpers are not tests to the lints"
)]

use serde_json::{Value, json};
use specs::{Machine, Network, Output, Program, Root};
use std::path::{Path, PathBuf};

/// Where `cargo xtask guests` puts artifacts.
fn artifacts(kind: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target").join(kind);
    assert!(folder.is_dir(), "{} is missing: run `cargo xtask guests`", folder.display());
    folder.canonicalize().unwrap().display().to_string()
}

fn grants() -> String {
    let file: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../policies/grants.toml");
    file.canonicalize().unwrap().display().to_string()
}

/// A run of the example policies on a throw-away machine.
fn converge(program: &Program, machine: &Machine<'_>, more: &[&str]) -> Output {
    let (policies, grants, place) = (artifacts("policies"), grants(), machine.root().path().display().to_string());
    let mut arguments = vec!["converge", "--format", "json"];
    for (option, value) in [
        ("--policies", policies.as_str()),
        ("--root", &place),
        ("--node-name", "node1"),
        ("--grants", &grants),
        ("--policy-name", "core,database,monitoring"),
    ] {
        let instead = more.contains(&option) || (option == "--grants" && more.contains(&"--allow-all"));
        if !instead {
            arguments.extend([option, value]);
        }
    }
    arguments.extend(more);
    program.run_in(machine, &arguments).unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in\n{}", output.text()))
}

fn statuses<'a>(run: &'a Value, status: &str) -> Vec<&'a Value> {
    let policies = run["policies"].as_array().unwrap().iter();
    policies.flat_map(|policy| policy["resources"].as_array().unwrap()).filter(|one| one["status"] == status).collect()
}

#[test]
fn three_teams_converge_side_by_side_and_the_second_run_changes_nothing() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Shared).unwrap();
    let dry = converge(&program, &machine, &["--why-run"]).expect_code(0).unwrap();
    assert!(root.changes().unwrap().is_empty(), "a dry run changed the root");
    assert!(!statuses(&json(&dry), "updated").is_empty());

    let first = converge(&program, &machine, &[]).expect_code(0).unwrap();
    let first = json(&first);
    assert_eq!(first["outcome"], "success");
    let names: Vec<_> =
        first["policies"].as_array().unwrap().iter().map(|policy| policy["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["core", "database", "monitoring"]);
    assert!(statuses(&first, "updated").len() > 10);
    // What the teams asked for is there.
    assert!(root.read("etc/motd").unwrap().contains("node1") || root.read("etc/motd").unwrap().contains("wrun"));
    assert!(root.exists("usr/sbin/chronyd") && root.exists("usr/bin/redis-server") && root.exists("usr/sbin/collectd"));

    let second = json(&converge(&program, &machine, &[]).expect_code(0).unwrap());
    let changed: Vec<_> =
        statuses(&second, "updated").iter().map(|one| format!("{}[{}]", one["type"], one["name"])).collect();
    assert!(changed.is_empty(), "the second run changed {changed:?}");

    // What was saved says who wrote what, and what one team left informed another.
    let explained = program.run(&["node", "explain", "redis.port"]).unwrap().expect_code(0).unwrap();
    let expect = "redis.port = 6380\n  policy database saw 6380\n    won   6380  role_default  policy.toml:13 of policy database\n    \
        lost  6379  default       redis/src/attributes.rs:10\n";
    assert!(explained.stdout.starts_with(expect), "{}", explained.text());
    let near = program.run(&["node", "explain", "redis.prot"]).unwrap().expect_code(1).unwrap();
    let said = "attribute redis.prot of node1 is not set; did you mean `redis.port`?";
    assert!(near.stderr.contains(said) && near.stdout.is_empty(), "{}", near.text());
    let shown = program.run(&["node", "show", "redis.port"]).unwrap().expect_code(0).unwrap();
    assert_eq!(shown.stdout, "6380\n");
    let shown = program.run(&["node", "show", "redis.bind", "-F", "json"]).unwrap().expect_code(0).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&shown.stdout).unwrap(), serde_json::json!(["127.0.0.1"]));
    let _refused = program.run(&["node", "show", "rediss"]).unwrap().expect_code(1).unwrap();
    let node = program.run(&["node", "show", "-F", "json"]).unwrap().expect_code(0).unwrap();
    let node: Value = serde_json::from_str(&node.stdout).unwrap();
    assert_eq!(node["policy_name"], serde_json::json!(["core", "database", "monitoring"]));
    assert!(program.state().join("runs").read_dir().unwrap().count() >= 2);
}

#[test]
fn suggested_grants_are_enough_for_the_plan_and_name_what_it_asks_for() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Shared).unwrap();
    let place = machine.root().path().display().to_string();
    let (policies, names) = (artifacts("policies"), "core,database,monitoring");
    let common = ["--policies", &policies, "--root", &place, "--node-name", "node1", "--policy-name", names];
    let suggested = program
        .run_in(&machine, &[["grants", "suggest"].as_slice(), &common].concat())
        .unwrap()
        .expect_code(0)
        .unwrap();
    assert!(root.changes().unwrap().is_empty(), "a suggestion changed the root");
    let text = suggested.stdout;
    for line in ["[policy.core]", "[policy.database]", "[policy.monitoring]", "\"redis-server\"", "\"/etc/motd\""] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
    // What the policies read is in it, but for what every policy may read.
    assert!(text.contains("memory.total") && !text.contains("\"platform"), "{text}");
    let file = program.configuration().join("suggested.toml");
    std::fs::write(&file, text).unwrap();
    let planned = converge(&program, &machine, &["--why-run", "--grants", file.to_str().unwrap()]).expect_code(0);
    let planned = json(&planned.unwrap());
    assert!(!statuses(&planned, "updated").is_empty());
    assert_eq!(planned["hidden_reads"], serde_json::json!([]));
}

#[test]
fn without_grants_nothing_is_changed_and_the_denial_says_what_would_allow_it() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Shared).unwrap();
    let little = program.configuration().join("grants.toml");
    let grant = |text: &str| std::fs::write(&little, text).unwrap();
    let run = || converge(&program, &machine, &["--grants", little.to_str().unwrap()]);
    grant("");
    let refused = run().expect_code(1).unwrap();
    assert!(refused.stderr.contains("policy `core` may not manage path `/etc/motd`"), "{}", refused.text());
    // A dry run finds out what they ask for, with its place.
    let dry = converge(&program, &machine, &["--grants", little.to_str().unwrap(), "--why-run"]).expect_code(1);
    let dry = json(&dry.unwrap());
    let denied = dry["denials"].as_array().unwrap();
    assert!(denied.iter().any(|one| one["policy"] == "core" && one["by"]["line"].is_u64()), "{denied:#?}");
    // A real run that fails lists the author's needs too, and they can be added.
    let refused = run().expect_code(1).unwrap();
    let denials = json(&refused)["denials"].clone();
    let chrony = denials.as_array().unwrap().iter().find(|one| one["value"] == "\"chrony\"").unwrap();
    assert_eq!((&chrony["policy"], &chrony["by"]["file"]), (&"core".into(), &"policy.toml".into()), "{denials:#}");
    let allow = ["grants", "allow", "--last", "--policy-name", "core", "--yes", "--dangerous", "--grants"];
    let _written = program.run(&[&allow[..], &[little.to_str().unwrap()]].concat()).unwrap().expect_code(0).unwrap();
    let readable = "read_paths = [\"/etc/timezone\"]\nfacts = [\"*\"]\n";
    grant(&format!("[policy.core]\n{readable}[policy.database]\n{readable}[policy.monitoring]\n{readable}"));
    let output = run().expect_code(1).unwrap();
    let run = json(&output);
    let error = &run["error"];
    assert_eq!(error["class"], "Wrun::Denied", "{error}");
    assert_eq!(error["policy"], "core");
    assert!(error["message"].as_str().unwrap().contains("core"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("[policy.core]"), "{error}");
    assert!(error["origin"]["line"].as_u64().is_some(), "{error}");
    assert!(root.changes().unwrap().is_empty(), "{:?}", root.changes().unwrap());
    // The later teams' policies did not run.
    assert_eq!(run["policies"][1]["outcome"], "not-run");
    // A fact that is not granted is refused, and the line that would grant it is said.
    grant("[policy.database]\nread_paths = [\"/etc/timezone\"]\n");
    let alone = ["--grants", little.to_str().unwrap(), "--policy-name", "database"];
    let error = json(&converge(&program, &machine, &alone).expect_code(1).unwrap())["error"].clone();
    assert_eq!(error["message"], "policy `database` may not read fact `memory.total`", "{error:#}");
    assert!(error["hint"].as_str().unwrap().contains("facts = [\"memory.total\"]"), "{error:#}");
}

/// What the operator set is not left out of a file because a grant is missing.
#[test]
fn an_attribute_of_the_operator_that_is_hidden_from_a_policy_in_rust_is_an_error_that_names_the_grant() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Shared).unwrap();
    let granted = "read_attributes = [\"redis.port\"]";
    let all = std::fs::read_to_string(grants()).unwrap();
    assert!(all.contains(granted), "{all}");
    let without = program.configuration().join("without.toml");
    std::fs::write(&without, all.replace(granted, "")).unwrap();
    let set = ["--policy-name", "monitoring", "--parameter", "redis.port=6380", "--why-run"];
    let without = [&set[..], &["--grants", without.to_str().unwrap()]].concat();
    let run = json(&converge(&program, &machine, &without).expect_code(1).unwrap());
    let error = &run["error"];
    assert_eq!(error["class"], "Wrun::Denied", "{error:#}");
    let message = "policy `monitoring` may not read attribute `redis.port`: the operator set it";
    assert_eq!(error["message"], message, "{error:#}");
    assert!(error["hint"].as_str().unwrap().contains(granted), "{error:#}");
    let read = &run["hidden_reads"][0];
    let expect = serde_json::json!(["redis.port", "operator", true]);
    assert_eq!(serde_json::json!([read["path"], read["owner"], read["refused"]]), expect);
    let run = json(&converge(&program, &machine, &set).expect_code(0).unwrap());
    assert_eq!([&run["hidden_reads"], &run["error"]], [&serde_json::json!([]), &Value::Null]);
}

#[test]
fn a_policy_that_fails_leaves_the_others_alone() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Shared).unwrap();
    let folder = program.configuration().join("policies");
    std::fs::create_dir(&folder).unwrap();
    for name in ["empty", "hostile"] {
        std::fs::copy(format!("{}/{name}.wasm", artifacts("fixtures")), folder.join(format!("{name}.wasm"))).unwrap();
    }
    let place = folder.display().to_string();
    let run = |recipe: &str, more: &[&str]| {
        let list = format!("hostile=recipe[hostile::{recipe}]");
        let fixed =
            ["--policies", &place, "--policy-name", "hostile,empty", "--override-runlist", &list, "--allow-all"];
        let arguments: Vec<&str> = fixed.into_iter().chain(more.iter().copied()).collect();
        json(&converge(&program, &machine, &arguments).expect_code(1).unwrap())
    };
    let aborted = run("panic", &[]);
    assert_eq!(aborted["policies"][0]["outcome"], "failure");
    assert_eq!(aborted["policies"][1]["outcome"], "not-run");
    assert_eq!(aborted["error"]["class"], "Wrun::GuestLost", "{}", aborted["error"]);
    let kept_going = run("panic", &["--keep-going"]);
    assert_eq!(kept_going["policies"][1]["outcome"], "success");
    assert!(root.changes().unwrap().is_empty());
}

#[test]
fn bad_input_ends_before_anything_is_changed() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Shared).unwrap();
    let write = |name: &str, text: &str| {
        let path = program.configuration().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let bad_grants = write("bad-grants.toml", "[policy.core]\npackages = [\"chrony\"]\npackage = [\"chrony\"]\n");
    let bad_json = write("bad.json", "{\n  \"a\": 1,\n  \"b\": \n}\n");
    let list_json = write("list.json", "[1]\n");
    let bad_settings = write("bad.toml", "policy_name = [\"core\"]\n\nno_such_key = 1\n");
    for (what, arguments, says) in [
        ("no such policy", vec!["--policy-name", "nosuch"], vec!["nosuch", "core, database, monitoring"]),
        ("a policy twice", vec!["--policy-name", "core,core"], vec!["core", "twice"]),
        ("unknown key in the grants", vec!["--grants", &bad_grants], vec!["bad-grants.toml:3", "package"]),
        ("no such grants", vec!["--grants", "/no/such/grants.toml"], vec!["/no/such/grants.toml"]),
        ("bad JSON", vec!["--json-attributes", &bad_json], vec!["bad.json:4"]),
        ("no JSON object", vec!["--json-attributes", &list_json], vec!["list.json"]),
        ("unknown setting", vec!["--config", &bad_settings], vec!["bad.toml:3", "no_such_key"]),
        ("no such named run list", vec!["--named-run-list", "core=nosuch"], vec!["core", "nosuch"]),
        ("bare run list for several", vec!["--override-runlist", "recipe[motd]"], vec!["POLICY="]),
        ("bad run list item", vec!["--override-runlist", "core=recipe[motd"], vec!["recipe[motd"]),
        ("recipe of no cookbook", vec!["--override-runlist", "core=recipe[nosuch]"], vec!["core", "nosuch"]),
        ("bad node name", vec!["--node-name", "a b"], vec!["a b"]),
        ("no such root", vec!["--root", "/no/such/root"], vec!["/no/such/root"]),
    ] {
        let output = converge(&program, &machine, &arguments);
        let text = output.text();
        assert_eq!(output.code, Some(43), "{what}: {text}");
        let is_digit = |sign: char| sign.is_ascii_hexdigit();
        assert!(text.split(|sign| !is_digit(sign)).all(|digits| digits.len() < 40), "{what}: {text}");
        for word in says {
            assert!(output.stderr.contains(word), "{what}: `{word}` is missing in\n{text}");
        }
    }
    assert!(root.changes().unwrap().is_empty());
}

#[test]
fn an_empty_override_run_list_gathers_facts_and_warns() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Shared).unwrap();
    let output =
        converge(&program, &machine, &["--policy-name", "core", "--override-runlist", ""]).expect_code(0).unwrap();
    assert!(output.stderr.contains("empty run list"), "{}", output.text());
    assert_eq!(json(&output)["outcome"], "success");
    assert!(root.changes().unwrap().is_empty());
}

#[test]
fn a_second_run_says_who_holds_the_lock() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    std::fs::create_dir_all(program.state()).unwrap();
    // Another run, as the first would hold it: the program itself, kept busy by a handler that waits.
    let settings = program.configuration().join("wrun.toml");
    let go = program.configuration().join("go");
    // It ends with the test, whose folder goes a moment later.
    let waiting = json!(["/bin/sh", "-c", "while [ -d \"${0%/*}\" ] && [ ! -e \"$0\" ]; do sleep 0.1; done", go]);
    let handler = format!("[[handlers]]\non = [\"start\"]\ncommand = {waiting}\nseconds = 3600\n");
    std::fs::write(&settings, handler).unwrap();
    let (policies, place) = (artifacts("policies"), root.path().display().to_string());
    let fixed =
        ["converge", "--policies", &policies, "--root", &place, "--node-name", "node1", "--policy-name", "core"];
    let mut first = std::process::Command::new(program.executable())
        .args(fixed)
        .args(["--override-runlist", "", "--allow-all"])
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .envs(program.environment())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let lock = program.state().join("lock");
    let held = || std::fs::read_to_string(&lock).is_ok_and(|text| text.contains("pid"));
    while !held() {
        assert_eq!(first.try_wait().unwrap(), None, "the first run never took the lock");
        std::thread::yield_now();
    }
    let second = program.run(&[&fixed[..], &["--override-runlist", "", "--allow-all", "--lock-timeout", "0"]].concat());
    let pid = first.id().to_string();
    first.kill().unwrap();
    first.wait().unwrap();
    std::fs::write(&go, "").unwrap();
    let second = second.unwrap().expect_code(75).unwrap();
    assert!(second.stderr.contains(&pid), "{pid} is not named in\n{}", second.text());
}

#[test]
fn the_reference_of_resources_is_printed() {
    let program = Program::new().unwrap();
    let list = program.run(&["resources"]).unwrap().expect_code(0).unwrap();
    assert!(list.stdout.contains("cookbook_file") && list.stdout.contains("service"), "{}", list.text());
    let file = program.run(&["resources", "file"]).unwrap().expect_code(0).unwrap();
    assert!(file.stdout.contains("atomic_update"), "{}", file.text());
    let unknown = program.run(&["resources", "fil"]).unwrap().expect_code(43).unwrap();
    assert!(unknown.stderr.contains("did you mean `file`"), "{}", unknown.text());
}
