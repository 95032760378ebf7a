//! The benchmarks' policies: two of the tests' guests, released under several names with a run list each.
//!
//! A node with a hundred policies is one of the benchmarks, and a hundred folders of sources would say nothing more than
//! one does.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use policy::author::{self, NoRuby, PolicyFolder};

use crate::bench::Work;
use crate::{checkout, say};

/// How many policies without a resource there are; one of each other work.
const EMPTY_POLICIES: usize = 100;

/// The name of a benchmark policy.
pub(crate) fn name(work: Work, number: usize) -> String {
    format!("bench-{}-{number}", source(work).1)
}

/// The tests' guest that does a work, and its recipe.
fn source(work: Work) -> (&'static str, &'static str) {
    match work {
        Work::Nothing => ("empty", "default"),
        Work::Files => ("load", "files"),
        Work::Templates => ("load", "templates"),
        Work::Mix => ("load", "mix"),
    }
}

/// Makes all artifacts of guests that are built, and returns the folder that holds them.
pub(crate) fn make() -> Result<PathBuf> {
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
