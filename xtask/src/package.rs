//! `cargo xtask package`: builds the Debian package, and an archive for other systems.
//!
//! Both contain the same tree, which [`tree`] creates. `dpkg-deb` creates the package, and `tar` and `zstd` create the
//! archive: the same tools that unpack them.

mod book;
mod deb;
mod tree;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::{checkout, guests, say};

/// The arguments of `cargo xtask package`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Package this program instead of building one with the release profile
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Package the Ruby runtime of this directory instead of making one
    #[arg(long, value_name = "DIR")]
    runtime: Option<PathBuf>,
    /// The version of the package [default: that of the program]
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Where the package and the archive go
    #[arg(long, value_name = "DIR", default_value = "target/package")]
    output: PathBuf,
    /// Make only the Debian package
    #[arg(long)]
    only_deb: bool,
}

/// Builds the package and the archive.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    for tool in ["dpkg-deb", "gzip", "strip", "tar", "zstd"] {
        if !is_there(tool) {
            bail!("{tool} is missing: install Debian's dpkg, gzip, binutils, tar and zstd");
        }
    }
    let program = match &arguments.program {
        Some(program) => program.clone(),
        None => {
            say::line("building the program with the release profile (the first build takes many minutes)");
            checkout::build_release_program()?
        }
    };
    let runtime = match &arguments.runtime {
        Some(folder) => folder.clone(),
        None => {
            guests::build_runtime(&[])?;
            checkout::runtimes()?
        }
    };
    let version = match &arguments.version {
        Some(version) => version.clone(),
        None => version_of(&program)?,
    };
    check_version(&version)?;
    let output = std::path::absolute(&arguments.output)?;
    std::fs::create_dir_all(&output).with_context(|| format!("cannot make {}", output.display()))?;
    // The work folder is in the output folder, so that this command leaves no files elsewhere.
    let work = output.join(format!("work-{}", std::process::id()));
    let made = make(&program, &runtime, &version, &work, &output, arguments.only_deb);
    let removed = std::fs::remove_dir_all(&work).with_context(|| format!("cannot remove {}", work.display()));
    for file in made? {
        say::result(&file.display().to_string());
    }
    removed
}

fn make(
    program: &Path,
    runtime: &Path,
    version: &str,
    work: &Path,
    output: &Path,
    only_deb: bool,
) -> Result<Vec<PathBuf>> {
    let tree = work.join("tree");
    tree::make(program, runtime, &tree)?;
    let mut files = vec![deb::make(&tree, version, work, output)?];
    if !only_deb {
        files.push(archive(&tree, version, output)?);
    }
    Ok(files)
}

/// Creates the archive of the tree for other systems. Files with holes stay sparse.
fn archive(tree: &Path, version: &str, output: &Path) -> Result<PathBuf> {
    let file = output.join(format!("wrun-{version}-linux-amd64.tar.zst"));
    say::line("making the archive");
    let mut tar = Command::new("tar");
    tar.arg("--create").arg("--file").arg(&file).args(["--use-compress-program", "zstd -T0 -9"]);
    tar.args(["--sparse", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.arg(format!("--transform=s,^\\.,wrun-{version},")).arg("--directory").arg(tree).arg(".");
    checkout::run(&mut tar)?;
    Ok(file)
}

/// Returns the version that the program prints.
fn version_of(program: &Path) -> Result<String> {
    let output = Command::new(program).arg("--version").output();
    let output = output.with_context(|| format!("cannot run {}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.split_whitespace().nth(1).context("the program does not say its version")?;
    Ok(version.to_owned())
}

/// Checks a version, which becomes part of file names and of the package's description.
fn check_version(version: &str) -> Result<()> {
    let fits = version.starts_with(|first: char| first.is_ascii_digit())
        && version.chars().all(|sign| sign.is_ascii_alphanumeric() || ".+~".contains(sign));
    if !fits {
        bail!("{version:?} is not a version: use digits, letters and the characters . + ~, and begin with a digit");
    }
    Ok(())
}

fn is_there(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(OsStr::new(tool)).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_harmless() {
        for good in ["0.1.0", "1.2.3~rc1", "0.1.0+git20261123"] {
            check_version(good).unwrap();
        }
        for bad in ["", "v1", "1.0/2", "1 2", "1-2", "../x"] {
            assert!(check_version(bad).is_err(), "{bad}");
        }
    }
}
