//! A dry run from outside: what it asks the machine, what it does not know, and that it changes nothing.

#![cfg(target_arch = "x86_64")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use serde_json::Value;
use specs::{Machine, Network, Program, Root};
use std::fs;

/// One resource for each way in which a guard, or Ruby code, can ask.
const RECIPE: &str = r#"
file '/srv/known' do
  not_if 'dpkg -s dpkg > /dev/null && grep -q root /etc/passwd'
end
file '/srv/wanted' do
  only_if 'test -d /srv && test $(id -u) -eq 0'
end
file '/srv/stopped' do
  not_if 'touch /srv/by-a-guard'
end
file '/srv/talks' do
  only_if { shell_out('perl -MSocket -e "socket(S, 1, 1, 0); connect(S, sockaddr_un(qq(/run/socket))) or exit 3"').exitstatus == 3 }
end
file '/srv/ruby' do
  content shell_out('cat /srv/there').stdout + `echo from a backtick`
  only_if { shell_out('echo yes').stdout.strip == 'yes' }
end
execute 'touch /srv/by-a-resource'
service 'wrun-thing' do
  start_command 'touch /srv/by-a-service'
  status_command 'test -f /srv/there'
  action :start
end
"#;

fn converge(program: &Program, machine: &Machine<'_>, recipe: &str, code: i32) -> Value {
    let cookbook = program.configuration().join("cookbooks/web");
    fs::create_dir_all(cookbook.join("recipes")).unwrap();
    fs::write(cookbook.join("metadata.rb"), "name 'web'\n").unwrap();
    fs::write(cookbook.join("recipes/default.rb"), recipe).unwrap();
    let place = machine.root().path().display().to_string();
    let cookbooks = program.configuration().join("cookbooks").display().to_string();
    let arguments = [
        "converge",
        "--format",
        "json",
        "--node-name",
        "node1",
        "--why-run",
        "--cookbooks",
        &cookbooks,
        "--run-list",
        "recipe[web]",
        "--root",
        &place,
        "--allow-all",
    ];
    let output = program.run_in(machine, &arguments).unwrap().expect_code(code).unwrap();
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in\n{}", output.text()))
}

#[test]
fn what_can_be_asked_is_known_and_nothing_changes() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["sh", "-c", "mkdir -p /srv; echo there > /srv/there"]).unwrap();
    let before = root.changes().unwrap();
    let run = converge(&program, &machine, RECIPE, 0);
    let resources: Vec<_> = run["resources"].as_array().unwrap().iter().collect();
    let shown = |at: usize| {
        let resource = resources[at];
        let uncertain = resource["uncertain"].as_array().map_or(0, Vec::len);
        format!("{} {} {uncertain}", resource["name"].as_str().unwrap(), resource["status"].as_str().unwrap())
    };
    let all: Vec<String> = (0..resources.len()).map(shown).collect();
    assert_eq!(
        all,
        [
            "/srv/known skipped 0",
            "/srv/wanted updated 0",
            "/srv/stopped updated 1",
            "/srv/talks updated 0",
            "/srv/ruby updated 0",
            "touch /srv/by-a-resource updated 0",
            "wrun-thing up-to-date 0",
        ],
        "{run:#}"
    );
    let reason = resources[2]["uncertain"].to_string();
    assert!(reason.contains("a dry run stopped it at: openat /srv/by-a-guard"), "{reason}");
    let diff = resources[4]["diffs"].to_string();
    assert!(diff.contains("+there") && diff.contains("+from a backtick"), "{diff}");
    assert_eq!(root.changes().unwrap().entries.len(), before.entries.len(), "nothing has changed");
}

#[test]
fn ruby_code_that_is_stopped_hears_of_it() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["mkdir", "-p", "/srv"]).unwrap();
    let run = converge(&program, &machine, "shell_out('touch /srv/by-ruby; true')\n", 1);
    let text = run["error"].to_string();
    assert!(text.contains("a dry run stopped it at: openat /srv/by-ruby"), "{text}");
    assert!(!root.exists("/srv/by-ruby"));
}
