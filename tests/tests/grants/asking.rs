//! What one run tells of a denied resource, and where the rest is found.

use super::{Bench, json};
use serde_json::Value;
use specs::{Machine, Network, Root};
use std::fs;

/// The entries that a run lists as denied, by key.
fn denied(bench: &Bench, machine: &Machine<'_>, more: &[&str]) -> Vec<String> {
    let run = json(&bench.converge(machine, &[&["--format", "json"][..], more].concat()));
    let text = |one: &Value, key: &str| one.get(key).and_then(Value::as_str).unwrap().to_owned();
    let denials = run.get("denials").and_then(Value::as_array).unwrap().iter();
    let mut all: Vec<_> = denials.map(|one| format!("{} {}", text(one, "key"), text(one, "asked"))).collect();
    all.sort();
    all
}

/// Neither the guards' commands nor the action's are run.
#[test]
fn guards_and_action_of_a_denied_resource_are_told_in_one_run() {
    let recipe = "execute 'touch /srv/done' do\n  only_if 'touch /srv/only'\n  not_if 'touch /srv/not'\nend\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let all = ["touch /srv/done", "touch /srv/not", "touch /srv/only"].map(|command| format!("commands {command}"));
    for more in [&[][..], &["--why-run"]] {
        fs::write(bench.grants(), "").unwrap();
        assert_eq!(denied(&bench, &machine, more), all, "{more:?}");
        assert!(["done", "only", "not"].iter().all(|name| !root.exists(format!("srv/{name}"))));
    }
    let allowed = bench.tool(&["grants", "allow", "--last", "--yes", "--dangerous"]).expect_code(0).unwrap();
    let run = bench.converge(&machine, &[]).expect_code(0).unwrap();
    assert!(!run.stdout.contains("denied"), "{}{}", allowed.text(), run.text());
}

#[test]
fn all_that_an_action_needs_is_told_in_one_run() {
    for (recipe, expected) in [
        (
            "package %w(one two) do\n  options '--opt'\n  default_release 'sid'\nend\n",
            &["package_options --default-release=sid", "package_options --opt", "packages one", "packages two"][..],
        ),
        (
            "remote_file '/srv/x' do\n  source ['http://127.0.0.1:9/x', 'file:///srv/y']\n  verify 'check %{path}'\nend\n",
            &["commands check %{path}", "download_hosts http://127.0.0.1:9", "paths /srv/x", "read_paths /srv/y"],
        ),
        (
            "git '/srv/x' do\n  repository 'https://example.org/x.git'\n  user 'nobody'\nend\n",
            &["download_hosts https://example.org", "paths /srv/x", "users nobody"],
        ),
        (
            "file '/srv/x' do\n  only_if 'a'\n  verify 'check %{path}'\nend\n",
            &["commands a", "commands check %{path}", "paths /srv/x"],
        ),
        // The folder that it unpacks into is asked for with the archive, and with its missing parents.
        (
            "archive_file '/srv/x.tar' do\n  destination '/srv/new/x'\nend\n",
            &["paths /srv/new", "paths /srv/new/x", "read_paths /srv/x.tar"],
        ),
        // Types that are made of other resources.
        (
            "apt_preference 'x' do\n  pin 'version 1'\n  pin_priority '700'\n  only_if 'a'\nend\n",
            &["commands a", "paths /etc/apt/preferences.d", "paths /etc/apt/preferences.d/x.pref"],
        ),
        (
            "apt_preference 'x' do\n  pin 'version 1'\n  pin_priority '700'\nend\n",
            &["paths /etc/apt/preferences.d", "paths /etc/apt/preferences.d/x.pref"],
        ),
        // The first parts are looked at only with the grants for it.
        (
            "hostname 'web1' do\n  ipaddress '10.0.0.5'\nend\n",
            &["commands /bin/hostname web1", "paths /etc/hostname", "paths /etc/hosts"],
        ),
        (
            "swap_file '/srv/swap' do\n  size 1\n  persist true\n  swappiness 10\nend\n",
            &[
                "commands swapon /srv/swap",
                "commands sysctl -w vm.swappiness=10",
                "paths /etc/sysctl.d",
                "paths /etc/sysctl.d/99-chef-vm.swappiness.conf",
            ],
        ),
        (
            "apt_repository 'x' do\n  uri 'https://example.org/x'\n  key 'https://example.org/x.asc'\nend\n",
            &[
                "commands apt-cache gencaches",
                "commands apt-get -q update",
                "commands gpg %{path}",
                "commands gpg --import --batch --yes --no-default-keyring --keyring /etc/apt/keyrings/x.gpg \
                 /var/chef/cache/https___example_org_x_asc",
                "download_hosts https://example.org",
                "paths /etc/apt/keyrings",
                "paths /etc/apt/keyrings/x.gpg",
                "paths /etc/apt/sources.list.d/x.list",
                "paths /var/chef/cache/https___example_org_x_asc",
            ],
        ),
        // It reads its ring to see whether the key is there.
        (
            "apt_repository 'x' do\n  uri 'https://example.org/x'\n  key 'ABCDEF01'\n  keyserver 'keys.example'\n  \
             cache_rebuild false\nend\n",
            &[
                "commands apt-cache gencaches",
                "commands gpg --no-default-keyring --keyring /etc/apt/keyrings/x.gpg --keyserver \
                 hkp://keys.example:80 --recv ABCDEF01",
                "paths /etc/apt/keyrings",
                "paths /etc/apt/sources.list.d/x.list",
                "read_paths /etc/apt/keyrings/x.gpg",
            ],
        ),
        ("sudo 'ops' do\n  users 'ann'\nend\n", &["paths /etc/sudoers.d", "paths /etc/sudoers.d/ops"]),
        (
            "kernel_module 'x' do\n  options ['a=1']\nend\n",
            &["commands modprobe x", "commands update-initramfs -u", "kernel_modules x"],
        ),
        // Users and groups with their numbers and homes.
        (
            "user 'deploy' do\n  uid 0\n  gid 'www'\n  home '/srv/deploy'\n  manage_home true\nend\n",
            &["groups www", "paths /srv/deploy", "users deploy", "users root"],
        ),
        ("group 'ops' do\n  gid 0\nend\n", &["groups ops", "groups root"]),
        // All actions of a resource.
        (
            "service 'x' do\n  start_command 'start x'\n  action %i(enable start)\nend\n",
            &["commands start x", "services x"],
        ),
        // Its path is known once the policy's code has run, which it does not for an action that is denied.
        ("file 'x' do\n  path lazy { raise 'computed' }\n  only_if 'a'\nend\n", &["commands a"]),
    ] {
        let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
        let machine = root.machine(Network::Own).unwrap();
        fs::write(bench.grants(), "").unwrap();
        for more in [&[][..], &["--why-run"]] {
            assert_eq!(denied(&bench, &machine, more), expected, "{more:?} {recipe}");
        }
    }
}

/// A run ends with the first denied resource, and names the command that lists what the others are denied.
#[test]
fn a_run_that_was_denied_names_the_command_that_lists_all_denials() {
    let (bench, root) = (Bench::new("file '/srv/a'\nfile '/srv/b'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "").unwrap();
    let run = bench.converge(&machine, &[]).expect_code(1).unwrap();
    let (_, command) = run.stdout.split_once("To list what all of them are denied:\n    wrun ").unwrap();
    let words: Vec<&str> = command.lines().next().unwrap().split(' ').collect();
    assert_eq!((words[0], words.last()), ("converge", Some(&"--why-run")), "{}", run.text());
    assert!(["--run-list", "site", "--node-name"].iter().all(|word| words.contains(word)), "{words:?}");
    assert!(!run.stdout.contains("manage path /srv/b"), "{}", run.text());
    let dry = bench.converge(&machine, &["--why-run"]).expect_code(1).unwrap();
    assert!(dry.stdout.contains("2 things were denied") && !dry.stdout.contains("stops at"), "{}", dry.text());
    // Values of attributes may be secret: they are not repeated.
    let secret = bench.converge(&machine, &["--parameter", "a.b=s3cr3t"]).expect_code(1).unwrap();
    let told = "`wrun converge --why-run` with the same options lists what all of them are denied";
    assert!(secret.stdout.contains(told) && !secret.stdout.contains("s3cr3t"), "{}", secret.text());
}

/// Such a command is of no use where the run has listed everything.
#[test]
fn that_command_is_named_only_where_it_lists_more() {
    for (recipe, has_more) in [
        ("file '/srv/a'\n", false),
        ("file '/srv/a' do\n  ignore_failure true\nend\nfile '/srv/b'\n", false),
        ("swap_file '/srv/swap' do\n  size 1\nend\n", false),
        ("file '/srv/a'\nfile '/srv/b'\n", true),
        // A dry run does not run such a block, so that it lists no more.
        ("ruby_block 'a' do\n  block { File.read('/srv/a') }\nend\n", false),
        (
            "class Thing < Chef::Resource\n  provides :thing\n  action(:run) { file('/srv/a'); file('/srv/b') }\nend\n\
             thing 'x'\n",
            true,
        ),
        ("File.read('/srv/a')\n", true),
        ("file('/srv/a').run_action(:create)\nfile '/srv/b'\n", true),
    ] {
        let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
        let machine = root.machine(Network::Own).unwrap();
        fs::write(bench.grants(), "").unwrap();
        let run = bench.converge(&machine, &[]).expect_code(1).unwrap();
        assert!(run.stdout.contains("denied:\n"), "{}", run.text());
        assert_eq!(run.stdout.contains("A run stops at the first"), has_more, "{recipe}{}", run.text());
    }
}

#[test]
fn a_policy_that_was_not_in_the_run_is_an_error() {
    let (bench, root) = (Bench::new("file '/srv/a'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "").unwrap();
    let _denied = bench.converge(&machine, &["--why-run"]).expect_code(1).unwrap();
    for (name, near) in [("sloo", "did you mean `solo`?"), ("web", "the run had solo")] {
        let said = bench.tool(&["grants", "allow", "--last", "--yes", "--policy-name", name]).expect_code(43).unwrap();
        assert!(said.stderr.contains(&format!("policy `{name}` was not in run")), "{}", said.text());
        assert!(said.stderr.contains(near), "{}", said.text());
    }
    assert_eq!(fs::read_to_string(bench.grants()).unwrap(), "");
    let done = bench.tool(&["grants", "allow", "--last", "--yes", "--policy-name", "solo"]).expect_code(0).unwrap();
    assert!(done.stdout.contains("+paths = [\"/srv/a\"]"), "{}", done.text());
}

#[test]
fn an_older_run_that_was_denied_something_is_named() {
    let (bench, root) = (Bench::new("file '/srv/a'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "").unwrap();
    let denied = json(&bench.converge(&machine, &["--why-run", "--format", "json"]));
    let older = denied["run_id"].as_str().unwrap();
    let _quiet = bench.wrun(&machine, &["converge"], &["--why-run", "--allow-all"]).expect_code(0).unwrap();
    let said = bench.tool(&["grants", "allow", "--last", "--yes"]).expect_code(0).unwrap();
    let command = format!("wrun grants allow --from-run {older} --grants ");
    assert!(said.stderr.contains("nothing was denied in run ") && said.stderr.contains(&command), "{}", said.text());
    // The beginning of its name is enough, if no other run begins so.
    let unknown = bench.tool(&["grants", "allow", "--from-run", "19", "--yes"]).expect_code(43).unwrap();
    assert!(unknown.stderr.contains("begins with \"19\"; `wrun run list` lists the runs"), "{}", unknown.text());
    let several = bench.tool(&["grants", "allow", "--from-run", "20", "--yes"]).expect_code(43).unwrap();
    assert!(several.stderr.contains("several runs begin with \"20\"; say which: "), "{}", several.text());
    let begun = &older[..older.len() - 3];
    let _done = bench.tool(&["grants", "allow", "--from-run", begun, "--yes"]).expect_code(0).unwrap();
    // What the grants have by now is not named.
    let said = bench.tool(&["grants", "allow", "--last", "--yes"]).expect_code(0).unwrap();
    assert!(!said.stderr.contains("--from-run"), "{}", said.text());
}

/// Somebody may have written anything into a file, so that a person looks at it.
#[test]
fn attack_a_record_that_a_stranger_wrote_gives_and_takes_nothing() {
    let bench = Bench::new("file '/srv/a'\n");
    let ours = "[policy.good]\npaths = [\"/srv/good/**\"]\n[policy.solo]\n";
    fs::write(bench.grants(), ours).unwrap();
    let file = bench.program.configuration().join("run.json");
    let path = file.display().to_string();
    let allow = |policy: &str, key: &str, value: &str, more: &[&str]| {
        let denial = serde_json::json!({"policy": policy, "message": "may not", "key": key, "value": value, "asked": "x", "times": 1});
        let record = serde_json::json!({"version": 1, "run_id": "20261127T153749.974Z-4f665793", "policies": [{"name": "solo"}], "denials": [denial]});
        fs::write(&file, record.to_string()).unwrap();
        bench.tool(&[&["grants", "allow", "--from-run", &path], more].concat()).expect_code(43).unwrap()
    };
    let by_yes = allow("solo", "paths", "\"/srv/a\"", &["--yes"]);
    assert!(by_yes.stderr.contains("is not a record of wrun's own: user "), "{}", by_yes.text());
    assert!(by_yes.stderr.contains("--yes adds nothing from such a file"), "{}", by_yes.text());
    for (policy, key, value, said) in [
        ("good", "paths", "\"/srv/a\"", "entries for policy `good`, which was not in the run"),
        ("solo", "deny_paths", "\"/srv/good/**\"", "`deny_paths` of policy `solo` is not a right"),
        ("solo", "commands", "{ argv = [\"true\",\n# fine\n\"x\"], user = \"app\" }", "on one line without a comment"),
    ] {
        let refused = allow(policy, key, value, &[]);
        assert!(refused.stderr.contains(said) && refused.stdout.is_empty(), "{}", refused.text());
    }
    // What may be added is shown, with the owner of the file, and asked for.
    let asked = allow("solo", "paths", "\"/srv/a\"", &[]);
    assert!(
        asked.stderr.contains("warning: ") && asked.stderr.contains("could write anything into it"),
        "{}",
        asked.text()
    );
    assert!(asked.stdout.contains("+paths = [\"/srv/a\"]"), "{}", asked.text());
    assert_eq!(fs::read_to_string(bench.grants()).unwrap(), ours);
}

/// A value of JSON needs many times the bytes of its text.
#[test]
fn attack_a_large_record_of_a_stranger_is_refused() {
    let bench = Bench::new("file '/srv/a'\n");
    let file = bench.program.configuration().join("run.json");
    let path = file.display().to_string();
    let allow = |code| bench.tool(&["grants", "allow", "--from-run", &path]).expect_code(code).unwrap();
    let many = "[],".repeat(5_000_000);
    fs::write(&file, format!("{{\"run_id\": \"x\", \"denials\": [{many}0]}}")).unwrap();
    let refused = allow(43);
    assert!(refused.stderr.contains("what is read of it needs more than 128 MiB"), "{}", refused.text());
    // What is not needed is not kept.
    fs::write(&file, format!("{{\"run_id\": \"x\", \"resources\": [{many}0]}}")).unwrap();
    assert!(allow(0).stderr.contains("nothing was denied in run x"));
    fs::File::create(&file).unwrap().set_len((256 << 20) + 1).unwrap();
    let refused = allow(43);
    assert!(refused.stderr.contains("is longer than 268435456 bytes"), "{}", refused.text());
}

/// A server does as root what its configuration says.
#[test]
fn attack_configuration_of_a_service_is_not_added_by_yes() {
    let recipe = "file '/srv/a'\nfile '/etc/shop/shop.conf'\nservice('shop') { action :start }\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "[policy.solo]\n").unwrap();
    let _denied = bench.converge(&machine, &["--why-run"]).expect_code(1).unwrap();
    let written = bench.tool(&["grants", "allow", "--last", "--yes"]).expect_code(1).unwrap();
    assert!(written.stderr.contains("paths \"/etc/shop/shop.conf\" is configuration"), "{}", written.text());
    let text = fs::read_to_string(bench.grants()).unwrap();
    assert_eq!(text, "[policy.solo]\npaths = [\"/srv/a\"]\n", "{}", written.text());
    // Somebody who is asked sees both.
    let asked = bench.tool(&["grants", "allow", "--last"]).expect_code(43).unwrap();
    assert!(asked.stdout.contains("+services = [\"shop\"]"), "{}", asked.text());
    assert!(asked.stderr.contains("then say --yes --dangerous"), "{}", asked.text());
    let _written = bench.tool(&["grants", "allow", "--last", "--yes", "--dangerous"]).expect_code(0).unwrap();
    assert!(fs::read_to_string(bench.grants()).unwrap().contains("/etc/shop/shop.conf"));
}
