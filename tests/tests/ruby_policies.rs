//! Policies whose cookbooks are in Ruby, and policies that have cookbooks in both languages: built by the program, run on
//! a machine of their own.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use author::{SdkSource, Start, create};
use serde_json::Value;
use specs::{Machine, Network, Program, Root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A cookbook that includes a recipe of the other language and notifies its resource, with a template of its own.
const RECIPE: &str = r#"
template '/srv/web.conf' do
  source 'web.conf.erb'
  variables port: node['web']['port']
  notifies :create, 'file[/srv/told]', :immediately
end
file '/srv/told' do
  content "told\n"
  action :nothing
end
"#;

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Writes the cookbook `web`.
fn web(cookbook: &Path, recipe: &str) {
    for (path, text) in [
        ("metadata.rb", "name 'web'\nversion IO.read(File.join(__dir__, 'VERSION')).strip\n"),
        ("VERSION", "1.2.0\n"),
        ("attributes/default.rb", "default['web']['port'] = 8080\n"),
        ("templates/web.conf.erb", "port <%= @port %>\n"),
        ("recipes/default.rb", recipe),
    ] {
        let path = cookbook.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Builds a policy's folder with the program, as its author would.
fn build(program: &Program, folder: &Path) -> PathBuf {
    let artifacts = program.configuration().join("artifacts");
    let target = checkout().join("target/guests/of/policies");
    let mut command = Command::new(program.executable());
    command.args(["policy", "build"]).arg(folder).arg("--output").arg(&artifacts).arg("--target-dir").arg(target);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    artifacts
}

fn converge(program: &Program, machine: &Machine<'_>, artifacts: &Path, name: &str) -> Value {
    let (place, artifacts) = (machine.root().path().display().to_string(), artifacts.display().to_string());
    let grants = program.configuration().join("grants.toml");
    fs::write(&grants, format!("[policy.{name}]\nclock = true\npaths = [\"/srv/**\", \"/etc/both.txt\"]\n")).unwrap();
    let grants = grants.display().to_string();
    let arguments = [
        "converge",
        "--format",
        "json",
        "--node-name",
        "node1",
        "--policy-name",
        name,
        "--policies",
        &artifacts,
        "--root",
        &place,
        "--grants",
        &grants,
    ];
    let output = program.run_in(machine, &arguments).unwrap().expect_code(0).unwrap();
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in\n{}", output.text()))
}

/// Type, name, action and status of each resource.
fn resources(run: &Value) -> Vec<String> {
    let word = |resource: &Value, key: &str| resource[key].as_str().unwrap_or_default().to_owned();
    let line = |resource: &Value| ["type", "name", "action", "status"].map(|key| word(resource, key)).join(" ");
    run["policies"][0]["resources"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn a_policy_of_ruby_cookbooks() {
    let folder = tempfile::tempdir().unwrap();
    web(&folder.path().join("cookbooks/web"), RECIPE);
    fs::write(folder.path().join("policy.toml"), "name = \"site\"\nrun_list = [\"web\"]\n").unwrap();
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let artifacts = build(&program, folder.path());
    assert!(fs::metadata(artifacts.join("site.wasm")).unwrap().len() < 16 << 10, "it carries its sources alone");
    let machine = root.machine(Network::Own).unwrap();
    let run = converge(&program, &machine, &artifacts, "site");
    let expect =
        ["template /srv/web.conf create updated", "file /srv/told create updated", "file /srv/told nothing skipped"];
    assert_eq!(resources(&run), expect);
    assert_eq!(fs::read_to_string(root.path().join("srv/web.conf")).unwrap(), "port 8080\n");
    let again = converge(&program, &machine, &artifacts, "site");
    assert_eq!(resources(&again), ["template /srv/web.conf create up-to-date", "file /srv/told nothing skipped"]);
}

#[test]
fn cookbooks_of_both_languages_in_one_policy() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("both");
    create(&folder, "both", &Start::Rust(SdkSource::Path(checkout().join("guests/sdk")))).unwrap();
    // The guests' lock: the same crates, and nothing to fetch.
    fs::copy(checkout().join("guests/Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let recipe = "include_recipe 'both::default'\nfile '/srv/last' do\n  content 'x'\n  \
                  notifies :touch, 'template[/etc/both.txt]'\n  only_if { ::File.exist?('/etc/both.txt') }\nend\n";
    // In the same folder: cargo reads only the crates that the policy links.
    web(&folder.join("cookbooks/web"), recipe);
    let toml = fs::read_to_string(folder.join("policy.toml")).unwrap();
    fs::write(folder.join("policy.toml"), toml.replace("run_list = [\"both\"]", "run_list = [\"web\"]")).unwrap();
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let artifacts = build(&program, &folder);
    let machine = root.machine(Network::Own).unwrap();
    let run = converge(&program, &machine, &artifacts, "both");
    let rows = resources(&run);
    assert!(
        rows[0].contains("/etc/both.txt create updated"),
        "the recipe in Rust comes where it is included: {rows:?}"
    );
    assert!(rows.contains(&"file /srv/last create updated".to_owned()), "{rows:?}");
    assert!(rows.last().unwrap().contains("/etc/both.txt touch"), "a Ruby resource notifies one of Rust: {rows:?}");
    assert_eq!(run["outcome"], "success");
}
