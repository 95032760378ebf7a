//! A dry run from outside: what it asks the machine, what it does not know, and that it changes nothing.

#![cfg(target_arch = "x86_64")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use serde_json::{Value, json};
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

/// Every way to fail, to be unknown and to be denied, one after the other; the grants allow all but one path.
const ALL: &str = r#"
Gone = 'http://127.0.0.1:9/x'
file('/srv/first') { content 'x' }
cookbook_file('/srv/absent') { source 'no-such-file' }
file('/srv/denied/x') { content 'x' }
remote_file('/srv/gone') { source Gone; notifies :create, 'file[/srv/told]', :immediately }
file('/srv/told') { action :nothing }
thing 'parent'
thing('forgiven') { ignore_failure true }
file('/srv/last') { content 'x' }
"#;

const THING: &str = r#"
provides :thing
unified_mode true
action :go do
  cookbook_file("/srv/child-#{new_resource.name}") { source 'no-such-file' }
  file("/srv/after-#{new_resource.name}")
end
"#;

#[test]
fn a_dry_run_tells_of_all_that_is_in_the_way() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["mkdir", "-p", "/srv/denied"]).unwrap();
    let cookbook = program.configuration().join("cookbooks/web");
    fs::create_dir_all(cookbook.join("recipes")).unwrap();
    fs::create_dir_all(cookbook.join("resources")).unwrap();
    fs::write(cookbook.join("metadata.rb"), "name 'web'\n").unwrap();
    fs::write(cookbook.join("recipes/default.rb"), ALL).unwrap();
    fs::write(cookbook.join("resources/thing.rb"), THING).unwrap();
    let grants = program.configuration().join("grants.toml");
    let rules = "[policy.solo]\npaths = [\"/srv/*\"]\ndownload_hosts = [\"http://127.0.0.1:9\"]\n";
    fs::write(&grants, rules).unwrap();
    let (place, folder) = (root.path().display().to_string(), program.configuration().join("cookbooks"));
    let (grants, folder) = (grants.display().to_string(), folder.display().to_string());
    let run = |format: &str| {
        let arguments = [
            "converge",
            "--format",
            format,
            "--node-name",
            "node1",
            "--why-run",
            "--cookbooks",
            &folder,
            "--run-list",
            "recipe[web]",
            "--root",
            &place,
            "--grants",
            &grants,
        ];
        program.run_in(&machine, &arguments).unwrap().expect_code(1).unwrap()
    };
    let output = run("json");
    let said: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in {}", output.text()));
    let row = |one: &Value| {
        let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
        let doubt = if one["uncertain"].is_array() { " ?" } else { "" };
        let ignored = if one["ignored"] == true { ", ignored" } else { "" };
        format!("{} {}{doubt}{ignored}", text("name"), text("status"))
    };
    let rows: Vec<String> = said["resources"].as_array().unwrap().iter().map(row).collect();
    assert_eq!(
        rows,
        [
            "/srv/first updated",
            "/srv/absent failed",
            "/srv/denied/x failed",
            "/srv/gone unknown ?",
            "/srv/told updated ?",
            "/srv/told skipped",
            "parent failed",
            "/srv/child-parent failed",
            "/srv/after-parent updated",
            "forgiven failed, ignored",
            "/srv/child-forgiven failed",
            "/srv/after-forgiven updated",
            "/srv/last updated",
        ],
        "{said:#}"
    );
    assert_eq!(said["outcome"], "failure");
    assert_eq!(said["error"]["class"], "Chef::Exceptions::FileNotFound", "the first one: {}", said["error"]);
    assert_eq!((&said["updated"], &said["unknown"], &said["failed"]), (&5.into(), &1.into(), &5.into()));
    let shown = run("doc").text();
    assert!(shown.contains("5 would change, 1 unknown, 5 would fail (of 13)"), "{shown}");
    assert!(shown.contains("cookbook_file[/srv/absent] action create (would fail)"), "{shown}");
    let short = run("minimal").text();
    assert!(short.contains("UFF?U") && short.contains("5 would change, 1 unknown"), "{short}");
    assert!(!root.exists("/srv/first"));
}

/// Files that Ruby code makes are there for the code, and for nobody else.
const TEMPORARY: &str = r#"
require 'tempfile'
kept = nil
Tempfile.create('wrun') do |file|
  kept = file.path
  file.write('inside'); file.flush
  raise 'not there' unless File.read(file.path) == 'inside' && File.stat(file.path).mode & 0777 == 0600
end
raise 'still there' if File.exist?(kept)
folder = Dir.mktmpdir('wrun')
File.write(File.join(folder, 'one'), 'x')
File.rename(File.join(folder, 'one'), File.join(folder, 'two'))
raise Dir.children(folder).inspect unless Dir.children(folder) == ['two'] && Dir.exist?(folder)
begin
  shell_out("cat #{folder}/two")
  raise 'a program sees it'
rescue Errno::EROFS => error
  log error.message
end
FileUtils.mv(File.join(folder, 'two'), '/srv/two')
log "moved: #{File.read('/srv/two')}"
FileUtils.rm_rf('/srv/there')
log 'removed' unless File.exist?('/srv/there/file')
cached = File.join(Chef::Config[:file_cache_path], 'x')
File.write(cached, 'cached')
log File.read(cached)
FileUtils.remove_entry(folder)
file('/srv/guarded') { only_if 'test -e /srv/two' }
file(File.join(folder, 'new')) { content folder }
"#;

#[test]
fn what_ruby_code_writes_is_thrown_away() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["sh", "-c", "mkdir -p /srv/there && touch /srv/there/file"]).unwrap();
    let before = root.changes().unwrap();
    let run = converge(&program, &machine, TEMPORARY, 0);
    let logged = run["resources"].to_string();
    for told in ["which the cookbook's own code would have changed", "moved: x", "removed", "cached"] {
        assert!(logged.contains(told), "{told}: {run:#}");
    }
    let resources = run["resources"].as_array().unwrap();
    let guarded = resources.iter().find(|one| one["name"] == "/srv/guarded").unwrap();
    assert_eq!((&guarded["name"], &guarded["status"]), (&"/srv/guarded".into(), &"updated".into()), "{guarded:#}");
    assert!(guarded["uncertain"].to_string().contains("own code"), "{guarded:#}");
    assert_eq!(root.changes().unwrap().entries.len(), before.entries.len(), "nothing has changed");
    let file = resources.last().unwrap();
    assert!(file["name"].as_str().unwrap().starts_with("/tmp/wrun"), "{file:#}");
    let writes = run["writes"].as_array().unwrap();
    let last = writes.iter().rev().find(|write| write["path"] == "/srv/there/file").unwrap();
    assert_eq!((&last["what"], &last["line"]), (&"delete file /srv/there/file".into(), &22.into()), "{writes:#?}");
}

#[test]
fn what_would_fail_is_counted() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let recipe = "file '/srv/told' do\n  notifies :run, 'execute[absent]'\nend\nfile '/srv/after'\n";
    let run = converge(&program, &machine, recipe, 1);
    assert_eq!((&run["updated"], &run["failed"], &run["total"]), (&1.into(), &1.into(), &2.into()), "{run:#}");
    assert_eq!(run["error"]["class"], "Chef::Exceptions::ResourceNotFound", "{run:#}");
}

/// An earlier resource may bring the program.
#[test]
fn code_that_calls_a_missing_program_is_unknown() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let folder = program.configuration().join("cookbooks/web/resources");
    fs::create_dir_all(&folder).unwrap();
    let resource = "provides :checked\nunified_mode true\naction(:run) { shell_out!('/usr/sbin/absent -t') }\n";
    fs::write(folder.join("checked.rb"), resource).unwrap();
    let asks = "shell_out!('/usr/sbin/absent -t').stdout";
    let recipe = format!(
        "checked 'one' do\n  notifies :run, 'execute[after]'\nend\n\
         execute 'after' do\n  command 'true'\n  action :nothing\nend\n\
         file '/srv/lazy' do\n  content lazy {{ {asks} }}\nend\n\
         file '/srv/guarded' do\n  only_if {{ {asks} }}\nend\n\
         file '/srv/hidden' do\n  sensitive true\n  content lazy {{ {asks} }}\nend\n\
         checked 'raises' do\n  only_if {{ raise 'another error' }}\nend\n"
    );
    let run = converge(&program, &machine, &recipe, 1);
    let of = |one: &Value| format!("{} {} {}", one["name"], one["action"], one["status"]).replace('"', "");
    let rows: Vec<_> = run["resources"].as_array().unwrap().iter().map(of).collect();
    let expected = [
        "one run unknown",
        "after nothing skipped",
        "/srv/lazy create unknown",
        "/srv/guarded create updated",
        "/srv/hidden create unknown",
        "raises run failed",
        "after run updated",
    ];
    assert_eq!(rows, expected, "{run:#}");
    let why = |at: usize| run["resources"][at]["uncertain"].to_string();
    for at in [0, 2, 3] {
        assert!(why(at).contains("would run /usr/sbin/absent -t: its program is not on this machine"), "{}", why(at));
    }
    assert!(why(4).contains("not shown") && !why(4).contains("absent"), "{}", why(4));
    assert!(run["error"]["message"].as_str().unwrap().ends_with(": another error"), "{run:#}");
}

/// What a command needs and this machine lacks must come from an earlier resource, or the real run fails.
#[test]
fn commands_take_for_granted_what_they_need() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let recipe = "execute 'nosuchprogram --x'\nexecute '/opt/none/run'\nexecute('true') { cwd '/srv/none' }\n\
                  execute('id') { user 'nobody-else' }\nexecute 'true'\nexecute('true | cat')\n\
                  bash('x') { code 'true' }\nexecute('nosuchprogram') { sensitive true }\n";
    let run = converge(&program, &machine, recipe, 0);
    let assumed: Vec<_> = run["resources"].as_array().unwrap().iter().map(|row| row["uncertain"].clone()).collect();
    let expected = [
        json!(["assuming the program nosuchprogram would have been installed"]),
        json!(["assuming the program /opt/none/run would have been installed"]),
        json!(["assuming directory /srv/none would have been created"]),
        json!(["assuming user nobody-else would have been created"]),
    ];
    assert_eq!(assumed.get(..4), Some(&expected[..]), "{run:#}");
    assert!(assumed[4..].iter().all(Value::is_null), "{assumed:?}");
}

/// A command that asks for what an earlier resource would make has no answer, and is not a reason to skip. Ruby code finds
/// what would be there, as far as that is known: what a command makes is not.
#[test]
fn guards_know_what_earlier_resources_would_make_as_far_as_it_is_known() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let recipe = "directory '/srv/a'\nexecute 'touch /srv/made' do\n  creates '/srv/made'\nend\n\
                  directory('/srv/b') { only_if 'test -d /srv/a' }\nfile('/srv/c') { only_if { ::File.exist?('/srv/made') } }\n\
                  file('/srv/d') { not_if { ::Dir.exist?('/srv/a') } }\nfile('/srv/e') { only_if 'test -d /srv/other' }\n\
                  file('/srv/f') { only_if { ::File.exist?('/srv/other') } }\n";
    let check = || {
        let run = converge(&program, &machine, recipe, 0);
        let rows = run["resources"].as_array().unwrap();
        let statuses: Vec<_> = rows.iter().map(|row| row["status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["updated", "updated", "updated", "updated", "skipped", "skipped", "skipped"], "{run:#}");
        let why = rows[2]["uncertain"].to_string();
        assert!(why.contains("it names /srv/a, which directory[/srv/a] would change before"), "{why}");
        let why = rows[3]["uncertain"].to_string();
        assert!(why.contains("look at /srv/made, which execute[touch /srv/made] would change before"), "{why}");
    };
    check();
    // On a machine that wrun has converged before, it has nothing of its own to make.
    machine.run(&["mkdir", "-p", "/var/chef/cache"]).unwrap();
    check();
}

#[test]
fn resources_that_want_one_thing_differently_are_all_foreseen() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    root.write("srv/twice", "second\n").unwrap();
    let machine = root.machine(Network::Own).unwrap();
    let recipe = "file('/srv/twice') { content \"first\\n\" }\n\
                  file('again') { path '/srv/twice'; content \"second\\n\" }\n\
                  file('/srv/passing') { content 'x' }\n\
                  file('it goes') { path '/srv/passing'; action :delete }\n\
                  file('same') { path '/srv/twice'; content \"second\\n\" }\n";
    let run = converge(&program, &machine, recipe, 0);
    let rows = run["resources"].as_array().unwrap();
    let seen: Vec<_> = rows.iter().map(|row| (&row["status"], &row["uncertain"])).collect();
    let (updated, same, nothing) = (json!("updated"), json!("up-to-date"), Value::Null);
    let changed = (&updated, &nothing);
    assert_eq!(seen, [changed, changed, changed, changed, (&same, &nothing)], "{run:#}");
    let diff = rows[1]["diffs"].to_string();
    assert!(diff.contains("-first") && diff.contains("+second"), "{diff}");
}

/// `apt-cache` asks whether it may write its cache, even where it would not.
#[test]
fn apt_cache_answers_and_writes_nothing() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let before = root.changes().unwrap();
    let recipe = "log shell_out!('apt-cache policy wrun-no-such-package-here; echo answered').stdout.strip\n";
    let run = converge(&program, &machine, recipe, 0);
    assert_eq!(run["resources"][0]["name"], "answered", "{run:#}");
    assert_eq!(root.changes().unwrap(), before);
}

/// An earlier resource brings the file that a later one installs or copies.
#[test]
fn files_that_earlier_resources_bring_are_assumed() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let recipe = "file('/srv/a.deb') { content 'x' }\n\
                  dpkg_package('/srv/a.deb')\n\
                  remote_file('/srv/b') { source 'file:///srv/a.deb' }\n";
    let run = converge(&program, &machine, recipe, 0);
    let statuses: Vec<_> = run["resources"].as_array().unwrap().iter().map(|row| row["status"].clone()).collect();
    let [file, package, copy] = statuses.as_slice() else { panic!("{run:#}") };
    assert_eq!(*file, "updated");
    assert!(["updated", "unknown"].iter().any(|status| package == status), "{run:#}");
    assert_eq!(*copy, "unknown", "{run:#}");
}
