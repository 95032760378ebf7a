//! Runs the built program in a neutral environment: without the developer's environment, with a fixed width, and without
//! colours.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use crate::machine::Machine;

/// The width of the output, in columns.
const WIDTH: &str = "100";

/// The built program with its own folders.
#[derive(Debug)]
pub struct Program {
    executable: PathBuf,
    /// Contains the state, the configuration, and the home directory. It is removed with this value.
    folder: tempfile::TempDir,
}

impl Program {
    /// Uses the program that `WRUN_PROGRAM` names, or the one in the same target folder as the test.
    pub fn new() -> Result<Self> {
        Self::at(&executable()?)
    }

    /// Uses the program at a path.
    pub fn at(executable: &Path) -> Result<Self> {
        let executable = executable.to_owned();
        anyhow::ensure!(executable.is_file(), "{} is missing: build it with cargo build", executable.display());
        let folder = tempfile::Builder::new().prefix("wrun-program-").tempdir()?;
        for name in ["state", "configuration", "home"] {
            std::fs::create_dir(folder.path().join(name))?;
        }
        // A named settings file must exist, and the developer's own file must not be read.
        std::fs::write(folder.path().join("configuration/wrun.toml"), "")?;
        Ok(Self { executable, folder })
    }

    #[must_use]
    pub fn executable(&self) -> &Path {
        &self.executable
    }

    /// Returns the state directory of the program.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// Returns the folder for configuration, grants, and attribute files.
    #[must_use]
    pub fn configuration(&self) -> PathBuf {
        self.folder.path().join("configuration")
    }

    /// Returns the home directory of the user who runs the program.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Runs the program on the developer's machine, for commands that do not change it (errors, `--help`, `resources`).
    pub fn run<Argument: AsRef<OsStr>>(&self, arguments: &[Argument]) -> Result<Output> {
        let mut command = Command::new(&self.executable);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        self.finish(command, arguments, None)
    }

    /// Runs the program among a machine's processes but with the developer's files, as for `--root`.
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

    /// Returns the complete environment of the program, except for its search path.
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
        // Another runtime is used for all tests.
        for name in ["WRUN_RUNTIME_DIR", "WRUN_RUBY_LIBRARY"] {
            environment.extend(std::env::var_os(name).map(|value| (name, value)));
        }
        // Native code is the same for all tests and slow to compile, so they share the developer's cache.
        if let Ok(cache) = crate::base::cache_folder() {
            environment.push(("WRUN_CACHE_DIR", cache.join("tests").into()));
        }
        environment
    }

    /// Returns the replacements for paths in outputs, the longest path first.
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

/// The output of the program. Paths that change from test to test are replaced by names.
#[must_use = "look at the exit code at least"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The exit code. `None`: a signal ended the program.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    /// Returns the whole output as one text, for snapshots.
    #[must_use]
    pub fn text(&self) -> String {
        let code = self.code.map_or_else(|| "signal".to_owned(), |code| code.to_string());
        format!("exit code: {code}\n--- stdout\n{}--- stderr\n{}", ended(&self.stdout), ended(&self.stderr))
    }

    /// Returns the output if the exit code is as expected, otherwise an error with the whole output.
    pub fn expect_code(self, code: i32) -> Result<Self> {
        anyhow::ensure!(self.code == Some(code), "expected exit code {code}, but:\n{}", self.text());
        Ok(self)
    }

    /// Returns the lines that contain the first twelve digits of a revision.
    pub fn lines_with_a_revision(&self) -> impl Iterator<Item = &str> {
        self.stdout.lines().chain(self.stderr.lines()).filter(|line| {
            let after = line.split("revision ").skip(1);
            after.into_iter().any(|rest| rest.bytes().take_while(u8::is_ascii_hexdigit).count() >= 12)
        })
    }

    /// Returns those of these lines that do not also name the artifact, since a revision does not cover a policy's own code.
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

/// Returns the path of the program that `WRUN_PROGRAM` names, or of the one in the same target folder as the test.
pub fn executable() -> Result<PathBuf> {
    match std::env::var_os("WRUN_PROGRAM") {
        Some(path) => Ok(PathBuf::from(path)),
        None => built_beside_the_test(),
    }
}

/// Returns the path of the program beside the test. Tests are in the folder `deps` below the program's folder.
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
