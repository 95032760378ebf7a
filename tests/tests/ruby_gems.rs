//! Gems of plain Ruby that cookbooks name in their metadata, in a policy's artifact and in cookbooks that are run from
//! where they lie.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use specs::{Machine, Network, Output, Program, Root};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

/// What `gem build` writes about a gem, shortened.
const SPECIFICATION: &str = "--- !ruby/object:Gem::Specification
name: NAME
version: !ruby/object:Gem::Version
  version: VERSION
platform: PLATFORM
require_paths:
- lib
extensions: EXTENSIONS
required_ruby_version: !ruby/object:Gem::Requirement
  requirements:
  - - \">=\"
    - !ruby/object:Gem::Version
      version: '2.7'
dependencies:
";

const DEPENDENCY: &str = "- !ruby/object:Gem::Dependency
  name: NAME
  requirement: !ruby/object:Gem::Requirement
    requirements:
    - - \"~>\"
      - !ruby/object:Gem::Version
        version: 'VERSION'
  type: :TYPE
";

/// `require`, `autoload`, `require_relative`, and a file that is not Ruby.
const GREETER: [(&str, &str); 4] = [
    (
        "lib/greeter.rb",
        "require 'counter'\nrequire_relative 'greeter/words'\nmodule Greeter\n  autoload :Late, 'greeter/late'\n  \
         def self.greet(name)\n    ending = File.read(File.expand_path('../data/end', __dir__))\n    \
         \"#{Words::HELLO} #{name} #{Counter.count(name)} #{Late::WORD} #{ending}\"\n  end\nend\n",
    ),
    ("lib/greeter/words.rb", "module Greeter\n  module Words\n    HELLO = 'hello'\n  end\nend\n"),
    ("lib/greeter/late.rb", "module Greeter\n  module Late\n    WORD = 'late'\n  end\nend\n"),
    ("data/end", "end"),
];

const COUNTER: [(&str, &str); 1] = [("lib/counter.rb", "module Counter\n  def self.count(text) = text.size\nend\n")];

const RECIPE: &str = "require 'greeter'\ngem 'greeter', '>= 1'\nfile '/srv/greeting' do\n  \
                      content Greeter.greet('joe') + Gem.loaded_specs['greeter'].version.to_s\nend\n";

fn tar_of(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, content) in entries {
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        builder.append_data(&mut header, path, content.as_slice()).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Writes a released gem. `needs`: name, version, type.
fn gem(folder: &Path, name: &str, version: &str, files: &[(&str, &str)], needs: &[(&str, &str, &str)]) {
    native_gem(folder, name, version, files, needs, "[]");
}

fn native_gem(
    folder: &Path,
    name: &str,
    version: &str,
    files: &[(&str, &str)],
    needs: &[(&str, &str, &str)],
    extensions: &str,
) {
    let filled = |text: &str, name: &str, version: &str| text.replace("NAME", name).replace("VERSION", version);
    let mut text = filled(SPECIFICATION, name, version).replace("PLATFORM", "ruby").replace("EXTENSIONS", extensions);
    for (name, version, kind) in needs {
        text += &filled(DEPENDENCY, name, version).replace("TYPE", kind);
    }
    let files: Vec<_> = files.iter().map(|(path, content)| (*path, content.as_bytes().to_vec())).collect();
    let parts = [("metadata.gz", gzip(text.as_bytes())), ("data.tar.gz", gzip(&tar_of(&files)))];
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(format!("{name}-{version}.gem")), tar_of(&parts)).unwrap();
}

fn cookbook(folder: &Path, gems: &str, recipe: &str) {
    fs::create_dir_all(folder.join("recipes")).unwrap();
    fs::write(folder.join("metadata.rb"), format!("name 'web'\nversion '1.0.0'\n{gems}\n")).unwrap();
    fs::write(folder.join("recipes/default.rb"), recipe).unwrap();
}

/// A policy's folder with one cookbook, and gems of which some fit.
fn policy(folder: &Path, gems: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("policy.toml"), "name = \"site\"\nrun_list = [\"web\"]\n").unwrap();
    cookbook(&folder.join("cookbooks/web"), gems, RECIPE);
    let there = folder.join("gems");
    gem(&there, "greeter", "1.0.3", &GREETER, &[("counter", "2.0", "runtime"), ("rspec", "3.0", "development")]);
    gem(&there, "greeter", "2.0.0", &[("lib/greeter.rb", "raise 'too new'")], &[]);
    gem(&there, "counter", "2.1.0", &COUNTER, &[("json", "2.0", "runtime")]);
    gem(&there, "counter", "3.0.0", &[("lib/counter.rb", "raise 'too new'")], &[]);
    native_gem(&there, "native", "1.0", &[("ext/extconf.rb", "")], &[], "[ext/extconf.rb]");
}

fn build(program: &Program, folder: &Path, more: &[&str]) -> std::process::Output {
    let mut command = Command::new(program.executable());
    command.args(["policy", "build"]).arg(folder).arg("--output").arg(program.configuration()).args(more);
    command.envs(program.environment()).output().unwrap()
}

fn converge(program: &Program, machine: &Machine<'_>, more: &[&str]) -> Output {
    let root = machine.root().path().display().to_string();
    let arguments = ["converge", "--format", "json", "--node-name", "node1", "--allow-all", "--root", &root];
    program.run_in(machine, &[&arguments[..], more].concat()).unwrap()
}

#[test]
fn a_policy_carries_the_gems_that_its_cookbooks_name() {
    let folder = tempfile::tempdir().unwrap();
    policy(folder.path(), "gem 'greeter', '~> 1.0'\ngem 'deepsort'");
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let built = build(&program, folder.path(), &[]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let machine = root.machine(Network::Own).unwrap();
    let artifacts = program.configuration().display().to_string();
    let output = converge(&program, &machine, &["--policies", &artifacts, "--policy-name", "site"]);
    assert_eq!(output.code, Some(0), "{}", output.text());
    assert_eq!(fs::read_to_string(root.path().join("srv/greeting")).unwrap(), "hello joe 3 late end1.0.3");
}

#[test]
fn cookbooks_in_folders_take_gems_from_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    policy(folder.path(), "gem 'greeter', '~> 1.0'");
    // The same gems, unpacked: what one needs does not stand there, so all go.
    for (name, files) in [("greeter-1.0.3", &GREETER[..]), ("counter-2.1.0", &COUNTER[..])] {
        for (path, text) in files {
            let path = folder.path().join("unpacked").join(name).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let cookbooks = folder.path().join("cookbooks").display().to_string();
    for gems in ["gems", "unpacked"] {
        let gems = folder.path().join(gems).display().to_string();
        let run = ["--cookbooks", &cookbooks, "--run-list", "web", "--gems", &gems];
        let output = converge(&program, &machine, &run);
        assert_eq!(output.code, Some(0), "{}", output.text());
        let greeting = root.path().join("srv/greeting");
        assert_eq!(fs::read_to_string(&greeting).unwrap(), "hello joe 3 late end1.0.3");
        fs::remove_file(greeting).unwrap();
    }
    // Without a folder it is as it was: nothing is asked for, and the recipe's `require` fails.
    let output = converge(&program, &machine, &["--cookbooks", &cookbooks, "--run-list", "web"]);
    let run: Value = serde_json::from_str(&output.expect_code(1).unwrap().stdout).unwrap();
    assert_eq!(run["error"]["class"], "LoadError");
}

#[test]
fn what_cannot_travel_is_said_at_the_metadata() {
    let program = Program::new().unwrap();
    let check = |gems: &str, settings: &str, expect: Result<(), &[&str]>| {
        let folder = tempfile::tempdir().unwrap();
        policy(folder.path(), gems);
        let mut toml = fs::read_to_string(folder.path().join("policy.toml")).unwrap();
        toml += settings;
        fs::write(folder.path().join("policy.toml"), toml).unwrap();
        let built = build(&program, folder.path(), &[]);
        let said = String::from_utf8_lossy(&built.stderr).into_owned();
        match expect {
            Ok(()) => assert!(built.status.success(), "{said}"),
            Err(parts) => {
                assert_eq!(built.status.code(), Some(43), "{said}");
                for part in parts {
                    assert!(said.contains(part), "{part:?} is not in {said}");
                }
            }
        }
    };
    let missing = ["web/metadata.rb:3: ", "wants gem pg (~> 1.5)", "none", "gem fetch pg --version '~> 1.5'"];
    check("gem 'pg', '~> 1.5'", "", Err(&missing));
    check("gem 'pg', '~> 1.5'", "without_gems = [\"pg\"]\n", Ok(()));
    check("gem 'greeter', '~> 9'", "", Err(&["metadata.rb:3: ", "wants gem greeter (~> 9)", "only 1.0.3, 2.0.0"]));
    check("gem 'native'", "", Err(&["metadata.rb:3: ", "native-1.0.gem has native extensions", "without_gems"]));
    check("gem 'greeter'\ngem 'greeter', '< 1'", "", Err(&["wants gem greeter (< 1)", "only 1.0.3"]));
    check("gem 'greeter', 'nonsense'", "", Err(&["nonsense"]));
    check("gem 'deepsort'", "", Ok(()));
    check("gem 'greeter'", "gems = \"elsewhere\"\n", Err(&["elsewhere"]));
}

/// A library that is not there is told with what an author can do.
#[test]
fn a_missing_library_has_a_hint() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let cookbooks = program.configuration().join("cookbooks");
    fs::create_dir_all(cookbooks.join("web/recipes")).unwrap();
    fs::write(cookbooks.join("web/metadata.rb"), "name 'web'\n").unwrap();
    let travels = "a gem of plain Ruby can travel with the policy: name it in metadata.rb and put it into `gems/`; \
                   a gem with C parts does not run in the sandbox";
    for (library, why, hint) in [
        (
            "net/ssh",
            " (the sandbox that policies run in has no sockets)",
            "the program `ssh` of the node can be run by",
        ),
        ("pg", " (the sandbox that policies run in calls no foreign libraries)", "the program `psql` of the node can"),
        ("httparty", "", travels),
        ("google/cloud/storage", "", travels),
    ] {
        fs::write(cookbooks.join("web/recipes/default.rb"), format!("require '{library}'\n")).unwrap();
        let place = cookbooks.display().to_string();
        let output = converge(&program, &machine, &["--cookbooks", &place, "--run-list", "web"]);
        let run: Value = serde_json::from_str(&output.expect_code(1).unwrap().stdout).unwrap();
        assert_eq!(run["error"]["message"], format!("cannot load such file -- {library}{why}"));
        assert!(run["error"]["hint"].as_str().unwrap().starts_with(hint), "{:#}", run["error"]);
        let folder = cookbooks.join("web").display().to_string();
        let checked = program.run(&["cookbook", "check", &folder, "-F", "json"]).unwrap().expect_code(1).unwrap();
        let report: Value = serde_json::from_str(&checked.stdout).unwrap();
        assert!(report["problems"][0]["hint"].as_str().unwrap().starts_with(hint), "{report:#}");
    }
    // Whoever asks for a file by its path means no gem.
    fs::write(cookbooks.join("web/recipes/default.rb"), "require '/srv/none'\n").unwrap();
    let place = cookbooks.display().to_string();
    let output = converge(&program, &machine, &["--cookbooks", &place, "--run-list", "web"]);
    let run: Value = serde_json::from_str(&output.expect_code(1).unwrap().stdout).unwrap();
    assert_eq!(run["error"]["hint"], Value::Null, "{:#}", run["error"]);
}
