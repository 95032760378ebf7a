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

/// The kind, name and aspects of each conflict.
fn things(output: &Output) -> Vec<Value> {
    conflicts(output).into_iter().map(|one| json!([one[0], one[1], one[2]])).collect()
}

/// The status of each action of the later policy.
fn later_statuses(output: &Output) -> Vec<String> {
    let run: Value = serde_json::from_str(&output.stdout).unwrap();
    let rows = run["policies"][1]["resources"].as_array().unwrap().iter();
    rows.map(|row| format!("{}[{}] {}", row["type"], row["name"], row["status"]).replace('"', "")).collect()
}

/// Checks that each dry run and each real run tells of the same things, from the first run on.
#[track_caller]
fn told_on_each_run(core: &str, site: &str, prepare: impl Fn(&Root), expected: &Value) {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    prepare(&root);
    build(&program, "core", core);
    build(&program, "site", site);
    for more in [&["-F", "json", "-W"][..], &["-F", "json"], &["-F", "json", "-W"], &["-F", "json"]] {
        let output = converge(&program, &machine, more).expect_code(0).unwrap();
        assert_eq!(json!(things(&output)), *expected, "{more:?}: {}", output.text());
    }
}

#[test]
fn a_file_that_another_type_of_resource_writes_is_one_thing() {
    let unit = "systemd_unit 'thing.service' do\n  content \"[Unit]\\nDescription=a\\n\"\n  verify false\n  triggers_reload false\n  action :create\nend\n";
    let file = "file '/etc/systemd/system/thing.service' do\n  content \"[Unit]\\nDescription=b\\n\"\nend\n";
    let expected = json!([["path", "/etc/systemd/system/thing.service", ["content"]]]);
    told_on_each_run(unit, file, |_| {}, &expected);
    told_on_each_run(file, unit, |_| {}, &expected);
    let other = unit.replace("=a", "=b");
    told_on_each_run(unit, &other, |_| {}, &expected);
    told_on_each_run(&other, file, |_| {}, &json!([]));
    // Resources that act by their children, also where nothing is left for these to do.
    let files = "file '/etc/sysctl.d/99-chef-vm.swappiness.conf' do\n  content 'x'\nend\n\
                 file '/etc/apt/sources.list.d/thing.list' do\n  content 'x'\nend\n";
    let removals = "sysctl 'vm.swappiness' do\n  action :remove\nend\n\
                    apt_repository 'thing' do\n  action :remove\nend\n";
    let debian = |root: &Root| {
        root.write("etc/os-release", "ID=debian\n").unwrap();
        root.write("etc/sysctl.d/x", "").unwrap();
        root.write("etc/apt/sources.list.d/x", "").unwrap();
        root.write_program("usr/sbin/sysctl", "#!/bin/sh\n").unwrap();
    };
    let expected = json!([
        ["path", "/etc/sysctl.d/99-chef-vm.swappiness.conf", ["presence"]],
        ["path", "/etc/apt/sources.list.d/thing.list", ["presence"]]
    ]);
    told_on_each_run(files, removals, debian, &expected);
}

#[test]
fn a_dry_run_foresees_what_a_later_policy_does_to_the_file_of_an_earlier_one() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    root.write("etc/systemd/system/thing.service", "b\n").unwrap();
    root.write("srv/tree/same", "same\n").unwrap();
    root.write_program("usr/sbin/sysctl", "#!/bin/sh\n").unwrap();
    root.write("etc/sysctl.d/x", "").unwrap();
    let core = "systemd_unit 'thing.service' do\n  content \"[Unit]\\n\"\n  verify false\n  triggers_reload false\n  action :create\nend\n\
                file '/etc/sysctl.d/99-chef-vm.swappiness.conf'\nfile '/srv/tree/mine'\n";
    let site = "file '/etc/systemd/system/thing.service' do\n  content \"b\\n\"\nend\n\
                sysctl 'vm.swappiness' do\n  action :remove\nend\n\
                remote_directory '/srv/tree' do\n  source 'tree'\n  purge true\nend\n";
    let tree = program.configuration().join("site/cookbooks/site/files/tree");
    fs::create_dir_all(&tree).unwrap();
    fs::write(tree.join("same"), "same\n").unwrap();
    build(&program, "core", core);
    build(&program, "site", site);
    let dry = converge(&program, &machine, &["-F", "json", "-W"]).expect_code(0).unwrap();
    let expected = json!([
        ["path", "/etc/systemd/system/thing.service", ["content"]],
        ["path", "/etc/sysctl.d/99-chef-vm.swappiness.conf", ["presence"]],
        ["path", "/srv/tree/mine", ["presence"]]
    ]);
    assert_eq!(json!(things(&dry)), expected, "{}", dry.text());
    let statuses = later_statuses(&dry);
    let updated = |name: &str| statuses.contains(&format!("{name} updated"));
    assert!(updated("file[/etc/systemd/system/thing.service]"), "{statuses:?}");
    assert!(updated("sysctl[vm.swappiness]") && updated("remote_directory[/srv/tree]"), "{statuses:?}");
    let wet = converge(&program, &machine, &["-F", "json"]).expect_code(0).unwrap();
    assert_eq!(json!(things(&wet)), expected, "{}", wet.text());
    assert!(!root.at("srv/tree/mine").unwrap().exists());
}

#[test]
fn a_directory_that_goes_with_its_content_is_held_against_all_that_lies_in_it() {
    let file = "directory '/srv/app' do\n  recursive true\nend\nfile '/srv/app/x'\n";
    let removal = "directory '/srv/app' do\n  recursive true\n  action :delete\nend\n";
    let expected = json!([["path", "/srv/app", ["presence"]], ["path", "/srv/app/x", ["presence"]]]);
    told_on_each_run(file, removal, |_| {}, &expected);
    let removal = "remote_directory '/srv/app' do\n  action :delete\nend\n";
    told_on_each_run(file, removal, |_| {}, &expected);
}

#[test]
fn a_link_and_a_file_at_its_path_are_told_on_each_run() {
    let file = "file '/srv/x' do\n  content 'x'\nend\n";
    let link = "link '/srv/x' do\n  to '/srv/y'\nend\n";
    let target = |root: &Root| root.write("srv/y", "x").unwrap();
    told_on_each_run(file, link, target, &json!([["path", "/srv/x", ["presence"]]]));
}

#[test]
fn a_line_of_the_table_of_file_systems_is_held_against_its_content() {
    let whole = "file '/etc/fstab' do\n  content \"# none\\n\"\nend\n";
    let mount = "mount '/srv/disk' do\n  device '/dev/sdz9'\n  fstype 'ext4'\n  action :enable\nend\n";
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    root.write("srv/disk/x", "").unwrap();
    root.write("etc/fstab", "").unwrap();
    build(&program, "core", whole);
    build(&program, "site", mount);
    for _ in 0..2 {
        let output = converge(&program, &machine, &["-F", "json"]).expect_code(0).unwrap();
        assert_eq!(json!(things(&output)), json!([["path", "/etc/fstab", ["content"]]]), "{}", output.text());
    }
}

/// The other lines of `/etc/hosts` are not those of the resource, and its own one may be there already.
#[test]
fn the_line_of_a_hostname_is_held_against_a_table_of_hosts_that_lacks_it() {
    let hostname = "hostname 'web1' do\n  ipaddress '192.0.2.1'\nend\n";
    let table = "127.0.0.1 localhost\n192.0.2.1 web1 web1\n";
    for (text, expected) in [
        ("127.0.0.1 localhost\n", json!([["path", "/etc/hosts", ["content"]]])),
        (table, json!([])),
        (&format!("{table}192.0.2.2 other\n"), json!([])),
    ] {
        let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
        let machine = root.machine(Network::Own).unwrap();
        root.write("etc/hosts", if expected == json!([]) { text } else { table }).unwrap();
        build(&program, "core", hostname);
        build(&program, "site", &format!("file '/etc/hosts' do\n  content {text:?}\nend\n"));
        for _ in 0..2 {
            let output = converge(&program, &machine, &["-F", "json"]).expect_code(0).unwrap();
            assert_eq!(json!(things(&output)), expected, "{}", output.text());
        }
    }
}
