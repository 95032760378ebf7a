//! `wrun policy dev`: builds a policy, shows what it would change on this machine, and repeats this whenever a file changes.
//!
//! The files are checked a few times per second. Notifications of the kernel need a watch for each folder, and miss changes
//! in network and container file systems.

use super::build;
use crate::arguments::DevArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use anyhow::Context as _;
use author::Options;
use author::build::Profile;
use author::policyfile::{local_folders, policyfile_of};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

/// Time between two checks of the files.
const INTERVAL: Duration = Duration::from_millis(200);

/// The folder of the artifact, relative to the policy's folder. It differs from that of `wrun policy build`, so that the
/// artifact for nodes is not overwritten.
const ARTIFACTS: &str = ".wrun/dev";

/// Folders that builds write to. They are not part of any cookbook.
const SKIPPED: [&str; 3] = ["target", ".git", ".wrun"];

/// Largest number of watched files.
const MAX_FILES: usize = 100_000;

/// Builds the policy and makes dry runs until it is interrupted.
///
/// # Errors
/// The folder cannot be read.
pub(super) fn run(arguments: &DevArguments, printer: Printer) -> anyhow::Result<Exit> {
    if let Some(taken) = taken(&arguments.converge) {
        let text = "`wrun policy dev` names the policy and its artifact itself";
        anyhow::bail!("{taken} cannot be given after `--`: {text}; leave it out");
    }
    let target = build::target_folder(&arguments.folder, arguments.target_dir.as_deref());
    let target = std::path::absolute(target).context("the current directory is unknown")?;
    // The files are read before the first build, so that an edit during the build is noticed.
    let mut seen = state(&arguments.folder, &target)?;
    loop {
        let began = Instant::now();
        let works = try_once(arguments, &target, printer).unwrap_or_else(|error| {
            printer.error(&error);
            false
        });
        let (tone, ended) = if works { (Tone::Quiet, "tried in") } else { (Tone::Error, "failed after") };
        let seconds = began.elapsed().as_secs_f64();
        let folder = arguments.folder.display();
        printer.note(tone, &format!("{ended} {seconds:.1} s; waiting for changes in {folder} (end with Ctrl-C)"));
        seen = changed(&arguments.folder, &target, &seen)?;
    }
}

/// Options of `wrun converge` that this command sets itself.
const TAKEN: [&str; 2] = ["--policy-name", "--policies"];

/// Returns the first given option that this command sets itself.
fn taken(given: &[OsString]) -> Option<&'static str> {
    let is_given = |option: &&&str| {
        given
            .iter()
            .filter_map(|word| word.to_str())
            .any(|word| word.strip_prefix(**option).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
    };
    TAKEN.iter().find(is_given).copied()
}

/// The exit code of a successful dry run with `--detailed-exitcode` that found changes.
const CHANGES_PENDING: i32 = 4;

/// Builds the policy and makes a dry run of it with this same program. Returns whether the dry run succeeded.
fn try_once(arguments: &DevArguments, target: &Path, printer: Printer) -> anyhow::Result<bool> {
    let options = Options { gems: None, target_folder: target, profile: Profile::Dev };
    let home = author::open_policy(&arguments.folder)?;
    let artifact = build::built(&home, &options, printer)?;
    let place = author::below_policy(&home, ARTIFACTS)?;
    author::store_in(&artifact, &place)?;
    let mut converge = Command::new("/proc/self/exe");
    // This name appears in usage errors.
    converge.arg0("wrun").args(["converge", "--why-run", "--policy-name", &artifact.manifest().name, "--policies"]);
    // The dry run prints its own result.
    let ended = converge.arg(place.path()).args(&arguments.converge).status().context("the dry run does not start")?;
    Ok(ended.success() || ended.code() == Some(CHANGES_PENDING))
}

/// Waits until files have changed and then stay the same for a moment, since editors may write several files.
fn changed(folder: &Path, target: &Path, seen: &State) -> anyhow::Result<State> {
    let mut last = state(folder, target)?;
    loop {
        std::thread::sleep(INTERVAL);
        let now = state(folder, target)?;
        if now == last && now != *seen {
            return Ok(now);
        }
        last = now;
    }
}

/// The files of a policy with their sizes and modification times.
type State = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// Returns the state of all files in a policy's folder and in the cookbooks that it uses from other folders.
fn state(folder: &Path, target: &Path) -> anyhow::Result<State> {
    let mut found = State::new();
    let mut folders = vec![folder.to_owned()];
    // Named cookbooks may be in other folders. The build reports files that cannot be read.
    let place = author::open_policy(folder).ok().and_then(|home| policyfile_of(&home));
    folders.extend(match place {
        Some(place) => local_folders(&place),
        None => author::cookbook_folders(folder).unwrap_or_default(),
    });
    while let Some(one) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&one) else { continue };
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            // This does not follow symbolic links, since their targets do not belong to a cookbook.
            let Ok(about) = entry.metadata() else { continue };
            let is_artifact = path.extension().is_some_and(|end| end == "wasm")
                || name.as_encoded_bytes().starts_with(plain_files::UNFINISHED.as_bytes());
            if about.is_dir() {
                let is_skipped = SKIPPED.iter().any(|skipped| name == *skipped) || path == target;
                folders.extend((!is_skipped).then_some(path));
            } else if !is_artifact && found.len() < MAX_FILES {
                found.insert(path, (about.len(), about.modified().ok()));
            }
        }
    }
    anyhow::ensure!(folder.is_dir(), "{} is not a directory", folder.display());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_are_set_here_are_found() {
        let found = |words: &[&str]| taken(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(found(&["--allow-all", "--policy-group", "a"]), None);
        assert_eq!(found(&["--policy-name", "web"]), Some("--policy-name"));
        assert_eq!(found(&["--allow-all", "--policies=out"]), Some("--policies"));
    }
}
