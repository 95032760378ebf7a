//! The benchmarks' policies: two of the tests' guests and a Ruby cookbook, released under several names with a run list
//! each.
//!
//! A node with a hundred policies is one of the benchmarks, and a hundred folders of sources would say nothing more than
//! one does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use author::{NoRuby, PolicyFolder};

use super::Work;
use crate::{checkout, say};

/// How many policies without a resource there are; one of each other work.
const EMPTY_POLICIES: usize = 100;

/// How many policies there are whose cookbook is in Ruby.
const RUBY_POLICIES: usize = 3;

/// As many files as the attributes say, in a way that cookbooks write them. Each policy has files of its own.
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

/// The same without guards.
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

/// The same with two guards, one of which looks at the machine.
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

/// The name of a benchmark policy.
pub(super) fn name(work: Work, number: usize) -> String {
    format!("bench-{}-{number}", source(work).1)
}

/// The tests' guest that does a work, and its recipe.
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

/// Makes all artifacts, of guests that are built and with the program, and returns the folder that holds them.
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

/// Makes the Ruby policies that a baseline's folder does not have, as it is older than their scenarios.
pub(super) fn make_missing_ruby(program: &Path, artifacts: &Path) -> Result<()> {
    let is_missing = |(work, number): &(Work, usize)| !artifacts.join(name(*work, *number) + ".wasm").exists();
    ruby_policies().filter(is_missing).try_for_each(|(work, number)| make_ruby(program, work, number, artifacts))
}

/// Each policy whose cookbook is in Ruby.
fn ruby_policies() -> impl Iterator<Item = (Work, usize)> {
    let several = (0..RUBY_POLICIES).map(|number| (Work::Ruby, number));
    several.chain([(Work::RubyPlain, 0), (Work::RubyGuarded, 0)])
}

/// Makes a policy of a Ruby cookbook, as its team would.
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

/// Copies a folder of sources, without what cargo made in it.
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
