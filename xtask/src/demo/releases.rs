//! The actions of the demo's teams: lock, push, promote, and release a change.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use specs::Program;

use super::POLICIES;
use crate::{checkout, say};

/// Folders of tools in the home directory, with their environment variables. They are needed because the teams have their own
/// home directories.
const TOOLS: [(&str, &str); 3] = [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup"), ("XDG_CACHE_HOME", ".cache")];

/// The change of the database team in its policy.toml.
const CHANGE: (&str, &str) = ("[default.redis]\n", "[default.redis]\nsave = [[900, 1]]\n");

/// A repository with the teams' releases.
pub(super) struct Releases<'a> {
    program: &'a Program,
    place: PathBuf,
}

impl<'a> Releases<'a> {
    /// Creates a repository, and releases all policies to the group `staging`.
    pub(super) fn of_all_teams(program: &'a Program) -> Result<Self> {
        let releases = Self { program, place: program.configuration().join("releases") };
        let teams = POLICIES.iter().flat_map(|team| ["--team", *team]);
        releases.wrun(
            checkout::root(),
            ["repository", "init"].into_iter().chain(teams),
            &[releases.place.as_path()],
        )?;
        let target = checkout::guest_target_of("policies")?;
        let policies: Vec<PathBuf> = POLICIES.iter().map(|team| checkout::root().join("policies").join(team)).collect();
        let paths: Vec<&Path> = [target.as_path()].into_iter().chain(policies.iter().map(PathBuf::as_path)).collect();
        releases.wrun(checkout::root(), ["policy", "push", "staging", "--target-dir"], &paths)?;
        Ok(releases)
    }

    /// Returns the directory of the repository.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    /// Promotes the releases of the group `staging` to `prod`.
    pub(super) fn promote(&self) -> Result<()> {
        POLICIES.iter().try_for_each(|team| {
            self.wrun(checkout::root(), ["policy", "promote", "staging", "prod", "--policy", *team], &[])
        })
    }

    /// Changes a copy of the database team's policy, locks it and releases it to `staging`.
    pub(super) fn change_of_database(&self) -> Result<()> {
        let (from, to) = (checkout::root().join("policies/database"), self.program.configuration().join("database"));
        copy(&from, &to)?;
        let sdk = checkout::root().join("guests/sdk").display().to_string();
        rewrite(&to.join("Cargo.toml"), "../../guests/sdk", &sdk)?;
        rewrite(&to.join("policy.toml"), CHANGE.0, CHANGE.1)?;
        say::line("  its policy.toml says `save = [[900, 1]]` now");
        self.wrun(&to, ["policy", "update"], &[])?;
        let target = checkout::guest_target_of("policies")?;
        self.wrun(&to, ["policy", "push", "staging", "--target-dir"], &[target.as_path(), to.as_path()])
    }

    /// Changes one byte of the database team's last released artifact.
    pub(super) fn tamper(&self) -> Result<()> {
        let folder = self.place.join("teams/database/targets/revisions/database");
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let artifacts = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "wasm"));
        for path in artifacts {
            let mut bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let middle = bytes.len() / 2;
            let byte = bytes.get_mut(middle).context("an artifact is not empty")?;
            *byte ^= 1;
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    /// Runs the program as a member of a team.
    fn wrun<'w>(&self, folder: &Path, words: impl IntoIterator<Item = &'w str>, paths: &[&Path]) -> Result<()> {
        let mut command = Command::new(self.program.executable());
        command.args(words).args(paths).envs(tools()).envs(self.program.environment());
        let status = command.current_dir(folder).stdin(Stdio::null()).status().context("cannot start the program")?;
        ensure!(status.success(), "a team's command failed ({status})");
        Ok(())
    }
}

/// Returns the environment variables for the folders of tools.
fn tools() -> Vec<(&'static str, OsString)> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    TOOLS.map(|(name, folder)| (name, std::env::var_os(name).unwrap_or_else(|| home.join(folder).into()))).into()
}

/// Copies a policy's folder without the files of tools.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let (name, target) = (entry.file_name(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            if name != "target" && name != ".wrun" {
                copy(&entry.path(), &target)?;
            }
        } else {
            fs::copy(entry.path(), &target).with_context(|| format!("cannot write {}", target.display()))?;
        }
    }
    Ok(())
}

fn rewrite(path: &Path, old: &str, new: &str) -> Result<()> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(text.contains(old), "{} does not have {old:?} any more", path.display());
    fs::write(path, text.replace(old, new)).with_context(|| format!("cannot write {}", path.display()))
}
