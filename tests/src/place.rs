//! A folder for one test of policies, with the program: files are written, commands typed, errors read.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::program::{Output, Program};

/// The program with a folder for policies, repositories and roots.
#[derive(Debug)]
pub struct Place {
    pub program: Program,
    /// An empty folder at first; removed with the program's own.
    pub folder: PathBuf,
    /// Words in written files, and what is written for them.
    names: Vec<(&'static str, String)>,
}

impl Default for Place {
    fn default() -> Self {
        Self::new()
    }
}

impl Place {
    /// An empty place.
    #[must_use]
    pub fn new() -> Self {
        let program = Program::new().unwrap();
        let folder = program.configuration().join("work");
        std::fs::create_dir(&folder).unwrap();
        let names = vec![("@FOLDER@", folder.display().to_string())];
        Self { program, folder, names }
    }

    /// The same place, where a word in written files, such as `@SERVER@`, stands for something else.
    #[must_use]
    pub fn with_name(mut self, name: &'static str, meaning: String) -> Self {
        self.names.push((name, meaning));
        self
    }

    /// Writes a file with the folders above it. `@FOLDER@` stands for the test's folder.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = self.names.iter().fold(text.to_owned(), |text, (name, meaning)| text.replace(name, meaning));
        std::fs::write(path, text).unwrap();
    }

    /// Writes the settings that the program reads.
    pub fn write_settings(&self, text: &str) {
        std::fs::write(self.program.configuration().join("wrun.toml"), text).unwrap();
    }

    /// The folder with what Policyfiles have fetched: `git` and `cookbooks`.
    #[must_use]
    pub fn fetched(&self) -> PathBuf {
        self.program.home().join(".cache/wrun/policyfile")
    }

    /// Reads a file's text.
    #[must_use]
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.join(path)).unwrap()
    }

    /// Writes a file anew with one text in the place of another, which must be there.
    pub fn replace(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{from:?} is missing in {path}:\n{text}");
        self.write(path, &text.replace(from, to));
    }

    /// A lock, or another file of JSON.
    #[must_use]
    pub fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap()
    }

    /// The path of a file in full.
    #[must_use]
    pub fn path(&self, path: &str) -> String {
        self.folder.join(path).display().to_string()
    }

    /// The words of a line; one with a slash at its front stands for a path in the test's folder.
    #[must_use]
    pub fn words(&self, line: &str) -> Vec<String> {
        let word = |word: &str| word.strip_prefix('/').map_or_else(|| word.to_owned(), |path| self.path(path));
        line.split(' ').map(word).collect()
    }

    /// Runs the program with the [`Self::words`] of a line.
    pub fn run(&self, line: &str) -> Output {
        self.program.run(&self.words(line)).unwrap()
    }

    /// Runs the program, which must end with an exit code.
    #[track_caller]
    pub fn ends_with(&self, code: i32, line: &str) -> Output {
        self.run(line).expect_code(code).unwrap()
    }

    /// Runs the program, which must work.
    #[track_caller]
    pub fn output(&self, line: &str) -> Output {
        self.ends_with(0, line)
    }

    /// The same, where nobody looks at what it says.
    #[track_caller]
    pub fn works(&self, line: &str) {
        drop(self.output(line));
    }

    /// Runs the program, which must refuse what it is given, and say all of these parts.
    #[track_caller]
    pub fn fails(&self, line: &str, parts: &[&str]) {
        self.fails_with(43, line, parts);
    }

    /// The same with another exit code.
    #[track_caller]
    pub fn fails_with(&self, code: i32, line: &str, parts: &[&str]) {
        let output = self.ends_with(code, line);
        for part in parts {
            assert!(output.stderr.contains(part), "{part:?} is missing in:\n{}", output.stderr);
        }
    }

    /// Runs git in a folder, with nothing of the tester's own, and returns what it prints.
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

    /// Commits everything in a repository, and returns the commit.
    #[track_caller]
    pub fn commit(&self, folder: &str) -> String {
        self.git(folder, &["add", "-A"]);
        self.git(folder, &["commit", "-q", "-m", "change"]);
        self.git(folder, &["rev-parse", "HEAD"])
    }
}
