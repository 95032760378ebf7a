//! Changes of a node that meet each other, and commands that are killed at any moment: the node is the old one or the new one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use specs::{Program, Root};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Editors at once.
const EDITORS: usize = 50;

/// Times that each command is killed, each time a little later.
const KILLS: u32 = 10;

/// A program with the node `n`, which has the layers `base` and `site`.
fn program() -> Program {
    let program = Program::new().unwrap();
    succeed(&program, &["node", "create", "n", "--run-list", "recipe[a]", "-E", "_default"]);
    for (name, text) in [("base.yaml", "default_attributes: {web: {port: 80}}"), ("site.toml", "")] {
        succeed(&program, &["layer", "add", &write(&program, name, text)]);
    }
    program
}

fn write(program: &Program, name: &str, text: &str) -> String {
    let path = program.configuration().join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn succeed(program: &Program, arguments: &[&str]) -> String {
    program.run(arguments).unwrap().expect_code(0).unwrap().stdout
}

fn json_of(program: &Program, arguments: &[&str]) -> Value {
    serde_json::from_str(&succeed(program, arguments)).unwrap()
}

/// All that commands change of the node, as commands show it.
fn whole(program: &Program) -> Value {
    let node = json_of(program, &["node", "show", "-F", "json"]);
    let parts = ["run_list", "normal", "layers"].map(|key| node.get(key).cloned());
    json!([parts, json_of(program, &["layer", "show", "--merged"])])
}

/// Starts the program. `EDITOR` is a shell script; drafts that are kept lie in the program's own folder.
fn start(program: &Program, arguments: &[String], editor: &str) -> Child {
    let mut command = Command::new(program.executable());
    command.args(arguments).env_clear().envs(program.environment()).env("PATH", "/usr/bin:/bin");
    command.env("EDITOR", editor).env("TMPDIR", program.configuration());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn fifty_commands_at_once_lose_nothing() {
    let program = program();
    let start = |number: usize| start(&program, &["node", "tag", "add", &format!("t{number}")].map(str::to_owned), "");
    let commands: Vec<_> = (0..EDITORS).map(start).collect();
    for command in commands {
        let ended = command.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", said(&ended));
    }
    let node = json_of(&program, &["node", "show", "-F", "json"]);
    assert_eq!(node["normal"]["tags"].as_array().unwrap().len(), EDITORS);
}

/// All open the node before any of them saves it.
#[test]
fn of_fifty_editors_at_once_one_wins_and_the_others_keep_what_they_wrote() {
    let program = program();
    let folder = program.configuration();
    let script = write(
        &program,
        "editor.sh",
        "touch \"$1/open.$2\"; until [ -e \"$1/go\" ]; do sleep 0.02; done\n\
         sed -i 's/\"normal\": {/\"normal\": {\"key'$2'\": 1,/; s/1,}/1}/' \"$3\"\n",
    );
    for round in 0..2 {
        let place = folder.join(format!("round{round}"));
        fs::create_dir(&place).unwrap();
        let before = json_of(&program, &["node", "show", "-F", "json"])["normal"].as_object().unwrap().len();
        let edit = |number: usize| {
            let number = round * EDITORS + number;
            let editor = format!("sh {script} {} {number}", place.display());
            (number, start(&program, &["node", "edit"].map(str::to_owned), &editor))
        };
        let editors: Vec<_> = (0..EDITORS).map(edit).collect();
        while fs::read_dir(&place).unwrap().count() < EDITORS {
            std::thread::sleep(Duration::from_millis(5));
        }
        fs::write(place.join("go"), "").unwrap();
        let mut winners = vec![];
        for (number, editor) in editors {
            let ended = editor.wait_with_output().unwrap();
            if ended.status.success() {
                winners.push(number);
                continue;
            }
            let told = said(&ended);
            assert_eq!(ended.status.code(), Some(43), "{told}");
            assert!(told.contains("has changed meanwhile") && told.contains("nothing was saved"), "{told}");
            let kept = told.split(' ').find(|word| word.contains("/wrun-node-")).unwrap().trim_end_matches([';', ':']);
            assert!(fs::read_to_string(kept).unwrap().contains(&format!("\"key{number}\": 1")), "{kept}");
        }
        let [winner] = winners.as_slice() else { panic!("{winners:?} have saved") };
        let normal = json_of(&program, &["node", "show", "-F", "json"])["normal"].clone();
        assert_eq!(normal[format!("key{winner}")], json!(1));
        assert_eq!(normal.as_object().unwrap().len(), before + 1, "what was there before is still there: {normal}");
    }
}

/// Kills a command again and again, a little later each time, and lets it end at last. `look` shows the node. Returns how often
/// the command was killed before the change.
fn kill(program: &Program, begin: &dyn Fn() -> Child, look: &dyn Fn() -> Value) -> u32 {
    let file = program.state().join("nodes/n.json");
    let saved = fs::read(&file).unwrap();
    let before = look();
    let began = Instant::now();
    let ended = begin().wait_with_output().unwrap();
    let whole_time = began.elapsed();
    assert!(ended.status.success(), "{}", said(&ended));
    let after = look();
    assert_ne!(before, after);
    let mut kills_before = 0;
    for number in 0..KILLS {
        fs::write(&file, &saved).unwrap();
        let mut child = begin();
        std::thread::sleep(whole_time * number / (KILLS - 2));
        child.kill().unwrap();
        child.wait().unwrap();
        let now = look();
        assert!(now == before || now == after, "{now}\nis neither\n{before}\nnor\n{after}");
        kills_before += u32::from(now == before);
    }
    // Nothing is in the way of the next command, and nothing was left beside the node.
    fs::write(&file, &saved).unwrap();
    let ended = begin().wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", said(&ended));
    assert_eq!(look(), after);
    assert_eq!(names_in(&program.state().join("nodes")), ["n.json"]);
    kills_before
}

fn names_in(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_killed_command_leaves_the_old_node_or_the_new_one() {
    let program = program();
    let more = write(&program, "more.yaml", "override_attributes: {web: {more: [1]}}");
    let base = write(&program, "base.json", r#"{"name": "base", "default_attributes": {"web": {"port": 81}}}"#);
    let node = write(&program, "n.json", r#"{"name": "n", "run_list": ["role[b]"], "normal": {"a": 1}}"#);
    let editor =
        format!("sh {}", write(&program, "editor.sh", "sed -i 's/\"normal\": {}/\"normal\": {\"x\": 1}/' \"$1\"\n"));
    let commands: [&[&str]; 9] = [
        &["layer", "add", &more, "--before", "site"],
        &["layer", "replace", "base", &base],
        &["layer", "set", "base", "web.port=82", "web.hosts=[1]"],
        &["layer", "move", "base", "--after", "site"],
        &["layer", "remove", "site"],
        &["node", "edit"],
        &["node", "from-file", &node],
        &["node", "run-list", "set", "role[c]", "recipe[d]"],
        &["node", "attribute", "set", "a.b=1", "c=[2]"],
    ];
    let mut before = 0;
    let untouched = fs::read(program.state().join("nodes/n.json")).unwrap();
    for command in commands {
        fs::write(program.state().join("nodes/n.json"), &untouched).unwrap();
        let arguments: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        before += kill(&program, &|| start(&program, &arguments, &editor), &|| whole(&program));
    }
    assert!(before > 0, "no command was killed before it had saved");
}

#[test]
fn a_killed_run_leaves_the_old_node_or_the_new_one() {
    let (program, root) = (program(), Root::new().unwrap());
    let cookbook = program.configuration().join("cookbooks/web");
    fs::create_dir_all(cookbook.join("recipes")).unwrap();
    fs::write(cookbook.join("metadata.rb"), "name 'web'\n").unwrap();
    fs::write(cookbook.join("recipes/default.rb"), "node.normal['web']['own'] = (1..50).to_a\n").unwrap();
    let cookbooks = cookbook.parent().unwrap().display().to_string();
    let layer = write(&program, "more.yaml", "default_attributes: {a: 1}");
    let place = root.path().display().to_string();
    let fixed = ["converge", "-N", "n", "--allow-all", "--run-list", "web", "--root", &place];
    let more = ["--cookbooks", &cookbooks, "--environment-file", &layer];
    let arguments: Vec<_> = fixed.iter().chain(&more).map(|word| (*word).to_owned()).collect();
    // A run keeps its new layers when it begins, and what its policies set when they have succeeded.
    let look = || json_of(&program, &["node", "show", "-F", "json"])["normal"].clone();
    let before = kill(&program, &|| start(&program, &arguments, ""), &look);
    assert!(before > 0, "no run was killed before it had saved");
}
