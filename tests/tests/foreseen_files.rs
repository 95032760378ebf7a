//! What earlier resources of a dry run would leave behind is there for later code and later resources, as in a real run.

#![cfg(target_arch = "x86_64")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use serde_json::Value;
use specs::{Machine, Network, Program, Root};
use std::fs;

/// Resources that read a file and declare one with what they made of it, as those of the cookbook `line` do.
const APPEND: &str = r"provides :append
unified_mode true
property :path, String, name_property: true
property :line, String
property :secret, [true, false], default: false
action :edit do
  current = ::File.exist?(new_resource.path) ? ::File.read(new_resource.path).lines(chomp: true) : []
  file new_resource.path do
    content((current + [new_resource.line]).join(%(\n)) + %(\n))
    sensitive new_resource.secret
    not_if { current.include?(new_resource.line) }
  end
end
";

const REPLACE: &str = r"provides :replace
unified_mode true
property :path, String, name_property: true
property :from, String
property :to, String
action :edit do
  changed = ::File.readlines(new_resource.path).map { |line| line.sub(new_resource.from, new_resource.to) }
  file(new_resource.path) { content changed.join }
end
";

fn run(program: &Program, machine: &Machine<'_>, recipe: &str, more: &[&str]) -> Value {
    let cookbook = program.configuration().join("cookbooks/web");
    for (name, text) in [
        ("metadata.rb", "name 'web'\n"),
        ("recipes/default.rb", recipe),
        ("resources/append.rb", APPEND),
        ("resources/replace.rb", REPLACE),
        ("templates/broken.erb", "<%= missing_word %>\n"),
    ] {
        let path = cookbook.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let place = machine.root().path().display().to_string();
    let cookbooks = program.configuration().join("cookbooks").display().to_string();
    let mut all = vec!["converge", "--format", "json", "--node-name", "n", "--cookbooks", &cookbooks];
    all.extend(["--run-list", "recipe[web]", "--root", &place, "--allow-all"]);
    all.extend(more);
    let output = program.run_in(machine, &all).unwrap();
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in\n{}", output.text()))
}

/// Rows as `type name status`, the changed lines of their differences, and why they are uncertain.
fn rows(run: &Value) -> Vec<(String, String, Value)> {
    let row = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let diffs = row["diffs"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let is_change =
            |line: &&str| line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---");
        let lines: Vec<&str> = diffs.flat_map(str::lines).filter(is_change).collect();
        (format!("{} {} {}", text("type"), text("name"), text("status")), lines.join(" "), row["uncertain"].clone())
    };
    run["resources"].as_array().unwrap_or_else(|| panic!("{run:#}")).iter().map(row).collect()
}

/// A dry run says of each row what the real run that follows says.
#[track_caller]
fn same_as_real(before: &[&str], recipe: &str, expected: &[(&str, &str)]) {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["sh", "-ec", &format!("mkdir -p /srv; {}", before.join("; "))]).unwrap();
    let changes = root.changes().unwrap().entries.len();
    let dry = run(&program, &machine, recipe, &["--why-run"]);
    assert_eq!(root.changes().unwrap().entries.len(), changes, "nothing has changed");
    let seen = rows(&dry);
    let told: Vec<_> = seen.iter().map(|(row, diff, _)| (row.as_str(), diff.as_str())).collect();
    assert_eq!(told, expected, "{dry:#}");
    let real = rows(&run(&program, &machine, recipe, &[]));
    let real: Vec<_> = real.iter().map(|(row, diff, _)| (row.as_str(), diff.as_str())).collect();
    assert_eq!(real, expected, "the real run");
}

#[test]
fn lines_are_added_to_and_replaced_in_files_that_earlier_resources_make() {
    same_as_real(
        &[],
        "file('/srv/new') { content \"one\\ntwo\\n\" }\n\
         append('/srv/new') { line 'three' }\nreplace('/srv/new') { from 'one'; to 'uno' }\n\
         append('/srv/new') { line 'three' }\nfile('same') { path '/srv/new'; content \"uno\\ntwo\\nthree\\n\" }\n",
        &[
            ("file /srv/new updated", "+one +two"),
            ("append /srv/new updated", ""),
            ("file /srv/new updated", "+three"),
            ("replace /srv/new updated", ""),
            ("file /srv/new updated", "-one +uno"),
            ("append /srv/new up-to-date", ""),
            ("file /srv/new skipped", ""),
            ("file same up-to-date", ""),
        ],
    );
}

#[test]
fn lines_are_added_to_and_replaced_in_files_that_earlier_resources_change() {
    same_as_real(
        &["printf 'old\\nthree\\n' > /srv/there"],
        "file('/srv/there') { content \"one\\ntwo\\n\" }\n\
         append('/srv/there') { line 'three' }\nreplace('/srv/there') { from 'old'; to 'new' }\n\
         replace('/srv/there') { from 'two'; to 'due' }\n",
        &[
            ("file /srv/there updated", "-old -three +one +two"),
            ("append /srv/there updated", ""),
            ("file /srv/there updated", "+three"),
            ("replace /srv/there up-to-date", ""),
            ("file /srv/there up-to-date", ""),
            ("replace /srv/there updated", ""),
            ("file /srv/there updated", "-two +due"),
        ],
    );
}

#[test]
fn directories_links_and_removals_are_seen() {
    same_as_real(
        &["mkdir -p /srv/full/sub", "echo x > /srv/full/sub/x", "echo x > /srv/gone"],
        "directory('/srv/full') { action :delete; recursive true }\ndirectory '/srv/full'\n\
         file('/srv/full/only') { content 'x'; mode '0600' }\nlink('/srv/way') { to '/srv/full' }\n\
         file('/srv/gone') { action :delete }\nfile('again') { path '/srv/gone'; content \"x\\n\" }\n\
         file('/srv/sees') { only_if { ::Dir.children('/srv/way') == ['only'] && ::File.symlink?('/srv/way') } }\n\
         file('/srv/mode') { only_if { ::File.stat('/srv/way/only').mode & 0o777 == 0o600 } }\n\
         file('/srv/left') { only_if { ::File.exist?('/srv/full/sub/x') } }\n\
         file('never') { path '/srv/full/only'; action :delete }\n\
         file('/srv/after') { only_if { ::Dir.empty?('/srv/full') } }\n",
        &[
            ("directory /srv/full updated", ""),
            ("directory /srv/full updated", ""),
            ("file /srv/full/only updated", "+x"),
            ("link /srv/way updated", ""),
            ("file /srv/gone updated", ""),
            ("file again updated", "+x"),
            ("file /srv/sees updated", ""),
            ("file /srv/mode updated", ""),
            ("file /srv/left skipped", ""),
            ("file never updated", ""),
            ("file /srv/after updated", ""),
        ],
    );
}

/// Where no code looks in between, what an earlier resource would bring is assumed, as in Chef's dry runs.
#[test]
fn a_resource_that_says_the_same_again_assumes_that_it_was_done() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["sh", "-ec", "mkdir -p /srv; echo old > /srv/there"]).unwrap();
    let recipe = "%w(new there).each do |name|\n\
                  file(\"/srv/#{name}\") { content \"x\\n\" }\n\
                  file(\"#{name} again\") { path \"/srv/#{name}\"; content \"x\\n\" }\n\
                  file(\"#{name} if missing\") { path \"/srv/#{name}\"; content \"y\\n\"; action :create_if_missing }\nend\n\
                  file('/srv/sees') { only_if { %w(new there).all? { |name| ::File.read(\"/srv/#{name}\") == \"x\\n\" } } }\n";
    let dry = run(&program, &machine, recipe, &["--why-run"]);
    let seen = rows(&dry);
    let told: Vec<_> = seen.iter().map(|(row, _, why)| (row.as_str(), why[0].as_str().unwrap_or_default())).collect();
    let expected = [
        ("file /srv/new updated", ""),
        ("file new again updated", "assuming /srv/new would have been created"),
        ("file new if missing updated", "assuming /srv/new would have been created"),
        ("file /srv/there updated", ""),
        ("file there again updated", "assuming /srv/there would have been changed so before"),
        ("file there if missing up-to-date", ""),
        ("file /srv/sees updated", ""),
    ];
    assert_eq!(told, expected, "{dry:#}");
}

/// What a dry run cannot know is not read as the machine has it now.
#[test]
fn what_is_not_known_has_no_answer() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["sh", "-ec", "mkdir -p /srv; for it in far broken near; do echo old > /srv/$it; done"]).unwrap();
    let recipe = "remote_file('/srv/far') { source 'http://127.0.0.1:9/x' }\n\
                  template('/srv/broken') { source 'broken.erb'; ignore_failure true }\n\
                  remote_file('/srv/near') { source 'file:///etc/passwd' }\n\
                  append('/srv/far') { line 'x' }\nappend('/srv/broken') { line 'x' }\nappend('/srv/near') { line 'x' }\n\
                  file('/srv/asks') { not_if 'grep -q old /srv/far' }\n";
    let run = run(&program, &machine, recipe, &["--why-run"]);
    let seen = rows(&run);
    let expected = [
        ("remote_file /srv/far unknown", None),
        ("template /srv/broken failed", None),
        ("remote_file /srv/near updated", None),
        ("append /srv/far unknown", Some("look at /srv/far, which remote_file[/srv/far] would change before")),
        ("append /srv/broken unknown", Some("look at /srv/broken, which template[/srv/broken] would change before")),
        ("append /srv/near unknown", Some("look at /srv/near, which remote_file[/srv/near] would change before")),
        ("file /srv/asks updated", Some("it names /srv/far, which remote_file[/srv/far] would change before")),
    ];
    for ((row, _, why), (expect, because)) in seen.iter().zip(expected) {
        assert_eq!(row, expect, "{run:#}");
        let told = because.is_none_or(|because| why.to_string().contains(because));
        assert!(told, "{row}: {why}");
    }
    assert_eq!(seen.len(), expected.len(), "{run:#}");
}

/// The policy's own code may read what its sensitive resources would write, as in a real run. Nobody is shown it.
#[test]
fn sensitive_content_is_kept_to_its_policy() {
    let secret = ["s3c", "r3t"].concat();
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["mkdir", "-p", "/srv"]).unwrap();
    let recipe = "file('/srv/key') { content %w(s3c r3t).join + \"\\n\"; sensitive true }\n\
                  append('/srv/key') { line 'a'; secret true }\nappend('/srv/key') { line 'b' }\n\
                  replace('/srv/key') { from 'b'; to 'c' }\nappend('/srv/key') { line 'c' }\n";
    let dry = run(&program, &machine, recipe, &["--why-run"]);
    let statuses: Vec<String> = rows(&dry).into_iter().map(|(row, ..)| row).collect();
    let expected = [
        "file /srv/key updated",
        "append /srv/key updated",
        "file /srv/key updated",
        "append /srv/key updated",
        "file /srv/key updated",
        "replace /srv/key updated",
        "file /srv/key updated",
        "append /srv/key up-to-date",
        "file /srv/key skipped",
    ];
    assert_eq!(statuses, expected, "{dry:#}");
    assert!(!dry.to_string().contains(&secret), "{dry:#}");
    assert_eq!(dry["error"], Value::Null);
    let shown = program.run(&["run", "show"]).unwrap().expect_code(0).unwrap();
    assert!(!shown.text().contains(&secret), "{}", shown.text());
}

/// Each policy has a layer of its own: another one finds the machine as it is, whatever it may read.
#[test]
fn another_policy_does_not_see_it() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["mkdir", "-p", "/srv"]).unwrap();
    let place = |name: &str| program.configuration().join(name).display().to_string();
    let policies = place("policies");
    for (name, recipe) in [
        ("one", "file('/srv/key') { content %w(s3c r3t).join; sensitive true }\n"),
        ("two", "log('there') { only_if { ::File.exist?('/srv/key') } }\n"),
    ] {
        drop(program.run(&["policy", "new", "--ruby", &place(name)]).unwrap().expect_code(0).unwrap());
        fs::write(place(&format!("{name}/cookbooks/{name}/recipes/default.rb")), recipe).unwrap();
        drop(program.run(&["policy", "build", &place(name), "-o", &policies]).unwrap().expect_code(0).unwrap());
    }
    let root = machine.root().path().display().to_string();
    let words = ["converge", "--why-run", "--format", "json", "-N", "n", "--policies", &policies, "--root", &root];
    let output =
        program.run_in(&machine, &[&words[..], &["--policy-name", "one,two", "--allow-all"]].concat()).unwrap();
    let run: Value = serde_json::from_str(&output.expect_code(0).unwrap().stdout).unwrap();
    assert_eq!(run["policies"][0]["resources"][0]["status"], "updated", "{run:#}");
    assert_eq!(run["policies"][1]["resources"][0]["status"], "skipped", "{run:#}");
}

#[test]
fn recipes_that_are_compiled_see_the_machine_as_it_is() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["sh", "-ec", "mkdir -p /srv; echo old > /srv/there"]).unwrap();
    let recipe = "early = file('/srv/there') { content \"new\\n\"; action :nothing }\nearly.run_action(:create)\n\
                  at_compile = ::File.read('/srv/there')\nlog('compile') { message at_compile.strip }\n\
                  log('converge') { message lazy { ::File.read('/srv/there').strip } }\n";
    let dry = run(&program, &machine, recipe, &["--why-run"]);
    let said: Vec<_> = dry["log"].as_array().unwrap().iter().map(|line| line["message"].as_str().unwrap()).collect();
    assert_eq!(said, ["old", "new"], "{dry:#}");
    assert_eq!(dry["error"], Value::Null);
}
