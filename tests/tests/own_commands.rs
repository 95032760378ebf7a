//! Commands that a recipe or a library starts by itself are listed with the place of the code. A dry run says of which ones
//! nobody knows what they would change.

#![cfg(target_arch = "x86_64")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use specs::{Machine, Network, Program, Root};
use std::fs;

/// `uname` asks the machine; the others change it.
const RECIPE: &str = "`uname -r`
begin
  shell_out('touch', '/srv/one')
  Helper.mark
rescue Errno::EROFS => error
  raise unless error.message.include?('this is a dry run')
  begin
    Helper.mark
  rescue Errno::EROFS
  end
end
looking 'x'
";

const LIBRARY: &str = "module Helper
  def self.mark
    2.times { system('touch /srv/two') }
  end
end
";

const RESOURCE: &str = "provides :looking
unified_mode true
action :create do
  shell_out!('uname')
end
";

fn converge(program: &Program, machine: &Machine<'_>, more: &[&str], code: i32) -> String {
    let cookbook = program.configuration().join("cookbooks/a");
    let files = [
        ("metadata.rb", "name 'a'\n"),
        ("recipes/default.rb", RECIPE),
        ("recipes/refused.rb", "system('touch /srv/three')\npackage 'unseen'\n"),
        ("recipes/later.rb", "file '/srv/later'\n"),
        ("libraries/helper.rb", LIBRARY),
        ("resources/looking.rb", RESOURCE),
    ];
    for (name, text) in files {
        let path = cookbook.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let (cookbooks, place) =
        (program.configuration().join("cookbooks").display().to_string(), machine.root().path().display().to_string());
    let fixed = ["converge", "--allow-all", "--node-name", "n", "--cookbooks", &cookbooks, "--root", &place];
    program.run_in(machine, &[&fixed[..], more].concat()).unwrap().expect_code(code).unwrap().stdout
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Command, effect and line of each command.
fn effects(run: &Value) -> Vec<(&str, &str, u64)> {
    let commands = run["commands"].as_array().unwrap().iter();
    commands
        .map(|one| (one["command"].as_str().unwrap(), one["effect"].as_str().unwrap(), one["line"].as_u64().unwrap()))
        .collect()
}

#[test]
fn each_command_by_code_is_told_with_its_place() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["mkdir", "-p", "/srv"]).unwrap();
    let list = ["--run-list", "recipe[a]"];
    // A dry run knows of one that it changes nothing, and of the others that it does not know.
    let text = converge(&program, &machine, &[&list[..], &["--why-run", "--detailed-exitcode"]].concat(), 4);
    for line in [
        "    - would run touch /srv/one: not known what it changes  (a/recipes/default.rb:3)",
        "    - would run touch /srv/two: not known what it changes  (a/libraries/helper.rb:3)",
    ] {
        assert!(text.lines().any(|told| told == line), "{line}\n{text}");
    }
    assert!(!text.contains("run uname"), "{text}");
    assert!(text.contains(", 2 unknown commands by the cookbooks' own code"), "{text}");
    let dry = parsed(&converge(&program, &machine, &[&list[..], &["--why-run", "--format", "json"]].concat(), 0));
    let expect = [
        ("uname -r", "looked", 1),
        ("touch /srv/one", "unknown", 3),
        ("touch /srv/two", "unknown", 3),
        ("uname", "looked", 4),
    ];
    assert_eq!(effects(&dry), expect, "{dry:#}");
    assert!(!root.exists("srv/one"));
    // A real run ran them all.
    let text = converge(&program, &machine, &list, 0);
    for line in ["    - run uname -r  (a/recipes/default.rb:1)", "    - run touch /srv/one  (a/recipes/default.rb:3)"] {
        assert!(text.lines().any(|told| told == line), "{line}\n{text}");
    }
    assert!(text.contains(", 3 commands by the cookbooks' own code"), "{text}");
    let run = parsed(&converge(&program, &machine, &[&list[..], &["--format", "json"]].concat(), 0));
    let two = json!({
        "command": "touch /srv/two", "effect": "ran", "cookbook": "a", "recipe": "default",
        "file": "libraries/helper.rb", "line": 3, "resource": null, "times": 2,
    });
    assert_eq!(run["commands"][2]["times"], two["times"], "{run:#}");
    assert_eq!(run["commands"][2]["file"], two["file"], "{run:#}");
    // What runs in an action belongs to its resource.
    assert_eq!(run["commands"][3]["resource"], "looking[x]", "{run:#}");
    let shown = program.run(&["run", "show"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(shown.contains("by code       run touch /srv/one  (a/recipes/default.rb:3)"), "{shown}");
    let lines = converge(&program, &machine, &[&list[..], &["--format", "ndjson"]].concat(), 0);
    let events: Vec<Value> = lines.lines().map(parsed).collect();
    let ran: Vec<_> = events.iter().filter(|event| event["event"] == "ran").collect();
    let expect = json!({
        "version": 1, "event": "ran", "command": "uname -r", "effect": "ran",
        "cookbook": "a", "recipe": "default", "file": "recipes/default.rb", "line": 1,
    });
    assert_eq!((ran.len(), ran.first()), (3, Some(&&expect)), "{ran:#?}");
}

#[test]
fn a_dry_run_goes_on_with_the_next_recipe_after_a_command_that_it_stopped() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let list = ["--run-list", "recipe[a::refused],recipe[a::later]", "--why-run", "--format", "json"];
    let run = parsed(&converge(&program, &machine, &list, 1));
    assert_eq!(run["resources"][0]["name"], "/srv/later", "{run:#}");
    assert_eq!(run["unseen_recipes"][0]["ended_at"], "a/recipes/refused.rb:1", "{run:#}");
    assert!(run["error"]["message"].as_str().unwrap().contains("this is a dry run, which would"), "{run:#}");
}
