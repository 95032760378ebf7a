//! A folder for one test of policies, with the program. Tests write files, run commands, and check errors in it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::program::{Output, Program};

/// The program with a folder for policies, repositories, and roots.
#[derive(Debug)]
pub struct Place {
    pub program: Program,
    /// The test's folder, which is empty at first. It is removed with the program's own folder.
    pub folder: PathBuf,
    /// Placeholders in written files, and their values.
    names: Vec<(&'static str, String)>,
}

impl Default for Place {
    fn default() -> Self {
        Self::new()
    }
}

impl Place {
    /// Creates a place with an empty folder.
    #[must_use]
    pub fn new() -> Self {
        let program = Program::new().unwrap();
        let folder = program.configuration().join("work");
        std::fs::create_dir(&folder).unwrap();
        let names = vec![("@FOLDER@", folder.display().to_string())];
        Self { program, folder, names }
    }

    /// Adds a placeholder for written files, such as `@SERVER@`, with its value.
    #[must_use]
    pub fn with_name(mut self, name: &'static str, meaning: String) -> Self {
        self.names.push((name, meaning));
        self
    }

    /// Writes a file, and creates its parent folders. `@FOLDER@` is replaced by the test's folder.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = self.names.iter().fold(text.to_owned(), |text, (name, meaning)| text.replace(name, meaning));
        std::fs::write(path, text).unwrap();
    }

    /// Writes the settings file of the program.
    pub fn write_settings(&self, text: &str) {
        std::fs::write(self.program.configuration().join("wrun.toml"), text).unwrap();
    }

    /// Returns the folder with the downloads for Policyfiles: `git` and `cookbooks`.
    #[must_use]
    pub fn fetched(&self) -> PathBuf {
        self.program.home().join(".cache/wrun/policyfile")
    }

    /// Reads a file's text.
    #[must_use]
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.join(path)).unwrap()
    }

    /// Replaces a text in a file. The old text must be in the file.
    pub fn replace(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{from:?} is missing in {path}:\n{text}");
        self.write(path, &text.replace(from, to));
    }

    /// Reads a lock, or another JSON file.
    #[must_use]
    pub fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap()
    }

    /// Returns the full path of a file.
    #[must_use]
    pub fn path(&self, path: &str) -> String {
        self.folder.join(path).display().to_string()
    }

    /// Splits a line into words. A word with a leading slash becomes a path in the test's folder.
    #[must_use]
    pub fn words(&self, line: &str) -> Vec<String> {
        let word = |word: &str| word.strip_prefix('/').map_or_else(|| word.to_owned(), |path| self.path(path));
        line.split(' ').map(word).collect()
    }

    /// Runs the program with a line's [`Self::words`] as arguments.
    pub fn run(&self, line: &str) -> Output {
        self.program.run(&self.words(line)).unwrap()
    }

    /// Runs the program and checks its exit code.
    #[track_caller]
    pub fn ends_with(&self, code: i32, line: &str) -> Output {
        self.run(line).expect_code(code).unwrap()
    }

    /// Runs the program, which must succeed, and returns its output.
    #[track_caller]
    pub fn output(&self, line: &str) -> Output {
        self.ends_with(0, line)
    }

    /// Runs the program, which must succeed, and ignores its output.
    #[track_caller]
    pub fn works(&self, line: &str) {
        drop(self.output(line));
    }

    /// Runs the program, which must reject its input. Its error must contain all of these parts.
    #[track_caller]
    pub fn fails(&self, line: &str, parts: &[&str]) {
        self.fails_with(43, line, parts);
    }

    /// Does the same as [`Self::fails`] with another exit code.
    #[track_caller]
    pub fn fails_with(&self, code: i32, line: &str, parts: &[&str]) {
        let output = self.ends_with(code, line);
        for part in parts {
            assert!(output.stderr.contains(part), "{part:?} is missing in:\n{}", output.stderr);
        }
    }

    /// Runs git in a folder, without the developer's git settings, and returns its output.
    #[track_caller]
    pub fn git(&self, folder: &str, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"])
            .args(arguments)
            .current_dir(self.folder.join(folder))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Commits all files in a repository, and returns the commit.
    #[track_caller]
    pub fn commit(&self, folder: &str) -> String {
        self.git(folder, &["add", "-A"]);
        self.git(folder, &["commit", "-q", "-m", "change"]);
        self.git(folder, &["rev-parse", "HEAD"])
    }
}
