//! Holds lock files against a checkout of the RustSec advisory database: `audit DATABASE LOCK..`.
//!
//! The database is read where it lies; nothing is fetched.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use rustsec::report::{Report, Settings};
use rustsec::{Database, Lockfile, WarningKind};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(database) = arguments.next() else {
        eprintln!("usage: audit DATABASE LOCK..");
        return ExitCode::FAILURE;
    };
    match audit(Path::new(&database), arguments) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints what is known about the locked packages, and returns how many vulnerabilities and unsound versions were found.
/// Packages that nobody maintains are told, and do not count.
fn audit(folder: &Path, locks: impl Iterator<Item = std::ffi::OsString>) -> Result<usize> {
    let database =
        Database::open(folder).with_context(|| format!("{} is not an advisory database", folder.display()))?;
    let settings = Settings {
        informational_warnings: vec![
            rustsec::advisory::Informational::Unmaintained,
            rustsec::advisory::Informational::Unsound,
            rustsec::advisory::Informational::Notice,
        ],
        ..Settings::default()
    };
    let mut found = 0;
    println!("{} advisories", database.iter().count());
    for lock in locks {
        let path = Path::new(&lock);
        let lockfile = Lockfile::load(path).with_context(|| format!("cannot read {}", path.display()))?;
        let report = Report::generate(&database, &lockfile, &settings);
        for one in &report.vulnerabilities.list {
            found += 1;
            let (id, title) = (&one.advisory.id, &one.advisory.title);
            println!("{}: {} {}: {id}: {title}", path.display(), one.package.name, one.package.version);
            println!("    patched in: {}", versions(one.versions.patched()));
        }
        for (kind, warnings) in &report.warnings {
            found += if *kind == WarningKind::Unsound { warnings.len() } else { 0 };
            for one in warnings {
                let about = one.advisory.as_ref().map(|about| format!("{}: {}", about.id, about.title));
                let about = about.unwrap_or_default();
                println!("{}: {} {}: {kind}: {about}", path.display(), one.package.name, one.package.version);
            }
        }
        println!("{}: {} packages", path.display(), lockfile.packages.len());
    }
    Ok(found)
}

fn versions(patched: &[rustsec::VersionReq]) -> String {
    let texts: Vec<String> = patched.iter().map(ToString::to_string).collect();
    if texts.is_empty() { "no version yet".to_owned() } else { texts.join(" or ") }
}
