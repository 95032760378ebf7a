//! Creates the benchmarks' policies: two of the test guests and a Ruby cookbook, built under several names, each with a run
//! list.
//!
//! One of the benchmarks is a node with a hundred policies. A hundred folders of sources would measure the same as one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use author::{NoRuby, PolicyFolder};

use super::Work;
use crate::{checkout, say};

/// Number of policies without a resource. There is one policy for each other kind of work.
const EMPTY_POLICIES: usize = 100;

/// Number of policies with a Ruby cookbook.
const RUBY_POLICIES: usize = 3;

/// Declares the number of files that the attributes give, in a style that is common in cookbooks. Each policy has its own
/// files.
const RUBY_RECIPE: &str = r##"folder = node['load']['folder']
directory folder do
  recursive true
end

node['load']['count'].times do |at|
  file "#{folder}/#{node['policy_name']}-#{at}" do
    content "# file #{at}\n#{"setting = #{at}\n" * 20}"
    owner 'root'
    mode '0644'
    only_if { node['platform_family'] == 'debian' }
  end
end
"##;

/// Declares the same files without guards.
const RUBY_PLAIN_RECIPE: &str = r##"folder = node['load']['folder']
directory folder do
  recursive true
end

node['load']['count'].times do |at|
  file "#{folder}/plain-#{at}" do
    content "# file #{at}\n#{"setting = #{at}\n" * 20}"
    owner 'root'
    mode '0644'
  end
end
"##;

/// Declares the same files with two guards, one of which checks the machine.
const RUBY_GUARDED_RECIPE: &str = r##"folder = node['load']['folder']
directory folder do
  recursive true
end

node['load']['count'].times do |at|
  file "#{folder}/guarded-#{at}" do
    content "# file #{at}\n#{"setting = #{at}\n" * 20}"
    owner 'root'
    mode '0644'
    only_if { node['platform_family'] == 'debian' }
    not_if { ::File.exist?("#{folder}/without-#{at}") }
  end
end
"##;

/// Returns the name of a benchmark policy.
pub(super) fn name(work: Work, number: usize) -> String {
    format!("bench-{}-{number}", source(work).1)
}

/// Returns the test guest for a kind of work, and its recipe.
fn source(work: Work) -> (&'static str, &'static str) {
    match work {
        Work::Nothing => ("empty", "default"),
        Work::Files => ("load", "files"),
        Work::Templates => ("load", "templates"),
        Work::Mix => ("load", "mix"),
        Work::Ruby => ("ruby_load", "ruby"),
        Work::RubyPlain => ("ruby_load", "ruby_plain"),
        Work::RubyGuarded => ("ruby_load", "ruby_guarded"),
    }
}

/// Creates all artifacts from the built guests and with the program. Returns the folder of the artifacts.
pub(super) fn make(program: &Path) -> Result<PathBuf> {
    say::line("making the benchmarks' policies");
    let artifacts = checkout::root().join("target/bench-policies");
    let empty = (0..EMPTY_POLICIES).map(|number| (Work::Nothing, number));
    for (work, number) in empty.chain([(Work::Files, 0), (Work::Templates, 0), (Work::Mix, 0)]) {
        let (guest, recipe) = source(work);
        let built = checkout::components().join(format!("{guest}.wasm"));
        let component = fs::read(&built).with_context(|| format!("cannot read {}", built.display()))?;
        let scratch = checkout::root().join("target/bench-sources").join(guest);
        copy(&checkout::fixture_source(guest), &scratch)?;
        let name = name(work, number);
        let settings = format!("name = \"{name}\"\nrun_list = [\"{guest}::{recipe}\"]\ncookbooks = [\".\"]\n");
        fs::write(scratch.join("policy.toml"), settings).context("cannot write a benchmark's policy.toml")?;
        author::store(&PolicyFolder::read(&scratch, &mut NoRuby)?.artifact(&component)?, &artifacts)?;
    }
    ruby_policies().try_for_each(|(work, number)| make_ruby(program, work, number, &artifacts))?;
    Ok(artifacts)
}

/// Creates the Ruby policies that a baseline's folder lacks because it is older than their scenarios.
pub(super) fn make_missing_ruby(program: &Path, artifacts: &Path) -> Result<()> {
    let is_missing = |(work, number): &(Work, usize)| !artifacts.join(name(*work, *number) + ".wasm").exists();
    ruby_policies().filter(is_missing).try_for_each(|(work, number)| make_ruby(program, work, number, artifacts))
}

/// Returns each policy with a Ruby cookbook.
fn ruby_policies() -> impl Iterator<Item = (Work, usize)> {
    let several = (0..RUBY_POLICIES).map(|number| (Work::Ruby, number));
    several.chain([(Work::RubyPlain, 0), (Work::RubyGuarded, 0)])
}

/// Creates a policy from a Ruby cookbook, as a team would do it.
fn make_ruby(program: &Path, work: Work, number: usize, artifacts: &Path) -> Result<()> {
    let (name, (cookbook, recipe)) = (name(work, number), source(work));
    let text = match work {
        Work::RubyPlain => RUBY_PLAIN_RECIPE,
        Work::RubyGuarded => RUBY_GUARDED_RECIPE,
        _ => RUBY_RECIPE,
    };
    let scratch = checkout::root().join("target/bench-sources").join(recipe);
    let files = [
        (
            "policy.toml",
            format!("name = \"{name}\"\nrun_list = [\"{cookbook}::{recipe}\"]\ncookbooks = [\"cookbook\"]\n"),
        ),
        ("cookbook/metadata.rb", format!("name '{cookbook}'\nversion '1.0.0'\n")),
        (&format!("cookbook/recipes/{recipe}.rb"), text.to_owned()),
    ];
    fs::create_dir_all(scratch.join("cookbook/recipes")).context("cannot make a benchmark's folder")?;
    for (path, text) in files {
        fs::write(scratch.join(path), text).with_context(|| format!("cannot write a benchmark's {path}"))?;
    }
    let mut build = Command::new(program);
    build.args(["policy", "build"]).arg(&scratch).arg("--output").arg(artifacts);
    // Standard output is for the figures, which `--json` prints as one document.
    checkout::run(build.stdout(std::io::stderr()))
}

/// Copies a folder of sources, without cargo's target folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            if entry.file_name() != "target" {
                copy(&source, &target)?;
            }
        } else {
            fs::copy(&source, &target).with_context(|| format!("cannot copy {}", source.display()))?;
        }
    }
    Ok(())
}
