//! Runs the built program as a stranger would: nothing of the tester's environment, the same width everywhere, no colour.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use crate::machine::Machine;

/// Columns that the program is told to write for.
const WIDTH: &str = "100";

/// The built program with folders of its own.
#[derive(Debug)]
pub struct Program {
    executable: PathBuf,
    /// Holds state, configuration and home; removed with this value.
    folder: tempfile::TempDir,
}

impl Program {
    /// Takes the program that `WRUN_PROGRAM` names, or the one that was built into the same target folder as the test.
    pub fn new() -> Result<Self> {
        Self::at(&executable()?)
    }

    /// Takes the program at a path.
    pub fn at(executable: &Path) -> Result<Self> {
        let executable = executable.to_owned();
        anyhow::ensure!(executable.is_file(), "{} is missing: build it with cargo build", executable.display());
        let folder = tempfile::Builder::new().prefix("wrun-program-").tempdir()?;
        for name in ["state", "configuration", "home"] {
            std::fs::create_dir(folder.path().join(name))?;
        }
        // Settings that are named must be there, and the tester's own must not be read.
        std::fs::write(folder.path().join("configuration/wrun.toml"), "")?;
        Ok(Self { executable, folder })
    }

    #[must_use]
    pub fn executable(&self) -> &Path {
        &self.executable
    }

    /// Where the program keeps what outlives a run.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// A folder for configuration, grants and attribute files.
    #[must_use]
    pub fn configuration(&self) -> PathBuf {
        self.folder.path().join("configuration")
    }

    /// The home of who runs the program.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Runs the program on the tester's machine: for what touches no machine (errors, `--help`, `resources`).
    pub fn run<Argument: AsRef<OsStr>>(&self, arguments: &[Argument]) -> Result<Output> {
        let mut command = Command::new(&self.executable);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        self.finish(command, arguments, None)
    }

    /// Runs the program among a machine's processes, with the tester's files: how `--root` is used.
    pub fn run_in<Argument: AsRef<OsStr>>(&self, machine: &Machine<'_>, arguments: &[Argument]) -> Result<Output> {
        self.finish(machine.outside(&self.executable), arguments, Some(machine.root().path()))
    }

    fn finish<Argument: AsRef<OsStr>>(
        &self,
        mut command: Command,
        arguments: &[Argument],
        root: Option<&Path>,
    ) -> Result<Output> {
        command.args(arguments).envs(self.environment()).current_dir(self.folder.path()).stdin(Stdio::null());
        let output = command.output().with_context(|| format!("cannot run {}", self.executable.display()))?;
        let names = self.names(root);
        Ok(Output {
            code: output.status.code(),
            stdout: named(&String::from_utf8_lossy(&output.stdout), &names),
            stderr: named(&String::from_utf8_lossy(&output.stderr), &names),
        })
    }

    /// The whole environment that the program is given, beside its search path.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut environment: Vec<(&str, OsString)> = vec![
            ("COLUMNS", WIDTH.into()),
            ("HOME", self.home().into()),
            ("LC_ALL", "C.UTF-8".into()),
            ("NO_COLOR", "1".into()),
            ("TERM", "dumb".into()),
            ("TZ", "UTC".into()),
            ("WRUN_STATE_DIR", self.state().into()),
            ("WRUN_CONFIG", self.configuration().join("wrun.toml").into()),
        ];
        // Who tries another runtime tries it with every test.
        for name in ["WRUN_RUNTIME_DIR", "WRUN_RUBY_LIBRARY"] {
            environment.extend(std::env::var_os(name).map(|value| (name, value)));
        }
        // Native code is the same for all tests and takes long to make, so they share the tester's.
        if let Ok(cache) = crate::base::cache_folder() {
            environment.push(("WRUN_CACHE_DIR", cache.join("tests").into()));
        }
        environment
    }

    /// What stands for a path in outputs, the longest path first.
    fn names(&self, root: Option<&Path>) -> Vec<(String, &'static str)> {
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("/"));
        let mut names = vec![
            (self.state(), "[STATE]"),
            (self.configuration(), "[CONFIGURATION]"),
            (self.folder.path().to_owned(), "[FOLDER]"),
            (checkout.to_owned(), "[CHECKOUT]"),
        ];
        names.extend(root.map(|root| (root.to_owned(), "[ROOT]")));
        let mut names: Vec<(String, &str)> =
            names.into_iter().map(|(path, name)| (path.display().to_string(), name)).collect();
        names.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        names
    }
}

/// What the program said, with names for paths that differ from test to test.
#[must_use = "look at the exit code at least"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The exit code; none where a signal ended the program.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    /// All of it as one text, for snapshots.
    #[must_use]
    pub fn text(&self) -> String {
        let code = self.code.map_or_else(|| "signal".to_owned(), |code| code.to_string());
        format!("exit code: {code}\n--- stdout\n{}--- stderr\n{}", ended(&self.stdout), ended(&self.stderr))
    }

    /// The same output where the exit code is the expected one, otherwise an error with everything that was said.
    pub fn expect_code(self, code: i32) -> Result<Self> {
        anyhow::ensure!(self.code == Some(code), "expected exit code {code}, but:\n{}", self.text());
        Ok(self)
    }

    /// The lines that name a revision by its first twelve digits.
    pub fn lines_with_a_revision(&self) -> impl Iterator<Item = &str> {
        self.stdout.lines().chain(self.stderr.lines()).filter(|line| {
            let after = line.split("revision ").skip(1);
            after.into_iter().any(|rest| rest.bytes().take_while(u8::is_ascii_hexdigit).count() >= 12)
        })
    }

    /// Those among them that do not name the artifact too: a revision leaves a policy's own code out.
    #[must_use]
    pub fn revisions_without_artifact(&self) -> Vec<&str> {
        self.lines_with_a_revision().filter(|line| !line.contains("artifact ")).collect()
    }
}

fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

fn named(text: &str, names: &[(String, &str)]) -> String {
    names.iter().fold(text.to_owned(), |text, (path, name)| text.replace(path, name))
}

/// The program that `WRUN_PROGRAM` names, or the one that was built into the same target folder as the test.
pub fn executable() -> Result<PathBuf> {
    match std::env::var_os("WRUN_PROGRAM") {
        Some(path) => Ok(PathBuf::from(path)),
        None => built_beside_the_test(),
    }
}

/// Tests lie in `deps` below the folder that the program is built into.
fn built_beside_the_test() -> Result<PathBuf> {
    let test = std::env::current_exe().context("the test does not know where it lies")?;
    let mut folders = test.ancestors().skip(1);
    let found = folders.find(|folder| folder.join("wrun").is_file()).map(|folder| folder.join("wrun"));
    found.with_context(|| format!("no program wrun lies above {}: build it with cargo build", test.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_name_paths_and_show_the_exit_code() {
        let names = vec![("/tmp/x/state".to_owned(), "[STATE]"), ("/tmp/x".to_owned(), "[FOLDER]")];
        assert_eq!(named("in /tmp/x/state/node and /tmp/x/y", &names), "in [STATE]/node and [FOLDER]/y");
        let output = Output { code: Some(43), stdout: String::new(), stderr: "error: no such policy".to_owned() };
        assert_eq!(output.text(), "exit code: 43\n--- stdout\n--- stderr\nerror: no such policy\n");
        let error = output.expect_code(0).unwrap_err();
        assert!(error.to_string().contains("no such policy"), "{error}");
    }

    #[test]
    fn a_revision_without_its_artifact_is_found() {
        let stdout = "revision 0123456789ab, artifact 99\nrevision 0123456789ab\nthe revision is new\n".to_owned();
        let output = Output { code: Some(0), stdout, stderr: "revision 123\n".to_owned() };
        assert_eq!(output.lines_with_a_revision().count(), 2);
        assert_eq!(output.revisions_without_artifact(), ["revision 0123456789ab"]);
    }
}
