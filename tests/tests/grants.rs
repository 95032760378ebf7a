//! The way from the first dry run to a file of grants, as an operator goes it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and helpers are not tests to the lints"
)]

use serde_json::Value;
use specs::{Machine, Network, Output, Program, Root, fixtures};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Two resources, each with what it needs.
const RECIPE: &str = "directory '/srv/site'\nfile '/srv/site/index' do\n  content 'x'\nend\nexecute 'true'\n";

struct Bench {
    program: Program,
    cookbooks: String,
}

impl Bench {
    fn new(recipe: &str) -> Self {
        let program = Program::new().unwrap();
        let folder = program.configuration().join("cookbooks");
        fs::create_dir_all(folder.join("site/recipes")).unwrap();
        fs::write(folder.join("site/metadata.rb"), "name 'site'\n").unwrap();
        fs::write(folder.join("site/recipes/default.rb"), recipe).unwrap();
        let cookbooks = folder.display().to_string();
        Self { program, cookbooks }
    }

    fn grants(&self) -> PathBuf {
        self.program.configuration().join("grants.toml")
    }

    fn wrun(&self, machine: &Machine<'_>, command: &[&str], more: &[&str]) -> Output {
        let root = machine.root().path().display().to_string();
        let fixed = ["--root", &root, "--node-name", "n1", "--cookbooks", &self.cookbooks, "--run-list", "site"];
        self.program.run_in(machine, &[command, &fixed[..], more].concat()).unwrap()
    }

    fn converge(&self, machine: &Machine<'_>, more: &[&str]) -> Output {
        let grants = self.grants().display().to_string();
        self.wrun(machine, &["converge"], &[&["--grants", &grants], more].concat())
    }

    fn tool(&self, arguments: &[&str]) -> Output {
        let grants = self.grants().display().to_string();
        self.program.run(&[arguments, &["--grants", &grants]].concat()).unwrap()
    }
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in\n{}", output.text()))
}

/// Somebody changes the grants while a run is under way. The run has changed the machine: it is recorded as what it was.
#[test]
fn grants_that_cannot_be_read_at_the_end_change_nothing_of_the_run() {
    let (bench, root) = (Bench::new(RECIPE), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "[policy.solo]\npaths = [\"/srv/site\"]\n").unwrap();
    let grants = bench.grants().display().to_string();
    let settings = format!("[[handlers]]\ncommand = [\"chmod\", \"666\", \"{grants}\"]\non = [\"start\"]\n");
    fs::write(bench.program.configuration().join("wrun.toml"), settings).unwrap();
    let output = bench.converge(&machine, &[]).expect_code(1).unwrap();
    assert!(output.stderr.contains("warning: no lines for the grants are shown"), "{}", output.text());
    assert!(output.stdout.contains("may not manage path /srv/site/index"), "{}", output.text());
    let runs = bench.program.run(&["run", "list"]).unwrap().expect_code(0).unwrap();
    assert!(runs.stdout.contains("failure"), "{}", runs.text());
}

/// New content is looked at under a name of wrun's beside the file. The right to the file is enough for that.
#[test]
fn blocks_of_verify_read_the_new_content_and_nothing_beside_it() {
    let recipe = |path: &str| {
        format!(
            "file '/srv/site.conf' do\n  content \"port 80\\n\"\n  verify do |path|\n    $last = path\n    \
             ::File.read({path}) == \"port 80\\n\"\n  end\nend\n\
             ruby_block 'later' do\n  block {{ raise 'still there' if (::File.read($last) rescue nil) }}\nend\n"
        )
    };
    for (path, code) in [("path", 0), ("path.sub('site', 'other')", 1)] {
        let (bench, root) = (Bench::new(&recipe(path)), Root::new().unwrap());
        let machine = root.machine(Network::Own).unwrap();
        fs::write(bench.grants(), "[policy.solo]\npaths = [\"/srv/site.conf\"]\n").unwrap();
        let output = bench.converge(&machine, &[]).expect_code(code).unwrap();
        assert_eq!(root.exists("srv/site.conf"), code == 0, "{}", output.text());
        assert_eq!(output.stdout.contains("may not read path /srv/.chef-other"), code == 1, "{}", output.text());
    }
}

#[test]
fn from_nothing_granted_to_a_run_in_two_commands() {
    let (bench, root) = (Bench::new(RECIPE), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "# ours\n[policy.solo]\npaths = [\"/srv/other\"] # later\n").unwrap();
    let dry = bench.converge(&machine, &["--why-run"]).expect_code(1).unwrap();
    let shown = &dry.stdout;
    let grants = bench.grants().display().to_string();
    assert!(
        shown.contains("policy solo may not manage path /srv/site  (directory[/srv/site], site/recipes/default.rb:1)"),
        "{shown}"
    );
    assert!(shown.contains("change these lines of [CONFIGURATION]/grants.toml, under [policy.solo], to:"), "{shown}");
    assert!(shown.contains("wrun grants allow --last --grants [CONFIGURATION]/grants.toml"), "{shown}");
    assert_eq!(
        shown.matches("2 things were denied").count() + shown.matches("3 things were denied").count(),
        1,
        "{shown}"
    );
    // Nobody can be asked here, and nothing is written unasked.
    let asked = bench.tool(&["grants", "allow", "--last"]).expect_code(43).unwrap();
    assert!(
        asked.stdout.contains("+paths = [\"/srv/other\", \"/srv/site\"") && asked.stderr.contains("--yes"),
        "{}",
        asked.text()
    );
    assert!(!fs::read_to_string(&grants).unwrap().contains("/srv/site"));
    let written = bench.tool(&["grants", "allow", "--last", "--yes"]).expect_code(0).unwrap();
    let text = fs::read_to_string(&grants).unwrap();
    assert!(
        text.starts_with("# ours\n[policy.solo]\npaths = [\"/srv/other\", \"/srv/site\""),
        "{text}\n{}",
        written.text()
    );
    assert!(text.contains("] # later\n") && text.contains("commands = [\"true\"]\n"), "{text}");
    let run = bench.converge(&machine, &[]).expect_code(0).unwrap();
    assert!(run.stdout.contains("3 of 3 resources updated") && !run.stdout.contains("denied"), "{}", run.text());
    // There is nothing more to allow.
    let nothing = bench.tool(&["grants", "allow", "--last", "--yes"]).expect_code(0).unwrap();
    assert!(nothing.stderr.contains("nothing was denied in run "), "{}", nothing.text());
}

#[test]
fn what_was_denied_is_in_the_json_once_with_who_asked() {
    let recipe = "begin\n  File.read('/srv/secret')\nrescue SystemCallError\nend\n3.times { |at| file \"/srv/#{at}\" do\n  path '/srv/same'\n  ignore_failure true\nend }\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "").unwrap();
    let run = json(&bench.converge(&machine, &["--why-run", "--format", "json"]));
    let denials = run["denials"].as_array().unwrap();
    let shown: Vec<_> =
        denials.iter().map(|one| format!("{} {} {}", one["key"], one["value"], one["by"]["recipe"])).collect();
    assert_eq!(
        shown,
        [r#""read_paths" "\"/srv/secret\"" "default""#, r#""paths" "\"/srv/same\"" "default""#],
        "{run:#}"
    );
    assert_eq!((denials[1]["times"].as_u64(), denials[1]["by"]["line"].as_u64()), (Some(3), Some(5)), "{run:#}");
    assert_eq!(denials[1]["by"]["name"], "/srv/0");
}

#[test]
fn a_denial_is_told_once_and_an_end_that_it_brought_names_it() {
    let recipe = "file '/srv/a'\nfile '/srv/b'\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "").unwrap();
    for (more, word) in [(&["--why-run"][..], "would fail: denied"), (&[], "failed: denied")] {
        let run = bench.converge(&machine, more).expect_code(1).unwrap();
        let shown = &run.stdout;
        assert_eq!(shown.matches("manage path").count(), if more.is_empty() { 1 } else { 2 }, "{shown}");
        assert!(shown.contains(&format!("file[/srv/a] action create ({word})")), "{shown}");
        let row = shown.lines().position(|line| line.starts_with("solo  FAILED  ")).unwrap();
        let lines: Vec<_> = shown.lines().skip(row).collect();
        assert!(lines[0].ends_with(" s"), "{shown}");
        assert_eq!(lines[1..], ["    denied, see above in file[/srv/a] create (site/recipes/default.rb:1)"], "{shown}");
        let suggests = shown.contains("`wrun grants suggest` with the same options lists that, too");
        assert_eq!(suggests, !more.is_empty(), "{shown}");
    }
}

/// A dry run goes on after a denial while compiling; nothing of what it then finds was rescued.
#[test]
fn a_dry_run_does_not_call_a_denial_rescued() {
    let recipe = "file '/srv/a'\nfile '/no/such/folder/b'\nlog File.read('/srv/secret')\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "[policy.solo]\npaths = [\"/no/such/folder/b\"]\n").unwrap();
    let shown = bench.converge(&machine, &["--why-run"]).expect_code(1).unwrap().stdout;
    assert!(shown.contains("2 things were denied") && !shown.contains("rescued"), "{shown}");
}

#[test]
fn a_missing_file_of_grants_is_told() {
    let (bench, root) = (Bench::new("log 'x'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let settings = format!("grants = '{}'\n", bench.grants().display());
    fs::write(bench.program.configuration().join("wrun.toml"), settings).unwrap();
    let run = bench.wrun(&machine, &["converge"], &["--why-run"]).expect_code(0).unwrap();
    let told = ["[CONFIGURATION]/grants.toml does not exist", "`wrun grants suggest --policy-name NAME`"];
    assert!(told.iter().all(|part| run.stderr.contains(part)), "{}", run.text());
    let run = bench.wrun(&machine, &["converge"], &["--why-run", "--allow-all"]).expect_code(0).unwrap();
    assert!(!run.stderr.contains("does not exist"), "{}", run.text());
}

#[test]
fn a_folder_beside_the_file_has_tables_too() {
    let (bench, root) = (Bench::new("file '/srv/a'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let folder = bench.program.configuration().join("grants.d");
    fs::create_dir(&folder).unwrap();
    fs::write(bench.grants(), "[policy.other]\n").unwrap();
    fs::write(folder.join("solo.toml"), "[policy.solo]\n").unwrap();
    let _denied = bench.converge(&machine, &["--why-run"]).expect_code(1).unwrap();
    let _written = bench.tool(&["grants", "allow", "--last", "--yes"]).expect_code(0).unwrap();
    assert_eq!(fs::read_to_string(folder.join("solo.toml")).unwrap(), "[policy.solo]\npaths = [\"/srv/a\"]\n");
    let _done = bench.converge(&machine, &[]).expect_code(0).unwrap();
    fs::write(folder.join("twice.toml"), "\n[policy.solo]\n").unwrap();
    let refused = bench.converge(&machine, &["--why-run"]).expect_code(43).unwrap();
    let said = "policy \"solo\" has a table in two files: [CONFIGURATION]/grants.d/solo.toml:1 and [CONFIGURATION]/grants.d/twice.toml:2";
    assert!(refused.stderr.contains(said), "{}", refused.text());
    fs::remove_file(folder.join("twice.toml")).unwrap();
    fs::set_permissions(folder.join("solo.toml"), fs::Permissions::from_mode(0o666)).unwrap();
    let refused = bench.converge(&machine, &["--why-run"]).expect_code(43).unwrap();
    assert!(refused.stderr.contains("solo.toml may be written by others"), "{}", refused.text());
}

#[test]
fn a_dry_run_leaves_its_record_and_nothing_else() {
    let (bench, root) = (Bench::new("file '/srv/a'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.program.configuration().join("wrun.toml"), "runs_kept = 2\n").unwrap();
    let before = root.changes().unwrap();
    let mut ids = vec![];
    for _ in 0..3 {
        let run = json(&bench.wrun(&machine, &["converge"], &["--why-run", "--allow-all", "--format", "json"]));
        ids.push(run["run_id"].as_str().unwrap().to_owned());
    }
    assert_eq!(before.difference(&root.changes().unwrap()), "");
    let below = |name: &str| {
        let entries = fs::read_dir(bench.program.state().join(name));
        let mut names: Vec<_> =
            entries.unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(below("dry-runs"), ids[1..]);
    assert!(!bench.program.state().join("nodes").exists() && !bench.program.state().join("runs").exists());
    let record = fs::read(bench.program.state().join("dry-runs").join(&ids[2]).join("run.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    assert_eq!(
        (&record["why_run"], &record["asked"]["solo"]["entries"]["paths"][0]),
        (&Value::Bool(true), &Value::from("/srv/a"))
    );
}

#[test]
fn an_ordinary_user_may_look_and_has_a_record_of_it() {
    let program = Program::new().unwrap();
    let home = tempfile::tempdir().unwrap();
    // What the user reads, the program too, may lie where only root may look.
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::chown(home.path(), Some(65_534), None).unwrap();
    let at = |name: &str| home.path().join(name).display().to_string();
    // By a process of its own: whoever is started while this one has the copy open for writing keeps it busy.
    let copied = std::process::Command::new("cp").arg(program.executable()).arg(at("wrun")).status().unwrap();
    assert!(copied.success());
    fs::create_dir(at("policies")).unwrap();
    fs::copy(fixtures().join("load.wasm"), at("policies/load.wasm")).unwrap();
    fs::write(at("attributes.json"), r#"{"load": {"count": 1, "folder": "/srv/load"}}"#).unwrap();
    fs::write(at("wrun.toml"), "").unwrap();
    fs::write(at("grants.toml"), "").unwrap();
    fs::create_dir(at("state")).unwrap();
    fs::set_permissions(at("state"), fs::Permissions::from_mode(0o700)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(at("wrun"));
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home.path());
        command.env("WRUN_CONFIG", at("wrun.toml")).env("WRUN_STATE_DIR", at("state"));
        command.env("WRUN_GRANTS", at("grants.toml")).args(arguments).current_dir("/").uid(65_534).gid(65_534);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (policies, attributes) = (at("policies"), at("attributes.json"));
    let converge =
        ["converge", "--why-run", "-N", "n1", "--format", "json", "--policies", &policies, "-j", &attributes];
    let (code, out, err) = run(&[&converge[..], &["--policy-name", "load"]].concat());
    assert_eq!(code, Some(1), "{out}\n{err}");
    assert!(err.contains("this user may not read"), "{err}");
    let json: Value = serde_json::from_str(&out).unwrap();
    // A state directory that is not the usual one has a folder of its own there.
    let states = home.path().join(".local/state/wrun/states");
    let folders: Vec<PathBuf> = fs::read_dir(&states).unwrap().map(|entry| entry.unwrap().path()).collect();
    let record = folders[0].join("dry-runs").join(json["run_id"].as_str().unwrap()).join("run.json");
    assert!(folders.len() == 1 && record.is_file(), "{folders:?} {err}");
    assert_eq!(fs::read_dir(at("state")).unwrap().count(), 0);
    // A real run is root's; what a user can do instead is said.
    let real = ["converge", "-N", "n1", "--policies", &policies, "-j", &attributes, "--policy-name", "load"];
    let (code, out, err) = run(&real);
    assert!(code == Some(43) && out.is_empty(), "{out}\n{err}");
    let hint = err.split("\n\nhint: ").nth(1).unwrap();
    assert!(["sudo wrun converge", "--why-run", "--state-dir DIR"].iter().all(|word| hint.contains(word)), "{err}");
    let (code, out, err) = run(&["grants", "allow", "--last"]);
    assert!(code == Some(43) && out.contains("+[policy.load]\n+paths = ["), "{out}\n{err}");
    // What the user's own folder does not have may be where only root looks.
    let (code, _, err) = run(&["run", "list"]);
    let unread = "cannot be read by this user, and has the records of real runs: do the same as root";
    assert!(code == Some(0) && err.contains(unread) && !err.contains("no run is recorded"), "{err}");
    let (code, _, err) = run(&["run", "show", "20200101T000000.000Z-00000000"]);
    assert!(code == Some(43) && err.contains(unread), "{err}");
    fs::write(at("grants.toml"), "[policy.load]\npaths = [\"/srv/load\"]\n").unwrap();
    let (_, out, err) = run(&["grants", "check", "--policies", &policies]);
    let said = format!("{out}{err}");
    assert!(said.contains("whether rules are used is not looked at") && !said.contains("is not used"), "{said}");
    assert!(!said.contains("no recorded run"), "{said}");
    fs::write(at("grants.toml"), "").unwrap();
    // Another state directory knows nothing of it.
    let (code, _, err) = run(&["grants", "allow", "--last", "--state-dir", &at("other")]);
    assert!(code == Some(43) && err.contains("no run is recorded"), "{err}");
    // A user without a home has no record, and is told so.
    fs::remove_dir_all(at(".local")).unwrap();
    std::os::unix::fs::chown(home.path(), Some(0), None).unwrap();
    let (code, _, err) = run(&[&converge[..], &["--policy-name", "load"]].concat());
    assert!(code == Some(1) && err.contains("this dry run is not recorded"), "{err}");
}

#[test]
fn what_only_root_may_see_is_unknown_to_an_ordinary_user() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let at = |name: &str| home.path().join(name).display().to_string();
    let own = program.executable().ancestors().nth(2).unwrap().join("share/wrun");
    let runtime = std::env::var_os("WRUN_RUNTIME_DIR").map_or(own, PathBuf::from);
    for folder in ["share", "home", "ck/a/recipes"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    for file in fs::read_dir(runtime).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), home.path().join("share").join(file.file_name())).unwrap();
    }
    // By a process of its own: whoever is started while this one has the copy open for writing keeps it busy.
    let copied = std::process::Command::new("cp").arg(program.executable()).arg(at("wrun")).status().unwrap();
    assert!(copied.success());
    fs::write(at("ck/a/metadata.rb"), "name 'a'\n").unwrap();
    fs::write(at("wrun.toml"), "").unwrap();
    // One resource asks apt, which runs in the root as root alone; one lies where nobody else may look.
    fs::write(
        at("ck/a/recipes/default.rb"),
        "package 'hello'\nfile '/root/x'\nfile '/srv/x'\ndirectory '/etc/y'\nfile '/etc/y/z'\n",
    )
    .unwrap();
    fs::set_permissions(root.at("root").unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::chown(at("home"), Some(65_534), None).unwrap();
    let (place, cookbooks) = (root.path().display().to_string(), at("ck"));
    let mut command = std::process::Command::new(at("wrun"));
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", at("home")).env("WRUN_CONFIG", at("wrun.toml"));
    command.env("WRUN_RUNTIME_DIR", at("share")).current_dir("/").uid(65_534).gid(65_534);
    command.args(["converge", "--why-run", "-N", "n1", "--allow-all", "--format", "json", "--run-list", "a"]);
    let output = command.args(["--root", &place, "--cookbooks", &cookbooks]).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{out}\n{err}");
    let run: Value = serde_json::from_str(&out).unwrap();
    let of = |one: &Value| format!("{} {}", one["name"].as_str().unwrap(), one["status"].as_str().unwrap());
    let all: Vec<_> = run["resources"].as_array().unwrap().iter().map(of).collect();
    assert_eq!(
        all,
        ["hello unknown", "/root/x unknown", "/srv/x updated", "/etc/y updated", "/etc/y/z updated"],
        "{run:#}"
    );
    assert!(run["resources"][1]["uncertain"].to_string().contains("only root can look"), "{run:#}");
}

#[test]
fn a_suggestion_is_added_to_a_file() {
    let (bench, root) = (Bench::new(RECIPE), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let path = bench.grants().display().to_string();
    fs::write(bench.grants(), "# ours\n[policy.db]\nclock = true\n").unwrap();
    let refused = bench.wrun(&machine, &["grants", "suggest"], &["--write", &path]).expect_code(43).unwrap();
    assert!(refused.stdout.contains("+[policy.solo]"), "{}", refused.text());
    let written = bench.wrun(&machine, &["grants", "suggest"], &["--write", &path, "--yes"]).expect_code(0).unwrap();
    let text = fs::read_to_string(bench.grants()).unwrap();
    assert!(text.starts_with("# ours\n[policy.db]\nclock = true\n\n[policy.solo]\n"), "{text}\n{}", written.text());
    let again = bench.wrun(&machine, &["grants", "suggest"], &["--write", &path]).expect_code(0).unwrap();
    assert!(again.stderr.contains("has all of it already"), "{}", again.text());
    let _done = bench.converge(&machine, &[]).expect_code(0).unwrap();
}

/// In a survey nothing is denied, so an address could carry what a policy may not read to anybody.
#[test]
fn a_suggestion_asks_no_server() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let program = Program::new().unwrap();
    let cookbook = program.configuration().join("cookbooks/a");
    fs::create_dir_all(cookbook.join("recipes")).unwrap();
    fs::write(cookbook.join("metadata.rb"), "name 'a'\n").unwrap();
    let asked = format!(
        "remote_file '/srv/x' do\n  source '{address}/file'\nend\n\
         http_request 'told' do\n  action :post\n  url '{address}/resource'\n  message 'x'\nend\n\
         file '/srv/y' do\n  content lazy {{ Chef::HTTP.new('{address}').get('/lazy') }}\nend\n\
         Chef::HTTP.new('{address}').get('/recipe')\n"
    );
    fs::write(cookbook.join("recipes/default.rb"), asked).unwrap();
    let (cookbooks, root) = (cookbook.parent().unwrap().display().to_string(), Root::new().unwrap());
    let place = root.path().display().to_string();
    let common = ["--cookbooks", &cookbooks, "--run-list", "a", "--root", &place, "-N", "n1"];
    let suggested = program.run(&[&["grants", "suggest"], &common[..]].concat()).unwrap();
    assert!(suggested.stdout.contains(&format!("download_hosts = [\"{address}\"]")), "{}", suggested.text());
    assert!(suggested.text().contains("`wrun grants suggest` asks no server"), "{}", suggested.text());
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "{}", suggested.text());
    // A dry run of what was granted does ask: its connections are ended at once, the last one is our own.
    listener.set_nonblocking(false).unwrap();
    let (at, is_over) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
    let told = Arc::clone(&is_over);
    let server = std::thread::spawn(move || listener.incoming().take_while(|_| !told.load(Ordering::SeqCst)).count());
    let asked = program.run(&[&["converge", "--why-run", "--allow-all"], &common[..]].concat()).unwrap();
    is_over.store(true, Ordering::SeqCst);
    drop(TcpStream::connect(at).unwrap());
    assert!(server.join().unwrap() > 0, "{}", asked.text());
}

#[test]
fn faults_of_grants_are_found_and_counted_by_kind() {
    let (bench, root) = (Bench::new("file '/srv/a'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let policies = bench.program.configuration().join("policies");
    fs::create_dir(&policies).unwrap();
    fs::copy(fixtures().join("load.wasm"), policies.join("load.wasm")).unwrap();
    let policies = policies.display().to_string();
    let check = |text: &str, code: i32| {
        fs::write(bench.grants(), text).unwrap();
        let output = bench.tool(&["grants", "check", "--policies", &policies]).expect_code(code).unwrap();
        (output.stdout, output.stderr)
    };
    let place = "[CONFIGURATION]/grants.toml";
    assert_eq!(
        check("[policy.lod]\n", 1).0,
        format!("{place}:1: there is no policy \"lod\"; did you mean \"load\"?\n")
    );
    assert_eq!(
        check("[policy.load]\npackages = []\npackages = []\n", 1).0,
        format!(
            "{place}:3: the key `packages` is in this table twice, first in line 2; write one line instead: packages = []\n"
        )
    );
    // Before anything is known of what it uses, no rule is called unused.
    let (out, err) = check("[policy.solo]\npaths = [\"/srv/a\", \"/srv/b\"]\n", 0);
    assert!(out.is_empty() && err.contains("no recorded run"), "{out}{err}");
    // After a run that had nothing to do, a rule that it did not need may still be needed by the next.
    fs::create_dir_all(machine.root().at("srv").unwrap()).unwrap();
    machine.root().write("srv/a", "").unwrap();
    let _quiet = bench.converge(&machine, &["--why-run"]).expect_code(0).unwrap();
    let two = "[policy.solo]\npaths = [\n\"/srv/a\",\n\"/srv/b\",\n\"/srv/a\"]\nenvironment = [\"x\"]\n";
    // Whoever misspells a policy hears of those that there are, and of nothing else.
    let (out, err) = check("[policy.other]\n", 1);
    assert_eq!(out, format!("{place}:1: there is no policy \"other\"; there are load\n"));
    assert!(err.ends_with("checked the grants of 1 policy: 1 unknown policy\n"), "{err}");
    let (out, err) = check("[policy.solo]\npaths = [\"/srv/a\",\n\"/srv/b\"]\n", 0);
    assert!(err.ends_with("checked the grants of 1 policy: no problems found\n"), "{err}");
    let note = "policy solo: paths /srv/b is not used: its only recorded run did not ask for it, and changed nothing or did not come to its end";
    assert!(out.is_empty() && err.contains(&format!("note: {place}:3: {note}\n")), "{out}{err}");
    fs::remove_file(machine.root().at("srv/a").unwrap()).unwrap();
    fs::write(bench.grants(), two).unwrap();
    let _done = bench.converge(&machine, &[]).expect_code(0).unwrap();
    let (out, err) = check(two, 1);
    assert!(err.ends_with("checked the grants of 1 policy: 1 rule that another one covers, 2 unused rules\n"), "{err}");
    assert_eq!(
        out,
        format!(
            "{place}:5: policy solo: paths /srv/a is not needed: paths /srv/a in line 3 covers it\n\
             {place}:4: policy solo: paths /srv/b is not used: none of its 2 recorded runs asked for it\n\
             {place}:6: policy solo: environment x is not used: none of its 2 recorded runs asked for it\n"
        )
    );
    assert_eq!(check("[policy.solo]\npaths = [\"/srv/**\"]\n", 0).0, "");
    // All kept runs count, not the last one alone.
    fs::write(bench.grants(), "").unwrap();
    let recipe = std::path::Path::new(&bench.cookbooks).join("site/recipes/default.rb");
    fs::write(&recipe, "file '/srv/b'\n").unwrap();
    let _other = bench.wrun(&machine, &["converge"], &["--why-run", "--allow-all"]).expect_code(0).unwrap();
    assert_eq!(check("[policy.solo]\npaths = [\"/srv/a\", \"/srv/b\"]\n", 0).0, "");
    fs::write(&recipe, "file '/srv/a'\n").unwrap();
    // What was denied was asked for.
    fs::write(bench.grants(), "").unwrap();
    let _denied = bench.converge(&machine, &["--why-run"]).expect_code(1).unwrap();
    assert_eq!(check("[policy.solo]\npaths = [\"/srv/a\"]\n", 0).0, "");
}

#[test]
fn names_with_the_signs_of_patterns_are_suggested_as_they_are() {
    let recipe =
        "file '/srv/**' do\n  content 'x'\nend\nexecute 'signs' do\n  command ['echo', '<any>', '<rest>']\nend\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let suggested = bench.wrun(&machine, &["grants", "suggest"], &[]).expect_code(0).unwrap();
    for expect in [r#"paths = ["/srv/[*][*]"]"#, r#"{ argv = ["echo", "<is:<any>>", "<is:<rest>>"] }"#] {
        assert!(suggested.stdout.contains(expect), "{}", suggested.text());
    }
    fs::write(bench.grants(), &suggested.stdout).unwrap();
    let _done = bench.converge(&machine, &[]).expect_code(0).unwrap();
    assert!(root.exists("/srv/**"));
    // Nothing else is granted with it, and the denial of another name offers that name alone.
    let other = "file '/srv/a'\nexecute 'signs' do\n  command ['echo', 'other', '<rest>']\nend\nfile '/srv/?'\n";
    fs::write(std::path::Path::new(&bench.cookbooks).join("site/recipes/default.rb"), other).unwrap();
    let denied = json(&bench.converge(&machine, &["--why-run", "--format", "json"]));
    let values: Vec<_> = denied["denials"].as_array().unwrap().iter().map(|one| one["value"].as_str()).collect();
    let expect = [r#""/srv/a""#, r#"{ argv = ["echo", "other", "<is:<rest>>"] }"#, r#""/srv/[?]""#];
    assert_eq!(values, expect.map(Some), "{denied:#}");
    let _written = bench.tool(&["grants", "allow", "--last", "--yes"]).expect_code(0).unwrap();
    let _done = bench.converge(&machine, &[]).expect_code(0).unwrap();
}

#[test]
fn the_clock_and_variables_are_suggested_where_they_are_used() {
    let (bench, root) = (Bench::new("log 'x'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let quiet = bench.wrun(&machine, &["grants", "suggest"], &[]).expect_code(0).unwrap();
    for key in ["clock", "random", "environment"] {
        assert!(!quiet.stdout.contains(key), "{}", quiet.text());
    }
    let recipe =
        "require 'securerandom'\nlog Time.now.to_s + SecureRandom.hex(4)\nlog \"#{ENV['TERM']} #{ENV['NO_SUCH']}\"\n";
    fs::write(std::path::Path::new(&bench.cookbooks).join("site/recipes/default.rb"), recipe).unwrap();
    let used = bench.wrun(&machine, &["grants", "suggest"], &[]).expect_code(0).unwrap();
    let expect = "[policy.solo]\nclock = true\nenvironment = [\"TERM\"]\nrandom = true\n";
    assert_eq!(used.stdout, expect, "{}", used.text());
}

/// Ruby itself reads the monotonic clock, to wait and to measure: no cookbook asked for that.
#[test]
fn the_runtimes_own_clock_is_neither_suggested_nor_denied() {
    let recipe = "sleep 0.001\nProcess.clock_gettime(Process::CLOCK_MONOTONIC)\nGC.start\nlog 'x'\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let suggested = bench.wrun(&machine, &["grants", "suggest"], &[]).expect_code(0).unwrap();
    assert!(!suggested.stdout.contains("clock"), "{}", suggested.text());
    fs::write(bench.grants(), "").unwrap();
    let run = json(&bench.converge(&machine, &["--format", "json"]).expect_code(0).unwrap());
    assert_eq!(
        (&run["denials"], &run["asked"]["solo"]["entries"]["clock"]),
        (&Value::Array(vec![]), &Value::Null),
        "{run:#}"
    );
}

/// What a recipe's machine has already, and what its guards skip, has to be granted all the same.
#[test]
fn a_suggestion_does_not_depend_on_what_the_machine_looks_like() {
    let recipe = "file '/srv/checked' do\n  content 'x'\n  verify 'grep -q x %{path}'\n  notifies :run, 'execute[late]'\nend\n\
        execute 'late' do\n  command 'echo late'\n  action :nothing\nend\n\
        execute 'echo skipped' do\n  not_if 'test -d /'\nend\n\
        execute 'echo made' do\n  creates '/etc/passwd'\nend\n\
        service 'thing' do\n  start_command 'echo start'\n  restart_command 'echo restart'\n  status_command 'echo status'\n  action :start\nend\n\
        file '/srv/broken' do\n  owner 'nobody-of-that-name'\n  content lazy { raise 'nothing here' }\nend\n\
        file '/srv/guarded' do\n  content lazy { raise 'not yet' }\n  only_if { false }\nend\n\
        site_thing 'a' do\n  size 1\nend\n\
        file '/srv/last' do\n  content node['memory'].to_s\nend\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let resources = bench.program.configuration().join("cookbooks/site/resources");
    fs::create_dir(&resources).unwrap();
    let custom = "unified_mode true\nproperty :size, Integer\nload_current_value { size 1 }\n\
        action :create do\n  converge_by('make it') { file '/srv/by' }\n  \
        converge_if_changed(:size) { file '/srv/if-changed' }\nend\n";
    fs::write(resources.join("thing.rb"), custom).unwrap();
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["sh", "-c", "mkdir -p /srv; printf x > /srv/checked"]).unwrap();
    let before = root.changes().unwrap();
    let output = bench.wrun(&machine, &["grants", "suggest"], &[]).expect_code(1).unwrap();
    assert_eq!(before.difference(&root.changes().unwrap()), "", "nothing has changed");
    let (own, others) = output.stdout.split_once("# Only actions").unwrap();
    for expect in [
        "grep -q x %{path}",
        "\"echo late\"",
        "\"echo skipped\"",
        "\"test -d /\"",
        "\"echo made\"",
        "\"echo start\"",
        "\"echo status\"",
        "\"/srv/checked\"",
        "\"/srv/broken\"",
        "\"/srv/by\"",
        "\"/srv/if-changed\"",
        "\"/srv/last\"",
        "facts = [\"memory\"]",
        "services = [\"thing\"]",
    ] {
        assert!(own.contains(expect), "{expect} is not in\n{}", output.text());
    }
    assert!(others.contains("# commands = [\"echo restart\"]"), "{}", output.text());
    let said = &output.stderr;
    assert!(said.contains("not all that file[/srv/broken] would ask for is seen: nothing here"), "{said}");
    assert!(
        said.contains("not all that file[/srv/guarded] would ask for is seen: ") && said.contains("not yet"),
        "{said}"
    );
}

/// A notification whose action was denied did not run: it is due until it is granted.
#[test]
fn a_denied_notification_runs_once_it_is_granted() {
    let recipe = "file '/srv/a' do\n  content 'x'\n  notifies :run, 'execute[e]'\nend\nexecute 'e' do\n  command 'touch /srv/ran'\n  \
                  action :nothing\nend\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "[policy.solo]\npaths = [\"/srv/a\"]\n").unwrap();
    drop(bench.converge(&machine, &[]).expect_code(1).unwrap());
    assert!(root.exists("srv/a") && !root.exists("srv/ran"));
    // A command as root is read before it is granted.
    drop(bench.tool(&["grants", "allow", "--last", "--yes"]).expect_code(1).unwrap());
    drop(bench.tool(&["grants", "allow", "--last", "--yes", "--dangerous"]).expect_code(0).unwrap());
    let next = bench.converge(&machine, &[]).expect_code(0).unwrap();
    assert!(root.exists("srv/ran") && next.stdout.contains("due since run"), "{}", next.text());
    drop(bench.converge(&machine, &[]).expect_code(0).unwrap());
}

#[test]
fn refused_random_numbers_are_a_denial_like_any_other() {
    let (bench, root) = (Bench::new("log rand(6).to_s\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "").unwrap();
    let ran = bench.converge(&machine, &["--format", "json"]).expect_code(1).unwrap();
    let denials = json(&ran)["denials"].clone();
    assert!(denials.to_string().contains("\"key\":\"random\""), "{denials}");
    drop(bench.tool(&["grants", "allow", "--last", "--yes"]).expect_code(0).unwrap());
    assert!(fs::read_to_string(bench.grants()).unwrap().contains("random = true"));
    drop(bench.converge(&machine, &[]).expect_code(0).unwrap());
}

#[test]
fn what_is_suggested_is_no_fault_before_the_first_run() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let place = |name: &str| program.configuration().join(name).display().to_string();
    let (folder, policies, grants) = (place("web"), place("policies"), place("grants.toml"));
    let run = |words: &[&str], code: i32| {
        let output = program.run_in(&machine, words).unwrap().expect_code(code).unwrap();
        output.text()
    };
    run(&["policy", "new", "--ruby", &folder], 0);
    // More than the policy's [needs] say.
    let recipe = "file '/srv/more'\n\
                  file('/srv/same') { content \"x\\n\"; verify 'grep -q x %{path}' }\n\
                  execute('touch /srv/never') { not_if { ::File.exist?('/etc/passwd') } }\n";
    fs::write(place("web/cookbooks/web/recipes/default.rb"), recipe).unwrap();
    machine.run(&["sh", "-ec", "mkdir -p /srv; echo x > /srv/same"]).unwrap();
    run(&["policy", "build", &folder, "--output", &policies], 0);
    let root = machine.root().path().display().to_string();
    let suggest = ["grants", "suggest", "--policy-name", "web", "--policies", &policies, "--root", &root];
    run(&[&suggest[..], &["--grants", &grants, "--write", &grants, "--yes", "--dangerous"]].concat(), 0);
    let suggested = fs::read_to_string(&grants).unwrap();
    for entry in ["/srv/more", "touch /srv/never", "grep -q x"] {
        assert!(suggested.contains(entry), "{entry} is not in\n{suggested}");
    }
    // What a survey found out is not a run.
    assert!(run(&["run", "list"], 0).contains("no run is recorded"));
    let check = ["grants", "check", "--grants", &grants, "--policies", &policies];
    let said = run(&check, 0);
    assert!(said.contains("no problems found") && !said.contains("is not used"), "{said}");
    fs::write(&grants, suggested.replace("\"/srv/more\"", "\"/srv/more\", \"/srv/unneeded\"")).unwrap();
    let said = run(&check, 0);
    let note = "paths /srv/unneeded is not used: its [needs] does not ask for it, and no run of it is recorded";
    assert!(said.contains(note), "{said}");
    fs::write(&grants, &suggested).unwrap();
    // After a run a rule that neither asks for is one.
    let converge = ["converge", "-N", "n1", "--policy-name", "web", "--policies", &policies, "--root", &root];
    run(&[&converge[..], &["--grants", &grants]].concat(), 0);
    // Neither was asked for in the run: a guard skipped one, the content was right for the other.
    let said = run(&check, 0);
    assert!(said.contains("no problems found"), "{said}");
    fs::write(&grants, "[policy.web]\npaths = [\"/srv/more\", \"/srv/other\"]\n").unwrap();
    let said = run(&check, 1);
    assert!(said.contains("paths /srv/other is not used: neither its [needs] nor its only recorded run"), "{said}");
}
