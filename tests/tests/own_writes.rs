//! What a recipe, a library or an action changes in plain Ruby is told with the place of the code, in a dry run too.

#![cfg(target_arch = "x86_64")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use specs::{Machine, Network, Program, Root};
use std::fs;

const RECIPE: &str = "File.write('/srv/one', 'x')
Helper.mark('/srv/two')
FileUtils.mkdir_p('/srv/d/e')
file = File.open('/srv/three', 'w')
file.write('a')
file.flush
file.write('b')
file.close
raise 'lost' unless File.read('/srv/three') == 'ab' && Dir.children('/srv/d').include?('e')
marked '/srv/four'
file '/srv/d/new'
";

const LIBRARY: &str = "module Helper
  def self.mark(path)
    IO.write(path, 'marked')
    File.chmod(0600, path)
  end
end
";

const RESOURCE: &str = "provides :marked
unified_mode true
action :create do
  Helper.mark(new_resource.name)
end
";

fn cookbook(program: &Program) -> String {
    let cookbook = program.configuration().join("cookbooks/a");
    let files = [
        ("metadata.rb", "name 'a'\n"),
        ("recipes/default.rb", RECIPE),
        ("libraries/helper.rb", LIBRARY),
        ("resources/marked.rb", RESOURCE),
    ];
    for (name, text) in files {
        let path = cookbook.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    program.configuration().join("cookbooks").display().to_string()
}

fn converge(program: &Program, machine: &Machine<'_>, more: &[&str], code: i32) -> String {
    let (cookbooks, place) = (cookbook(program), machine.root().path().display().to_string());
    let mut all = vec!["converge", "--allow-all", "--node-name", "n", "--cookbooks", &cookbooks, "--root", &place];
    all.extend(["--run-list", "recipe[a]"]);
    all.extend(more);
    program.run_in(machine, &all).unwrap().expect_code(code).unwrap().stdout
}

/// The lines that tell of code, as they stand in a dry run with `would`.
const TOLD: [&str; 9] = [
    "    - write file /srv/one  (a/recipes/default.rb:1)",
    "    - write file /srv/two  (a/libraries/helper.rb:3)",
    "    - change mode of /srv/two to '0600'  (a/libraries/helper.rb:4)",
    "    - create new directory /srv/d  (a/recipes/default.rb:3)",
    "    - create new directory /srv/d/e  (a/recipes/default.rb:3)",
    "    - write file /srv/three  (a/recipes/default.rb:4)",
    "    - write file /srv/three  (a/recipes/default.rb:5)",
    "    - write file /srv/three  (a/recipes/default.rb:7)",
    "      - write file /srv/four  (a/libraries/helper.rb:3)",
];

#[test]
fn each_change_by_code_is_told_with_its_place() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["mkdir", "-p", "/srv"]).unwrap();
    let before = root.changes().unwrap();
    // First a dry run, which changes nothing.
    let text = converge(&program, &machine, &["--why-run", "--detailed-exitcode"], 4);
    for line in TOLD {
        let line = line.replace("- ", "- would ");
        assert!(text.lines().any(|told| told == line), "{line}\n{text}");
    }
    assert!(text.contains("would change (of 2), 10 changes by the cookbooks' own code"), "{text}");
    let dry: Value =
        serde_json::from_str(&converge(&program, &machine, &["--why-run", "--format", "json"], 0)).unwrap();
    assert_eq!(root.changes().unwrap().entries.len(), before.entries.len());
    // The directory that code would make is there for the resources.
    let new = dry["resources"].as_array().unwrap().iter().find(|one| one["name"] == "/srv/d/new").unwrap();
    assert_eq!((&new["status"], &new["uncertain"]), (&json!("updated"), &Value::Null), "{new:#}");
    // Then a real one.
    let text = converge(&program, &machine, &[], 0);
    for line in TOLD {
        assert!(text.lines().any(|told| told == line), "{line}\n{text}");
    }
    assert!(text.contains("of 2 resources updated, 10 changes by the cookbooks' own code"), "{text}");
    assert_eq!(root.read("srv/three").unwrap(), "ab");
    let run: Value = serde_json::from_str(&converge(&program, &machine, &["--format", "json"], 0)).unwrap();
    let writes = run["writes"].as_array().unwrap();
    let expect = json!({
        "path": "/srv/one", "what": "write file /srv/one", "cookbook": "a", "recipe": "default",
        "file": "recipes/default.rb", "line": 1, "resource": null, "times": 1,
    });
    assert_eq!(writes[0], expect);
    let four = writes.iter().find(|write| write["path"] == "/srv/four").unwrap();
    assert_eq!((&four["resource"], &four["line"]), (&json!("marked[/srv/four]"), &json!(3)), "{four:#}");
    // A second run does not make the directories again.
    assert!(!writes.iter().any(|write| write["path"] == "/srv/d"), "{writes:#?}");
    let shown = program.run(&["run", "show"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(shown.contains("by code       write file /srv/one  (a/recipes/default.rb:1)"), "{shown}");
}

#[test]
fn programs_hear_of_it_as_an_event() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["mkdir", "-p", "/srv"]).unwrap();
    let lines = converge(&program, &machine, &["--format", "ndjson"], 0);
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let written = events.iter().find(|event| event["event"] == "written").unwrap();
    let expect = json!({
        "version": 1, "event": "written", "path": "/srv/one", "what": "write file /srv/one", "why_run": false,
        "cookbook": "a", "recipe": "default", "file": "recipes/default.rb", "line": 1,
    });
    assert_eq!(*written, expect);
    // What an action does is told of its resource, with the place of the code beside that of the declaration.
    let changed = events.iter().find(|event| event["event"] == "changed" && event["name"] == "/srv/four").unwrap();
    assert_eq!(
        (&changed["line"], &changed["code"]["file"]),
        (&json!(10), &json!("libraries/helper.rb")),
        "{changed:#}"
    );
}
