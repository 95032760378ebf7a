//! The tests of policies: `wrun policy test`, the server that `cargo test` of a policy speaks to, and `wrun facts`.
//!
//! The policy is in Ruby, which needs no compiler. Those in Rust have their own tests, in `policies/`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use specs::Program;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

/// A policy that asks a command, installs a package, writes a file and announces a service.
const RECIPE: &str = r##"
motd = "#{node['platform']} #{node['platform_version']}, port #{node['web']['port']}"
package 'nginx'
file '/etc/web.conf' do
  content "#{motd}\n"
  notifies :restart, 'service[nginx]'
end
service 'nginx' do
  action :nothing
end
file '/etc/extra' do
  content 'x'
  only_if 'test -e /extra'
end
"##;

fn policy(recipe: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("policy.toml", "name = \"web\"\nrun_list = [\"web\"]\n");
    write("cookbooks/web/metadata.rb", "name 'web'\nversion '1.0.0'\n");
    write("cookbooks/web/attributes/default.rb", "default['web']['port'] = 80\n");
    write("cookbooks/web/recipes/default.rb", recipe);
    folder
}

fn command(program: &Program, home: &Path) -> Command {
    let mut command = Command::new(program.executable());
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home)
        .env("WRUN_CONFIG", program.configuration().join("wrun.toml"));
    command
}

/// Has a server run some cases, and returns its answers.
fn answers(program: &Program, folder: &Path, cases: &[Value]) -> Vec<Value> {
    let mut command = command(program, folder);
    command.args(["policy", "test-server"]).arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let (mut input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    let mut lines = BufReader::new(output).lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert_eq!(lines.next().unwrap(), json!({ "ready": 1 }));
    let mut answers = Vec::new();
    for (id, case) in cases.iter().enumerate() {
        writeln!(input, "{}", json!({ "id": id, "case": case })).unwrap();
        let answer = lines.next().unwrap();
        assert_eq!(answer["id"], id);
        answers.push(answer);
    }
    drop(input);
    assert!(server.wait().unwrap().success());
    answers
}

fn action<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let rows = answer["run"]["policies"][0]["resources"].as_array().unwrap();
    rows.iter().rev().find(|row| row["name"] == name).unwrap()
}

#[test]
fn a_test_says_what_the_machine_is_and_what_commands_answer() {
    let program = Program::new().unwrap();
    let folder = policy(RECIPE);
    let facts =
        json!({ "platform": "debian", "platform_version": "13", "fqdn": "a.example", "platform_family": "debian" });
    let cases = [
        json!({ "facts": facts, "attributes": { "web": { "port": 8080 } } }),
        json!({ "facts": facts, "commands": { "test -e /extra": { "code": 0 } }, "packages": { "nginx": null } }),
        json!({ "facts": facts, "commands": { "test -e /extra": { "code": 1 } }, "installed": { "nginx": "1.0" } }),
        json!({ "facts": facts, "grants": "[policy.web]\npackages = [\"nginx\"]\nfacts = [\"**\"]\n" }),
        json!({ "facts": facts, "files": { "/../outside": "x" } }),
        json!({ "facts": facts, "nonsense": 1 }),
    ];
    let answers = answers(&program, folder.path(), &cases);
    let [plain, without, with, denied, outside, nonsense] = &answers[..] else { unreachable!() };
    assert_eq!(plain["run"]["outcome"], "success", "{plain:#}");
    assert_eq!(plain["contents"]["/etc/web.conf"], "debian 13, port 8080\n");
    assert_eq!(plain["declared"][1]["name"], "/etc/web.conf");
    assert_eq!(plain["declared"][1]["properties"]["content"], "debian 13, port 8080\n");
    assert_eq!(plain["declared"][1]["notifications"][0]["resource"], "service[nginx]");
    assert_eq!(action(plain, "nginx")["action"], "restart");
    // A command that the test does not name is not known, and none is started.
    assert!(action(plain, "/etc/extra")["uncertain"][0].as_str().unwrap().contains("the test does not say"));
    assert_eq!(action(without, "/etc/extra")["status"], "updated");
    let missing = &without["run"]["policies"][0]["resources"][0]["uncertain"][0];
    assert!(missing.as_str().unwrap().contains("a repository that offers nginx"), "{without:#}");
    assert_eq!(action(with, "/etc/extra")["status"], "skipped");
    assert_eq!(action(with, "nginx")["action"], "restart");
    assert!(denied["run"]["error"]["message"].as_str().unwrap().contains("/etc/web.conf"), "{denied:#}");
    assert!(outside["error"].as_str().unwrap().contains("/../outside"), "{outside}");
    assert!(nonsense["error"].as_str().unwrap().contains("nonsense"), "{nonsense}");
}

#[test]
fn a_new_policy_in_ruby_passes_its_test() {
    let (program, home) = (Program::new().unwrap(), tempfile::tempdir().unwrap());
    let folder = home.path().join("my-web");
    assert!(command(&program, home.path()).args(["policy", "new", "--ruby"]).arg(&folder).status().unwrap().success());
    let output = command(&program, home.path()).args(["policy", "test"]).arg(&folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("2 passed, 0 failed"), "{said}");
}

#[test]
fn a_new_policy_in_rust_passes_its_tests() {
    let (program, home) = (Program::new().unwrap(), tempfile::tempdir().unwrap());
    let folder = home.path().join("new-by-policy-tests");
    assert!(command(&program, home.path()).args(["policy", "new"]).arg(&folder).status().unwrap().success());
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    // The guests' lock: the same crates, and nothing to fetch.
    fs::copy(checkout.join("guests/Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    let cargo = cargo.arg("test").current_dir(&folder).env("WRUN", program.executable());
    let cargo = cargo.env("CARGO_TARGET_DIR", checkout.join("target/guests")).env_remove("RUSTC_WORKSPACE_WRAPPER");
    let output = cargo.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("2 passed; 0 failed"), "{said}");
}

#[test]
fn the_policy_is_read_and_compiled_for_the_first_test_only() {
    let program = Program::new().unwrap();
    let folder = policy("file '/etc/web.conf' do\n  content \"#{node['web']['port']} #{node['web']['host']}\"\nend\n");
    let mut command = command(&program, folder.path());
    command.args(["policy", "test-server"]).arg(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let (mut input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    let mut lines = BufReader::new(output).lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert_eq!(lines.next().unwrap()["ready"], 1);
    let mut content = |attributes: Value| {
        let case = json!({ "facts": { "fqdn": "a.example" }, "attributes": { "web": attributes } });
        writeln!(input, "{}", json!({ "id": 1, "case": case })).unwrap();
        lines.next().unwrap()["contents"]["/etc/web.conf"].clone()
    };
    assert_eq!(content(json!({ "port": 1, "host": "a" })), "1 a");
    // It is not looked for again, and no value of one test is left for the next.
    fs::remove_file(folder.path().join(".wrun/test/web.wasm")).unwrap();
    assert_eq!(content(json!({ "port": 2 })), "2 ");
    drop(input);
    assert!(server.wait().unwrap().success());
}

#[test]
fn a_test_server_is_no_way_to_the_machine() {
    let program = Program::new().unwrap();
    let secret = tempfile::tempdir().unwrap();
    let (made, kept) = (secret.path().join("made"), secret.path().join("kept"));
    fs::write(&kept, "secret").unwrap();
    let recipe = format!(
        "begin; shell_out('touch {made}'); rescue StandardError, SystemExit; end\n\
         begin; File.write('{made}', 'x'); rescue StandardError; end\n\
         log \"found #{{File.exist?('{kept}')}}\"\n\
         execute 'touch {made}'\n\
         file '{kept}' do\n  action :delete\nend\n\
         remote_file '/etc/fetched' do\n  source 'http://127.0.0.1:9/x'\n  ignore_failure true\nend\n",
        made = made.display(),
        kept = kept.display(),
    );
    let folder = policy(&recipe);
    let answer = &answers(&program, folder.path(), &[json!({ "facts": { "fqdn": "a.example" } })])[0];
    assert!(!made.exists(), "{answer:#}");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "secret");
    assert!(answer["declared"].to_string().contains("found false"), "{answer:#}");
}

#[test]
fn snapshots_are_written_held_and_told_apart() {
    let program = Program::new().unwrap();
    let folder = policy(RECIPE);
    let run = |arguments: &[&str]| {
        let mut command = command(&program, folder.path());
        let output = command.args(["policy", "test"]).arg(folder.path()).args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr))
    };
    let (code, said) = run(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("there is no snapshot") && said.contains("0 passed, 2 failed"), "{said}");
    // The command has the folder that the test was given.
    let update = format!("; `wrun policy test {} --update` writes it", folder.path().display());
    assert!(said.contains(&update) && !said.contains("did you mean"), "{said}");
    fs::create_dir_all(folder.path().join("tests")).unwrap();
    fs::write(folder.path().join("tests/cases.toml"), "").unwrap();
    let (_, said) = run(&[]);
    assert!(said.contains("note: tests/cases.toml is not read; did you mean `case.toml`?\n"), "{said}");
    assert_eq!(run(&["--update"]).0, Some(0));
    let (code, said) = run(&[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("2 passed, 0 failed"), "{said}");
    let attributes = folder.path().join("cookbooks/web/attributes/default.rb");
    fs::write(&attributes, "default['web']['port'] = 81\n").unwrap();
    let (code, said) = run(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("-      \"/etc/web.conf\"") || said.contains("port 81"), "{said}");
    assert_eq!(said.matches(" --update` writes the snapshots anew").count(), 1, "{said}");
    // A machine of the policy's own takes the place of those that are shipped.
    fs::create_dir_all(folder.path().join("tests/facts")).unwrap();
    fs::write(folder.path().join("tests/facts/mine.json"), "{\"platform\": \"mine\", \"platform_version\": \"1\"}")
        .unwrap();
    fs::write(folder.path().join("tests/case.toml"), "[attributes.web]\nport = 90\n").unwrap();
    let (code, said) = run(&["--update"]);
    assert_eq!(code, Some(0), "{said}");
    for name in ["debian-12", "debian-13"] {
        let line =
            format!("note: tests/snapshots/{name}.json is left over: the facts {name} of wrun are not tested any more");
        assert!(said.contains(&line), "{said}");
        fs::remove_file(folder.path().join(format!("tests/snapshots/{name}.json"))).unwrap();
    }
    assert!(!run(&[]).1.contains("left over"));
    let snapshot = fs::read_to_string(folder.path().join("tests/snapshots/mine.json")).unwrap();
    assert!(snapshot.contains("mine 1, port 90"), "{snapshot}");
    // A run that fails may be what is wanted, and is never written without a word.
    fs::write(folder.path().join("cookbooks/web/recipes/default.rb"), "raise 'no such luck'\n").unwrap();
    let (code, said) = run(&["--update"]);
    assert!(code == Some(1) && said.contains("the run fails: no such luck"), "{said}");
    let (code, said) = run(&[]);
    assert!(code == Some(0) && said.contains("the run fails: no such luck"), "{said}");
}

/// Whoever tests a stranger's repository says how much its code may use.
#[test]
fn attack_a_case_raises_no_limit_and_its_files_have_bounds() {
    let (program, folder) = (Program::new().unwrap(), policy("file '/srv/x'\n"));
    let tests = folder.path().join("tests");
    fs::create_dir_all(tests.join("facts")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = command(&program, folder.path());
        let output = command.args(["policy", "test"]).arg(folder.path()).args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr))
    };
    let case = |limit: &str| {
        let text =
            format!("grants = \"\"\"\n[policy.web]\npaths = [\"/srv/x\"]\n[policy.web.limits]\n{limit}\n\"\"\"\n");
        fs::write(tests.join("case.toml"), text).unwrap();
    };
    case("guest_seconds = 61");
    let (code, said) = run(&["--update"]);
    let expect = "tests/case.toml:5: guest_seconds of policy `web` is 61, above the default of 60";
    assert!(code != Some(0) && said.contains(expect) && said.contains("--allow-higher-limits"), "{said}");
    let (code, said) = run(&["--update", "--allow-higher-limits"]);
    assert!(code == Some(0) && said.contains("2 passed"), "{said}");
    case("guest_seconds = 60");
    assert_eq!(run(&[]).0, Some(0));

    let facts = |name: &str, text: &str| fs::write(tests.join("facts").join(name), text).unwrap();
    facts("large.json", &format!("{{\"a\": [{}0]}}", "[],".repeat(2 << 20)));
    let (code, said) = run(&["--update"]);
    assert!(
        code != Some(0) && said.contains("large.json cannot be read") && said.contains("more than 4194304 bytes"),
        "{said}"
    );
    facts("large.json", "{\"platform\": \"mine\", \"platform_version\": \"1\"}");
    for number in 0..200 {
        facts(&format!("{number}.json"), "{}");
    }
    let (code, said) = run(&["--update"]);
    assert!(code != Some(0) && said.contains("tests/facts has the facts of 201 machines, more than 200"), "{said}");
    fs::remove_dir_all(tests.join("facts")).unwrap();
    fs::write(tests.join("case.toml"), "#".repeat((1 << 20) + 1)).unwrap();
    let (code, said) = run(&["--update"]);
    assert!(
        code != Some(0) && said.contains("case.toml cannot be read") && said.contains("more than 1048576 bytes"),
        "{said}"
    );
}

#[test]
fn a_policy_whose_ruby_cannot_be_parsed_is_not_built() {
    let (program, folder) = (Program::new().unwrap(), policy("file '/srv/x' do\n  mode '0644'\n"));
    let output = command(&program, folder.path()).args(["policy", "build"]).arg(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("cookbooks/web/recipes/default.rb:"), "{said}");
    assert!(said.contains("SyntaxError"), "{said}");
}

/// The snapshot of a machine that every policy has.
const LINKED: &str = "tests/snapshots/debian-12.json";

#[test]
fn snapshots_are_not_written_through_links() {
    let (program, outside) = (Program::new().unwrap(), tempfile::tempdir().unwrap());
    let target = outside.path().join("precious");
    fs::write(&target, "precious").unwrap();
    for (link, to) in [("tests", outside.path()), ("tests/snapshots", outside.path()), (LINKED, &target)] {
        let folder = policy(RECIPE);
        let place = folder.path().join(link);
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(to, &place).unwrap();
        for more in [&["--update"][..], &[]] {
            let mut command = command(&program, folder.path());
            let output = command.args(["policy", "test"]).arg(folder.path()).args(more).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success() && said.contains(&format!("{link} is a link")), "{link}: {said}");
            assert!(!String::from_utf8_lossy(&output.stdout).contains("precious"), "{link}");
        }
        assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1, "{link}");
    }
}

#[test]
fn facts_are_printed_as_json() {
    let program = Program::new().unwrap();
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("etc")).unwrap();
    fs::write(root.path().join("etc/os-release"), "ID=debian\nVERSION_ID=\"13\"\n").unwrap();
    let output = command(&program, root.path()).args(["facts", "--root"]).arg(root.path()).output().unwrap();
    let facts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(facts["platform"], "debian");
    assert_eq!(facts["platform_version"], "13");
}
