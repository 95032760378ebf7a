//! `normal` attributes belong to the node and outlive runs: a policy sees and writes those that are its own or granted to
//! it, and another's are neither read, lost nor overruled.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use specs::{Machine, Network, Output, Program, Root};
use std::fs;
use std::process::Command;

const OWNER: &str = "
node.normal['web']['password'] = 'hunter2'
";

const SPY: &str = "
said = [node.normal.to_h.keys.sort.join(','), node.to_h.to_s.include?('hunter2').to_s]
said << node['web'].inspect << node.dig('web', 'password').inspect << node.attribute?('web').to_s
node.normal['spy']['been'] = true
file '/srv/said' do
  content said.join(\"\\n\")
end
";

const TWIN: &str = "
before = node.dig('web', 'password').inspect
node.default['web']['admins'] = ['mine']
node.normal['web']['password'] = 'evil'
file '/srv/twin' do
  content before
end
";

const GRANTS: &str = "
[policy.owner]
write_attributes = [\"web\"]

[policy.twin]
paths = [\"/srv/**\"]

[policy.spy]
paths = [\"/srv/**\"]
";

/// Builds a policy of one cookbook with one recipe.
fn build(program: &Program, policy: &str, cookbook: &str, recipe: &str) {
    let folder = program.configuration();
    let place = folder.join(policy).join("cookbooks").join(cookbook);
    fs::create_dir_all(place.join("recipes")).unwrap();
    let about = format!("name = \"{policy}\"\nrun_list = [\"{cookbook}\"]\n");
    fs::write(folder.join(policy).join("policy.toml"), about).unwrap();
    fs::write(place.join("metadata.rb"), format!("name '{cookbook}'\n")).unwrap();
    fs::write(place.join("recipes/default.rb"), recipe).unwrap();
    let mut command = Command::new(program.executable());
    command.args(["policy", "build"]).arg(folder.join(policy)).arg("--output").arg(&folder);
    let built = command.envs(program.environment()).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

fn converge(program: &Program, machine: &Machine<'_>, policies: &str) -> Output {
    let root = machine.root().path().display().to_string();
    let folder = program.configuration();
    let [grants, folder] = [folder.join("grants.toml"), folder.to_owned()].map(|path| path.display().to_string());
    let arguments = ["converge", "--format", "json", "--node-name", "node1", "--policy-name", policies];
    let places = ["--root", &root, "--policies", &folder, "--grants", &grants];
    program.run_in(machine, &[&arguments[..], &places].concat()).unwrap()
}

fn normal(program: &Program) -> Value {
    let shown = program.run(&["node", "show", "-F", "json"]).unwrap().expect_code(0).unwrap();
    serde_json::from_str::<Value>(&shown.stdout).unwrap().get("normal").cloned().unwrap_or_default()
}

#[test]
fn normal_attributes_of_others_are_neither_read_nor_overruled_nor_lost() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    build(&program, "owner", "web", OWNER);
    build(&program, "spy", "spy", SPY);
    build(&program, "twin", "web", TWIN);
    fs::write(program.configuration().join("grants.toml"), GRANTS).unwrap();

    let ran = converge(&program, &machine, "owner,spy");
    assert_eq!(ran.code, Some(0), "{}", ran.text());
    let said = fs::read_to_string(root.path().join("srv/said")).unwrap();
    assert_eq!(said, "tags\nfalse\nnil\nnil\nfalse");
    // Another policy's attributes are nobody's to hear of but the operator's.
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let hidden = report["hidden_reads"].as_array().unwrap();
    let of_web: Vec<_> = hidden.iter().filter(|read| read["path"] == "web").collect();
    let [read] = of_web.as_slice() else { panic!("{hidden:#?}") };
    assert_eq!(read["policy"], "spy");
    assert_eq!([&read["kind"], &read["refused"]], [&json!("attribute"), &json!(false)]);
    assert_eq!(read["owner"], "policy");
    assert_eq!(read["grant"], "read_attributes = [\"web\"]");
    assert_eq!([&read["origin"]["file"], &read["origin"]["line"]], [&json!("recipes/default.rb"), &json!(3)]);
    assert!(!report["hidden_reads"].to_string().contains("hunter2"));
    let expect = json!({"tags": [], "web": {"password": "hunter2"}, "spy": {"been": true}});
    assert_eq!(normal(&program), expect);

    // Another policy with a cookbook of that name writes beside it: it neither sees nor changes what the owner wrote.
    let ran = converge(&program, &machine, "owner,twin");
    assert_eq!(ran.code, Some(0), "{}", ran.text());
    assert_eq!(fs::read_to_string(root.path().join("srv/twin")).unwrap(), "nil");
    assert_eq!(normal(&program), expect);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    // The operator hears that it asked, though the name is its own cookbook's.
    let of_twin = report["hidden_reads"].as_array().unwrap().iter().find(|read| read["policy"] == "twin");
    assert_eq!(of_twin.unwrap()["owner"], "policy");
    let notice = json!([{"kind": "shared-cookbook", "cookbook": "web", "policies": ["owner", "twin"]}]);
    assert_eq!(report["notices"], notice);
    // Over two runs, too; its own is there again.
    let ran = converge(&program, &machine, "twin");
    assert_eq!(ran.code, Some(0), "{}", ran.text());
    assert_eq!(fs::read_to_string(root.path().join("srv/twin")).unwrap(), "\"evil\"");
    assert_eq!(normal(&program), expect);
}

/// To write one attribute a language fetches the level that it belongs to. That reads nobody's attributes.
#[test]
fn a_write_to_ones_own_name_reads_nothing_of_others() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    for name in ["a", "b"] {
        build(&program, name, name, &format!("node.normal['{name}']['y'] = 1\n"));
    }
    fs::write(program.configuration().join("grants.toml"), "[policy.a]\n[policy.b]\n").unwrap();
    for _ in 0..2 {
        let ran = converge(&program, &machine, "a,b");
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((ran.code, &report["hidden_reads"]), (Some(0), &json!([])), "{}", ran.text());
    }
    assert_eq!(normal(&program), json!({"tags": [], "a": {"y": 1}, "b": {"y": 1}}));
}

/// Ruby writes `backup` before it writes `backup.paths`. The grant names only what the recipe means.
#[test]
fn a_right_to_one_attribute_is_enough_for_ruby_to_write_it() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let recipe = "node.default['backup']['paths'] = %w(/srv)\nnode.override['backup']['deep']['x'] = 1\n";
    build(&program, "a", "a", recipe);
    build(&program, "b", "b", "node.default['backup']['other'] = 1\n");
    build(&program, "c", "c", "node.default['backup'] = { 'other' => 1 }\n");
    let grants = |paths: &str| {
        let tables = ["a", "b", "c"].map(|policy| format!("[policy.{policy}]\nwrite_attributes = {paths}\n"));
        fs::write(program.configuration().join("grants.toml"), tables.concat()).unwrap();
    };
    grants("[\"backup.paths\", \"backup.deep.x\"]");
    let ran = converge(&program, &machine, "a");
    assert_eq!(ran.code, Some(0), "{}", ran.text());
    let shown = program.run(&["node", "show", "backup", "-F", "json"]).unwrap().expect_code(0).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&shown.stdout).unwrap(),
        json!({"paths": ["/srv"], "deep": {"x": 1}}),
        "{}",
        shown.stdout
    );
    for (policy, entry) in [("b", "\"backup.other\""), ("c", "\"backup\"")] {
        let ran = converge(&program, &machine, policy);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(ran.code, Some(1), "{}", ran.text());
        let denials = &report["denials"];
        assert_eq!((denials[0]["key"].as_str(), denials[0]["value"].as_str()), (Some("write_attributes"), Some(entry)));
        assert_eq!(denials.as_array().unwrap().len(), 1, "{denials:#}");
    }
}
