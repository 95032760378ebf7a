//! What is denied while recipes are compiled: one dry run lists all of it, and asks for no more than was read.

#![cfg(target_arch = "x86_64")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use specs::{Network, Program, Root, fixtures};
use std::fs;

/// Builds a policy of these recipes, runs it in a dry run with these grants; the run as JSON.
fn dry_run(recipes: &[&str], grants: &str, facts: &Value) -> Value {
    dry_run_with("", recipes, grants, facts)
}

/// The same with an attributes file.
fn dry_run_with(attributes: &str, recipes: &[&str], grants: &str, facts: &Value) -> Value {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let place = program.configuration();
    let (policy, cookbook) = (place.join("web"), place.join("web/cookbooks/web"));
    fs::create_dir_all(cookbook.join("recipes")).unwrap();
    fs::create_dir_all(cookbook.join("attributes")).unwrap();
    fs::write(cookbook.join("attributes/default.rb"), attributes).unwrap();
    fs::write(cookbook.join("metadata.rb"), "name 'web'\nversion '1.0.0'\n").unwrap();
    let names: Vec<String> = (0..recipes.len()).map(|at| format!("web::r{at}")).collect();
    for (at, text) in recipes.iter().enumerate() {
        fs::write(cookbook.join(format!("recipes/r{at}.rb")), text).unwrap();
    }
    fs::write(policy.join("policy.toml"), format!("name = \"web\"\nrun_list = {}\n", json!(names))).unwrap();
    let policies = place.join("policies").display().to_string();
    let built = ["policy", "build", &policy.display().to_string(), "--output", &policies];
    let _built = program.run(&built).unwrap().expect_code(0).unwrap();
    let (file, automatic) = (place.join("grants.toml"), place.join("facts.json"));
    fs::write(&file, grants).unwrap();
    fs::write(&automatic, facts.to_string()).unwrap();
    let [file, automatic, root] =
        [file.as_path(), &automatic, machine.root().path()].map(|it| it.display().to_string());
    let arguments = [
        "converge",
        "--why-run",
        "--format",
        "json",
        "--node-name",
        "n",
        "--policies",
        &policies,
        "--policy-name",
        "web",
    ];
    let more = ["--grants", &file, "--facts", &automatic, "--root", &root];
    let output = program.run_in(&machine, &[&arguments[..], &more].concat()).unwrap().expect_code(1).unwrap();
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in\n{}", output.text()))
}

/// The entries that would allow what was denied.
fn entries(run: &Value) -> Vec<String> {
    let denials = run["denials"].as_array().unwrap().iter();
    denials.map(|one| format!("{} {}", one["key"].as_str().unwrap(), one["value"].as_str().unwrap_or("-"))).collect()
}

#[test]
fn one_dry_run_lists_the_denials_of_all_recipes() {
    let recipes = [
        "package 'declared-first'\nFile.read('/srv/secret')\npackage 'never-reached'\n",
        "shell_out!('cat /srv/other')\n",
        "file '/srv/third'\n",
    ];
    let run = dry_run(&recipes, "[policy.web]\n", &json!({ "platform": "debian", "os": "linux" }));
    let expect = [
        "read_paths \"/srv/secret\"",
        "commands \"cat /srv/other\"",
        "packages \"declared-first\"",
        "paths \"/srv/third\"",
    ];
    assert_eq!(entries(&run), expect, "{run:#}");
    // The run has failed of the first one.
    assert!(run["error"]["message"].as_str().unwrap().contains("/srv/secret"), "{run:#}");
    assert_eq!(run["outcome"], "failure");
}

#[test]
fn another_error_ends_the_policy_as_ever() {
    let recipes = ["raise 'broken'\n", "file '/srv/never'\n"];
    let run = dry_run(&recipes, "[policy.web]\n", &json!({ "platform": "debian", "os": "linux" }));
    assert_eq!((entries(&run).len(), &run["error"]["message"]), (0, &json!("broken")), "{run:#}");
}

/// Runs recipes of the fixture `everything`, which imports all interfaces, with these grants.
fn run_everything(recipes: &str, grants: &str, more: &[&str], code: i32) -> Value {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let (policies, file) = (fixtures().display().to_string(), program.configuration().join("grants.toml"));
    fs::write(&file, grants).unwrap();
    let (file, root) = (file.display().to_string(), machine.root().path().display().to_string());
    let fixed =
        ["converge", "--policies", &policies, "--policy-name", "everything", "--grants", &file, "--root", &root];
    let recipes = ["--format", "json", "-o", recipes];
    let ran = program.run_in(&machine, &[&fixed[..], &recipes, more].concat()).unwrap().expect_code(code).unwrap();
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error} in\n{}", ran.text()))
}

#[test]
fn a_rust_policy_that_imports_more_than_it_is_granted_hears_of_each_call() {
    for more in [&["--why-run"][..], &[]] {
        // Other recipes of it read data bags, the clock and random numbers.
        let run = run_everything("everything::machine", "", more, 1);
        assert_eq!(entries(&run), ["read_paths \"/etc/hostname\""], "{run:#}");
        assert_eq!(run["error"]["class"], "Wrun::Denied", "{run:#}");
        assert!(run["error"]["origin"]["line"].is_u64(), "{run:#}");
    }
    let run = run_everything("everything::data", "[policy.everything]\nread_paths = [\"/etc/hostname\"]\n", &[], 1);
    assert!(entries(&run).contains(&"data_bags \"users\"".to_owned()), "{run:#}");
    for more in [&["--why-run"][..], &[]] {
        let run = run_everything("everything::default", "", more, 0);
        assert_eq!((entries(&run), &run["outcome"]), (vec![], &json!("success")), "{run:#}");
    }
    // The clock stands still without the grant, and no call fails.
    let run = run_everything("everything::misc", "", &[], 0);
    assert_eq!(entries(&run), ["clock true", "random true"], "{run:#}");
}

/// What the text of a recipe asks for is no wider than what its code asked for.
#[test]
fn facts_are_named_as_deep_as_they_are_read() {
    let recipe = "a = node['memory']['total']\nfile '/srv/a' do\n  content \"#{node['cpu']['0']['mhz']} #{node['cpu'][a]}\"\nend\n";
    let facts = json!({"memory": {"total": "1kB"}, "cpu": {"0": {"mhz": "1"}}});
    let run = dry_run(&[recipe], "[policy.web]\n", &facts);
    assert_eq!(entries(&run), ["facts \"memory.total\""], "{run:#}");
    let rest = run["unseen_recipes"][0]["entries"].as_array().unwrap();
    let rest: Vec<_> =
        rest.iter().map(|one| format!("{} {}", one["key"], one["value"]).replace(['"', '\\'], "")).collect();
    assert_eq!(rest, ["paths /srv/a", "facts cpu"], "{run:#}");
}

#[test]
fn recipes_are_read_that_a_denial_in_attributes_hides() {
    let attributes =
        "default['web']['memory'] = node['memory']['total']\ndefault['web']['cpu'] = node['cpu']['total']\n";
    let recipes = ["package 'nginx'\n", "file '/srv/second'\n"];
    let facts = json!({"memory": {"total": "1kB"}, "cpu": {"total": 1}});
    let run = dry_run_with(attributes, &recipes, "[policy.web]\n", &facts);
    assert_eq!(entries(&run), ["facts \"memory.total\""], "{run:#}");
    let unseen = run["unseen_recipes"].as_array().unwrap();
    let of = |one: &Value| {
        let entries = one["entries"].as_array().unwrap().iter();
        let entries = entries.map(|entry| format!("{} {}", entry["key"], entry["value"]).replace(['"', '\\'], ""));
        (one["recipe"].as_str().unwrap().to_owned(), one["whole"].as_bool().unwrap(), entries.collect::<Vec<_>>())
    };
    let found: Vec<_> = unseen.iter().map(of).collect();
    let expected = [
        ("web::r0".to_owned(), true, vec!["packages nginx".to_owned(), "facts cpu.total".to_owned()]),
        ("web::r1".to_owned(), true, vec!["paths /srv/second".to_owned()]),
    ];
    assert_eq!(found, expected, "{run:#}");
    assert_eq!(unseen[0]["ended_at"], "web/attributes/default.rb:1", "{run:#}");
}

/// The text `id -u` alone would let the policy run it as root.
#[test]
fn commands_of_the_rest_are_named_with_their_user_and_place() {
    let recipe = "File.read('/srv/secret')\n\
                  execute 'a' do\n  command 'id -u'\n  user 'nobody'\nend\n\
                  execute 'b' do\n  command ['install', '-m', '600', '/a', '/b']\nend\n\
                  execute 'c' do\n  command 'test -s x | cat'\n  cwd '/srv/www'\n  environment('K' => 'v')\nend\n\
                  execute 'd' do\n  command 'id -g'\n  user node['some']\nend\n\
                  execute 'plain -x'\n\
                  bash 'e' do\n  code 'id'\n  user 'nobody'\nend\n\
                  shell_out('id -n', user: 'nobody')\nshell_out('id -r', timeout: 5)\n";
    let run = dry_run(&[recipe], "[policy.web]\n", &json!({}));
    let rest = run["unseen_recipes"][0]["entries"].as_array().unwrap();
    let rest: Vec<_> =
        rest.iter().filter(|one| one["key"] == "commands").map(|one| one["value"].as_str().unwrap()).collect();
    let expected = [
        r#"{ argv = ["id", "-u"], user = "nobody" }"#,
        r#"{ argv = ["install", "-m", "600", "/a", "/b"] }"#,
        r#"{ shell = "test -s x | cat", cwd = "/srv/www", environment = { K = "v" } }"#,
        r#""plain -x""#,
        r#""id -r""#,
    ];
    assert_eq!(rest, expected, "{run:#}");
    assert_eq!(run["unseen_recipes"][0]["computed"], 3, "{run:#}");
}
