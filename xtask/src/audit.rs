//! `cargo xtask audit`: checks every lock file of the checkout for known vulnerabilities.
//!
//! The database is an existing checkout of <https://github.com/rustsec/advisory-db>; nothing is downloaded. The tool that
//! reads it is in its own workspace (`xtask/audit`), so that other commands need not build it.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::{checkout, say};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder of a checkout of the advisory database
    #[arg(long, value_name = "DIR")]
    database: PathBuf,
}

/// Builds the tool and runs it on all lock files.
///
/// # Errors
/// The database cannot be read, or a locked package is vulnerable or unsound.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let database = std::path::absolute(&arguments.database)?;
    ensure!(
        ["crates", "rust"].iter().any(|folder| database.join(folder).is_dir()),
        "{} is not a checkout of the advisory database: it has no folder `crates`",
        database.display()
    );
    let mut command = checkout::cargo();
    command.args(["run", "--quiet", "--target-dir"]).arg(checkout::root().join("target/audit"));
    command.arg("--manifest-path").arg(checkout::root().join("xtask/audit/Cargo.toml"));
    command.env_remove("RUSTC_WORKSPACE_WRAPPER").arg("--").arg(&database).args(locks(checkout::root())?);
    say::line("building the tool that reads advisories (a minute, once)");
    checkout::run(&mut command)
}

/// Returns the lock files that are tracked by git.
fn locks(root: &Path) -> Result<Vec<PathBuf>> {
    let mut command = std::process::Command::new("git");
    let output =
        command.arg("-C").arg(root).args(["ls-files", "--cached", "--", "Cargo.lock", "*/Cargo.lock"]).output()?;
    let names = String::from_utf8_lossy(&output.stdout);
    let locks: Vec<_> = names.lines().map(|name| root.join(name)).filter(|path| path.is_file()).collect();
    ensure!(!locks.is_empty(), "{} is not a checkout of git with lock files", root.display());
    Ok(locks)
}
