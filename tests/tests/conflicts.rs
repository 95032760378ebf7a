//! Two teams that want one thing differently hear of it on every run, whatever each of them calls the thing.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use specs::{Machine, Network, Output, Program, Root};
use std::fs;
use std::process::Command;

/// Builds a policy of one cookbook of the same name with one recipe.
fn build(program: &Program, policy: &str, recipe: &str) {
    let folder = program.configuration();
    let place = folder.join(policy).join("cookbooks").join(policy);
    fs::create_dir_all(place.join("recipes")).unwrap();
    fs::create_dir_all(place.join("files")).unwrap();
    fs::write(place.join("files/same"), "same\n").unwrap();
    let about = format!("name = \"{policy}\"\nrun_list = [\"{policy}\"]\n");
    fs::write(folder.join(policy).join("policy.toml"), about).unwrap();
    fs::write(place.join("metadata.rb"), format!("name '{policy}'\n")).unwrap();
    fs::write(place.join("recipes/default.rb"), recipe).unwrap();
    let mut command = Command::new(program.executable());
    command.args(["policy", "build"]).arg(folder.join(policy)).arg("--output").arg(&folder);
    let built = command.envs(program.environment()).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

fn converge(program: &Program, machine: &Machine<'_>, more: &[&str]) -> Output {
    let root = machine.root().path().display().to_string();
    let folder = program.configuration().display().to_string();
    let fixed = ["converge", "--node-name", "node1", "--policy-name", "core,site", "--root", &root, "--allow-all"];
    program.run_in(machine, &[&fixed[..], &["--policies", &folder], more].concat()).unwrap()
}

/// The conflicts of a run: kind, name, aspects, and who is told of.
fn conflicts(output: &Output) -> Vec<Value> {
    let run: Value = serde_json::from_str(&output.stdout).unwrap();
    let all = run["conflicts"].as_array().unwrap().iter();
    let place = |one: &Value| json!([one["policy"], one["resource"], one["action"], one["file"], one["line"]]);
    all.map(|one| json!([one["kind"], one["name"], one["aspects"], place(&one["earlier"]), place(&one["later"])]))
        .collect()
}

/// An init script whose service runs while a file is there.
const SERVICE: &str = "#!/bin/sh\ncase $1 in\nstart) touch /run/thing;;\nstop) rm -f /run/thing;;\nstatus) test -e \
                       /run/thing;;\nesac\n";

#[test]
fn two_teams_that_write_one_file_in_turn_are_told_on_each_run() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    root.write("srv/real/keep", "").unwrap();
    std::os::unix::fs::symlink("real", root.at("srv/link").unwrap()).unwrap();
    let core = "file '/srv/real/motd' do\n  content 'core'\n  mode '0644'\nend\n\
                cookbook_file '/srv/same' do\n  source 'same'\nend\nfile '/srv/moved'\nfile '/srv/own' do\n  owner \
                'root'\nend\n";
    let site = "file '/srv/link/motd' do\n  content 'site'\n  mode '644'\nend\n\
                file '/srv/same' do\n  content \"same\\n\"\nend\nfile '/srv/moved' do\n  action :delete\nend\n\
                file '/srv/own' do\n  owner 0\n  mode '0600'\nend\n";
    build(&program, "core", core);
    build(&program, "site", site);
    let motd = json!([
        "path",
        "/srv/real/motd",
        ["content"],
        ["core", "file[/srv/real/motd]", "create", "recipes/default.rb", 1],
        ["site", "file[/srv/link/motd]", "create", "recipes/default.rb", 1]
    ]);
    let moved = json!([
        "path",
        "/srv/moved",
        ["presence"],
        ["core", "file[/srv/moved]", "create", "recipes/default.rb", 8],
        ["site", "file[/srv/moved]", "delete", "recipes/default.rb", 8]
    ]);
    let expected = [motd, moved];
    // Dry on a fresh machine, twice for real, and dry where the later policy has nothing to change.
    for more in [&["-F", "json", "-W"][..], &["-F", "json"], &["-F", "json"], &["-F", "json", "-W"]] {
        let output = converge(&program, &machine, more).expect_code(0).unwrap();
        assert_eq!(conflicts(&output), expected, "{more:?}: {}", output.text());
    }
    // The later policy finds what the earlier one left, which a dry run has not made.
    let dry = converge(&program, &machine, &["-F", "json", "-W"]);
    let dry: Value = serde_json::from_str(&dry.stdout).unwrap();
    let rows = dry["policies"][1]["resources"].as_array().unwrap();
    let statuses: Vec<_> = rows.iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["updated", "up-to-date", "updated", "up-to-date"], "{dry:#}");
    assert_eq!(rows[0]["uncertain"], json!(["policy core would change it before"]), "{dry:#}");
    // People read it before the recap, once.
    let shown = converge(&program, &machine, &[]).expect_code(0).unwrap().stdout;
    let block = "2 things are wanted differently by several policies; the later one has the last word, on every run:\n  \
                 path /srv/real/motd (content)\n    core  file[/srv/real/motd] create  core/recipes/default.rb:1\n    \
                 site  file[/srv/link/motd] create  site/recipes/default.rb:1\n  path /srv/moved (presence)\n";
    assert_eq!(shown.matches(block).count(), 1, "{shown}");
    let recorded = program.run(&["run", "show"]).unwrap().expect_code(0).unwrap().stdout;
    let block = "  path /srv/real/motd (content)\n    core  file[/srv/real/motd] create  (core/recipes/default.rb:1)\n    \
                 site  file[/srv/link/motd] create  (site/recipes/default.rb:1)\n  path /srv/moved (presence)\n";
    assert_eq!(recorded.matches(block).count(), 1, "{recorded}");
}

#[test]
fn packages_services_and_accounts_have_names_of_their_own() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    root.write_program("etc/init.d/thing", SERVICE).unwrap();
    let core = "package 'nosuchthing' do\n  action :remove\nend\nservice 'thing' do\n  action :start\nend\n\
                user 'worker' do\n  comment 'one'\nend\ngroup 'workers' do\n  members ['worker']\nend\n\
                group 'staff' do\n  members ['root']\nend\ngroup 'mail' do\n  members ['root']\nend\n";
    let site = "package 'gone' do\n  package_name 'nosuchthing'\nend\nservice 'thing.service' do\n  action \
                [:nothing]\nend\nservice 'stop it' do\n  service_name 'thing'\n  action :stop\nend\n\
                user 'other name' do\n  username 'worker'\n  comment 'two'\nend\n\
                group 'workers' do\n  append true\n  members ['root']\nend\n\
                group 'staff'\ngroup 'mail' do\n  members []\nend\n";
    build(&program, "core", core);
    build(&program, "site", site);
    let output = converge(&program, &machine, &["-F", "json", "-W"]);
    let found = conflicts(&output);
    let found: Vec<_> = found.iter().map(|one| (one[0].clone(), one[1].clone(), one[2].clone())).collect();
    let expected = [
        (json!("package"), json!("nosuchthing"), json!(["presence"])),
        (json!("unit"), json!("thing"), json!(["running"])),
        (json!("user"), json!("worker"), json!(["comment"])),
        (json!("group"), json!("staff"), json!(["members"])),
        (json!("group"), json!("mail"), json!(["members"])),
    ];
    assert_eq!(found, expected, "{}", output.text());
}

/// Also where the earlier one finds nothing left to do, and so declares no child that could be compared.
#[test]
fn resources_that_act_by_children_are_compared_themselves() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    root.write("etc/sysctl.d/99-chef-vm.swappiness.conf", "vm.swappiness = 10\n").unwrap();
    let core = "sysctl 'vm.swappiness' do\n  value 10\nend\nsysctl 'vm.dirty_ratio' do\n  value 5\nend\n";
    let site = "sysctl 'swap less' do\n  key 'vm.swappiness'\n  value '60'\nend\nsysctl 'vm.dirty_ratio' do\n  value '5'\nend\n";
    build(&program, "core", core);
    build(&program, "site", site);
    let output = converge(&program, &machine, &["-F", "json", "-W"]);
    let found = conflicts(&output);
    let of_type: Vec<_> = found.iter().filter(|one| one[0] == "sysctl").collect();
    let place = |policy: &str, name: &str| json!([policy, format!("sysctl[{name}]"), "apply", "recipes/default.rb", 1]);
    let expected =
        json!(["sysctl", "vm.swappiness", ["value"], place("core", "vm.swappiness"), place("site", "swap less")]);
    assert_eq!(of_type, [&expected], "{}", output.text());
}
