//! Layers of environment files: what policies see of them, what the node keeps, and who won.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use specs::{Machine, Network, Output, Program, Root};
use std::fs;
use std::process::Command;

/// Notes what it sees in an attribute that is saved.
const RECIPE: &str = "
node.default['web']['seen'] = { 'site' => node['web']['site'], 'stage' => node['web']['stage'],
  'hosts' => node['web']['hosts'], 'secret' => node.dig('db', 'secret').inspect }
";

/// A node with the policy `web`, whose revision has the cookbook `web` in version 1.2.0.
struct Site<'root> {
    program: Program,
    machine: Machine<'root>,
}

impl<'root> Site<'root> {
    fn new(root: &'root Root) -> Self {
        let site = Self { program: Program::new().unwrap(), machine: root.machine(Network::Own).unwrap() };
        let about = "name = \"web\"\nrun_list = [\"web\"]\n[default.web]\nstage = \"policy\"\n[default.prod.web]\nsite = \"hoisted\"\n\
                     stage = \"hoisted\"\n";
        site.write("web/policy.toml", about);
        site.write("web/cookbooks/web/metadata.rb", "name 'web'\nversion '1.2.0'\n");
        site.write("web/cookbooks/web/recipes/default.rb", RECIPE);
        site.write(
            "facts.json",
            &json!({"platform": "debian", "platform_version": "12", "fqdn": "a.example.org"}).to_string(),
        );
        site.build();
        site
    }

    fn build(&self) {
        let mut build = Command::new(self.program.executable());
        let folder = self.program.configuration();
        build.args(["policy", "build"]).arg(folder.join("web")).arg("--output").arg(&folder);
        let built = build.envs(self.program.environment()).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.program.configuration().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.program.configuration().join(name).display().to_string()
    }

    fn converge(&self, more: &[&str]) -> Output {
        let root = self.machine.root().path().display().to_string();
        let (folder, facts, grants) = (self.path(""), self.path("facts.json"), self.path("grants.toml"));
        if !self.program.configuration().join("grants.toml").exists() {
            self.write("grants.toml", "");
        }
        let fixed = ["converge", "--policy-name", "web", "--policies", &folder, "--root", &root, "--facts", &facts];
        let rest = ["--grants", &grants, "--format", "json"];
        self.program.run_in(&self.machine, &[&fixed[..], &rest, more].concat()).unwrap()
    }

    /// The report of a run that succeeds with these environment files.
    fn run(&self, files: &[&str], more: &[&str]) -> Value {
        let paths: Vec<_> = files.iter().map(|file| self.path(file)).collect();
        let options: Vec<_> = paths.iter().flat_map(|path| ["--environment-file", path]).collect();
        let ran = self.converge(&[&options, more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.text());
        serde_json::from_str(&ran.stdout).unwrap()
    }

    fn tool(&self, arguments: &[&str]) -> Value {
        let shown = self.program.run(arguments).unwrap().expect_code(0).unwrap();
        serde_json::from_str(&shown.stdout).unwrap_or_else(|_| json!(shown.stdout))
    }

    fn seen(&self, key: &str) -> Value {
        self.tool(&["node", "show", &format!("web.seen.{key}"), "-F", "json"])
    }

    /// Where the layers of a run's report come from, with their names.
    fn recorded(report: &Value) -> Vec<String> {
        let text = |layer: &Value, key: &str| layer[key].as_str().unwrap().to_owned();
        let layers = report["layers"].as_array().unwrap().iter();
        layers.map(|layer| format!("{}: {}", text(layer, "from"), text(layer, "name"))).collect()
    }

    fn layers(&self) -> Vec<String> {
        let node = self.tool(&["node", "show", "-F", "json"]);
        let layers = node.get("layers").and_then(Value::as_array).cloned().unwrap_or_default();
        layers.iter().map(|layer| layer.get("name").and_then(Value::as_str).unwrap().to_owned()).collect()
    }
}

#[test]
fn the_last_layer_wins_and_the_node_keeps_all_of_them() {
    let root = Root::new().unwrap();
    let site = Site::new(&root);
    site.write(
        "base.json",
        r#"{"name": "base", "default_attributes": {"web": {"site": "base", "hosts": ["a"]}},
        "merge_strategies": {"web.hosts": "merge"}, "cookbook_versions": {"web": "~> 1.0"}}"#,
    );
    site.write(
        "stage.toml",
        "[default_attributes.web]\nsite = \"stage\"\nhosts = [\"b\"]\n[override_attributes.web]\nstage = \"stage\"\n",
    );
    let report = site.run(&["base.json", "stage.toml"], &[]);
    assert_eq!(
        [site.seen("site"), site.seen("stage"), site.seen("hosts")],
        [json!("stage"), json!("stage"), json!(["a", "b"])]
    );
    assert_eq!(site.layers(), ["base", "stage"]);
    let recorded: Vec<_> =
        report["layers"].as_array().unwrap().iter().map(|layer| (&layer["from"], &layer["name"])).collect();
    assert_eq!(recorded, [(&json!("node"), &json!("base")), (&json!("node"), &json!("stage"))]);
    assert_eq!(report["layers"][0]["digest"].as_str().unwrap().len(), 64);

    // What was joined is a part of the value, and not lost.
    let explained = site.tool(&["node", "explain", "web.hosts", "-F", "json"]);
    let writes = explained["policies"][0]["writes"].as_array().unwrap();
    let told: Vec<_> = writes.iter().map(|write| [&write["verdict"], &write["layer"]]).collect();
    assert_eq!(told[..2], [[&json!("merged"), &json!("stage")], [&json!("merged"), &json!("base")]]);
    assert_eq!(writes[0]["change"], json!({"joined_with": "a list of 1 element"}));
    let merged = site.program.run(&["layer", "show", "--merged", "--origin"]).unwrap().expect_code(0).unwrap();
    let hosts = merged.stdout.lines().find(|line| line.contains("web.hosts")).unwrap();
    assert!(hosts.contains("layer base (") && hosts.contains("layer stage (") && !hosts.contains("before"), "{hosts}");

    // Neither file is needed any more. One of them is changed, in its place.
    fs::remove_file(site.path("stage.toml")).unwrap();
    site.write(
        "base.json",
        r#"{"name": "base", "default_attributes": {"web": {"site": "changed", "hosts": ["c"]}},
        "merge_strategies": {"web.hosts": "merge"}}"#,
    );
    site.run(&["base.json"], &[]);
    assert_eq!([site.seen("site"), site.seen("hosts")], [json!("stage"), json!(["c", "b"])]);
    assert_eq!(site.layers(), ["base", "stage"]);

    // A list names files in order, from its own folder; parameters count for one run.
    site.write("more/one.yaml", "default_attributes: {web: {site: one}}");
    site.write("more/two.yaml", "name: second\ndefault_attributes: {web: {site: two}}");
    site.write("more/list", "# in order\none.yaml\n\n../more/two.yaml\n");
    let list = site.path("more/list");
    let report = site
        .run(&[], &["--environment-files", &list, "--parameter", "web.stage=\"now\"", "--parameter", "web.hosts=[1]"]);
    assert_eq!([site.seen("site"), site.seen("stage"), site.seen("hosts")], [json!("two"), json!("now"), json!([1])]);
    assert_eq!(site.layers(), ["base", "stage", "one", "second"]);
    let last = report["layers"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        [&last["from"], &last["values"]],
        [&json!("command line"), &json!({"web": {"stage": "now", "hosts": [1]}})]
    );
    site.run(&[], &[]);
    assert_eq!([site.seen("stage"), site.seen("hosts")], [json!("stage"), json!(["c", "b"])]);
}

#[test]
fn explanations_name_the_layer_the_file_and_the_line() {
    let root = Root::new().unwrap();
    let site = Site::new(&root);
    site.write("a.yaml", "default_attributes:\n  web:\n    site: a\noverride_attributes: {web: {stage: a}}\n");
    site.write("b.yaml", "default_attributes:\n  web:\n    hosts: []\n    site: b\n");
    site.run(&["a.yaml", "b.yaml"], &["--policy-group", "prod"]);
    // Attributes of the policy's group beat the layers' defaults and lose to their overrides.
    assert_eq!([site.seen("site"), site.seen("stage")], [json!("hoisted"), json!("a")]);
    let explained = site.tool(&["node", "explain", "web.site", "-F", "json"]);
    let writes = explained["policies"][0]["writes"].as_array().unwrap();
    let told: Vec<_> =
        writes.iter().map(|write| [&write["verdict"], &write["level"], &write["layer"], &write["line"]]).collect();
    let lost = |layer: &str, line: u32| [json!("lost"), json!("env_default"), json!(layer), json!(line)];
    assert_eq!(told[0][..3], [&json!("won"), &json!("role_default"), &Value::Null]);
    assert_eq!(told[1], lost("b", 4).each_ref());
    assert_eq!(told[2], lost("a", 3).each_ref());
    let shown = site.program.run(&["node", "explain", "web.stage"]).unwrap().expect_code(0).unwrap();
    let line = shown.stdout.lines().find(|line| line.contains("won")).unwrap();
    assert!(line.contains("env_override") && line.contains("layer a ([CONFIGURATION]/a.yaml:4)"), "{}", shown.stdout);
    assert!(shown.stdout.contains("lost") && shown.stdout.contains("policy.toml:"), "{}", shown.stdout);
    // It tells what the last run has seen, and says so when that is not what the next one will see.
    let note = "note: the node's layers have changed since its last run, ";
    assert!(!shown.stderr.contains(note), "{}", shown.text());
    let _ = site.program.run(&["layer", "set", "a", "web.site=\"other\""]).unwrap().expect_code(0).unwrap();
    let changed = site.program.run(&["node", "explain", "web.stage"]).unwrap().expect_code(0).unwrap();
    assert!(changed.stderr.contains(note) && changed.stdout == shown.stdout, "{}", changed.text());
    let _ = site.program.run(&["node", "attribute", "set", "web.level=9"]).unwrap().expect_code(0).unwrap();
    let explain = ["node", "explain", "web.level"];
    let said = site.program.run(&explain).unwrap().expect_code(0).unwrap().stdout;
    assert!(
        said.contains("did not see it; a `normal` attribute was changed since, and in the next run it is 9"),
        "{said}"
    );
    let explained = site.tool(&[explain.as_slice(), &["-F", "json"]].concat());
    let policy = &explained["policies"][0];
    assert_eq!([&explained["value"], &policy["seen"], &policy["changed"]], [&json!(9), &json!(null), &json!(true)]);
}

#[test]
fn a_policy_sees_of_layers_what_its_grants_let_it_read() {
    let root = Root::new().unwrap();
    let site = Site::new(&root);
    site.write("a.yaml", "default_attributes: {web: {site: a}}\noverride_attributes: {db: {secret: hunter2}}\n");
    site.write("grants.toml", "[policy.web]\non_hidden_fact = \"warn\"\n");
    let report = site.run(&["a.yaml"], &[]);
    assert_eq!([site.seen("site"), site.seen("secret")], [json!("a"), json!("nil")]);
    let hidden = report["hidden_reads"].as_array().unwrap();
    let [read] = hidden.as_slice() else { panic!("{hidden:#?}") };
    assert_eq!([&read["path"], &read["grant"]], [&json!("db"), &json!("read_attributes = [\"db\"]")]);
    assert_eq!([&read["owner"], &read["refused"]], [&json!("operator"), &json!(false)]);
    assert!(!report.to_string().contains("hunter2"));
    let explained = site.program.run(&["node", "explain", "db.secret"]).unwrap().expect_code(1).unwrap();
    assert!(!explained.text().contains("hunter2"));

    site.write("grants.toml", "[policy.web]\nread_attributes = [\"db.secret\"]\n");
    let report = site.run(&[], &[]);
    assert_eq!(site.seen("secret"), json!("\"hunter2\""));
    assert_eq!(report["hidden_reads"], json!([]));

    // A layer may be for some policies only.
    site.write("a.yaml", "policies: [mail]\noverride_attributes: {db: {secret: hunter2}, web: {site: mail}}\n");
    site.run(&["a.yaml"], &[]);
    assert_eq!([site.seen("site"), site.seen("secret")], [Value::Null, json!("nil")]);
}

/// Reads of single levels, each of which has an answer that a hidden value would make wrong.
const LEVELS: &str = "
reads = {
  'normal' => -> { node.normal['acme']['ntp'] }, 'read' => -> { node.normal.read('acme', 'ntp') },
  'whole' => -> { node.normal['acme'].to_h }, 'unless' => -> { node.normal_unless['acme']['ntp'] = 'own' },
  'default' => -> { node.combined_default['acme']['below'] }, 'path' => -> { node.combined_default('acme', 'below') },
  'override' => -> { node.combined_override['acme']['above'] }, 'debug' => -> { node.debug_value('acme', 'above') },
  'other' => -> { node.combined_default['acme']['none'] },
}
said = reads.map do |name, read|
  \"#{name}: #{read.call.inspect}\"
rescue StandardError => error
  \"#{name}: #{error.class} #{error.message[/`acme[a-z.]*`/]}\"
end
node.normal['web']['mine'] = 1
file '/srv/said' do
  content (said << node.normal['web']['mine'].inspect).join(\"\\n\")
end
";

#[test]
fn a_level_does_not_hide_that_the_operators_value_in_it_is_hidden() {
    let root = Root::new().unwrap();
    let site = Site::new(&root);
    site.write("web/cookbooks/web/recipes/default.rb", LEVELS);
    site.build();
    let values = "{default_attributes: {acme: {below: b}}, override_attributes: {acme: {above: a}}}";
    site.write("layer.yaml", values);
    site.write("given.json", "{\"acme\": {\"ntp\": \"n\"}}");
    let file = site.path("given.json");
    let given = ["-j", file.as_str()];
    let said = || fs::read_to_string(root.path().join("srv/said")).unwrap_or_default();
    let grants = "[policy.web]\npaths = [\"/srv/**\"]\n";
    site.write("grants.toml", grants);
    let report = site.run(&["layer.yaml"], &given);
    let expect = [
        ("normal", "acme.ntp"),
        ("read", "acme.ntp"),
        ("whole", "acme"),
        ("unless", "acme.ntp"),
        ("default", "acme.below"),
        ("path", "acme.below"),
        ("override", "acme.above"),
        ("debug", "acme.above"),
    ];
    let expect: Vec<_> = expect.iter().map(|(name, path)| format!("{name}: Wrun::Denied `{path}`")).collect();
    assert_eq!(said(), format!("{}\nother: nil\n1", expect.join("\n")));
    let reads: Vec<_> = report["hidden_reads"].as_array().unwrap().iter().map(|read| read["path"].clone()).collect();
    assert_eq!(reads, ["acme.ntp", "acme", "acme.below", "acme.above"]);

    site.write("grants.toml", &format!("{grants}read_attributes = [\"acme\"]\nwrite_attributes = [\"acme\"]\n"));
    let report = site.run(&["layer.yaml"], &given);
    let seen = "normal: \"n\"\nread: \"n\"\nwhole: {\"ntp\" => \"n\"}\n";
    assert!(said().starts_with(seen), "{}", said());
    assert!(said().contains("default: \"b\"\npath: \"b\"\noverride: \"a\"\n"), "{}", said());
    assert_eq!(report["hidden_reads"], json!([]));
}

/// A file with blanks is not written: a run without the value fails, wherever the operator set it.
#[test]
fn a_hidden_attribute_of_the_operator_is_an_error_that_names_the_grant() {
    const TEMPLATE: &str = "# time\nserver <%= node['acme']['ntp'] %>\n";
    const SET: &str = "acme: {ntp: ntp.example.org}";
    let root = Root::new().unwrap();
    let site = Site::new(&root);
    let about = "name = \"web\"\nrun_list = [\"web\"]\n[default.acme]\nntp = \"policy\"\nown = 1\n";
    site.write("web/policy.toml", about);
    let recipe = "template('/srv/said') { source 'n.erb' }\nlog \"#{node['acme']['own']} #{node['acme']['none']}\"\n";
    site.write("web/cookbooks/web/recipes/default.rb", recipe);
    site.write("web/cookbooks/web/templates/n.erb", TEMPLATE);
    site.build();
    site.write("grants.toml", "[policy.web]\npaths = [\"/srv/**\"]\n");
    // A layer of the same name replaces the earlier one.
    site.write("above.yaml", &format!("{{name: one, override_attributes: {{{SET}}}}}"));
    site.write("below.yaml", &format!("{{name: one, default_attributes: {{{SET}}}}}"));
    site.write("none.yaml", "{name: one, default_attributes: {}}");
    site.write("given.json", "{\"acme\": {\"ntp\": \"ntp.example.org\"}}");
    site.write("wrun.toml", &format!("[layers.prod]\nfiles = [\"{}\"]\n", site.path("above.yaml")));
    let said = || fs::read_to_string(root.path().join("srv/said")).unwrap_or_default();

    // The policy's own attributes go before the layers' defaults, so nothing is hidden.
    let below = ["--environment-file", &site.path("below.yaml")];
    let _ran = site.converge(&below).expect_code(0).unwrap();
    assert_eq!(said(), "# time\nserver policy\n");

    let [above, none, given] = ["above.yaml", "none.yaml", "given.json"].map(|name| site.path(name));
    let ways: [&[&str]; 4] = [
        &["--environment-file", &above],
        &["--environment-file", &none, "--policy-group", "prod"],
        &["--parameter", "acme.ntp=ntp.example.org"],
        &["-j", &given],
    ];
    for way in ways {
        for mode in [&["--why-run"][..], &[]] {
            let ran = site.converge(&[way, mode].concat()).expect_code(1).unwrap();
            let report: Value = serde_json::from_str(&ran.stdout).unwrap();
            let message = report["error"].to_string();
            assert!(message.contains("may not read attribute `acme.ntp`: the operator set it"), "{way:?} {message}");
            assert!(message.contains("read_attributes = [\\\"acme.ntp\\\"]"), "{way:?} {message}");
            let read = &report["hidden_reads"][0];
            let told = ["path", "owner", "kind", "refused"].map(|key| read[key].clone());
            assert_eq!(told, [json!("acme.ntp"), json!("operator"), json!("attribute"), json!(true)], "{way:?}");
            assert_eq!([&read["origin"]["file"], &read["origin"]["line"]], [&json!("templates/n.erb"), &json!(2)]);
            assert_eq!(report["denials"][0]["key"], json!("read_attributes"), "{:#}", report["denials"]);
            assert!(!report["error"].to_string().contains("ntp.example.org"), "{}", report["error"]);
            assert_eq!(said(), "# time\nserver policy\n", "{way:?}");
        }
    }
    site.write("grants.toml", "[policy.web]\npaths = [\"/srv/**\"]\nread_attributes = [\"acme.ntp\"]\n");
    let report = site.run(&["above.yaml"], &[]);
    assert_eq!((said().as_str(), &report["hidden_reads"]), ("# time\nserver ntp.example.org\n", &json!([])));
    // A right to write includes seeing what the operator set.
    site.write("grants.toml", "[policy.web]\npaths = [\"/srv/**\"]\nwrite_attributes = [\"acme\"]\n");
    let report = site.run(&["above.yaml"], &[]);
    assert_eq!([&report["hidden_reads"], &report["error"]], [&json!([]), &Value::Null]);
    // With `on_hidden_fact`, the operator wants no error.
    site.write("grants.toml", "[policy.web]\npaths = [\"/srv/**\"]\non_hidden_fact = \"warn\"\n");
    let report = site.run(&["above.yaml"], &[]);
    assert_eq!((said().as_str(), &report["hidden_reads"][0]["owner"]), ("# time\nserver policy\n", &json!("operator")));
}

#[test]
fn groups_have_layers_below_the_nodes_own() {
    let root = Root::new().unwrap();
    let site = Site::new(&root);
    site.write("prod.yaml", "override_attributes: {web: {site: prod, stage: prod}}");
    site.write("node.yaml", "override_attributes: {web: {stage: node}}");
    let settings = format!("[layers.prod]\nfiles = [\"{}\"]\n[layers.test]\nfiles = []\n", site.path("prod.yaml"));
    site.write("wrun.toml", &settings);
    let report = site.run(&["node.yaml"], &["--policy-group", "prod"]);
    assert_eq!([site.seen("site"), site.seen("stage")], [json!("prod"), json!("node")]);
    assert_eq!([&report["layers"][0]["from"], &report["layers"][1]["from"]], [&json!("group prod"), &json!("node")]);
    assert_eq!(site.layers(), ["node"]);
    // Who asks for an explanation hears of changes since, also of the group's files.
    let explain = |format: &[&str]| {
        let words = [&["node", "explain", "web.stage"], format].concat();
        site.program.run(&words).unwrap().expect_code(0).unwrap()
    };
    let changed = || site.tool(&["node", "explain", "web.stage", "-F", "json"])["layers_changed"].clone();
    assert!(changed() == json!([]) && !explain(&[]).stderr.contains("have changed"));
    site.write("prod.yaml", "override_attributes: {web: {site: prod, stage: other}}");
    assert_eq!(changed(), json!(["group prod"]));
    let said = explain(&[]).stderr;
    assert!(said.contains("note: the layers of the group prod have changed since the last run, "), "{said}");
    site.run(&[], &["--policy-group", "test"]);
    assert_eq!([site.seen("site"), site.seen("stage")], [Value::Null, json!("node")]);
    // What is wrong with one group's files is no other group's trouble.
    fs::remove_file(site.path("prod.yaml")).unwrap();
    site.run(&[], &["--policy-group", "test"]);
    let refused = site.converge(&["--policy-group", "prod"]);
    let said = refused.text();
    assert!(refused.code != Some(0) && said.contains("prod.yaml cannot be read"), "{said}");
}

#[test]
fn only_the_groups_of_a_runs_policies_count() {
    let root = Root::new().unwrap();
    let site = Site::new(&root);
    site.write("prod.yaml", "{policies: [web], override_attributes: {web: {site: prod}}}");
    site.write("test.yaml", "override_attributes: {web: {site: test}}");
    site.write("node.yaml", "override_attributes: {web: {stage: node}}");
    let layers = |group: &str| format!("[layers.{group}]\nfiles = [\"{}\"]\n", site.path(&format!("{group}.yaml")));
    site.write("wrun.toml", &format!("policy_group = \"prod\"\n{}{}", layers("prod"), layers("test")));
    // The record has the layers of the run, and none of a group that none of its policies is in.
    assert_eq!(
        Site::recorded(&site.run(&["node.yaml"], &["--policy-group", "test"])),
        ["group test: test", "node: node"]
    );
    assert_eq!(Site::recorded(&site.run(&[], &[])), ["group prod: prod", "node: node"]);
    assert_eq!(site.seen("site"), json!("prod"));

    // Commands show what the next run has: the settings name the group, unless one is typed.
    let shown = |arguments: &[&str]| site.program.run(arguments).unwrap().expect_code(0).unwrap();
    let list = shown(&["layer", "list"]);
    let rows: Vec<Vec<&str>> = list.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        [&rows[0][..2], &rows[0][3..]].concat(),
        ["-", "prod", "[CONFIGURATION]/prod.yaml", "group", "prod,", "for", "web"]
    );
    assert_eq!([&rows[1][..2], &rows[1][3..]].concat(), ["1", "node", "[CONFIGURATION]/node.yaml"]);
    let listed = site.tool(&["layer", "list", "--policy-group", "test", "-F", "json"]);
    let listed = listed["layers"].as_array().unwrap();
    let told: Vec<_> = listed.iter().map(|layer| [&layer["from"], &layer["name"], &layer["format"]]).collect();
    assert_eq!(
        told,
        [
            ["group test", "test", "yaml"].map(Value::from).each_ref(),
            ["node", "node", "yaml"].map(Value::from).each_ref()
        ]
    );
    let merged =
        |more: &[&str]| site.tool(&[&["layer", "show", "--merged"], more].concat())["override_attributes"].clone();
    assert_eq!(merged(&[]), json!({"web": {"site": "prod", "stage": "node"}}));
    assert_eq!(merged(&["--policy", "mail"]), json!({"web": {"stage": "node"}}));
    assert_eq!(
        merged(&["--policy-group", "test", "--policy", "mail"]),
        json!({"web": {"site": "test", "stage": "node"}})
    );
    let origins = shown(&["layer", "show", "--merged", "--origin"]).stdout;
    assert!(origins.contains("override web.site = \"prod\"  layer prod ([CONFIGURATION]/prod.yaml:1)"), "{origins}");
    assert_eq!(site.tool(&["layer", "show", "prod"])["policies"], json!(["web"]));
    // Policies that are assigned with groups of their own have their groups' layers.
    let _ = shown(&["node", "policy", "set", "web@test,mail@prod"]);
    let names = |value: Value| {
        value["layers"].as_array().unwrap().iter().map(|layer| layer["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(site.tool(&["layer", "list", "-F", "json"])), ["test", "prod", "node"]);
    assert_eq!(merged(&["--policy", "web"]), json!({"web": {"site": "test", "stage": "node"}}));
    let several = site.program.run(&["layer", "show", "--merged"]).unwrap().expect_code(43).unwrap();
    let said = several.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("several groups") && said.contains("test, prod; say which layers are meant with --policy-group"),
        "{said}"
    );
    // A file that is gone hides no other layer, and is told.
    fs::remove_file(site.path("prod.yaml")).unwrap();
    let list = site.program.run(&["layer", "list"]).unwrap().expect_code(43).unwrap();
    assert!(list.stderr.contains("prod.yaml cannot be read") && list.stdout.contains("/node.yaml"), "{}", list.text());
    let unknown = shown(&["layer", "list", "--policy-group", "tset"]);
    assert!(unknown.stderr.contains("no layers for the group tset; did you mean `test`?"), "{}", unknown.text());
}

#[test]
fn what_is_wrong_with_layers_is_told_before_anything_is_changed() {
    let root = Root::new().unwrap();
    let site = Site::new(&root);
    site.write("good.yaml", "default_attributes: {web: {site: good}}");
    site.run(&["good.yaml"], &[]);
    site.write("first.yaml", "name: x");
    site.write("second.yaml", "name: x");
    site.write("bad.yaml", "default_attributes:\n  web: [");
    site.write("strange.txt", "");
    site.write("strict.yaml", "name: good\ncookbook_versions:\n  web: ~> 2.0\n");
    site.write("late.yaml", "{default_attributes: {web: {site: late}}, merge_strategies: {web.site: merge}}");
    let check = |options: &[(&str, &str)], expect: &str| {
        let texts: Vec<_> = options
            .iter()
            .flat_map(|(option, value)| {
                let value = if *option == "--parameter" { (*value).to_owned() } else { site.path(value) };
                [(*option).to_owned(), value]
            })
            .collect();
        let ran = site.converge(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(ran.code, Some(43), "{}", ran.text());
        let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(expect), "{said}\nexpected: {expect}");
        assert_eq!(site.layers(), ["good"]);
    };
    let file = "--environment-file";
    check(
        &[(file, "first.yaml"), (file, "gone.yaml")],
        "the environment file [CONFIGURATION]/gone.yaml cannot be read",
    );
    check(
        &[(file, "first.yaml"), (file, "second.yaml")],
        "first.yaml and [CONFIGURATION]/second.yaml are both called x",
    );
    check(&[(file, "bad.yaml")], "bad.yaml:");
    check(&[(file, "strange.txt")], "strange.txt is not an environment file: its name must end in .json");
    check(
        &[(file, "strict.yaml")],
        "strict.yaml:3: layer good asks for cookbook web \"~> 2.0\", but policy web (revision ",
    );
    check(&[(file, "strict.yaml")], ", artifact ");
    check(&[(file, "late.yaml")], "layer late ([CONFIGURATION]/late.yaml) sets web.site with the merge strategy merge");
    check(&[("--parameter", "web")], "--parameter web: it has no `=`");
    check(&[("--environment-files", "gone")], "gone cannot be read");
    site.write("list", "first.yaml\n\nmore\n");
    site.write("more", "second.yaml\n");
    check(
        &[("--environment-files", "list")],
        "[CONFIGURATION]/list:3: [CONFIGURATION]/more is not an environment file: its name must end in .json, .rb, .toml, \
         .yaml or .yml; a list cannot name another list",
    );
    site.write("list", "first.yaml\nsecond.yaml\n");
    check(&[("--environment-files", "list")], "[CONFIGURATION]/list:2 names a file that cannot be used");
}

#[test]
fn cookbooks_in_folders_have_layers_above_their_environment() {
    let root = Root::new().unwrap();
    let site = Site::new(&root);
    site.write(
        "environments/test.json",
        r#"{"name": "test", "default_attributes": {"web": {"site": "environment", "stage": "environment"}}}"#,
    );
    site.write("a.rb", "name 'ruby'\ndefault_attributes 'web' => { 'site' => %w(a b).join }\n");
    let root = site.machine.root().path().display().to_string();
    let [cookbooks, environments, file, facts] =
        ["web/cookbooks", "environments", "a.rb", "facts.json"].map(|name| site.path(name));
    let fixed =
        ["converge", "--allow-all", "--cookbooks", &cookbooks, "--run-list", "web", "--root", &root, "--facts", &facts];
    let more = ["-E", "test", "--environments", &environments, "--environment-file", &file, "--format", "json"];
    let ran = site.program.run_in(&site.machine, &[&fixed[..], &more].concat()).unwrap();
    assert_eq!(ran.code, Some(0), "{}", ran.text());
    assert_eq!([site.seen("site"), site.seen("stage")], [json!("ab"), json!("environment")]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!([&report["layers"][0]["from"], &report["layers"][1]["name"]], [&json!("environment"), &json!("ruby")]);
    assert_eq!(site.layers(), ["ruby"]);
    // What Ruby raises is told, and changes nothing.
    site.write("a.rb", "default_attributes File.read('/etc/passwd')\n");
    let ran = site.program.run_in(&site.machine, &[&fixed[..], &more].concat()).unwrap();
    assert_eq!(ran.code, Some(43), "{}", ran.text());
    assert!(ran.stderr.contains("a.rb:1 cannot be evaluated"), "{}", ran.text());
    assert_eq!(site.layers(), ["ruby"]);
}
