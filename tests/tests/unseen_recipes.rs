//! A recipe that ends early in a dry run: what its text asks for after that place is told and proposed, and marked as not seen.

#![cfg(target_arch = "x86_64")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use specs::{Machine, Network, Output, Program, Root, fixtures};
use std::fs;

const RECIPE: &str = "package 'declared'
first = File.read('/srv/first')
file '/srv/granted'
file '/srv/site' do
  content first
end
site_page 'x'
include_recipe 'site::more'
execute \"echo #{first}\"
";

const MORE: &str = "shell_out!('cat /srv/second')
package 'windows-only' if platform?('windows')
service 'site'
";

struct Bench {
    program: Program,
    root: Root,
}

impl Bench {
    fn new(recipe: &str) -> Self {
        let program = Program::new().unwrap();
        let cookbook = program.configuration().join("cookbooks/site");
        let files = [
            ("metadata.rb", "name 'site'\n"),
            ("recipes/default.rb", recipe),
            ("recipes/more.rb", MORE),
            ("resources/page.rb", "provides :site_page\nunified_mode true\naction :create do\nend\n"),
        ];
        for (name, text) in files {
            let path = cookbook.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::write(program.configuration().join("grants.toml"), "[policy.solo]\npaths = [\"/srv/granted\"]\n").unwrap();
        Self { program, root: Root::new().unwrap() }
    }

    fn run(&self, machine: &Machine<'_>, command: &[&str], more: &[&str]) -> Output {
        let place = |name: &str| self.program.configuration().join(name).display().to_string();
        let (cookbooks, grants, root) =
            (place("cookbooks"), place("grants.toml"), machine.root().path().display().to_string());
        let fixed = ["--node-name", "n", "--cookbooks", &cookbooks, "--run-list", "recipe[site]", "--root", &root];
        let in_use = ["--grants", &grants];
        let all = [command, &fixed[..], if command == ["converge"] { &in_use } else { &[] }, more].concat();
        self.program.run_in(machine, &all).unwrap()
    }
}

fn parsed(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn the_literal_needs_of_the_rest_are_told_and_can_be_added() {
    let (bench, grants) = (Bench::new(RECIPE), "grants.toml");
    let machine = bench.root.machine(Network::Own).unwrap();
    let shown = bench.run(&machine, &["converge"], &["--why-run"]).expect_code(1).unwrap().text();
    let told = "In policy solo, wrun did not see the rest of recipe site::default, which ended at site/recipes/default.rb:2. Its text asks for:
  paths \"/srv/site\"  (site/recipes/default.rb:4)
  commands \"cat /srv/second\"  (site/recipes/more.rb:1)
  services \"site\"  (site/recipes/more.rb:3)
  1 more place computes what it asks for
  actions of custom resources, which are not looked at: site_page
";
    assert!(shown.contains(told), "{shown}");
    assert!(shown.contains("denied, see above: site/recipes/default.rb:2"), "{shown}");
    // In JSON.
    let run = parsed(&bench.run(&machine, &["converge"], &["--why-run", "--format", "json"]).expect_code(1).unwrap());
    let unseen = &run["unseen_recipes"][0];
    let expect = json!({ "key": "services", "value": "\"site\"", "place": "site/recipes/more.rb:3" });
    assert_eq!((unseen["read"].as_bool(), &unseen["entries"][2]), (Some(true), &expect), "{unseen:#}");
    assert_eq!(run["error"]["resource"], Value::Null, "the recipe failed, not the package that is looked at later");
    // One answer of the operator later nothing of it is denied.
    let path = bench.program.configuration().join(grants).display().to_string();
    let allow = ["grants", "allow", "--last", "--yes", "--dangerous", "--grants", &path];
    let allowed = bench.program.run(&allow).unwrap().expect_code(0).unwrap();
    let note = "note: policy solo: the run did not see the rest of recipe site::default, which ended at site/recipes/default.rb:2; these";
    assert!(allowed.stderr.contains(note), "{}", allowed.text());
    let text = fs::read_to_string(&path).unwrap();
    for entry in ["/srv/first", "/srv/site", "cat /srv/second", "services = [\"site\"]", "\"declared\""] {
        assert!(text.contains(entry), "{entry}\n{text}");
    }
    machine.run(&["mkdir", "-p", "/srv"]).unwrap();
    machine.run(&["sh", "-c", "printf a > /srv/first; printf b > /srv/second"]).unwrap();
    let run = parsed(&bench.run(&machine, &["converge"], &["--why-run", "--format", "json"]).expect_code(1).unwrap());
    assert_eq!(run["unseen_recipes"], Value::Null, "{run:#}");
    // What was computed is denied in its turn.
    let denied: Vec<_> = run["denials"].as_array().unwrap().iter().map(|denial| denial["value"].clone()).collect();
    assert_eq!(denied, ["\"echo a\""], "{run:#}");
}

#[test]
fn a_suggestion_has_them_too_and_says_so() {
    let bench = Bench::new(RECIPE);
    let machine = bench.root.machine(Network::Own).unwrap();
    let suggested = bench.run(&machine, &["grants", "suggest"], &[]).expect_code(1).unwrap();
    assert!(
        suggested.stdout.contains("\"cat /srv/second\"") && suggested.stdout.contains("/srv/site"),
        "{suggested:?}"
    );
    assert!(!suggested.stdout.contains("windows-only"), "{suggested:?}");
    let said = "warning: policy solo: wrun did not see the rest of recipe site::default, which ended at site/recipes/default.rb:2; its text asks for:";
    assert!(suggested.stderr.contains(said), "{}", suggested.text());
}

#[test]
fn of_a_recipe_in_rust_nothing_is_claimed() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let (place, policies) = (root.path().display().to_string(), fixtures().display().to_string());
    let grants = program.configuration().join("grants.toml").display().to_string();
    fs::write(&grants, "[policy.hostile]\nread_paths = [\"/srv\"]\nclock = true\nrandom = true\n").unwrap();
    let fixed = ["converge", "--why-run", "--node-name", "n", "--root", &place, "--policies", &policies];
    let more = ["--grants", &grants, "--policy-name", "hostile", "-o", "hostile::read_shadow"];
    let shown = program.run_in(&machine, &[&fixed[..], &more].concat()).unwrap().expect_code(1).unwrap().text();
    let place = "the rest of recipe hostile::read_shadow, which ended at hostile/src/files.rs:";
    assert!(shown.contains(&format!("In policy hostile, wrun did not see {place}")), "{shown}");
    assert!(shown.contains("may not read path /etc/shadow  (hostile/src/files.rs:"), "{shown}");
    assert!(shown.contains("  wrun cannot read its source: run again after granting"), "{shown}");
}

#[test]
fn where_everything_is_granted_nothing_is_proposed() {
    let bench = Bench::new("`touch /srv/one`\nfile '/srv/site'\n");
    let machine = bench.root.machine(Network::Own).unwrap();
    let shown = bench.run(&machine, &["converge", "--allow-all"], &["--why-run"]).expect_code(1).unwrap().text();
    assert!(shown.contains("Not all was seen:") && shown.contains("  paths \"/srv/site\"  (site/"), "{shown}");
    assert!(!shown.contains("To allow it") && !shown.contains("grants allow"), "{shown}");
}
