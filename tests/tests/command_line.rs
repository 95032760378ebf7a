//! How the program is called and how it ends: options, standard output, the state's files, signals, handlers.
//!
//! Cookbooks here have little to do; what counts is what is said, and the exit code.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and helpers are not tests to the lints"
)]

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use specs::{Machine, Network, Output, Program, Root};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// Writes the cookbook `a` with one recipe, and returns the folder that it lies in.
fn cookbook(program: &Program, recipe: &str) -> String {
    let folder = program.configuration().join("cookbooks");
    fs::create_dir_all(folder.join("a/recipes")).unwrap();
    fs::write(folder.join("a/metadata.rb"), "name 'a'\n").unwrap();
    fs::write(folder.join("a/recipes/default.rb"), recipe).unwrap();
    folder.display().to_string()
}

/// Settings of the operator's, as the program reads them.
fn settings(program: &Program, text: &str) {
    fs::write(program.configuration().join("wrun.toml"), text).unwrap();
}

/// Runs the cookbook on a machine; `more` are further arguments.
fn converge(program: &Program, machine: &Machine<'_>, cookbooks: &str, more: &[&str]) -> Output {
    let root = machine.root().path().display().to_string();
    let fixed = ["converge", "--root", &root, "--node-name", "n1", "--allow-all", "--cookbooks", cookbooks];
    program.run_in(machine, &[&fixed[..], more].concat()).unwrap()
}

fn with_machine(test: impl FnOnce(&Program, &Machine<'_>)) {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    test(&program, &root.machine(Network::Own).unwrap());
}

/// The program in the tester's own environment, for what needs no machine.
fn command(program: &Program, arguments: &[&str]) -> Command {
    let mut command = Command::new(program.executable());
    command.env_clear().env("PATH", "/usr/bin:/bin").envs(program.environment()).args(arguments).stdin(Stdio::null());
    command
}

#[test]
fn help_begins_with_what_the_program_is_for() {
    let output = Program::new().unwrap().run(&["--help"]).unwrap().expect_code(0).unwrap();
    assert!(output.stdout.starts_with("Run many teams' cookbooks on one node"), "{}", output.stdout);
}

#[test]
fn options_of_folders_are_refused_beside_policies() {
    let program = Program::new().unwrap();
    let refused = |arguments: &[&str]| {
        let all = [&["converge", "--allow-all"], arguments].concat();
        let output = program.run(&all).unwrap().expect_code(43).unwrap();
        assert!(output.stderr.contains(arguments.first().unwrap()), "{}", output.text());
    };
    for option in ["--cookbooks", "--run-list", "-E", "--roles", "--environments", "--nodes", "--gems"] {
        let long = if option == "-E" { "--environment" } else { option };
        refused(&[long, "x", "--policy-name", "core"]);
        refused(&[long, "x", "--named-run-list", "web"]);
    }
    refused(&["--without-gems", "x", "--policy-name", "core"]);
    refused(&["--run-list", "x"]);
}

#[test]
fn arguments_need_not_be_text() {
    with_machine(|program, machine| {
        let cookbooks = cookbook(program, "log 'ran'\n");
        let strange = Path::new(&cookbooks).with_file_name(OsStr::from_bytes(b"ck\xff"));
        fs::rename(&cookbooks, &strange).unwrap();
        let root = machine.root().path().as_os_str().to_owned();
        let mut arguments: Vec<OsString> =
            ["converge", "-N", "n1", "--allow-all", "--run-list", "a", "--root"].map(OsString::from).into();
        arguments.extend([root, "--cookbooks".into(), strange.into_os_string()]);
        let _ = program.run_in(machine, &arguments).unwrap().expect_code(0).unwrap();
    });
}

#[test]
fn a_variable_of_ours_that_is_no_text_is_refused() {
    let program = Program::new().unwrap();
    let mut command = command(&program, &["node", "show"]);
    let output = command.env("WRUN_LOG_LEVEL", OsStr::from_bytes(b"de\xffbug")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(43), "{said}");
    assert!(said.contains("the variable WRUN_LOG_LEVEL is not UTF-8"), "{said}");
}

#[test]
fn a_warning_of_wrun_has_one_form_for_people_and_its_fields_in_a_log() {
    with_machine(|program, machine| {
        let cookbooks = cookbook(program, "log 'x'\n");
        fs::write(program.configuration().join("cookbooks/a/metadata.rb"), "name 'a'\ndepends 'gone'\n").unwrap();
        let warning = "cookbook a depends on gone, which was not found; --lenient goes on without it";
        let all = ["--run-list", "a", "--lenient"];
        let shown = converge(program, machine, &cookbooks, &all).expect_code(0).unwrap().stderr;
        assert!(shown.lines().any(|line| line == format!("warning: {warning}")), "{shown}");
        assert!(!shown.contains("WARN"), "{shown}");
        let log = program.configuration().join("log");
        let more = ["-L", &log.display().to_string()];
        let _ = converge(program, machine, &cookbooks, &[&all[..], &more].concat()).expect_code(0).unwrap();
        let text = fs::read_to_string(&log).unwrap();
        assert!(text.contains(" WARN ") && text.contains(&format!("assemble::folders: {warning}")), "{text}");
    });
}

#[test]
fn minimal_shows_logs_beside_its_letters() {
    with_machine(|program, machine| {
        let recipe = "puts \"shown\\nPolicy solo failed\"\nlog 'careful' do\n  level :warn\nend\nlog 'chatter'\nChef::Log.fatal('worst')\n\
                      Chef::Config[:report_handlers] << Class.new(Chef::Handler) { def report = loop { } }.new\n";
        let cookbooks = cookbook(program, recipe);
        let shown = |more: &[&str]| {
            let all = [&["--run-list", "a"], more].concat();
            converge(program, machine, &cookbooks, &all).expect_code(0).unwrap().stdout
        };
        settings(program, "guest_seconds = 1\n");
        let usual = shown(&["-F", "minimal"]);
        assert!(usual.contains("\n[fatal] worst\n") && usual.contains("\n[warn] careful\n"), "{usual}");
        assert!(usual.contains("\nhandler report of policy solo failed: "), "{usual}");
        assert!(!usual.contains("chatter"), "{usual}");
        // What is printed is shown at any level but the highest, and begins where no line of wrun's own does.
        assert!(usual.contains("\n[solo printed] shown\n[solo printed] Policy solo failed\n"), "{usual}");
        let whole = shown(&["-F", "doc"]);
        assert!(whole.contains("\n    [solo printed] shown\n    [solo printed] Policy solo failed\n"), "{whole}");
        assert!(!shown(&["-F", "minimal", "-l", "error"]).contains("printed]"));
        assert!(shown(&["-F", "minimal", "-l", "info"]).contains("\n[info] chatter\n"));
    });
}

#[test]
fn log_lines_name_the_run_and_a_dry_runs_say_would() {
    with_machine(|program, machine| {
        let cookbooks = cookbook(program, "file '/srv/x'\n");
        let place = program.configuration().join("log");
        let log = place.display().to_string();
        for (more, sentence) in [(&["-W"][..], ": would create new file /srv/x"), (&[], ": create new file /srv/x")] {
            let all = [&["--run-list", "a", "-L", &log, "-l", "info"], more].concat();
            let _ = converge(program, machine, &cookbooks, &all).expect_code(0).unwrap();
            let text = fs::read_to_string(&place).unwrap();
            fs::remove_file(&place).unwrap();
            let lines: Vec<_> = text.lines().skip_while(|line| !line.contains("run started")).collect();
            assert!(lines.iter().any(|line| line.contains(sentence)), "{sentence} is missing in {text}");
            let named = "run{run_id=\"20";
            let dry = format!("why_run={}}}", !more.is_empty());
            assert!(lines.iter().all(|line| line.contains(named) && line.contains(&dry)), "{named} {dry} in\n{text}");
        }
    });
}

#[test]
fn compiling_native_code_is_announced_and_counted_once() {
    let program = Program::new().unwrap();
    let [root, cache] = ["root", "cache"].map(|name| program.configuration().join(name));
    fs::create_dir(&root).unwrap();
    let fixtures = specs::fixtures().display().to_string();
    let root = root.display().to_string();
    let run = |more: &[&str], cache: &Path| {
        let arguments =
            ["converge", "--root", &root, "--policies", &fixtures, "--policy-name", "empty", "--allow-all", "-N", "n1"];
        let arguments = [&arguments[..], more].concat();
        let output = command(&program, &arguments).env("WRUN_CACHE_DIR", cache).output().unwrap();
        let [said, noted] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(output.status.code(), Some(0), "{said}{noted}");
        (said.contains("s of compiling native code"), noted.matches("compiling native code of policy empty").count())
    };
    assert_eq!(run(&[], &cache), (true, 1));
    assert_eq!(run(&[], &cache), (false, 0), "the second run has it already");
    // So has the second dry run on a machine without a real run.
    let other = cache.with_file_name("other-cache");
    assert_eq!(run(&["--why-run"], &other), (true, 1));
    assert_eq!(run(&["--why-run"], &other), (false, 0), "the first dry run kept it");
}

#[test]
fn an_empty_run_list_is_said() {
    with_machine(|program, machine| {
        let cookbooks = cookbook(program, "");
        let output = converge(program, machine, &cookbooks, &[]).expect_code(0).unwrap();
        assert!(output.stdout.contains("[warn] Node n1 has an empty run list."), "{}", output.text());
        let output = converge(program, machine, &cookbooks, &["--run-list", "a"]).expect_code(0).unwrap();
        assert!(!output.text().contains("empty run list"), "{}", output.text());
    });
}

#[test]
fn output_that_is_lost_is_no_success() {
    let program = Program::new().unwrap();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = command(&program, &["resources", "file"]).stdout(full).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("error: standard output could not be written: No space left on device"), "{said}");
    // Whoever reads no more has seen enough.
    let mut child = command(&program, &["resources"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn another_nodes_file_is_refused_by_name() {
    with_machine(|program, machine| {
        let cookbooks = cookbook(program, "log 'ran'\n");
        let _ = converge(program, machine, &cookbooks, &["--run-list", "a"]).expect_code(0).unwrap();
        let nodes = program.state().join("nodes");
        let saved: Value = serde_json::from_slice(&fs::read(nodes.join("n1.json")).unwrap()).unwrap();
        let hold = |node: &Value| {
            fs::write(nodes.join("n1.json"), json!({"format": saved["format"], "node": node}).to_string()).unwrap();
        };
        let mut other = saved["node"].clone();
        other["name"] = json!("other");
        hold(&other);
        let explain = program.run(&["node", "explain", "-N", "n1", "tags"]).unwrap();
        for output in [converge(program, machine, &cookbooks, &["--run-list", "a"]), explain] {
            let said = output.expect_code(43).unwrap().stderr;
            assert!(
                said.contains("[STATE]/nodes/n1.json cannot be used: it holds the node \"other\", not \"n1\""),
                "{said}"
            );
            assert!(said.contains("; move it away to begin anew"), "{said}");
        }
        assert!(!nodes.join("other.json").exists() && nodes.join("n1.json").exists());
        // What is not a node at all is nobody's, and is set aside by runs.
        hold(&json!({"name": "n1", "normal": 3}));
        let said = program.run(&["node", "explain", "-N", "n1", "tags"]).unwrap().expect_code(43).unwrap().stderr;
        assert!(said.contains("[STATE]/nodes/n1.json cannot be used") && said.contains("normal must be"), "{said}");
        let said = converge(program, machine, &cookbooks, &["--run-list", "a"]).expect_code(0).unwrap().stderr;
        assert!(said.contains("normal must be") && said.contains("the file is now"), "{said}");
    });
}

#[test]
fn folders_that_a_run_needs_are_found_wanting_before_it() {
    with_machine(|program, machine| {
        let cookbooks = cookbook(program, "file '/srv/a'\n");
        let file = program.configuration().join("no-folder");
        fs::write(&file, "").unwrap();
        settings(program, &format!("backup_dir = {:?}\n", file.join("backup")));
        let said = converge(program, machine, &cookbooks, &["--run-list", "a"]).expect_code(43).unwrap().stderr;
        assert!(said.contains("`backup_dir` [CONFIGURATION]/no-folder/backup cannot be written to"), "{said}");
        assert!(said.contains("WRUN_BACKUP_DIR"), "{said}");
        assert!(!machine.root().exists("srv/a"));
        // A dry run keeps nothing there.
        let _ = converge(program, machine, &cookbooks, &["--run-list", "a", "-W"]).expect_code(0).unwrap();
    });
}

/// A handler that adds to a file in which moment it was called, and whether in a dry run.
fn handlers(program: &Program) -> std::path::PathBuf {
    let heard = program.configuration().join("heard");
    let handler = program.configuration().join("handler");
    let script = format!(
        "#!/bin/sh\nif grep -q '\"why_run\":true'; then dry=' dry'; fi\necho \"$1$dry\" >> {}\n",
        heard.display()
    );
    fs::write(&handler, script).unwrap();
    let of = |moment: &str| {
        let command = ["sh", &handler.display().to_string(), moment].map(|word| format!("{word:?}")).join(", ");
        format!("[[handlers]]\non = [\"{moment}\"]\ncommand = [{command}]\n")
    };
    settings(program, &["start", "report", "exception"].map(of).concat());
    heard
}

#[test]
fn the_operators_handlers_hear_how_what_began_ended() {
    with_machine(|program, machine| {
        let cookbooks = cookbook(program, "log 'ran'\n");
        let heard = handlers(program);
        let said = || fs::read_to_string(&heard).unwrap_or_default();
        let arguments = ["--run-list", "a"];
        let _ = converge(program, machine, &cookbooks, &arguments).expect_code(0).unwrap();
        assert_eq!(said(), "start\nreport\n");
        fs::remove_file(&heard).unwrap();
        let _ = converge(program, machine, &cookbooks, &["--run-list", "a", "-W"]).expect_code(0).unwrap();
        assert_eq!(said(), "start dry\nreport dry\n");
        fs::remove_file(&heard).unwrap();
        // A suggestion is not a run.
        let root = machine.root().path().display().to_string();
        let suggest = ["grants", "suggest", "--root", &root, "-N", "n1", "--cookbooks", &cookbooks, "--run-list", "a"];
        let _ = program.run_in(machine, &suggest).unwrap().expect_code(0).unwrap();
        assert_eq!(said(), "");
    });
}

/// A handler that has ended, whose end its tracer keeps from wrun. It writes the tracer's number to the file in its argument.
const TRACED_HANDLER: &str = include_str!("../../host/providers/tests/confined/traced.pl");

#[test]
fn attack_a_handler_that_is_traced_does_not_hold_the_run() {
    with_machine(|program, machine| {
        let cookbooks = cookbook(program, "log 'ran'\n");
        let tracer = program.configuration().join("tracer");
        let words =
            ["perl", "-e", TRACED_HANDLER, &tracer.display().to_string()].map(|word| format!("{word:?}")).join(", ");
        settings(program, &format!("[[handlers]]\non = [\"report\"]\ncommand = [{words}]\nseconds = 1\n"));
        let run = converge(program, machine, &cookbooks, &["--run-list", "a"]);
        let number: i32 = fs::read_to_string(&tracer).unwrap().trim().parse().expect("the handler was traced");
        let _ = kill(Pid::from_raw(number), Signal::SIGKILL);
        let said = run.expect_code(0).unwrap().stderr;
        assert!(said.contains("took longer than 1 s, and process "), "{said}");
    });
}

#[test]
fn a_run_that_cannot_be_recorded_has_failed_for_the_operators_handlers() {
    with_machine(|program, machine| {
        let cookbooks = cookbook(program, "log 'ran'\n");
        fs::write(program.state().join("runs"), "where records should go").unwrap();
        let heard = handlers(program);
        let output = converge(program, machine, &cookbooks, &["--run-list", "a"]).expect_code(1).unwrap();
        assert!(output.stderr.contains("the run could not be recorded"), "{}", output.text());
        assert_eq!(fs::read_to_string(&heard).unwrap(), "start\nexception\n");
    });
}

/// Starts a run that waits for another one's lock, sends it a signal, and says how it ended. `start` is the shell's
/// line that becomes the run.
fn signalled_while_waiting(start: &str, signal: Signal, lock_timeout: &str) -> (ExitStatus, String) {
    let program = Program::new().unwrap();
    let cookbooks = cookbook(&program, "");
    let lock = File::create(program.state().join("lock")).unwrap();
    let _held = Flock::lock(lock, FlockArg::LockExclusive).unwrap_or_else(|(_, error)| panic!("{error}"));
    let root = program.configuration().join("root");
    fs::create_dir(&root).unwrap();
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", start, "sh"]).arg(program.executable());
    shell.args(["converge", "-N", "n1", "--allow-all", "--lock-timeout", lock_timeout, "--run-list", "a"]);
    shell.arg("--cookbooks").arg(&cookbooks).arg("--root").arg(&root);
    shell.env_clear().env("PATH", "/usr/bin:/bin").envs(program.environment());
    let mut child = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut text = String::new();
    while !text.contains("waiting for another run") {
        assert!(said.read_line(&mut text).unwrap() > 0, "{text}");
    }
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
    said.read_to_string(&mut text).unwrap();
    (child.wait().unwrap(), text)
}

#[test]
fn signals_end_the_wait_for_another_run_with_their_own_codes() {
    // Whoever starts the tests may have ignored signals, as `nohup` does.
    let start = "exec env --default-signal=HUP,INT,TERM \"$@\"";
    for (signal, code) in [(Signal::SIGINT, 2), (Signal::SIGTERM, 3), (Signal::SIGHUP, 3)] {
        let (status, text) = signalled_while_waiting(start, signal, "300");
        assert_eq!((status.code(), status.signal()), (Some(code), None), "{signal}: {text}");
        assert!(text.contains("interrupted while waiting for another run to end"), "{text}");
    }
}

#[test]
fn a_lost_terminal_that_was_to_be_ignored_is_ignored() {
    let (status, text) = signalled_while_waiting("trap '' HUP; exec \"$@\"", Signal::SIGHUP, "1");
    assert_eq!(status.code(), Some(75), "{text}");
    assert!(text.contains("another run is under way"), "{text}");
}

/// A limit is told with the key that moves it, and with the recipe that met it, which a lost guest cannot say itself.
#[test]
fn a_bomb_is_told_with_its_place_and_the_key_of_its_limit() {
    with_machine(|program, machine| {
        let run = |recipe: &str| -> Value {
            let cookbooks = cookbook(program, recipe);
            let arguments = ["--run-list", "a", "-F", "json"];
            let output = converge(program, machine, &cookbooks, &arguments).expect_code(1).unwrap();
            serde_json::from_str(&output.stdout).unwrap()
        };
        settings(program, "guest_seconds = 2\nguest_memory_mib = 32\n");
        for (recipe, key, place) in [
            ("x = []\nloop { x << 'x' * 1_000_000 }\n", "guest_memory_mib", ""),
            ("log 'a'\nlog 'b'\n\nloop {}\n", "guest_seconds", " after log[b] (a/recipes/default.rb:2)"),
        ] {
            let error = run(recipe)["error"].clone();
            let message = error["message"].as_str().unwrap_or_default();
            assert!(message.contains(key) && message.ends_with(&format!(", in recipe a::default{place}")), "{error:#}");
            assert_eq!((&error["origin"]["cookbook"], &error["origin"]["recipe"]), (&json!("a"), &json!("default")));
        }
    });
}

/// The README of a new policy promises what `wrun policy build` does.
#[test]
fn the_commands_in_a_new_policys_readme_work() {
    with_machine(|program, machine| {
        let folder = program.configuration().join("site");
        let place = folder.display().to_string();
        let _ = program.run(&["policy", "new", "--ruby", &place]).unwrap().expect_code(0).unwrap();
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        let commands: Vec<_> = readme.lines().filter_map(|line| line.strip_prefix("    wrun ")).collect();
        assert_eq!(commands.len(), 5, "{readme}");
        let root = machine.root().path().display().to_string();
        for command in commands {
            let mut words: Vec<_> = command.split(' ').map(|word| if word == "." { &place } else { word }).collect();
            if words.first() == Some(&"converge") {
                words.extend(["--root", &root, "-N", "n1"]);
            }
            let _ = program.run_in(machine, &words).unwrap().expect_code(0).unwrap();
            assert!(readme.contains("`site.wasm`") && folder.join("site.wasm").is_file());
        }
        let greeting = fs::read_to_string(machine.root().path().join("etc/site.txt")).unwrap();
        assert_eq!(greeting, "Hello from the policy site!\n");
        assert!(fs::read_to_string(folder.join(".gitignore")).unwrap().lines().any(|line| line == "*.wasm"));
        let manifest = folder.join("policy.toml").display().to_string();
        let refused =
            program.run(&["policy", "build", &place, "--output", &manifest]).unwrap().expect_code(43).unwrap();
        assert!(refused.stderr.contains("policy.toml is a file"), "{}", refused.text());
        fs::create_dir_all(folder.join("cookbooks/notes")).unwrap();
        let said = program.run(&["policy", "build", &place]).unwrap().expect_code(0).unwrap().stderr;
        assert!(said.contains("cookbooks/notes is left out: it is not a cookbook"), "{said}");
        // A second new policy has nothing that the first one has too.
        let other = program.configuration().join("shop").display().to_string();
        for words in [vec!["policy", "new", "--ruby", &other], vec!["policy", "build", &other, "--output", &place]] {
            let _ = program.run(&words).unwrap().expect_code(0).unwrap();
        }
        let both = ["converge", "--policies", &place, "--policy-name", "site,shop", "--allow-all", "--format", "json"];
        let both = [&both[..], &["--root", &root, "-N", "n1"]].concat();
        let ran = program.run_in(machine, &both).unwrap().expect_code(0).unwrap();
        let run: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((&run["notices"], &run["conflicts"]), (&json!([]), &json!([])), "{run:#}");
    });
}

#[test]
fn folders_that_are_not_there_are_named_with_their_option() {
    let program = Program::new().unwrap();
    let arguments = ["converge", "-N", "n1", "--allow-all", "--policy-name", "core", "--policies", "/nowhere/at/all"];
    let said = program.run(&arguments).unwrap().expect_code(43).unwrap().stderr;
    assert!(said.contains("there is no folder of policies at /nowhere/at/all; name it with --policies"), "{said}");
    let odd = program.configuration().join(OsStr::from_bytes(b"bad\xff"));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("metadata.rb"), "name 'bad'\n").unwrap();
    let said = program.run(&["cookbook".as_ref(), "check".as_ref(), odd.as_os_str()]).unwrap().expect_code(43).unwrap();
    assert!(said.stderr.contains("the name of a cookbook's directory must be UTF-8"), "{}", said.stderr);
}

#[test]
fn causes_are_said_once() {
    with_machine(|program, machine| {
        let cookbooks = cookbook(program, "");
        let attributes = program.configuration().join("attributes.json");
        fs::write(&attributes, r#"{"run_list": ["what[is]"]}"#).unwrap();
        let attributes = attributes.display().to_string();
        let said = converge(program, machine, &cookbooks, &["-j", &attributes]).expect_code(43).unwrap().stderr;
        assert_eq!(said.matches("what[is]").count(), 1, "{said}");
    });
}

/// A word in the place of an option, as other programs take it.
#[test]
fn a_word_without_its_option_is_told_where_it_belongs() {
    let program = Program::new().unwrap();
    let folder = program.configuration().display().to_string();
    let _ = program.run(&["node", "create", "n1"]).unwrap().expect_code(0).unwrap();
    for (words, code, tip) in [
        (&["ohai"][..], 43, "tip: `wrun facts` prints the facts of this machine"),
        (&["facts", "ipaddress"], 43, "tip: all facts are printed at once; `wrun facts | jq .NAME` takes one of them"),
        (&["converge", "web"], 43, "tip: policies are named with `--policy-name NAME,..`"),
        (&["grants", "check", "/etc/grants.toml"], 43, "tip: a file of grants is named with `--grants FILE`"),
        (&["grants", "allow", "2026"], 43, "tip: a run is named with `--from-run ID`, the newest one with `--last`"),
        (
            &["policy", "new", "--from", "x", "web"],
            43,
            "tip: `wrun policy import DIR` makes policies of a Chef repository",
        ),
        (&["resources", "tem"], 43, "resource type `tem` does not exist; did you mean `template`?"),
        (&["policy", "show", "--nosuch"], 43, "unexpected argument '--nosuch' found"),
        (&["policy", "show", &folder], 43, "hint: `wrun policy build` makes one of a policy's folder"),
        (&["node", "show", "n1"], 1, "hint: what follows is an attribute; the node is named with `--node-name`"),
        (&["agent", "status"], 1, "`systemctl enable --now wrun-agent` starts the service"),
    ] {
        let output = program.run(words).unwrap().expect_code(code).unwrap();
        assert!(output.text().contains(tip), "{}", output.text());
        assert!(!output.text().contains("to pass "), "{}", output.text());
        assert!(!tip.starts_with("tip") || !output.text().contains("Usage:"), "{}", output.text());
    }
    let built = program.configuration().join("web");
    fs::create_dir(&built).unwrap();
    fs::write(built.join("web.wasm"), "").unwrap();
    let output = program.run(&["policy", "show", &built.display().to_string()]).unwrap().expect_code(43).unwrap();
    let hint = "hint: the artifact in it: wrun policy show [CONFIGURATION]/web/web.wasm";
    assert!(output.text().contains(hint), "{}", output.text());
}

#[test]
fn a_new_cookbook_with_another_name_than_its_policy_is_told() {
    let program = Program::new().unwrap();
    let new = |kind: &[&str], name: &str| {
        let folder = program.configuration().join(kind.concat()).join(name).display().to_string();
        program.run(&[&["policy", "new"], kind, &[&folder]].concat()).unwrap().expect_code(0).unwrap().stdout
    };
    let renamed = "its cookbook is called core_base, because code in Rust cannot have the name core";
    assert!(new(&[], "core").contains(renamed));
    assert!(!new(&["--ruby"], "core").contains("called"), "a cookbook in Ruby can have that name");
    let renamed = "its cookbook is called web_front, because code in Ruby cannot have the name web-front";
    assert!(new(&["--ruby"], "web-front").contains(renamed));
}

/// The turn of the only policy comes at once, so that what is wrong with its artifact is not told before.
#[test]
fn an_artifact_that_cannot_be_run_is_told_once_unless_other_policies_run_before() {
    with_machine(|program, machine| {
        let folder = program.configuration().join("policies");
        fs::create_dir(&folder).unwrap();
        ["bad", "worse"].iter().for_each(|name| fs::write(folder.join(format!("{name}.wasm")), "x").unwrap());
        let grants = program.configuration().join("grants.toml").display().to_string();
        fs::write(&grants, "[policy.bad]\n[policy.worse]\n").unwrap();
        let (root, folder) = (machine.root().path().display().to_string(), folder.display().to_string());
        for (policies, times) in [("worse", 1), ("bad,worse", 2)] {
            let arguments = ["converge", "--root", &root, "-N", "n1", "--policies", &folder, "--grants", &grants];
            let more = ["--policy-name", policies, "--keep-going"];
            let output = program.run_in(machine, &[&arguments[..], &more].concat()).unwrap().expect_code(1).unwrap();
            assert_eq!(output.text().matches("/worse.wasm is not a policy").count(), times, "{}", output.text());
        }
    });
}
