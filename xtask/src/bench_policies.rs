//! The benchmarks' policies: one component, released under several names with a run list each.
//!
//! A node with a hundred policies is one of the benchmarks, and a hundred folders of sources would say nothing more than
//! one does.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use policy::author::{self, PolicyFolder};
use policy::build::{GuestCompiler, compile_component};

use crate::bench::Work;
use crate::{checkout, say};

/// How many policies without a resource there are; one of each other work.
const EMPTY_POLICIES: usize = 100;

/// The name of a benchmark policy.
pub(crate) fn name(work: Work, number: usize) -> String {
    format!("bench-{}-{number}", recipe(work))
}

fn recipe(work: Work) -> &'static str {
    match work {
        Work::Nothing => "nothing",
        Work::Files => "files",
        Work::Templates => "templates",
        Work::Mix => "mix",
    }
}

/// Builds the component and all artifacts, and returns the folder that holds them.
pub(crate) fn build(compiler: &GuestCompiler) -> Result<PathBuf> {
    say::line("building the benchmarks' policies");
    let source = checkout::root().join("xtask/bench-policy");
    let component = compile_component(&source, compiler, &checkout::guest_target())?;
    let artifacts = checkout::root().join("target/bench-policies");
    let scratch = checkout::root().join("target/bench-policy");
    copy(&source, &scratch)?;
    let empty = (0..EMPTY_POLICIES).map(|number| (Work::Nothing, number));
    for (work, number) in empty.chain([(Work::Files, 0), (Work::Templates, 0), (Work::Mix, 0)]) {
        let settings = format!("name = \"{}\"\nrun_list = [\"bench::{}\"]\n", name(work, number), recipe(work));
        fs::write(scratch.join("policy.toml"), settings).context("cannot write a benchmark's policy.toml")?;
        let artifact = PolicyFolder::read(&scratch)?.artifact(&component)?;
        author::store(&artifact, &artifacts)?;
    }
    Ok(artifacts)
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
