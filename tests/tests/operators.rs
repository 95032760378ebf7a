//! What operators look at: which policy ran, what earlier runs did, which settings hold, what a policy holds.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and helpers are not tests to the lints"
)]

use artifact::Artifact;
use nix::fcntl::{Flock, FlockArg};
use serde_json::{Value, json};
use specs::{Output, Program};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A guest of the tests that does nothing.
fn empty_policy() -> Artifact {
    Artifact::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/fixtures/empty.wasm")).unwrap()
}

/// The same policy, made of other code: its component has one more custom section.
fn same_policy_of_other_code(policy: &Artifact) -> Artifact {
    let component = [policy.component(), b"\0\x05\x04note"].concat();
    let files: Vec<_> = policy.files().map(|(path, content)| (path.to_owned(), content.to_owned())).collect();
    let bytes = artifact::write(&component, policy.manifest(), &files).unwrap();
    Artifact::from_bytes(Path::new("other"), bytes).unwrap()
}

/// Puts an artifact where `converge` finds it.
fn install(program: &Program, policy: &Artifact) -> PathBuf {
    let folder = program.configuration().join("policies");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{}.wasm", policy.manifest().name)), policy.bytes()).unwrap();
    folder
}

/// Converges the policy `empty` in a root without a machine; `more` are further arguments.
fn converge(program: &Program, policy: &Artifact, more: &[&str]) -> Output {
    let root = program.configuration().join("root");
    fs::create_dir_all(&root).unwrap();
    let (root, policies) = (root.display().to_string(), install(program, policy).display().to_string());
    let fixed = ["converge", "-N", "n1", "--allow-all", "--policy-name", "empty"];
    program.run(&[&fixed[..], &["--root", &root, "--policies", &policies], more].concat()).unwrap()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

#[test]
fn every_place_that_names_a_revision_names_the_artifact_too() {
    let first = empty_policy();
    let second = same_policy_of_other_code(&first);
    let revision = &first.manifest().revision_id;
    assert_eq!(revision, &second.manifest().revision_id);
    assert_ne!(first.digest(), second.digest());
    for policy in [&first, &second] {
        let program = Program::new().unwrap();
        let heading = format!("Policy empty (revision {}, artifact {})", &revision[..12], &policy.digest()[..12]);
        let shown = converge(&program, policy, &[]).expect_code(0).unwrap();
        assert!(shown.stdout.contains(&heading), "{}", shown.text());
        let run = parsed(&converge(&program, policy, &["--format", "json"]).expect_code(0).unwrap().stdout);
        let ran = &run["policies"][0];
        assert_eq!([&ran["revision"], &ran["artifact"]], [revision, policy.digest()]);
        let node = parsed(&program.run(&["node", "show", "-F", "json"]).unwrap().expect_code(0).unwrap().stdout);
        let saved = &node["policies"]["empty"];
        assert_eq!([&saved["revision"], &saved["artifact"]], [revision, policy.digest()]);
        let refused = converge(&program, policy, &["--named-run-list", "x"]).expect_code(43).unwrap();
        let named = format!("(revision {}, artifact {})", &revision[..12], &policy.digest()[..12]);
        assert!(refused.stderr.contains(&named), "{}", refused.text());
    }
}

#[test]
fn a_node_runs_the_policies_that_were_assigned_to_it() {
    let (program, policy) = (Program::new().unwrap(), empty_policy());
    let root = program.configuration().join("root");
    fs::create_dir_all(&root).unwrap();
    let (root, policies) = (root.display().to_string(), install(&program, &policy).display().to_string());
    let fixed = ["converge", "-N", "n1", "--allow-all", "--root", &root, "--policies", &policies];
    let run = |more: &[&str]| program.run(&[&fixed[..], more].concat()).unwrap();
    let group = || {
        let node = parsed(&program.run(&["node", "show", "-F", "json"]).unwrap().expect_code(0).unwrap().stdout);
        node["policies"]["empty"]["group"].clone()
    };
    let _ = program.run(&["node", "create", "n1"]).unwrap().expect_code(0).unwrap();
    let nothing = run(&[]).expect_code(43).unwrap();
    assert!(nothing.stderr.contains("`wrun node policy set`"), "{}", nothing.text());
    let _ = program.run(&["node", "policy", "set", "empty@staging"]).unwrap().expect_code(0).unwrap();
    let ran = run(&["--policy-group", "prod"]).expect_code(0).unwrap();
    assert!(ran.stdout.contains("Policy empty"), "{}", ran.text());
    assert_eq!(group(), "staging", "the node's own group goes before that of the settings");
    let _ = run(&["--policy-name", "empty", "--policy-group", "prod"]).expect_code(0).unwrap();
    assert_eq!(group(), "prod", "what is typed goes before the node's list");
    let _ = program.run(&["node", "policy", "unset"]).unwrap().expect_code(0).unwrap();
    let _ = run(&[]).expect_code(43).unwrap();
}

#[test]
fn a_build_names_revision_and_artifact() {
    let program = Program::new().unwrap();
    let folder = program.configuration().join("site");
    fs::create_dir_all(folder.join("cookbooks/a/recipes")).unwrap();
    fs::write(folder.join("policy.toml"), "name = \"site\"\nrun_list = [\"a\"]\n").unwrap();
    fs::write(folder.join("cookbooks/a/metadata.rb"), "name 'a'\n").unwrap();
    fs::write(folder.join("cookbooks/a/recipes/default.rb"), "").unwrap();
    let place = folder.display().to_string();
    let said = program.run(&["policy", "build", &place]).unwrap().expect_code(0).unwrap();
    let built = Artifact::open(&folder.join("site.wasm")).unwrap();
    let versions = format!("revision {}, artifact {}", &built.manifest().revision_id[..12], &built.digest()[..12]);
    assert!(said.stdout.contains(&versions), "{}", said.text());
}

/// Runs a Ruby recipe on the tester's own machine; `[DIR]` in it is a folder of its own.
fn cook(program: &Program, recipe: &str, more: &[&str]) -> Output {
    let cookbooks = program.configuration().join("cookbooks");
    let scratch = program.configuration().join("scratch");
    for folder in [&cookbooks.join("a/recipes"), &scratch] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(cookbooks.join("a/metadata.rb"), "name 'a'\n").unwrap();
    let recipe = recipe.replace("[DIR]", &scratch.display().to_string());
    fs::write(cookbooks.join("a/recipes/default.rb"), recipe).unwrap();
    let cookbooks = cookbooks.display().to_string();
    let fixed = ["converge", "-N", "n1", "--allow-all", "--cookbooks", &cookbooks, "--run-list", "a"];
    program.run(&[&fixed[..], more].concat()).unwrap()
}

/// Runs the program and reads the JSON that it prints.
fn answer(program: &Program, arguments: &[&str]) -> Value {
    parsed(&program.run(arguments).unwrap().expect_code(0).unwrap().stdout)
}

#[test]
fn earlier_runs_are_listed_shown_and_compared() {
    let program = Program::new().unwrap();
    let none = program.run(&["run", "list"]).unwrap().expect_code(0).unwrap();
    assert!(none.stdout.is_empty() && none.stderr.contains("no run is recorded in"), "{}", none.text());
    let _ = program.run(&["run", "show"]).unwrap().expect_code(43).unwrap();

    let _ = cook(&program, "file '[DIR]/one' do\n  content 'x'\nend\n", &[]).expect_code(0).unwrap();
    let failing = "file '[DIR]/one' do\n  content 'x'\nend\nfile '[DIR]/two'\nraise \"\\e[2Jno disk\"\n";
    let _ = cook(&program, failing, &[]).expect_code(1).unwrap();

    let runs = answer(&program, &["run", "list", "--format", "json"])["runs"].clone();
    let outcomes: Vec<_> = runs.as_array().unwrap().iter().map(|run| run["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["failure", "success"], "the newest is the first");
    let ids: Vec<_> = runs.as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect();
    let list = program.run(&["run", "list", "-n", "1"]).unwrap().expect_code(0).unwrap();
    assert!(list.stdout.contains(&ids[0]) && !list.stdout.contains(&ids[1]), "{}", list.text());
    assert!(list.stderr.contains("1 older run is not listed"), "{}", list.text());

    let shown = program.run(&["run", "show", &ids[1]]).unwrap().expect_code(0).unwrap().stdout;
    let place = program.configuration().join("scratch/one").display().to_string();
    assert!(shown.contains(&format!("Run {} on n1", ids[1])) && shown.contains("success: 1 of 1 updated"), "{shown}");
    assert!(shown.contains("create new file") && shown.contains("(a/recipes/default.rb:1)"), "{shown}");
    let newest = program.run(&["run", "show"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(newest.contains("error: RuntimeError") && newest.contains("\\u{1b}[2Jno disk"), "{newest}");
    let record = answer(&program, &["run", "show", &ids[1], "-F", "json"]);
    let file = program.state().join("runs").join(&ids[1]).join("run.json");
    let kept = parsed(&fs::read_to_string(file).unwrap());
    assert_eq!((&record["seconds"], &record["node"]), (&kept["seconds"], &kept["node"]));
    assert_eq!(record["resources"][0]["updates"].as_array().unwrap().len(), 2, "{record}");
    // People read one sentence of a new file.
    assert!(!shown.contains("update content"), "{shown}");

    let diff = answer(&program, &["run", "diff", "-F", "json"]);
    assert_eq!((&diff["from"], &diff["to"]), (&json!(ids[1]), &json!(ids[0])));
    assert_eq!(diff["policies"][0]["to"]["outcome"], "failure");
    let sides = diff["resources"].as_array().unwrap().iter().find(|one| one["to"].is_null()).unwrap();
    assert_eq!(sides["from"]["status"], "updated", "{place} was not reached in the second run: {diff}");
    let same = program.run(&["run", "diff", &ids[0], &ids[0]]).unwrap().expect_code(0).unwrap();
    assert!(same.stdout.contains("no difference"), "{}", same.text());
    assert!(same.stderr.contains("note: both identifiers name this run\n"), "{}", same.text());

    // Of a dry and a real run it is said which is which.
    let _ = cook(&program, "file '[DIR]/three' do\n  content 'x'\nend\n", &["--why-run"]).expect_code(0).unwrap();
    let mixed = program.run(&["run", "diff"]).unwrap().expect_code(0).unwrap().stdout;
    let mut lines = mixed.lines();
    let heads = [lines.next().unwrap(), lines.next().unwrap()];
    assert_eq!(heads[0], format!("--- {}  (real run)", ids[0]));
    assert!(mixed.contains("create new file") && !mixed.contains("update content"), "{mixed}");
    assert!(heads[1].starts_with("+++ ") && heads[1].ends_with("  (dry run: what it would have changed)"), "{mixed}");
    // A dry run did nothing, and nothing of it reads as if it had.
    assert!(mixed.contains("-> would change (create new file") && !mixed.contains("-> updated"), "{mixed}");
    let shown = program.run(&["run", "show"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(shown.contains("  would change  file[") && !shown.contains("updated "), "{shown}");
    let diff = answer(&program, &["run", "diff", "-F", "json"]);
    assert_eq!((&diff["from_why_run"], &diff["to_why_run"]), (&json!(false), &json!(true)));

    let several = program.run(&["run", "show", &ids[0][..4]]).unwrap().expect_code(43).unwrap();
    assert!(
        several.stderr.contains("several runs begin with") && several.stderr.contains(&ids[1]),
        "{}",
        several.text()
    );
    for short in [&ids[1][..20], &ids[1][..19]].map(|short| format!("{short}..")) {
        let shown = program.run(&["run", "show", &short]).unwrap().expect_code(0).unwrap().stdout;
        assert!(shown.contains(&ids[1]), "{short}: {shown}");
    }
    let newest = program.run(&["run", "show"]).unwrap().expect_code(0).unwrap().stdout;
    assert_eq!(program.run(&["run", "show", "--last"]).unwrap().expect_code(0).unwrap().stdout, newest);
    assert_eq!(program.run(&["run", "diff", "--last"]).unwrap().expect_code(0).unwrap().stdout, mixed);
    let unknown = program.run(&["run", "show", "1999"]).unwrap().expect_code(43).unwrap();
    assert!(unknown.stderr.contains("no run in") && unknown.stderr.contains("\"1999\""), "{}", unknown.text());
}

#[test]
fn a_killed_run_is_listed_as_died() {
    let program = Program::new().unwrap();
    let _ = cook(&program, "file '[DIR]/one'\n", &[]).expect_code(0).unwrap();
    // The command's parent is wrun.
    let killed = cook(&program, "execute 'kill -KILL $PPID'\n", &[]);
    assert_eq!(killed.code, None, "{}", killed.text());
    let list = program.run(&["run", "list"]).unwrap().expect_code(0).unwrap().stdout;
    let rows: Vec<_> = list.lines().collect();
    assert!(rows[0].contains("  died  ") && rows[0].contains("  process ") && rows[0].ends_with("  solo"), "{list}");
    assert!(rows[1].contains("  success  ") && rows.len() == 2, "{list}");
    let listed = answer(&program, &["run", "list", "-F", "json"])["runs"][0].clone();
    assert_eq!((&listed["outcome"], &listed["running"]), (&json!("died"), &json!(false)), "{listed}");
    let shown = program.run(&["run", "show"]).unwrap().expect_code(0).unwrap();
    assert!(shown.stdout.contains("\n  died: process "), "{}", shown.text());
    let shown = answer(&program, &["run", "show", "-F", "json"]);
    let expected = (json!("died"), json!("n1"), listed["run_id"].clone());
    assert_eq!((shown["outcome"].clone(), shown["node_name"].clone(), shown["run_id"].clone()), expected);
    // Only runs with records are compared.
    let _ = cook(&program, "file '[DIR]/two'\n", &[]).expect_code(0).unwrap();
    let diff = program.run(&["run", "diff"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(diff.contains("/two]") && !diff.contains(listed["run_id"].as_str().unwrap()), "{diff}");
    let named = program.run(&["run", "diff", listed["run_id"].as_str().unwrap()]).unwrap().expect_code(43).unwrap();
    assert!(named.stderr.contains("has no record"), "{}", named.text());
}

/// Cookbook runs and policy runs of one node do not overwrite what the other kind remembers.
#[test]
fn a_run_of_policies_keeps_what_cookbook_runs_remember() {
    let program = Program::new().unwrap();
    let report = "Chef::Log.warn(\"#{node.run_list} in #{node.chef_environment}\")\n";
    let cookbooks = program.configuration().join("cookbooks").display().to_string();
    let environments = program.configuration().join("environments");
    fs::create_dir_all(&environments).unwrap();
    fs::write(environments.join("staging.json"), r#"{"name": "staging", "chef_type": "environment"}"#).unwrap();
    let environments = environments.display().to_string();
    let _ = cook(&program, report, &["-E", "staging", "--environments", &environments]).expect_code(0).unwrap();
    let _ = converge(&program, &empty_policy(), &["--policy-group", "prod"]).expect_code(0).unwrap();
    let node = answer(&program, &["node", "show", "-F", "json"]);
    assert_eq!(node["chef_environment"], "prod");
    let kept = json!({"run_list": ["recipe[a]"], "chef_environment": "staging"});
    assert_eq!(node["without_policies"], kept, "{node}");
    let fixed = ["converge", "-N", "n1", "--allow-all", "--cookbooks", &cookbooks, "--environments", &environments];
    let text = program.run(&fixed).unwrap().expect_code(0).unwrap().text();
    assert!(text.contains("recipe[a] in staging"), "{text}");
    let node = answer(&program, &["node", "show", "-F", "json"]);
    assert!(node["without_policies"].is_null() && node["run_list"] == json!(["recipe[a]"]), "{node}");
    assert_eq!(node["chef_environment"], "staging");
}

#[test]
fn a_listed_dry_run_counts_what_would_fail() {
    let program = Program::new().unwrap();
    let recipe = "file '[DIR]/one'\ntemplate '[DIR]/two' do\n  source 'missing.erb'\nend\nfile '[DIR]/three'\n";
    let ended = cook(&program, recipe, &["--why-run"]);
    let counts = ended.stdout.lines().find(|line| line.contains("would fail (of 3)")).unwrap_or_else(|| {
        panic!("no count in {}", ended.text());
    });
    let counts = counts.split(": ").last().unwrap();
    let list = program.run(&["run", "list"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(list.contains(&format!("  {counts}  ")), "{counts}: {list}");
    let shown = program.run(&["run", "show"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(shown.contains(counts) && shown.contains("  would fail "), "{shown}");
}

#[test]
fn an_attribute_of_a_failed_run_is_told_to_be_lost() {
    let program = Program::new().unwrap();
    let recipe = "node.default['web']['port'] = 80\n";
    let failing = format!("{recipe}raise 'no disk'\n");
    let _ = cook(&program, "log 'x'\n", &[]).expect_code(0).unwrap();
    let _ = cook(&program, &failing, &[]).expect_code(1).unwrap();
    let id = answer(&program, &["run", "list", "--format", "json"])["runs"][0]["run_id"].as_str().unwrap().to_owned();
    // A dry run saves nothing and is not meant.
    let _ = cook(&program, recipe, &["--why-run"]).expect_code(0).unwrap();
    let hint =
        format!("hint: policy solo failed in the last run, {id}; attributes that a failed policy set are not saved");
    for command in [["node", "explain", "web.port"], ["node", "show", "web.port"]] {
        let said = program.run(&command).unwrap().expect_code(1).unwrap();
        assert!(said.stderr.contains(&hint), "{}", said.text());
    }
    let _ = cook(&program, recipe, &[]).expect_code(0).unwrap();
    let explained = program.run(&["node", "explain", "web.port"]).unwrap().expect_code(0).unwrap().stdout;
    // The empty object that Ruby makes on the way to an attribute says nothing about it.
    assert!(explained.contains("won  80") && !explained.contains("empty object"), "{explained}");
    let explained = program.run(&["node", "explain", "web"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(explained.contains("web.port = 80") && !explained.contains("empty object"), "{explained}");
    // A near miss is an error with the near name, and nothing else.
    let near = program.run(&["node", "explain", "web.prot"]).unwrap().expect_code(1).unwrap();
    assert!(near.stdout.is_empty() && near.stderr.contains("did you mean `web.port`?"), "{}", near.text());
    for written in ["node['web']['port']", "web/port", "web[:port]"] {
        let said = program.run(&["node", "explain", written]).unwrap().expect_code(1).unwrap().stderr;
        assert!(said.contains("hint: keys are separated by dots: `web.port`\n"), "{said}");
    }
    let said = program.run(&["node", "explain", "web.name"]).unwrap().expect_code(1).unwrap();
    assert!(!said.stderr.contains("hint:"), "{}", said.text());
}

#[test]
fn a_policys_needs_are_held_against_the_grants() {
    let program = Program::new().unwrap();
    let folder = program.configuration().join("site");
    fs::create_dir_all(folder.join("cookbooks/a/recipes")).unwrap();
    let settings = "name = \"site\"\nrun_list = [\"a\"]\n[needs]\npackages = [\"nginx\", \"curl\"]\n";
    fs::write(folder.join("policy.toml"), settings).unwrap();
    fs::write(folder.join("cookbooks/a/metadata.rb"), "name 'a'\nversion '1.2.3'\n").unwrap();
    fs::write(folder.join("cookbooks/a/recipes/default.rb"), "").unwrap();
    let place = folder.display().to_string();
    let _ = program.run(&["policy", "build", &place]).unwrap().expect_code(0).unwrap();
    let grants = program.configuration().join("grants.toml");
    fs::write(&grants, "[policy.site]\npackages = [\"nginx\"]\n").unwrap();
    let (file, grants) = (folder.join("site.wasm").display().to_string(), grants.display().to_string());

    let shown = answer(&program, &["policy", "show", &file, "--grants", &grants, "-F", "json"]);
    let built = Artifact::open(&folder.join("site.wasm")).unwrap();
    assert_eq!(
        (&shown["revision"], &shown["artifact"]),
        (&json!(built.manifest().revision_id), &json!(built.digest()))
    );
    assert_eq!(
        (&shown["cookbooks"][0]["version"], &shown["cookbooks"][0]["language"]),
        (&json!("1.2.3"), &json!("ruby"))
    );
    assert_eq!(shown["run_list"], json!(["recipe[a::default]"]));
    let needs: Vec<_> =
        shown["needs"].as_array().unwrap().iter().map(|need| (&need["value"], &need["answer"])).collect();
    let (curl, nginx) = (json!("\"curl\""), json!("\"nginx\""));
    assert_eq!(needs, [(&curl, &json!("missing")), (&nginx, &json!("granted"))]);
    let without = program.run(&["policy", "show", &file]).unwrap().expect_code(0).unwrap().stdout;
    assert!(
        without.contains("Needs, compared with the grants in ") && without.contains("missing  packages"),
        "{without}"
    );
    let text = program.run(&["policy", "show", &file, "--grants", &grants]).unwrap().expect_code(0).unwrap().stdout;
    for part in ["Policy site", built.digest(), "a 1.2.3 (Ruby)", "missing  packages: \"curl\"", "granted  packages"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The name of a policy stands for its artifact in the folder of the settings.
    fs::write(program.configuration().join("wrun.toml"), format!("policies = {place:?}\n")).unwrap();
    let named = program.run(&["policy", "show", "site"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(named.contains("Policy site"), "{named}");
    let other = program.run(&["policy", "show", &grants]).unwrap().expect_code(43).unwrap();
    assert!(other.stderr.contains("grants.toml"), "{}", other.text());
}

/// A name is that of an installed policy, whatever lies in the folder where somebody stands.
#[test]
fn installed_policies_are_listed_and_an_empty_folder_brings_a_tip() {
    let (program, policy) = (Program::new().unwrap(), empty_policy());
    let folder = program.configuration().join("policies");
    let place = folder.display().to_string();
    let list = |more: &[&str]| {
        program.run(&[&["policy", "list", "--policies", &place], more].concat()).unwrap().expect_code(0).unwrap()
    };
    let tip = "hint: `wrun policy build DIR --output [CONFIGURATION]/policies` puts one there";
    let absent = list(&[]);
    assert_eq!(absent.stderr, format!("[CONFIGURATION]/policies does not exist\n{tip}\n"));
    fs::create_dir_all(&folder).unwrap();
    assert_eq!(list(&[]).stderr, format!("no policy is in [CONFIGURATION]/policies\n{tip}\n"));
    install(&program, &policy);
    fs::write(folder.join("torn.wasm"), "").unwrap();
    let text = list(&[]).stdout;
    let versions = text::versions(&policy.manifest().revision_id, policy.digest());
    assert!(text.starts_with(&format!("empty  {versions}\ntorn   ")), "{text}");
    let all = parsed(&list(&["-F", "json"]).stdout);
    assert_eq!((&all["policies"][0]["artifact"], all["version"].as_u64()), (&json!(policy.digest()), Some(1)));
    assert!(all["policies"][1]["error"].is_string(), "{all}");
    // Without a repository, there is nothing else that `policy show` could show.
    let settings = format!("policies = {place:?}\n");
    fs::write(program.configuration().join("wrun.toml"), settings).unwrap();
    assert_eq!(program.run(&["policy", "show"]).unwrap().expect_code(0).unwrap().stdout, text);
}

#[test]
fn a_policy_is_shown_by_its_name() {
    let (program, policy) = (Program::new().unwrap(), empty_policy());
    let here = program.configuration().parent().unwrap().to_owned();
    let policies = install(&program, &policy);
    fs::write(program.configuration().join("wrun.toml"), format!("policies = {policies:?}\n")).unwrap();
    let show = |name: &str, code: i32| program.run(&["policy", "show", name]).unwrap().expect_code(code).unwrap();
    fs::create_dir(here.join("empty")).unwrap();
    assert!(show("empty", 0).stdout.contains("Policy empty"));
    let folder = show("./empty", 43);
    assert!(folder.stderr.contains("./empty is a folder") && folder.stderr.contains("hint:"), "{}", folder.text());
    fs::write(here.join("other"), policy.bytes()).unwrap();
    assert!(show("other", 0).stdout.contains("Policy empty"), "a file without an ending");
    let misspelt = show("emtpy", 43);
    let near = "there is no policy \"emtpy\" in [CONFIGURATION]/policies: did you mean `empty`? there are empty";
    assert!(misspelt.stderr.contains(near), "{}", misspelt.text());
    for path in ["empty.wasm", "none/empty"] {
        let absent = show(path, 43);
        assert!(absent.stderr.contains(&format!("cannot read policy {path}")), "{}", absent.text());
    }
}

#[test]
fn a_node_is_shown_with_the_policies_of_its_last_runs() {
    let (program, policy) = (Program::new().unwrap(), empty_policy());
    let _ = converge(&program, &policy, &["--policy-group", "prod"]).expect_code(0).unwrap();
    let other = same_policy_of_other_code(&policy);
    let _ = converge(&program, &other, &["--policy-group", "prod"]).expect_code(0).unwrap();
    let run = answer(&program, &["run", "list", "-F", "json"])["runs"][0]["run_id"].as_str().unwrap().to_owned();
    // A dry run is not one of the node's.
    let _ = converge(&program, &policy, &["--policy-group", "prod", "--why-run"]).expect_code(0).unwrap();
    let shown = program.run(&["node", "show"]).unwrap().expect_code(0).unwrap().stdout;
    let (_, rows) = shown.split_once("\nPolicies of the last runs:\n").unwrap();
    let row: Vec<&str> = rows.lines().next().unwrap().split("  ").filter(|cell| !cell.is_empty()).collect();
    let versions = format!("revision {}, artifact {}", &policy.manifest().revision_id[..12], &other.digest()[..12]);
    assert_eq!([row[0], row[1], row[2], row[3], row[5]], ["empty", "prod", &versions, "success", &run], "{shown}");
    assert!(row[4].ends_with(" ago"), "{shown}");
}

/// The program with further variables.
fn with_variable(program: &Program, name: &str, value: &str, arguments: &[&str]) -> std::process::Output {
    let mut command = Command::new(program.executable());
    command.env_clear().envs(program.environment()).env(name, value).args(arguments).output().unwrap()
}

#[test]
fn settings_are_shown_with_their_sources_and_unknown_variables_refused() {
    let program = Program::new().unwrap();
    let file = program.configuration().join("wrun.toml");
    fs::write(&file, "# ours\nlock_timeout = 7\n").unwrap();
    let shown = answer(&program, &["config", "show", "--root", "/r", "--format", "json"]);
    let source = |key: &str| {
        let settings = shown["settings"].as_array().unwrap();
        let setting = settings.iter().find(|setting| setting["key"] == key).unwrap();
        (setting["value"].clone(), setting["source"].as_str().unwrap().to_owned())
    };
    assert_eq!(source("lock_timeout"), (json!(7), "[CONFIGURATION]/wrun.toml:2".to_owned()));
    assert_eq!(source("root"), (json!("/r"), "--root".to_owned()));
    assert_eq!(source("state_dir"), (json!("[STATE]"), "WRUN_STATE_DIR".to_owned()));
    assert_eq!(source("backups"), (json!(5), "default".to_owned()));
    let text = program.run(&["config", "show"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(text.lines().any(|line| line.starts_with("lock_timeout") && line.ends_with("/wrun.toml:2")), "{text}");
    for command in [&["config", "show"][..], &["converge", "--policy-name", "x"]] {
        let refused = with_variable(&program, "WRUN_LOCK_TIMEOT", "5", command);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(43), "{said}");
        assert!(said.contains("there is no variable WRUN_LOCK_TIMEOT; did you mean WRUN_LOCK_TIMEOUT?"), "{said}");
    }
}

#[test]
fn an_invalid_variable_is_quoted_without_what_may_be_a_password() {
    let program = Program::new().unwrap();
    let check = |name: &str, value: &str, says: &str| {
        let refused = with_variable(&program, name, value, &["config", "show"]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(43), "{said}");
        assert!(said.contains(says) && !said.contains("hidden-word"), "{said}");
    };
    check("WRUN_LOCK_TIMEOUT", "soon", "the variable WRUN_LOCK_TIMEOUT is \"soon\": ");
    let address = "https://me:hidden-word@reports.example/?hidden-word";
    for value in [address.to_owned(), format!("[{address:?}]"), format!("[{{\"to\":{address:?}}}]")] {
        check("WRUN_REPORT", &value, "the variable WRUN_REPORT is invalid: ");
    }
}

#[test]
fn a_dry_runs_exit_code_tells_whether_something_would_change() {
    let program = Program::new().unwrap();
    let dry = ["--why-run", "--detailed-exitcode"];
    let changing = "file '[DIR]/one'\n";
    let _ = cook(&program, changing, &dry).expect_code(4).unwrap();
    let _ = cook(&program, changing, &["--why-run"]).expect_code(0).unwrap();
    let _ = cook(&program, "file '[DIR]/none' do\n  action :delete\nend\n", &dry).expect_code(0).unwrap();
    // Nobody answers there, so nobody knows whether the file is as the server's.
    fs::write(program.configuration().join("scratch/there"), "x").unwrap();
    let download = "remote_file '[DIR]/there' do\n  source 'http://127.0.0.1:1/x'\nend\n";
    let unknown = cook(&program, download, &dry).expect_code(4).unwrap();
    assert!(unknown.stdout.contains("0 would change, 1 unknown"), "{}", unknown.text());
    let failing = "file '[DIR]/one'\nraise 'no'\n";
    let _ = cook(&program, failing, &dry).expect_code(1).unwrap();
    let refused = cook(&program, changing, &["--detailed-exitcode"]).expect_code(43).unwrap();
    assert!(refused.stderr.contains("--why-run"), "{}", refused.text());
}

#[test]
fn events_are_streamed_as_lines_of_json() {
    let program = Program::new().unwrap();
    let recipe = "file '[DIR]/one' do\n  content \"x\\n\"\nend\nfile '[DIR]/secret' do\n  content 'hunter2'\n  sensitive true\nend\n\
                  log 'hello'\nfile '[DIR]/missing/two'\n";
    let output = cook(&program, recipe, &["--format", "ndjson"]).expect_code(1).unwrap();
    let events: Vec<_> = output.stdout.lines().map(parsed).collect();
    assert!(events.iter().all(|event| event["version"] == 1), "{}", output.text());
    let names: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!((names[0], names[names.len() - 1]), ("run_started", "run_finished"));
    let of = |name: &str| events.iter().filter(|event| event["event"] == name).cloned().collect::<Vec<_>>();
    let statuses: Vec<_> = of("action_finished").iter().map(|event| event["status"].clone()).collect();
    assert_eq!(statuses, ["updated", "updated", "up-to-date", "failed"]);
    let changed = of("changed");
    assert!(changed[0]["what"].as_str().unwrap().starts_with("create new file"), "{}", changed[0]);
    assert_eq!((&changed[0]["type"], &changed[0]["line"]), (&json!("file"), &json!(1)));
    assert!(!output.stdout.contains("hunter2"), "{}", output.text());
    assert!(of("log").iter().any(|event| event["message"] == "hello" && event["source"] == "resource"));
    let failed = &of("policy_failed")[0]["error"];
    assert_eq!(failed["class"], "Chef::Exceptions::EnclosingDirectoryDoesNotExist", "{failed}");
    let end = &events[events.len() - 1];
    assert_eq!((&end["outcome"], &end["updated"], &end["failed"]), (&json!("failure"), &json!(2), &json!(1)), "{end}");
}

#[test]
fn a_run_that_never_began_is_json_too() {
    let program = Program::new().unwrap();
    let check = |arguments: &[&str], code: i32, expected: &str| {
        for format in ["json", "ndjson"] {
            let output = program.run(&[arguments, &["--format", format]].concat()).unwrap().expect_code(code).unwrap();
            assert_eq!(output.stdout.lines().count(), 1, "{}", output.text());
            let said = parsed(&output.stdout);
            let message = said["error"]["message"].as_str().unwrap();
            assert!(message.contains(expected), "{message}");
            assert_eq!((&said["version"], &said["error"]["class"]), (&json!(1), &json!("Wrun::NotBegun")));
            let key = if format == "json" { &said["outcome"] } else { &said["event"] };
            assert_eq!(key, if format == "json" { "failure" } else { "not_begun" });
            assert!(output.stderr.contains("error: "), "{}", output.text());
        }
        let output = program.run(arguments).unwrap().expect_code(code).unwrap();
        assert!(output.stdout.is_empty(), "{}", output.text());
    };
    check(
        &["converge", "-N", "n1", "--policy-name", "x", "--policies", "/nowhere"],
        43,
        "there is no folder of policies",
    );
    check(&["converge", "--wyh-run"], 43, "unexpected argument '--wyh-run' found");
    check(&["converge", "-N", "n1", "--config", "/nowhere.toml"], 43, "cannot read the settings /nowhere.toml");
    let policy = empty_policy();
    let folder = install(&program, &policy).display().to_string();
    let lock = fs::File::create(program.state().join("lock")).unwrap();
    let _held = Flock::lock(lock, FlockArg::LockExclusive).unwrap_or_else(|(_, error)| panic!("{error}"));
    let busy =
        ["converge", "-N", "n1", "--allow-all", "--policy-name", "empty", "--policies", &folder, "--lock-timeout", "0"];
    check(&busy, 75, "another run is under way");
}

#[test]
fn shells_and_manuals_know_every_command() {
    let program = Program::new().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = program.run(&["completions", shell]).unwrap().expect_code(0).unwrap().stdout;
        assert!(text.contains("_WRUN_COMPLETE") && text.contains("wrun"), "{shell}: {text}");
    }
    let page = program.run(&["man"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(page.contains(".TH wrun 1") && page.contains("converge"), "{page}");
    let folder = program.configuration().join("man");
    fs::create_dir(&folder).unwrap();
    let _ = program.run(&["man", &folder.display().to_string()]).unwrap().expect_code(0).unwrap();
    let page = fs::read_to_string(folder.join("wrun-run-diff.1")).unwrap();
    assert!(page.contains("how two runs differ"), "{page}");
    assert!(fs::read_to_string(folder.join("wrun-converge.1")).unwrap().contains("WRUN_LOCK_TIMEOUT"));
    let mut names = fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    assert!(!names.any(|name| name.contains("confined")));
}

#[test]
fn every_type_of_the_reference_works_in_the_languages_that_it_names() {
    let program = Program::new().unwrap();
    let module = program.run(&["resources", "chef_handler"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(module.contains("For cookbooks in Ruby only.") && module.contains("`enable` (default)"), "{module}");
    let near = program.run(&["resources", "sysctll"]).unwrap().expect_code(43).unwrap().stderr;
    assert!(near.contains("did you mean `sysctl`?"), "{near}");
    let all = answer(&program, &["resources", "--format", "json"])["resources"].clone();
    let types = all.as_array().unwrap().iter();
    let for_ruby_only = types.filter(|one| one["languages"] == json!(["ruby"]));
    let names: Vec<_> = for_ruby_only.map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"chef_handler") && !names.contains(&"openssl_x509_crl"), "{names:?}");
    // What the host has no provider for, the Ruby library must have a class for that acts.
    let recipe = format!(
        "%w[{} subversion].each do |name|\n  made = Chef::ResourceResolver.resolve(name.to_sym, node: node).new('x', run_context)\n  \
         acts = begin\n    made.provider_for_action(Array(made.action).first) && 'acts'\n  rescue Chef::Exceptions::ProviderNotFound\n    \
         'does not act'\n  end\n  log \"#{{name}} #{{acts}}\"\nend\n",
        names.join(" ")
    );
    let run = parsed(&cook(&program, &recipe, &["--format", "json", "--why-run"]).expect_code(0).unwrap().stdout);
    let said: Vec<_> = run["log"].as_array().unwrap().iter().map(|line| line["message"].as_str().unwrap()).collect();
    for name in names {
        let is_hosts = ["chef_gem", "gem_package"].contains(&name);
        let expected = format!("{name} {}", if is_hosts { "does not act" } else { "acts" });
        assert!(said.contains(&expected.as_str()), "{expected}: {said:?}");
    }
    assert!(said.contains(&"subversion does not act"), "{said:?}");
}
