//! Reports of runs to files and addresses, their queue, and their schema.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and helpers are no tests to the lints"
)]

use serde_json::{Value, json};
use specs::{Answer, Machine, Network, Output, Program, Root, Server, fixtures, schema};
use std::fs;
use std::path::Path;

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
#[test]
fn runs_and_plans_fit_the_schema() {
    with_machine(|program, machine| {
        let recipe = "
            log 'seen'
            file('/srv/a') { content \"a\\n\"; notifies :create, 'file[/srv/b]', :delayed }
            file('/srv/b') { content 'b'; action :nothing }
            file('/srv/c') { content 'c'; not_if { true } }
            execute('false') { ignore_failure true }
            File.write('/srv/own', 'x')
            package 'nosuchpackage'
        ";
        let folder = program.configuration().join("cookbooks");
        fs::create_dir_all(folder.join("a/recipes")).unwrap();
        fs::write(folder.join("a/metadata.rb"), "name 'a'\n").unwrap();
        fs::write(folder.join("a/recipes/default.rb"), recipe).unwrap();
        let (root, folder) = (machine.root().path().display().to_string(), folder.display().to_string());
        let fixed = ["converge", "-N", "n1", "--root", &root, "--cookbooks", &folder, "-r", "a", "--format", "json"];
        for (code, more) in
            [(0, &["--allow-all", "--why-run"][..]), (1, &["--allow-all"]), (1, &[]), (0, &["--compile-only"])]
        {
            let output = program.run_in(machine, &[&fixed[..], more].concat()).unwrap();
            let run = parsed(output.stdout.as_bytes());
            assert!(run["resources"].is_array(), "{}", output.text());
            assert!(output.code == Some(code) || more.is_empty() || code == 0, "{}", output.text());
            check_schema(&run);
        }
    });
}
