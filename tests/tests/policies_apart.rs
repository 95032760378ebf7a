//! What one policy hears of another: no more than its name and whether it succeeded. The tests are named after the attacks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use specs::{Machine, Network, Output, Program, Root};
use std::fs;
use std::process::Command;

/// Ruby policies on a machine of their own.
struct Node<'a> {
    program: &'a Program,
    machine: Machine<'a>,
}

impl Node<'_> {
    /// Builds a policy of one cookbook with one recipe.
    fn policy(&self, policy: &str, cookbook: &str, recipe: &str) {
        let folder = self.program.configuration();
        let place = folder.join(policy).join("cookbooks").join(cookbook);
        fs::create_dir_all(place.join("recipes")).unwrap();
        let about = format!("name = \"{policy}\"\nrun_list = [\"{cookbook}\"]\n");
        fs::write(folder.join(policy).join("policy.toml"), about).unwrap();
        fs::write(place.join("metadata.rb"), format!("name '{cookbook}'\n")).unwrap();
        fs::write(place.join("recipes/default.rb"), recipe).unwrap();
        let mut command = Command::new(self.program.executable());
        command.args(["policy", "build"]).arg(folder.join(policy)).arg("--output").arg(&folder);
        let built = command.envs(self.program.environment()).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    }

    fn grants(&self, text: &str) {
        fs::write(self.program.configuration().join("grants.toml"), text).unwrap();
    }

    fn run(&self, policies: &str, options: &[&str]) -> Output {
        let root = self.machine.root().path().display().to_string();
        let folder = self.program.configuration();
        let [grants, folder] = [folder.join("grants.toml"), folder.clone()].map(|path| path.display().to_string());
        let arguments = ["converge", "--node-name", "node1", "--policy-name", policies];
        let places = ["--root", &root, "--policies", &folder, "--grants", &grants];
        self.program.run_in(&self.machine, &[&arguments[..], &places, options].concat()).unwrap()
    }

    fn converge(&self, policies: &str) -> (Output, Value) {
        let ran = self.run(policies, &["--format", "json"]);
        let report = serde_json::from_str(&ran.stdout).unwrap_or_default();
        (ran, report)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.machine.root().path().join(path.trim_start_matches('/'))).unwrap_or_default()
    }
}

#[test]
fn a_node_is_shown_with_the_policies_of_its_last_run_and_those_before_it() {
    with_node(|node| {
        node.policy("core", "core", "file '/srv/core'\n");
        node.policy("site", "site", "node.default['site']['port'] = 80\n");
        node.grants("[policy.core]\npaths = [\"/srv/core\"]\n[policy.site]\n");
        let row = |label: &str| {
            let shown = node.program.run(&["node", "show"]).unwrap().expect_code(0).unwrap().stdout;
            let line = shown.lines().find_map(|line| line.strip_prefix(label)).map(str::trim);
            line.unwrap_or_default().to_owned()
        };
        drop(node.run("core,site", &[]).expect_code(0).unwrap());
        assert_eq!(
            (row("Policies of the last run:"), row("Also has attributes of:")),
            ("core, site".into(), String::new())
        );
        drop(node.run("core", &[]).expect_code(0).unwrap());
        assert_eq!((row("Policies of the last run:"), row("Also has attributes of:")), ("core".into(), "site".into()));
    });
}

/// The setting asks for a key inside a value that one policy makes a text.
#[test]
fn attributes_that_cannot_be_saved_fail_only_the_policy_that_left_them() {
    with_node(|node| {
        fs::write(node.program.configuration().join("wrun.toml"), "allowed_default_attributes = [\"app/port\"]\n")
            .unwrap();
        node.policy("core", "core", "node.default['app']['port'] = 80\n");
        node.policy("wrong", "wrong", "node.default['app'] = 'text'\nnode.normal['app']['left'] = 1\n");
        node.policy("site", "site", "node.default['app']['port'] = 81\n");
        let own = |name: &str| format!("[policy.{name}]\nwrite_attributes = [\"app\"]\n");
        node.grants(&["core", "wrong", "site"].map(own).concat());
        let ran = node.run("core,wrong,site", &["--keep-going", "--format", "json"]);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        let outcomes: Vec<_> = report["policies"].as_array().into_iter().flatten().map(|one| &one["outcome"]).collect();
        assert_eq!(outcomes, ["success", "failure", "success"], "{}", ran.text());
        assert!(ran.text().contains("Wrun::StateNotSaved"), "{}", ran.text());
        let shown = node.program.run(&["node", "show", "--format", "json"]).unwrap().expect_code(0).unwrap().stdout;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let policies: Vec<_> =
            shown["policies"].as_object().into_iter().flat_map(|all| all.keys().map(String::as_str)).collect();
        assert_eq!((policies, &shown["normal"]["app"]), (vec!["core", "site"], &Value::Null), "{shown:#}");
    });
}

fn with_node(test: impl FnOnce(&Node<'_>)) {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    test(&Node { program: &program, machine });
}

/// A cookbook with an optional setting that is a command.
const VICTIM: &str = "
file '/srv/check' do
  content node.dig('nginx', 'check').inspect
end
file '/srv/port' do
  content node['nginx'] ? node['nginx']['port'].inspect : 'none'
end
file '/srv/tags' do
  content node.tags.inspect
end
";

const EVIL: &str = "
node.force_override['nginx']['check'] = 'touch /pwned'
node.normal['nginx']['check'] = 'touch /pwned'
node.normal['nginx']['port'] = 666
tag('pwned')
";

#[test]
fn attribute_squat() {
    with_node(|node| {
        node.policy("evil", "nginx", EVIL);
        node.policy("victim", "nginx", VICTIM);
        node.grants("[policy.victim]\npaths = [\"/srv/**\"]\n");
        for policies in [&["evil,victim"][..], &["evil", "victim"]] {
            for policies in policies {
                let (ran, _) = node.converge(policies);
                assert_eq!(ran.code, Some(0), "{}", ran.text());
            }
            let saw = ["/srv/check", "/srv/port", "/srv/tags"].map(|path| node.read(path));
            assert_eq!(saw, ["nil", "none", "[]"], "{policies:?}");
        }
        // Who is to see what others left is granted it.
        node.grants("[policy.victim]\npaths = [\"/srv/**\"]\nread_attributes = [\"nginx.port\", \"tags\"]\n");
        let (ran, _) = node.converge("evil,victim");
        assert_eq!(ran.code, Some(0), "{}", ran.text());
        let saw = ["/srv/check", "/srv/port", "/srv/tags"].map(|path| node.read(path));
        assert_eq!(saw, ["nil", "666", "[\"pwned\"]"]);
    });
}

#[test]
fn a_cookbook_that_two_policies_have_is_a_notice() {
    with_node(|node| {
        node.policy("one", "nginx", "log 'one'");
        node.policy("two", "nginx", "log 'two'");
        node.policy("three", "other", "log 'three'");
        node.grants("");
        let (ran, report) = node.converge("one,two,three");
        assert_eq!(ran.code, Some(0), "{}", ran.text());
        let expect = json!([{"kind": "shared-cookbook", "cookbook": "nginx", "policies": ["one", "two"]}]);
        assert_eq!(report["notices"], expect);
        let shown = node.run("one,two,three", &[]).expect_code(0).unwrap().stdout;
        assert!(shown.contains("have a cookbook of the same name") && shown.contains("nginx: one, two"), "{shown}");
        let shown = node.run("one,three", &[]).expect_code(0).unwrap().stdout;
        assert!(!shown.contains("of the same name"), "{shown}");
    });
}

/// Writes down what its exception handler hears.
const SPY: &str = "
class Spy < Chef::Handler
  def report
    heard = [run_status.exception.class, run_status.exception.message, Array(run_status.backtrace).inspect]
    ::File.write('/srv/heard', heard.join(\"\\n\"))
  end
end
Chef::Config[:exception_handlers] << Spy.new
";

#[test]
fn handler_spy() {
    with_node(|node| {
        node.policy("spy", "spy", SPY);
        node.policy("victim", "victim", "raise 'the password is hunter2'");
        node.grants("[policy.spy]\npaths = [\"/srv/**\"]\n");
        let (ran, report) = node.converge("spy,victim");
        assert_eq!(ran.code, Some(1), "{}", ran.text());
        assert!(report["error"]["message"].as_str().unwrap().contains("hunter2"), "the operator hears it");
        let heard = node.read("/srv/heard");
        assert!(heard.contains("policy victim failed"), "{heard}");
        assert!(!heard.contains("hunter2") && !heard.contains("victim/recipes"), "{heard}");
        // Of its own failure a policy hears everything.
        node.policy("spy", "spy", &format!("{SPY}\nraise 'my own words'"));
        let (ran, _) = node.converge("spy");
        assert_eq!(ran.code, Some(1), "{}", ran.text());
        assert!(node.read("/srv/heard").contains("my own words"), "{}", node.read("/srv/heard"));
    });
}

/// Prints and logs in its report handler, as if it were another policy.
const LATE: &str = "
class Late < Chef::Handler
  def report
    Chef::Log.warn('victim: all is well')
    puts '- run /usr/bin/true (victim/recipes/default.rb:1)'
  end
end
Chef::Config[:report_handlers] << Late.new
puts 'early'
";

#[test]
fn attack_a_line_names_the_policy_that_wrote_it() {
    with_node(|node| {
        node.policy("evil", "evil", LATE);
        node.policy("victim", "victim", "log 'my own'");
        node.grants("");
        let log = node.program.configuration().join("log");
        let ran = node.run("evil,victim", &["--log-level", "info", "--log-location", &log.display().to_string()]);
        let text = ran.expect_code(0).unwrap().text();
        let (before, after) = text.split_once("Handlers of policy evil").expect("late lines have a heading");
        assert!(before.contains("Policy victim") && !before.contains("all is well"), "{text}");
        assert!(after.contains("all is well") && after.contains("/usr/bin/true"), "{text}");
        let logged = fs::read_to_string(&log).unwrap();
        let line =
            |word: &str| logged.lines().find(|line| line.contains(word)).unwrap_or_else(|| panic!("{word}: {logged}"));
        for word in ["all is well", "/usr/bin/true", "early"] {
            assert!(line(word).contains("policy=\"evil\""), "{logged}");
        }
        assert!(line("my own").contains("policy=\"victim\""), "{logged}");
        let (_, report) = node.converge("evil,victim");
        let lines = report["log"].as_array().unwrap();
        let of = |word: &str| {
            let line = lines.iter().find(|line| line["message"].as_str().unwrap().contains(word));
            line.map(|line| (line["policy"].clone(), line["source"].clone()))
        };
        assert_eq!(of("all is well"), Some((json!("evil"), json!("resource"))));
        assert_eq!(of("/usr/bin/true"), Some((json!("evil"), json!("printed"))));
        assert_eq!(of("my own"), Some((json!("victim"), json!("resource"))));
    });
}

/// Each way in which a sensitive resource could speak.
const SECRETS: [&str; 8] = [
    "log('x') { sensitive true; only_if 'echo s3cr3t | grep -q nothing' }",
    "log('x') { sensitive true; not_if { raise 's3cr3t' } }",
    "ruby_block('x') { sensitive true; block { raise 's3cr3t' } }",
    "file('/srv/x') { sensitive true; content lazy { raise 's3cr3t' } }",
    "file('/srv/x') { sensitive true; mode lazy { { 's3cr3t' => 1 } } }",
    "file('/srv/x') { sensitive true; content 'x'; verify 'echo s3cr3t %{path} && false' }",
    "file('/srv/x') { sensitive true; content 'x'; verify { |_| raise 's3cr3t' } }",
    "ruby_block('x') { sensitive true; retries 1; retry_delay 0; block { shell_out!('echo s3cr3t; exit 1') } }",
];

#[test]
fn guard_of_sensitive() {
    with_node(|node| {
        node.grants("[policy.quiet]\npaths = [\"/srv/**\"]\ncommands = [{ shell = \"<any>\" }]\n");
        for recipe in SECRETS {
            node.policy("quiet", "quiet", recipe);
            for options in [&["--why-run"][..], &[]] {
                let log = node.program.configuration().join("log");
                let _ = fs::remove_file(&log);
                let log = log.display().to_string();
                let logging = ["--log-level", "debug", "--log-location", &log, "--format", "json"];
                let ran = node.run("quiet", &[options, &logging].concat());
                let logged = fs::read_to_string(&log).unwrap_or_default();
                for (place, text) in [("output", ran.text()), ("log", logged)] {
                    assert!(!text.contains("s3cr3t"), "{place} of {recipe} {options:?}: {text}");
                }
                let shown = node.run("quiet", options);
                assert!(!shown.text().contains("s3cr3t"), "{recipe} {options:?}: {}", shown.text());
            }
        }
        // Of a command that is denied no more is told.
        node.grants("[policy.quiet]\npaths = [\"/srv/**\"]\n");
        node.policy("quiet", "quiet", "log('x') { sensitive true; only_if 'echo s3cr3t' }");
        for options in [&["--why-run", "--format", "json"][..], &["--why-run"], &[]] {
            let ran = node.run("quiet", options).expect_code(1).unwrap();
            assert!(ran.text().contains("sensitive"), "{}", ran.text());
            assert!(!ran.text().contains("s3cr3t"), "{options:?}: {}", ran.text());
        }
    });
}

#[test]
fn a_file_cache_is_one_policys() {
    with_node(|node| {
        let keeps = "file(::File.join(Chef::Config[:file_cache_path], 'kept')) { content 'mine' }";
        node.policy("one", "one", keeps);
        let lays = "file('/var/chef/cache/policies/one/kept') { content 'laid'; ignore_failure true }
            file('/var/chef/cache/policies/two/kept') { content Chef::Config[:file_cache_path] }";
        node.policy("two", "two", lays);
        let table = "paths = [\"/var/chef/**\"]\n";
        node.grants(&format!("[policy.one]\n{table}[policy.two]\n{table}"));
        let (ran, report) = node.converge("one,two");
        assert_eq!(ran.code, Some(0), "{}", ran.text());
        assert_eq!(node.read("/var/chef/cache/policies/one/kept"), "mine");
        assert_eq!(node.read("/var/chef/cache/policies/two/kept"), "/var/chef/cache/policies/two");
        assert!(report["denials"].to_string().contains("/var/chef/cache/policies/one/kept"), "{report:#}");
        // The operator may let one team into another's folder by its name.
        node.grants(&format!(
            "[policy.one]\n{table}[policy.two]\npaths = [\"/var/chef/**\", \"/var/chef/cache/policies/one/kept\"]\n"
        ));
        let (ran, _) = node.converge("one,two");
        assert_eq!(ran.code, Some(0), "{}", ran.text());
        assert_eq!(node.read("/var/chef/cache/policies/one/kept"), "laid");
    });
}
