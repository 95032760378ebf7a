//! Facts that a policy is not granted: reading one is an error that names the grant, or nothing where the operator says so,
//! and it is recorded in either case. Policies in Ruby; `example_policies` has one in Rust.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use specs::{Network, Output, Program, Root};
use std::fs;
use std::process::Command;

/// A policy of one cookbook, to be run with these facts of a machine.
struct Site {
    program: Program,
    root: Root,
}

impl Site {
    fn new(recipe: &str) -> Self {
        let site = Self { program: Program::new().unwrap(), root: Root::new().unwrap() };
        let folder = site.program.configuration().join("web");
        let recipes = folder.join("cookbooks/web/recipes");
        fs::create_dir_all(&recipes).unwrap();
        fs::write(folder.join("policy.toml"), "name = \"web\"\nrun_list = [\"web\"]\n").unwrap();
        fs::write(folder.join("cookbooks/web/metadata.rb"), "name 'web'\n").unwrap();
        fs::write(recipes.join("default.rb"), recipe).unwrap();
        let facts = json!({
            "platform": "debian", "platform_family": "debian", "platform_version": "12.5", "os": "linux",
            "hostname": "a", "fqdn": "a.example.org", "ipaddress": "192.0.2.7", "cpu": { "total": 2 },
            "kernel": { "name": "Linux", "machine": "x86_64", "release": "6.1", "modules": { "xfs": {} } },
            "memory": { "total": "1024kB", "swap": { "total": "0kB" } },
        });
        fs::write(site.program.configuration().join("facts.json"), facts.to_string()).unwrap();
        let mut build = Command::new(site.program.executable());
        build.args(["policy", "build"]).arg(&folder).arg("--output").arg(site.program.configuration());
        let built = build.envs(site.program.environment()).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        site
    }

    fn run(&self, table: &str, more: &[&str]) -> Output {
        let machine = self.root.machine(Network::Own).unwrap();
        let folder = self.program.configuration();
        fs::write(folder.join("grants.toml"), format!("[policy.web]\npaths = [\"/srv/**\"]\n{table}\n")).unwrap();
        let [root, facts, folder] =
            [self.root.path().to_owned(), folder.join("facts.json"), folder].map(|path| path.display().to_string());
        let grants = format!("{folder}/grants.toml");
        let fixed = ["converge", "--policy-name", "web", "--policies", &folder, "--root", &root, "--facts", &facts];
        let rights = if more.contains(&"--allow-all") { vec![] } else { vec!["--grants", &grants] };
        self.program.run_in(&machine, &[&fixed[..], &rights, more].concat()).unwrap()
    }

    fn tool(&self, arguments: &[&str]) -> Output {
        let grants = self.program.configuration().join("grants.toml").display().to_string();
        self.program.run(&[arguments, &["--grants", &grants]].concat()).unwrap()
    }

    fn json(&self, table: &str, code: i32) -> Value {
        let ran = self.run(table, &["--format", "json"]);
        assert_eq!(ran.code, Some(code), "{}", ran.text());
        serde_json::from_str(&ran.stdout).unwrap()
    }

    fn said(&self) -> String {
        fs::read_to_string(self.root.path().join("srv/said")).unwrap_or_default()
    }
}

/// Path, whether a part of it was seen, whether it was refused, and the grant, of each hidden read.
fn hidden(report: &Value) -> Vec<Value> {
    let reads = report["hidden_reads"].as_array().unwrap().iter();
    reads.map(|read| json!([read["path"], read["partly"], read["refused"], read["grant"]])).collect()
}

#[test]
fn a_hidden_fact_is_an_error_that_names_the_grant() {
    let site = Site::new("file '/srv/said' do\n  content \"#{node['fqdn']} #{node['ipaddress']}\"\nend\n");
    let report = site.json("", 1);
    assert_eq!(site.said(), "", "nothing is written with a blank where the fact belongs");
    let error = &report["error"];
    assert_eq!(error["class"], "Wrun::Denied", "{error:#}");
    let message = error["message"].to_string();
    assert!(message.contains("policy `web` may not read fact `ipaddress`"), "{message}");
    assert!(message.contains("facts = [\\\"ipaddress\\\"]"), "{message}");
    assert_eq!(hidden(&report), [json!(["ipaddress", false, true, "facts = [\"ipaddress\"]"])]);
    let place = &report["hidden_reads"][0]["origin"];
    let expect =
        json!({ "policy": "web", "cookbook": "web", "recipe": "default", "file": "recipes/default.rb", "line": 2 });
    assert_eq!(*place, expect);

    // Granted, or where the operator grants everything, it is as in Chef.
    let report = site.json("facts = [\"ipaddress\"]", 0);
    assert_eq!((site.said().as_str(), hidden(&report)), ("a.example.org 192.0.2.7", vec![]));
    assert_eq!(report["policies"][0]["facts_read"], json!(["fqdn", "ipaddress"]));
    let ran = site.run("", &["--format", "json", "--allow-all"]).expect_code(0).unwrap();
    assert_eq!(hidden(&serde_json::from_str(&ran.stdout).unwrap()), Vec::<Value>::new());
}

#[test]
fn where_the_operator_wants_no_error_it_is_nil_and_told() {
    let site = Site::new("file '/srv/said' do\n  content \"(#{node['ipaddress']})\"\nend\n");
    let table = "on_hidden_fact = \"warn\"";
    let log = site.program.configuration().join("log");
    let ran = site.run(table, &["--log-location", &log.display().to_string()]).expect_code(0).unwrap();
    let log = fs::read_to_string(log).unwrap();
    assert_eq!(site.said(), "()");
    let block = "Policy web read facts that it is not granted:\n  ipaddress, web/recipes/default.rb:2\n\n\
        To allow it, add to [CONFIGURATION]/grants.toml, under [policy.web]:\n    facts = [\"ipaddress\"]\n\
        Or let wrun write that: wrun grants allow --last --grants [CONFIGURATION]/grants.toml\n";
    assert!(ran.stdout.contains(block), "{}", ran.text());
    let shown = site.program.run(&["run", "show"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(
        shown.ends_with("Policy web read facts that it is not granted:\n  ipaddress, web/recipes/default.rb:2\n"),
        "{shown}"
    );
    let audited = "decision=\"hidden\" policy=\"web\" capability=\"facts\" asked=\"ipaddress\"";
    assert!(log.contains(audited), "{log}");
    assert!(!ran.text().contains("192.0.2.7") && !log.contains("192.0.2.7"), "{}\n{log}", ran.text());
    assert_eq!(hidden(&site.json(table, 0)), [json!(["ipaddress", false, false, "facts = [\"ipaddress\"]"])]);
}

/// What was hidden and what was denied is allowed by one line per key, which is pasted or written.
#[test]
fn hidden_and_denied_facts_are_allowed_by_one_line() {
    let site = Site::new("node.key?('ipaddress')\nfile '/srv/said' do\n  content node['memory']['total']\nend\n");
    let run = site.run("", &[]).expect_code(1).unwrap();
    assert!(
        run.stdout.contains("under [policy.web]:\n    facts = [\"ipaddress\", \"memory.total\"]\n"),
        "{}",
        run.text()
    );
    let written = site.tool(&["grants", "allow", "--last", "--yes", "--policy-name", "other"]);
    assert!(written.stderr.contains("policy `other` was not in run "), "{}", written.text());
    let written = site.tool(&["grants", "allow", "--last", "--yes"]).expect_code(0).unwrap();
    let grants = fs::read_to_string(site.program.configuration().join("grants.toml")).unwrap();
    assert!(grants.contains("facts = [\"ipaddress\", \"memory.total\"]"), "{grants}\n{}", written.text());
    let granted = "facts = [\"ipaddress\", \"memory.total\"]";
    assert_eq!(site.run(granted, &[]).code, Some(0));
    assert_eq!(site.said(), "1024kB");
}

/// Ways of asking that see nothing and raise nothing.
const QUIET: &str = "
said = []
said << node.attribute?('ipaddress') << node.exist?('memory', 'swap', 'total') << node['kernel'].key?('modules')
said << node['kernel'].keys.sort.join(',') << node['kernel'].to_h.key?('modules')
said << (node['cpu']['total'] rescue 'rescued') << node['ec2'].inspect << (node['ec2'] && 1).inspect
said << node['kernel']['nothing'].inspect << node.read('kernel', 'no', 'such').inspect << node.dig('ec2', 'x').inspect
file '/srv/said' do
  content said.join(' ')
end
";

#[test]
fn asking_whether_a_fact_is_there_is_recorded_and_raises_nothing() {
    let site = Site::new(QUIET);
    let report = site.json("", 0);
    assert_eq!(site.said(), "false false false machine,name,release false rescued nil nil nil nil nil");
    let expect = [
        json!(["ipaddress", false, false, "facts = [\"ipaddress\"]"]),
        json!(["memory", false, false, "facts = [\"memory\"]"]),
        json!(["kernel.modules", false, false, "facts = [\"kernel.modules\"]"]),
        json!(["kernel", true, false, "facts = [\"kernel\"]"]),
        json!(["cpu.total", false, true, "facts = [\"cpu.total\"]"]),
    ];
    assert_eq!(hidden(&report), expect);
    assert!(!report.to_string().contains("1024kB"), "a value is shown");
}

/// Ways of reading, each of which has an answer that a hidden fact would make wrong.
const LOUD: &str = "
reads = {
  'dig' => -> { node.dig('memory', 'total') }, 'read' => -> { node.read('memory', 'total') },
  'part' => -> { node['kernel']['modules'].to_h }, 'fetch' => -> { node['kernel'].fetch('modules', {}).keys },
  'deep' => -> { node['kernel'].dig('modules', 'xfs') }, 'automatic' => -> { node.automatic['cpu']['total'] },
  'level' => -> { node.automatic['kernel']['modules'].each { |one| one } }, 'debug' => -> { node.debug_value('cpu', 'total') },
  'again' => -> { \"#{node['cpu']}\" }, 'merged' => -> { {}.merge(node['cpu']).to_s },
  'other' => -> { node['cpu'].surely_not }, 'strict' => -> { node.read!('memory', 'total') },
}
said = reads.map do |name, read|
  \"#{name}: #{read.call.inspect}\"
rescue StandardError => error
  \"#{name}: #{error.class} #{error.message.lines.first.chomp[/`[a-z.]+`$/]}\"
end
file '/srv/said' do
  content said.join(\"\\n\")
end
raise 'much later'
";

#[test]
fn every_way_of_reading_says_that_the_fact_is_hidden_and_so_does_a_later_error() {
    let site = Site::new(LOUD.replace("raise 'much later'\n", "").as_str());
    let report = site.json("", 0);
    let expect = [
        ("dig", "memory.total"),
        ("read", "memory.total"),
        ("part", "kernel.modules"),
        ("fetch", "kernel.modules"),
        ("deep", "kernel.modules.xfs"),
        ("automatic", "cpu.total"),
        ("level", "kernel.modules"),
        ("debug", "cpu.total"),
        ("again", "cpu"),
        ("merged", "cpu"),
        ("other", "cpu"),
        ("strict", "memory.total"),
    ];
    let expect: Vec<_> = expect.iter().map(|(name, fact)| format!("{name}: Wrun::Denied `{fact}`")).collect();
    assert_eq!(site.said(), expect.join("\n"));
    let paths: Vec<_> = hidden(&report).iter().map(|read| read[0].clone()).collect();
    assert_eq!(paths, ["memory.total", "kernel.modules", "kernel.modules.xfs", "cpu.total", "cpu"]);
    let granted = site.json("facts = [\"memory\", \"cpu\", \"kernel\"]", 0);
    assert!(site.said().starts_with("dig: \"1024kB\"\nread: \"1024kB\"\npart: {\"xfs\""), "{}", site.said());
    assert_eq!(hidden(&granted), Vec::<Value>::new());

    let failing = Site::new(LOUD);
    let report = failing.json("", 1);
    let hint = report["error"]["hint"].as_str().unwrap();
    assert!(hint.ends_with("facts = [\"cpu\", \"kernel.modules\", \"memory.total\"]"), "{hint}");
}

#[test]
fn a_rule_that_denies_hides_the_harmless_facts_too() {
    let recipe = "file '/srv/said' do\n  content [node['platform'], platform?('debian'), node['kernel']['machine']].join(' ')\nend\n";
    let site = Site::new(recipe);
    // Nothing is granted, and the policy knows all the same what kind of machine this is.
    site.json("", 0);
    assert_eq!(site.said(), "debian true x86_64");
    let report = site.json("deny_facts = [\"*\"]", 1);
    assert!(report["error"]["message"].as_str().unwrap().contains("may not read fact `platform`"), "{report:#}");
    let report = site.json("deny_facts = [\"kernel.machine\"]", 1);
    assert!(report["error"]["message"].as_str().unwrap().contains("may not read fact `kernel.machine`"), "{report:#}");
}
