//! Commands that look at nodes and change them: one at a time, and while a run has the node.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use nix::fcntl::{Flock, FlockArg};
use serde_json::{Value, json};
use specs::{Network, Program, Root};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A program with the node `n`.
fn program(run_list: &str) -> Program {
    let program = Program::new().unwrap();
    let _ =
        program.run(&["node", "create", "n", "--run-list", run_list, "-E", "test"]).unwrap().expect_code(0).unwrap();
    program
}

fn write(program: &Program, name: &str, text: &str) -> String {
    let path = program.configuration().join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// What a command prints, with the words between blanks.
fn said(program: &Program, arguments: &[&str], code: i32) -> String {
    let ran = program.run(arguments).unwrap().expect_code(code).unwrap();
    format!("{}\n{}", ran.stdout, ran.stderr)
}

fn node(program: &Program) -> Value {
    let shown = program.run(&["node", "show", "-F", "json"]).unwrap().expect_code(0).unwrap();
    serde_json::from_str(&shown.stdout).unwrap()
}

fn node_named(program: &Program, name: &str) -> Value {
    let shown = program.run(&["node", "show", "-N", name, "-F", "json"]).unwrap().expect_code(0).unwrap();
    serde_json::from_str(&shown.stdout).unwrap()
}

fn layer_names(program: &Program) -> Vec<String> {
    let listed = program.run(&["layer", "list", "-F", "json"]).unwrap().expect_code(0).unwrap();
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let layers = listed.get("layers").and_then(Value::as_array).unwrap();
    layers.iter().map(|layer| layer.get("name").and_then(Value::as_str).unwrap().to_owned()).collect()
}

#[test]
fn nodes_are_created_changed_and_deleted() {
    let program = program("recipe[a],role[b]");
    assert_eq!(said(&program, &["node", "list"], 0).trim(), "n");
    assert!(said(&program, &["node", "create", "n"], 43).contains("there is a node n already"));
    said(&program, &["node", "run-list", "add", "c", "--before", "role[b]"], 0);
    said(&program, &["node", "run-list", "remove", "recipe[a]"], 0);
    assert_eq!(said(&program, &["node", "show", "-r"], 0).trim(), "recipe[c]\nrole[b]");
    let items = program.run(&["node", "show", "-r", "-F", "json"]).unwrap().expect_code(0).unwrap().stdout;
    assert_eq!(items.trim(), r#"{"version":1,"run_list":["recipe[c]","role[b]"]}"#);
    let summary = said(&program, &["node", "show"], 0);
    assert!(!summary.contains("the last word that"), "{summary}");
    assert!(summary.starts_with("Node name: ") && summary.contains("recipe[c], role[b]\n"), "{summary}");
    assert!(!summary.contains('{') && summary.contains("`--format json` shows all of it"), "{summary}");
    assert!(said(&program, &["node", "run-list", "remove", "z"], 43).contains("it has: recipe[c], role[b]"));
    assert!(said(&program, &["node", "run-list", "add", "recipe[z"], 43).contains("recipe[z"));
    said(&program, &["node", "environment", "set", "prod"], 0);
    said(&program, &["node", "tag", "add", "x", "y"], 0);
    said(&program, &["node", "tag", "remove", "x"], 0);
    assert_eq!(said(&program, &["node", "tag", "list"], 0).trim(), "y");
    assert_eq!(said(&program, &["node", "tag", "list", "-F", "json"], 0).trim(), "{\"version\":1,\"tags\":[\"y\"]}");
    said(&program, &["node", "attribute", "set", "web.port=80", "web.name=a=b", r"net.a\.b.c=[1]"], 0);
    said(&program, &["node", "attribute", "unset", "web.port"], 0);
    assert!(said(&program, &["node", "attribute", "set", "web.port=80", "tags=[]"], 43).contains("`wrun node tag`"));
    assert!(said(&program, &["node", "attribute", "set", "web..port=80"], 43).contains("none of them empty"));
    assert!(said(&program, &["node", "attribute", "set", "web"], 43).contains("has no `=`"));
    let saved = node(&program);
    assert_eq!(saved["normal"], json!({"tags": ["y"], "web": {"name": "a=b"}, "net": {"a.b": {"c": [1]}}}));
    assert_eq!([&saved["chef_environment"], &saved["run_list"]], [&json!("prod"), &json!(["recipe[c]", "role[b]"])]);
    assert_eq!(said(&program, &["node", "show", "-a", "web.name"], 0).trim(), "a=b");
    assert!(said(&program, &["node", "tag", "add", "y"], 0).contains("nothing to change"));
    assert!(said(&program, &["node", "create", "../m"], 43).contains("cannot be a node's name"));
    said(&program, &["node", "create", "m"], 0);
    assert!(said(&program, &["node", "tag", "list"], 43).contains("say which with --node-name: m, n"));
    assert!(said(&program, &["node", "delete", "m", "gone"], 43).contains("there is no node gone"));
    said(&program, &["node", "delete", "m"], 0);
    assert_eq!(said(&program, &["node", "list"], 0).trim(), "n");
}

#[test]
fn layers_are_added_moved_changed_and_compared() {
    let program = program("a");
    let base = write(&program, "base.yaml", "default_attributes:\n  web: {port: 80, hosts: [a]}\n");
    let site = write(&program, "site.toml", "policies = [\"web\"]\n[override_attributes.web]\nport = 8080\n");
    let ruby = write(&program, "old.rb", "name 'old'\ndefault_attributes(\n  'web' => { 'port' => 1 }\n)\n");
    said(&program, &["layer", "add", &base], 0);
    said(&program, &["layer", "add", &site], 0);
    said(&program, &["layer", "add", &ruby, "--before", "base"], 0);
    assert_eq!(layer_names(&program), ["old", "base", "site"]);
    assert!(said(&program, &["layer", "add", &base], 43).contains("a layer base already"));
    assert!(said(&program, &["layer", "add", "gone.yaml"], 43).contains("gone.yaml cannot be read"));
    assert!(said(&program, &["layer", "move", "old"], 43).contains("say where to"));
    said(&program, &["layer", "move", "old", "--at", "2"], 0);
    assert_eq!(layer_names(&program), ["base", "old", "site"]);

    let merged = program.run(&["layer", "show", "--merged"]).unwrap().expect_code(0).unwrap();
    let merged: Value = serde_json::from_str(&merged.stdout).unwrap();
    let expected = json!({"default_attributes": {"web": {"port": 1, "hosts": ["a"]}}, "override_attributes": {"web": {"port": 8080}}});
    assert_eq!(merged, expected);
    let origins = said(&program, &["layer", "show", "--merged", "--origin"], 0);
    assert!(
        origins.contains(
            "default web.port = 1  layer old ([CONFIGURATION]/old.rb:3); before: layer base ([CONFIGURATION]/base.yaml:2)"
        ),
        "{origins}"
    );
    assert!(origins.contains("override web.port = 8080  layer site ([CONFIGURATION]/site.toml:3)"), "{origins}");
    let as_json = |arguments: &[&str]| -> Value {
        let shown = program.run(arguments).unwrap().expect_code(0).unwrap();
        serde_json::from_str(&shown.stdout).unwrap()
    };
    let origins = as_json(&["layer", "show", "--merged", "--origin", "-F", "json"]);
    let port =
        origins["attributes"].as_array().unwrap().iter().find(|one| one["path"] == json!(["web", "port"])).unwrap();
    let place = |layer: &str, file: &str, line: u32| json!([{"layer": layer, "file": format!("[CONFIGURATION]/{file}"), "line": line}]);
    let expected = json!({
        "level": "default", "path": ["web", "port"], "value": 1, "from": place("old", "old.rb", 3),
        "replaced": place("base", "base.yaml", 2),
    });
    assert_eq!(port, &expected);
    let of_mail = said(&program, &["layer", "show", "--merged", "--policy", "mail"], 0);
    assert!(!of_mail.contains("8080"), "{of_mail}");

    // The node keeps its own copy: a changed file is another one until it replaces the layer.
    write(&program, "base.yaml", "default_attributes:\n  web: {port: 81, hosts: [a]}\n");
    let different = said(&program, &["layer", "diff"], 0);
    assert!(different.contains("- default web.port = 80\n+ default web.port = 81"), "{different}");
    assert!(different.contains("layer site ([CONFIGURATION]/site.toml): no difference"), "{different}");
    let different = as_json(&["layer", "diff", "-F", "json"]);
    let expected = json!({
        "version": 1,
        "layers": [
            {"name": "base", "file": "[CONFIGURATION]/base.yaml", "changes": [
                {"level": "default", "path": ["web", "port"], "before": 80, "after": 81},
            ]},
            {"name": "old", "file": "[CONFIGURATION]/old.rb", "changes": []},
            {"name": "site", "file": "[CONFIGURATION]/site.toml", "changes": []},
        ],
    });
    assert_eq!(different, expected);
    said(&program, &["layer", "replace", "base", &base], 0);
    said(&program, &["layer", "set", "base", "web.hosts=[\"b\"]", "web.new.x=text"], 0);
    said(&program, &["layer", "set", "site", "web.port=1", "--override"], 0);
    let shown = program.run(&["layer", "show", "base"]).unwrap().expect_code(0).unwrap();
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["default_attributes"], json!({"web": {"port": 81, "hosts": ["b"], "new": {"x": "text"}}}));
    assert!(said(&program, &["layer", "set", "old", "a=1"], 43).contains("was written in Ruby"));
    assert!(said(&program, &["layer", "set", "base", "web.port.x=1"], 43).contains("web.port is not an object"));
    assert!(said(&program, &["layer", "remove", "gone"], 43).contains("no layer gone; it has: base, old, site"));
    for near in
        [&["layer", "show", "bsae"][..], &["layer", "move", "old", "--after", "bsae"], &["layer", "diff", "bsae"]]
    {
        assert!(said(&program, near, 43).contains("no layer bsae; did you mean `base`?"), "{near:?}");
    }
    said(&program, &["layer", "remove", "old"], 0);
    assert_eq!(layer_names(&program), ["base", "site"]);
    // Layers that do not go together are refused when they are added, not in a later run.
    let late =
        write(&program, "late.yaml", "{default_attributes: {web: {hosts: [c]}}, merge_strategies: {web.hosts: merge}}");
    assert!(said(&program, &["layer", "add", &late], 43).contains("with the merge strategy merge"));
    assert_eq!(layer_names(&program), ["base", "site"]);
}

#[test]
fn a_change_during_a_run_is_kept_and_seen_at_once() {
    let program = program("a");
    let lock = fs::File::options().read(true).write(true).open(program.state().join("lock")).unwrap();
    let lock = Flock::lock(lock, FlockArg::LockExclusive).unwrap_or_else(|(_, error)| panic!("{error}"));
    let before = fs::read(program.state().join("nodes/n.json")).unwrap();
    let told = said(&program, &["node", "tag", "add", "x"], 0);
    assert!(told.contains("a run is under way") && told.contains("applied when the run ends"), "{told}");
    said(&program, &["node", "attribute", "set", "a.b=1"], 0);
    assert!(said(&program, &["node", "run-list", "remove", "z"], 43).contains("not in the run list"));
    assert_eq!(fs::read(program.state().join("nodes/n.json")).unwrap(), before, "the run's file is not touched");
    assert_eq!(node(&program)["normal"], json!({"tags": ["x"], "a": {"b": 1}}));
    // The value may be secret; what the change waits in names the attribute only.
    let waiting = fs::read_to_string(program.state().join("changes/n.json")).unwrap();
    assert!(waiting.contains("attribute set a.b=.."), "{waiting}");
    let file = write(&program, "whole.json", &node(&program).to_string());
    assert!(said(&program, &["node", "from-file", &file], 0).contains("nothing to change"));
    let other = r#"{"name": "n", "run_list": ["recipe[b]"], "normal": {"tags": ["x"], "a": {"b": 1}}}"#;
    let told = said(&program, &["node", "from-file", &write(&program, "whole.json", other)], 0);
    assert!(told.contains("the change of n is kept, and applied when the run ends"), "{told}");
    assert!(said(&program, &["node", "delete", "n"], 75).contains("another run is under way"));
    // A new node cannot wait for the run, so that the node beside it does not change either.
    let changed = write(&program, "changed.json", r#"{"name": "n", "run_list": ["recipe[c]"]}"#);
    let new = write(&program, "new.json", r#"{"name": "m"}"#);
    let waiting = fs::read(program.state().join("changes/n.json")).unwrap();
    assert!(said(&program, &["node", "from-file", &changed, &new], 75).contains("another run is under way"));
    assert_eq!(fs::read(program.state().join("changes/n.json")).unwrap(), waiting, "no change is kept");
    assert!(!program.state().join("nodes/m.json").exists());
    drop(lock);
    said(&program, &["node", "from-file", &changed, &new], 0);
    assert_eq!(node_named(&program, "n")["run_list"], json!(["recipe[c]"]));
    said(&program, &["node", "delete", "m"], 0);
    // A run that was killed takes nothing over: the next command does.
    said(&program, &["node", "tag", "add", "y"], 0);
    assert_eq!(node(&program)["normal"], json!({"tags": ["x", "y"], "a": {"b": 1}}));
    assert!(!program.state().join("changes/n.json").exists());
}

/// Writes two attributes, and waits until it may end.
const RECIPE: &str = "
node.normal['web']['own'] = 'run'
node.normal['web']['both'] = 'run'
file '/srv/began'
execute 'until [ -e /srv/go ]; do sleep 0.02; done'
";

#[test]
fn a_run_takes_over_what_was_changed_meanwhile_but_for_what_it_wrote_itself() {
    let (program, root) = (program("web"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let cookbook = program.configuration().join("cookbooks/web");
    fs::create_dir_all(cookbook.join("recipes")).unwrap();
    fs::create_dir_all(root.path().join("srv")).unwrap();
    fs::write(cookbook.join("metadata.rb"), "name 'web'\n").unwrap();
    fs::write(cookbook.join("recipes/default.rb"), RECIPE).unwrap();
    said(&program, &["node", "environment", "set", "_default"], 0);
    let place = root.path().display().to_string();
    let cookbooks = cookbook.parent().unwrap().display().to_string();
    let layer = write(&program, "late.yaml", "default_attributes: {a: 1}");
    let ended = std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let arguments = ["converge", "-N", "n", "--allow-all", "--root", &place, "--cookbooks", &cookbooks];
            program.run_in(&machine, &arguments).unwrap()
        });
        while !root.path().join("srv/began").exists() {
            assert!(!run.is_finished(), "the run ended early");
            std::thread::sleep(Duration::from_millis(5));
        }
        for change in [
            &["node", "tag", "add", "mine"][..],
            &["node", "attribute", "set", "web.both=operator", "web.free=operator"],
        ] {
            assert!(said(&program, change, 0).contains("a run is under way"));
        }
        // An edited document changes what was edited, and nothing that the run writes elsewhere.
        let (code, told) = edit(&program, "sed -i 's/\"free\": \"operator\"/\"free\": \"edited\", \"new\": 1/' \"$1\"");
        assert_eq!(code, Some(0), "{told}");
        assert!(told.contains("a run is under way"), "{told}");
        said(&program, &["layer", "add", &layer], 0);
        said(&program, &["node", "run-list", "add", "recipe[later]"], 0);
        fs::write(root.path().join("srv/go"), "").unwrap();
        run.join().unwrap()
    });
    assert_eq!(ended.code, Some(0), "{}", ended.text());
    let said = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("both changed the normal attribute web.both of n") && said.contains("wrun node attribute set"),
        "{said}"
    );
    let saved = node(&program);
    assert_eq!(saved["normal"]["web"], json!({"own": "run", "both": "run", "free": "edited", "new": 1}));
    assert_eq!(
        [&saved["normal"]["tags"], &saved["run_list"]],
        [&json!(["mine"]), &json!(["recipe[web]", "recipe[later]"])]
    );
    assert_eq!(layer_names(&program), ["late"]);
    assert!(!program.state().join("changes/n.json").exists());
}

/// Runs `wrun node edit` with a shell command as the editor: `$1` is the file.
fn edit(program: &Program, editor: &str) -> (Option<i32>, String) {
    let script = write(program, "editor.sh", editor);
    let mut command = Command::new(program.executable());
    command.args(["node", "edit"]).env_clear().envs(program.environment()).env("PATH", "/usr/bin:/bin");
    let ended = command.env("EDITOR", format!("sh {script}")).stdin(Stdio::null()).output().unwrap();
    (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
}

#[test]
fn a_node_is_edited_and_never_overwrites_what_changed_meanwhile() {
    let program = program("a");
    let (code, said_by) =
        edit(&program, "sed -i 's/\"recipe\\[a\\]\"/\"role[z]\"/; s/\"normal\": {}/\"normal\": {\"x\": 1}/' \"$1\"");
    assert_eq!(code, Some(0), "{said_by}");
    let saved = node(&program);
    assert_eq!([&saved["run_list"], &saved["normal"]], [&json!(["role[z]"]), &json!({"x": 1})]);
    // Another editor was faster.
    let wrun = program.executable().display();
    let (code, said_by) = edit(&program, &format!("sed -i 's/1/2/' \"$1\"; {wrun} node attribute set x=3"));
    assert_eq!(code, Some(43));
    assert!(
        said_by.contains("has changed meanwhile") && said_by.contains("nothing was saved; your version is in"),
        "{said_by}"
    );
    assert_eq!(node(&program)["normal"]["x"], json!(3));
    let kept =
        said_by.split_whitespace().find(|word| word.contains("wrun-node-")).unwrap().trim_end_matches([';', ':']);
    assert!(fs::read_to_string(kept).unwrap().contains("\"x\": 2"));
    fs::remove_file(kept).unwrap();
    for (editor, expect) in [
        ("echo '{' > \"$1\"", "this is not JSON"),
        ("sed -i 's/role.z./recipe[/' \"$1\"", "recipe["),
        ("sed -i 's/\"n\"/\"m\"/' \"$1\"", "name must be the node's own name"),
        ("sed -i 's/\"normal\"/\"nromal\"/' \"$1\"", "`nromal` cannot be changed in a node's document; it has name"),
        ("exit 3", "failed"),
    ] {
        let (code, said_by) = edit(&program, editor);
        assert_eq!(code, Some(43), "{said_by}");
        assert!(said_by.contains(expect), "{said_by}");
        assert_eq!(node(&program)["run_list"], json!(["role[z]"]));
        for kept in said_by.split_whitespace().filter(|word| word.contains("/wrun-node-")) {
            let _ = fs::remove_file(kept.trim_end_matches([';', ':']));
        }
    }
}

#[test]
fn nodes_come_from_files_and_go_by_their_names() {
    let program = program("a");
    let old = write(
        &program,
        "n.json",
        r#"{"name": "n", "run_list": ["role[b]"], "normal": {"a": 1}, "automatic": {"x": 1}, "chef_type": "node"}"#,
    );
    let new = write(&program, "web1.json", r#"{"name": "web1", "chef_environment": "prod", "run_list": ["c"]}"#);
    let bad = write(&program, "bad.json", r#"{"name": "web2", "run_list": ["recipe["]}"#);
    // One that is wrong changes none of the others.
    assert!(said(&program, &["node", "from-file", &old, &bad], 43).contains("bad.json is not a node"));
    assert_eq!(node(&program)["run_list"], json!(["recipe[a]"]));
    let told = said(&program, &["node", "from-file", &old, &new], 0);
    assert!(told.contains("changed the node n") && told.contains("created the node web1"), "{told}");
    let shown: Value =
        serde_json::from_str(&program.run(&["node", "show", "-F", "json", "-N", "n"]).unwrap().stdout).unwrap();
    assert_eq!(
        [&shown["run_list"], &shown["normal"], &shown["automatic"]],
        [&json!(["role[b]"]), &json!({"a": 1}), &json!({})]
    );
    // A node that cannot be read stops the other commands, and goes.
    write(&program, "damaged.json", "{");
    fs::write(program.state().join("nodes/damaged.json"), "{").unwrap();
    said(&program, &["node", "delete", "damaged", "damaged"], 0);
    assert!(said(&program, &["node", "delete", "n", "gone"], 43).contains("there is no node gone"));
    said(&program, &["node", "create", "web2"], 0);
    assert_eq!(
        said(&program, &["node", "bulk-delete", "web."], 0).lines().take(2).collect::<Vec<_>>(),
        ["web1", "web2"]
    );
    assert!(said(&program, &["node", "bulk-delete", "web("], 43).contains("not a regular expression"));
    said(&program, &["node", "bulk-delete", "eb", "--yes"], 0);
    let as_json = |more: &[&str]| program.run(&[&["node", "bulk-delete", r"web\d", "-F", "json"], more].concat());
    let listed = as_json(&[]).unwrap().expect_code(0).unwrap().stdout;
    assert_eq!(listed.trim(), r#"{"version":1,"nodes":["web1","web2"],"deleted":false}"#);
    let deleted = as_json(&["--yes"]).unwrap().expect_code(0).unwrap().stdout;
    assert_eq!(deleted.trim(), r#"{"version":1,"nodes":["web1","web2"],"deleted":true}"#);
    assert_eq!(said(&program, &["node", "list"], 0).trim(), "n");
    let status = said(&program, &["node", "status"], 0);
    assert!(status.contains("n  no recorded run"), "{status}");
}

#[test]
fn policies_of_a_node_are_assigned_with_their_groups() {
    let program = program("a");
    said(&program, &["node", "policy", "set", "web@prod,db@staging", "base"], 0);
    let listed = program.run(&["node", "policy", "list"]).unwrap().expect_code(0).unwrap().stdout;
    assert_eq!(listed, "web@prod\ndb@staging\nbase\n");
    assert_eq!(node(&program)["assigned_policies"], json!(["web@prod", "db@staging", "base"]));
    assert!(said(&program, &["node", "policy", "set", "web@prod,db@staging,base"], 0).contains("nothing to change"));
    for (given, why) in [
        ("web@prod,web@test", "policy web is named twice"),
        ("web@", "does not name a policy group"),
        ("web@a/b", "does not name a policy group"),
        ("../web", "does not name a policy"),
        ("", "does not name a policy"),
    ] {
        assert!(said(&program, &["node", "policy", "set", given], 43).contains(why), "{given}");
    }
    assert!(said(&program, &["node", "run-list", "set", "a"], 43).contains("runs policies"));
    assert!(said(&program, &["node", "environment", "set", "prod"], 43).contains("wrun layer add"));
    said(&program, &["node", "policy", "unset"], 0);
    assert_eq!(said(&program, &["node", "policy", "list"], 0).trim(), "");
    said(&program, &["node", "run-list", "set", "b"], 0);
    // What somebody wrote into the file by hand is said, and not passed over.
    let file = program.state().join("nodes/n.json");
    let mut saved: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let whole = if saved.get("node").is_some() { &mut saved["node"] } else { &mut saved };
    whole["wrun_policies"] = json!(["a@"]);
    fs::write(&file, saved.to_string()).unwrap();
    assert!(said(&program, &["node", "policy", "list"], 43).contains("wrun_policies"));
}
