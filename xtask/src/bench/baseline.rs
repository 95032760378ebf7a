//! Another build of wrun, which is measured in the same repetitions.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use specs::Program;

use super::policies;

/// Another checkout that was built for the benchmarks.
pub(super) struct Baseline {
    target: PathBuf,
}

impl Baseline {
    /// Finds the files that a benchmark in that checkout has built.
    pub(super) fn find(checkout: &Path) -> Result<Self> {
        let checkout = checkout.canonicalize().with_context(|| format!("cannot open {}", checkout.display()))?;
        let found = Self { target: checkout.join("target") };
        for path in [found.program(), found.policies(), found.examples(), found.fixtures()] {
            ensure!(
                path.exists(),
                "{} is missing: run `cargo xtask bench --only none --runs 1` in {} first",
                path.display(),
                checkout.display()
            );
        }
        Ok(found)
    }

    fn program(&self) -> PathBuf {
        self.target.join("release/wrun")
    }

    fn policies(&self) -> PathBuf {
        self.target.join("bench-policies")
    }

    pub(super) fn examples(&self) -> PathBuf {
        self.target.join("release/examples")
    }

    pub(super) fn fixtures(&self) -> PathBuf {
        self.target.join("fixtures")
    }

    pub(super) fn build(&self) -> Result<Build> {
        policies::make_missing_ruby(&self.program(), &self.policies())?;
        Ok(Build { program: Program::at(&self.program())?, policies: self.policies() })
    }
}

/// A build of wrun with the artifacts for it.
pub(super) struct Build {
    pub(super) program: Program,
    /// The folder of the bench policies' artifacts.
    pub(super) policies: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_that_was_not_built_is_no_baseline() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let error = Baseline::find(folder.path()).err().expect("nothing is there").to_string();
        assert!(error.contains("release/wrun is missing: run `cargo xtask bench"), "{error}");
    }
}
