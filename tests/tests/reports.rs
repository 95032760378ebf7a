//! Reports of runs to files and addresses, their queue, and their schema.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and helpers are not tests to the lints"
)]

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use serde_json::{Value, json};
use specs::{Answer, Machine, Network, Output, Program, Root, Server, fixtures, schema};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn settings(program: &Program, text: &str) {
    fs::write(program.configuration().join("wrun.toml"), text).unwrap();
}

fn converge(program: &Program, machine: &Machine<'_>, more: &[&str]) -> Output {
    let (root, policies) = (machine.root().path().display().to_string(), fixtures().display().to_string());
    let fixed = ["converge", "-N", "n1", "--allow-all", "--policy-name", "empty", "--format", "json"];
    program.run_in(machine, &[&fixed[..], &["--root", &root, "--policies", &policies], more].concat()).unwrap()
}

fn with_machine(test: impl FnOnce(&Program, &Machine<'_>)) {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    test(&program, &root.machine(Network::Own).unwrap());
}

fn parsed(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap()
}

/// The run that each request reports.
fn reported(server: &Server) -> Vec<Value> {
    server.requests().iter().map(|request| parsed(&request.body)["run_id"].clone()).collect()
}

fn check_schema(value: &Value) {
    let schema = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/run.schema.json")).unwrap();
    let problems = schema::problems(&parsed(&schema), value);
    assert_eq!(problems, [""; 0], "{value:#}");
}

#[test]
fn reports_reach_an_address_and_wait_while_it_is_away() {
    with_machine(|program, machine| {
        let server = Server::start(machine).unwrap();
        let token = program.configuration().join("token");
        fs::write(&token, "s3cret\n").unwrap();
        settings(
            program,
            &format!("[[report]]\nurl = \"{}\"\ntoken_file = \"{}\"\n", server.address("/runs"), token.display()),
        );
        // Nobody takes reports yet: the server says 404, which may change.
        let first = converge(program, machine, &[]).expect_code(0).unwrap();
        assert!(
            first.stderr.contains("1 report waits for http://") && first.stderr.contains("status 404"),
            "{}",
            first.text()
        );
        let failed = converge(program, machine, &["--override-runlist", "nothing::here"]).expect_code(43).unwrap();
        assert!(failed.stderr.contains("2 reports wait"), "{}", failed.text());
        let dry = converge(program, machine, &["--why-run"]).expect_code(0).unwrap();
        assert!(!dry.stderr.contains("report"), "{}", dry.text());
        server.answer("/runs", Answer::status(202));
        let before = server.requests().len();
        let third = converge(program, machine, &[]).expect_code(0).unwrap();
        assert!(!third.stderr.contains("report"), "{}", third.text());
        let taken = server.requests().split_off(before);
        assert_eq!(taken.len(), 3, "all that waited, the oldest first");
        assert_eq!(parsed(&taken[0].body), parsed(first.stdout.as_bytes()), "it is the JSON of the run");
        assert_eq!(parsed(&taken[2].body), parsed(third.stdout.as_bytes()));
        assert_eq!(parsed(&taken[1].body)["error"]["class"], "Wrun::NotBegun");
        for request in &taken {
            let header = |name: &str| request.headers.get(name).map(String::as_str);
            assert_eq!((request.method.as_str(), header("authorization")), ("POST", Some("Bearer s3cret")));
            assert_eq!(header("content-type"), Some("application/json"));
            check_schema(&parsed(&request.body));
        }
        // What a server will never take is dropped, and does not hold up the others.
        server.answer("/runs", Answer::status(422));
        let refused = converge(program, machine, &[]).expect_code(0).unwrap();
        assert!(
            refused.stderr.contains("was dropped: http://") && refused.stderr.contains("status 422"),
            "{}",
            refused.text()
        );
        server.answer("/runs", Answer::status(200));
        let last = converge(program, machine, &[]).expect_code(0).unwrap();
        assert_eq!(reported(&server).last().unwrap(), &parsed(last.stdout.as_bytes())["run_id"]);
        // A token that cannot be read is the operator's to mend: nothing is lost.
        fs::write(&token, "two\nlines\n").unwrap();
        let waiting = converge(program, machine, &[]).expect_code(0).unwrap();
        assert!(waiting.stderr.contains("1 report waits") && !waiting.stderr.contains("two"), "{}", waiting.text());
    });
}

#[test]
fn a_server_that_is_gone_costs_a_warning_and_no_report() {
    with_machine(|program, machine| {
        let gone = Server::start(machine).unwrap().address("/runs");
        settings(program, &format!("[[report]]\nurl = \"{gone}\"\nseconds = 5\n"));
        let run = converge(program, machine, &[]).expect_code(0).unwrap();
        assert!(
            run.stderr.contains("1 report waits for") && run.stderr.contains("cannot be reached"),
            "{}",
            run.text()
        );
        let queues = fs::read_dir(program.state().join("reports")).unwrap();
        let waiting = queues.flat_map(|queue| fs::read_dir(queue.unwrap().path()).unwrap());
        let names: Vec<_> = waiting.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        let run_id = parsed(run.stdout.as_bytes())["run_id"].as_str().unwrap().to_owned();
        assert!(names.contains(&format!("{run_id}.json")), "{names:?}");
    });
}

#[test]
fn reports_are_lines_of_a_file() {
    with_machine(|program, machine| {
        let file = program.configuration().join("runs.ndjson");
        settings(program, &format!("[[report]]\nfile = \"{}\"\ndry_runs = true\n", file.display()));
        let runs = [&[][..], &["--why-run"], &["--skip-unchanged", "4h"], &["--skip-unchanged", "4h"]];
        let shown = runs.map(|more| parsed(converge(program, machine, more).expect_code(0).unwrap().stdout.as_bytes()));
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<_> = text.lines().map(|line| parsed(line.as_bytes())).collect();
        assert_eq!(lines, shown);
        assert_eq!([&lines[1]["why_run"], &lines[3]["skipped"]["run_id"]], [&json!(true), &lines[2]["run_id"]]);
        lines.iter().for_each(check_schema);
        // A folder that is not there is away, like a server.
        let away = program.configuration().join("away/runs.ndjson");
        settings(program, &format!("[[report]]\nfile = \"{}\"\n", away.display()));
        let waits = converge(program, machine, &[]).expect_code(0).unwrap();
        assert!(waits.stderr.contains("1 report waits for"), "{}", waits.text());
        fs::create_dir(away.parent().unwrap()).unwrap();
        let _ = converge(program, machine, &[]).expect_code(0).unwrap();
        assert_eq!(fs::read_to_string(away).unwrap().lines().count(), 2);
    });
}

/// A run with everything in it: changes, guards, notifications, failures, denials, in folders and in a dry run.
const RECIPE: &str = "
    log 'seen'
    file('/srv/a') { content \"a\\n\"; notifies :create, 'file[/srv/b]', :delayed }
    file('/srv/b') { content 'b'; action :nothing }
    file('/srv/c') { content 'c'; not_if { true } }
    execute('false') { ignore_failure true }
    File.write('/srv/own', 'x')
    package 'nosuchpackage'
";

/// Writes the cookbook `a`, and returns the arguments of a run of it on a root.
fn cookbook(program: &Program, root: &Root, recipe: &str) -> Vec<String> {
    let folder = program.configuration().join("cookbooks");
    fs::create_dir_all(folder.join("a/recipes")).unwrap();
    fs::write(folder.join("a/metadata.rb"), "name 'a'\n").unwrap();
    fs::write(folder.join("a/recipes/default.rb"), recipe).unwrap();
    let (root, folder) = (root.path().display().to_string(), folder.display().to_string());
    let words = ["converge", "-N", "n1", "--root", &root, "--cookbooks", &folder, "-r", "a", "--format", "json"];
    words.map(str::to_owned).to_vec()
}

#[test]
fn runs_and_plans_fit_the_schema() {
    with_machine(|program, machine| {
        let fixed = cookbook(program, machine.root(), RECIPE);
        for (code, more) in [
            (0, &["--allow-all", "--why-run"][..]),
            (1, &["--allow-all"]),
            (1, &[]),
            (0, &["--allow-all", "--compile-only"]),
            (1, &["--compile-only"]),
        ] {
            let words: Vec<_> = fixed.iter().map(String::as_str).chain(more.iter().copied()).collect();
            let output = program.run_in(machine, &words).unwrap().expect_code(code).unwrap();
            let run = parsed(output.stdout.as_bytes());
            assert!(run["resources"].is_array(), "{}", output.text());
            check_schema(&run);
        }
    });
}

/// What a plan changes is told as values, and so is what a run has changed.
#[test]
fn changes_are_told_as_values_before_and_after() {
    const VALUES: &str = "
        directory('/srv/d') { mode '0750' }
        file('/srv/a') { content \"b\\n\"; mode '0600'; owner 0 }
        link('/srv/l') { to '/srv/b' }
        link('/srv/new') { to '/srv/a' }
        file('/srv/old') { action :delete }
        group('ours') { gid 4711 }
        user('ann') { uid 4712; comment 'Ann'; password '$6$secret' }
        file('/srv/hidden') { content 'x'; sensitive true }
        execute 'true'
    ";
    with_machine(|program, machine| {
        let root = machine.root();
        for (path, text) in [("srv/a", "a\n"), ("srv/old", ""), ("srv/hidden", "")] {
            root.write(path, text).unwrap();
        }
        std::os::unix::fs::symlink("/srv/a", root.at("srv/l").unwrap()).unwrap();
        let fixed = cookbook(program, root, VALUES);
        let values = |more: &[&str]| {
            let words: Vec<_> = fixed.iter().map(String::as_str).chain(more.iter().copied()).collect();
            let run = parsed(program.run_in(machine, &words).unwrap().expect_code(0).unwrap().stdout.as_bytes());
            check_schema(&run);
            let resources = run["resources"].as_array().unwrap().clone();
            resources.into_iter().map(|resource| (resource["name"].clone(), resource["values"].clone())).collect()
        };
        let set =
            |aspect: &str, before: Value, after: &str| json!({"aspect": aspect, "before": before, "after": after});
        let (a, b) = (
            "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7",
            "0263829989b6fd954f72baaf2fc64bc2e2f01d692d4de72986ea808f6e99813f",
        );
        let expected: Vec<(Value, Value)> = vec![
            (json!("/srv/d"), json!([set("presence", json!("absent"), "directory"), set("mode", Value::Null, "750")])),
            (json!("/srv/a"), json!([set("content", json!(a), b), set("mode", json!("644"), "600")])),
            (json!("/srv/l"), json!([set("to", json!("/srv/a"), "/srv/b")])),
            (json!("/srv/new"), json!([set("presence", json!("absent"), "link"), set("to", Value::Null, "/srv/a")])),
            (json!("/srv/old"), json!([set("presence", json!("file"), "absent")])),
            (json!("ours"), json!([set("presence", json!("absent"), "account")])),
            (json!("ann"), json!([set("presence", json!("absent"), "account")])),
            (json!("/srv/hidden"), Value::Null),
            (json!("true"), Value::Null),
        ];
        let planned: Vec<(Value, Value)> = values(&["--allow-all", "--why-run"]);
        assert_eq!(planned, expected);
        assert_eq!(values(&["--allow-all"]), expected);
        let expected: Vec<_> = expected.into_iter().map(|(name, _)| (name, Value::Null)).collect();
        assert_eq!(values(&["--allow-all"]), expected);
    });
}

/// A plan and the run after it are planned against the same, as long as nobody changes the machine between them.
#[test]
fn a_plan_and_its_run_tell_what_they_were_planned_against() {
    const FINGERPRINTS: &str = "
        directory('/srv/d') { mode '0750' }
        file('/srv/d/in') { content 'x' }
        file('/srv/a') { content \"b\\n\"; mode '0600' }
        file('/srv/other') { content 'x' }
        group('ours') { gid 4711 }
        user('ann') { uid 4712; comment 'Ann' }
        file('/srv/hidden') { content 'x'; sensitive true }
        execute 'true'
    ";
    with_machine(|program, machine| {
        let root = machine.root();
        for (path, text) in [("srv/a", "a\n"), ("srv/other", "a\n"), ("srv/hidden", "")] {
            root.write(path, text).unwrap();
        }
        let fixed = cookbook(program, root, FINGERPRINTS);
        let planned_against = |more: &[&str]| -> Vec<(Value, Value)> {
            let words: Vec<_> = fixed.iter().map(String::as_str).chain(more.iter().copied()).collect();
            let run = parsed(program.run_in(machine, &words).unwrap().expect_code(0).unwrap().stdout.as_bytes());
            check_schema(&run);
            let resources = run["resources"].as_array().unwrap().clone();
            let told = |resource: &Value| (resource["name"].clone(), resource["planned_against"].clone());
            resources.iter().map(told).collect()
        };
        let first = planned_against(&["--allow-all", "--why-run"]);
        assert_eq!(planned_against(&["--allow-all", "--why-run"]), first);
        for (name, fingerprints) in &first {
            let expected = if matches!(name.as_str(), Some("/srv/hidden" | "true")) { None } else { Some(1) };
            assert_eq!(fingerprints.as_array().map(Vec::len), expected, "{name}");
        }
        root.write("srv/other", "changed\n").unwrap();
        let run = planned_against(&["--allow-all"]);
        let other: Vec<_> =
            first.iter().zip(&run).filter(|(plan, run)| plan != run).map(|((name, _), _)| name).collect();
        assert_eq!(other, ["/srv/other"]);
    });
}

#[test]
fn a_report_that_is_too_large_is_sent_in_its_reduced_form() {
    with_machine(|program, machine| {
        let server = Server::start(machine).unwrap();
        server.answer("/runs", Answer::status(413));
        settings(program, &format!("[[report]]\nurl = \"{}\"\n", server.address("/runs")));
        let mut words = cookbook(program, machine.root(), RECIPE);
        words.push("--allow-all".to_owned());
        let of_folders = program.run_in(machine, &words).unwrap().expect_code(1).unwrap();
        let of_policies = converge(program, machine, &[]).expect_code(0).unwrap();
        let sent: Vec<_> = server.requests().iter().map(|request| parsed(&request.body)).collect();
        let [whole, reduced, other_whole, other_reduced] = sent.as_slice() else { panic!("{sent:#?}") };
        for (output, whole, reduced) in [(&of_folders, whole, reduced), (&of_policies, other_whole, other_reduced)] {
            let run_id = &parsed(output.stdout.as_bytes())["run_id"];
            assert_eq!((&whole["run_id"], &whole["reduced"]), (run_id, &Value::Null));
            check_schema(reduced);
            for key in ["run_id", "outcome", "updated", "failed", "total", "error", "denials"] {
                assert_eq!(reduced[key], whole[key], "{key}");
            }
            assert_eq!((&reduced["reduced"], &reduced["log"]), (&json!(true), &json!([])));
            // A server that does not take this one either takes none.
            assert!(
                output.stderr.contains("was dropped: http://") && output.stderr.contains("status 413"),
                "{}",
                output.text()
            );
        }
        let resources = whole["resources"].as_array().unwrap().len();
        assert_eq!((&reduced["resources"], &reduced["resources_left_out"]), (&json!([]), &json!(resources)));
        assert_eq!((&reduced["node"], &reduced["node_left_out"]), (&json!({}), &json!(true)));
    });
}

/// Starts a run that does not end, sends it two signals when `/srv/begun` is there, and waits for its end.
fn ended_by_the_second_signal(program: &Program, root: &Root, words: &[String]) {
    let mut shell = Command::new("/bin/sh");
    // Whoever starts the tests may have ignored signals, as `nohup` does.
    shell.args(["-c", "exec env --default-signal=HUP,INT,TERM \"$@\"", "sh"]).arg(program.executable()).args(words);
    shell.env_clear().env("PATH", "/usr/bin:/bin").envs(program.environment());
    let mut child = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    while !root.exists("srv/begun") {
        assert!(child.try_wait().unwrap().is_none(), "the run ended early");
        std::thread::sleep(Duration::from_millis(20));
    }
    let send = || kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGTERM).unwrap();
    send();
    let mut text = String::new();
    while !text.contains("Send a second signal") {
        assert!(said.read_line(&mut text).unwrap() > 0, "{text}");
    }
    send();
    said.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(15), "{text}");
    fs::remove_file(root.at("srv/begun").unwrap()).unwrap();
}

#[test]
fn a_run_that_a_second_signal_ends_is_reported_by_the_next_one() {
    // The first run ends its command and records itself. The second one does not answer.
    let recipes = [
        "execute 'held' do\n  command 'echo x > /srv/begun; cat /srv/pipe'\nend\n",
        "ruby_block 'loop' do\n  block do\n    File.write('/srv/begun', 'x')\n    loop {}\n  end\nend\n",
    ];
    for recipe in recipes {
        let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
        root.write("srv/empty", "").unwrap();
        mkfifo(&root.at("srv/pipe").unwrap(), Mode::S_IRWXU).unwrap();
        let file = program.configuration().join("runs.ndjson");
        settings(&program, &format!("guest_seconds = 3000\n[[report]]\nfile = \"{}\"\n", file.display()));
        let mut words = cookbook(&program, &root, recipe);
        words.push("--allow-all".to_owned());
        ended_by_the_second_signal(&program, &root, &words);
        assert!(!file.exists(), "nothing is sent while somebody waits for the end");
        fs::write(program.configuration().join("cookbooks/a/recipes/default.rb"), "").unwrap();
        let next = program.run(&words).unwrap().expect_code(0).unwrap();
        let lines: Vec<_> = fs::read_to_string(&file).unwrap().lines().map(|line| parsed(line.as_bytes())).collect();
        let [ended, last] = lines.as_slice() else { panic!("{lines:#?}") };
        assert_eq!(last["run_id"], parsed(next.stdout.as_bytes())["run_id"]);
        assert_eq!(ended["outcome"], "interrupted");
        let record = program.state().join(format!("runs/{}/run.json", ended["run_id"].as_str().unwrap()));
        assert_eq!(ended, &parsed(&fs::read(record).unwrap()));
        check_schema(ended);
    }
}
