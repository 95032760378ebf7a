//! Data bags that the operator keeps for policies: each reads what it was granted, and nothing is there unless somebody says
//! where.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;
use specs::{Machine, Network, Output, Program, Root};
use std::fs;
use std::process::Command;

const RECIPE: &str = "
said = [data_bag_item('users', 'joe')['shell']]
begin
  data_bag_item('secrets', 'mysql')
rescue StandardError => error
  said << error.class.name << error.message[/data_bags = .+/]
end
file '/srv/said' do
  content said.join(\"\\n\")
end
";

/// Builds a policy `site` with the recipe, and writes its grants and the data bags.
fn prepare(program: &Program) -> [String; 3] {
    let folder = program.configuration();
    let cookbook = folder.join("site/cookbooks/web");
    fs::create_dir_all(cookbook.join("recipes")).unwrap();
    fs::write(folder.join("site/policy.toml"), "name = \"site\"\nrun_list = [\"web\"]\n").unwrap();
    fs::write(cookbook.join("metadata.rb"), "name 'web'\n").unwrap();
    fs::write(cookbook.join("recipes/default.rb"), RECIPE).unwrap();
    let mut command = Command::new(program.executable());
    command.args(["policy", "build"]).arg(folder.join("site")).arg("--output").arg(&folder);
    let built = command.envs(program.environment()).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let grants = "[policy.site]\npaths = [\"/srv/**\"]\ndata_bags = [\"users\"]\n";
    fs::write(folder.join("grants.toml"), grants).unwrap();
    let bags = folder.join("bags");
    for (item, text) in [
        // As people write them.
        ("users/joe", "{\n  \"id\": \"joe\", // the name\n  \"shell\": \"/bin/zsh\"\n}"),
        ("secrets/mysql", r#"{"id": "mysql", "password": "x"}"#),
    ] {
        let path = bags.join(format!("{item}.json"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    [folder.clone(), folder.join("grants.toml"), bags].map(|path| path.display().to_string())
}

fn converge(program: &Program, machine: &Machine<'_>, folder: &str, grants: &str, more: &[&str]) -> Output {
    let root = machine.root().path().display().to_string();
    let arguments = ["converge", "--format", "json", "--node-name", "node1", "--policy-name", "site"];
    let places = ["--root", &root, "--policies", folder, "--grants", grants];
    program.run_in(machine, &[&arguments[..], &places, more].concat()).unwrap()
}

#[test]
fn a_policy_reads_the_data_bags_that_it_was_granted() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let [folder, grants, bags] = prepare(&program);
    let machine = root.machine(Network::Own).unwrap();
    let expect = |output: Output| {
        assert_eq!(output.code, Some(0), "{}", output.text());
        let said = fs::read_to_string(root.path().join("srv/said")).unwrap();
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines[0], "/bin/zsh");
        assert!(lines[2].contains("secrets/mysql"), "the line that would grant it is said: {said}");
        fs::remove_file(root.path().join("srv/said")).unwrap();
    };
    expect(converge(&program, &machine, &folder, &grants, &["--data-bags", &bags]));
    fs::write(program.configuration().join("wrun.toml"), format!("data_bags = {bags:?}\n")).unwrap();
    expect(converge(&program, &machine, &folder, &grants, &[]));
}

#[test]
fn without_a_folder_there_are_none_and_a_wrong_one_is_bad_input() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let [folder, grants, _] = prepare(&program);
    let machine = root.machine(Network::Own).unwrap();
    let output = converge(&program, &machine, &folder, &grants, &[]);
    let run: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{}", output.text()));
    assert_eq!((output.code, run["outcome"].as_str()), (Some(1), Some("failure")));
    assert!(run["error"]["message"].as_str().unwrap().contains("do not name its directory with `data_bags`"), "{run}");
    let output = converge(&program, &machine, &folder, &grants, &["--data-bags", "/no/such/folder"]);
    assert_eq!(output.code, Some(43), "{}", output.text());
    assert!(output.stderr.contains("/no/such/folder"), "{}", output.text());
}
