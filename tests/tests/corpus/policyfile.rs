//! What chef-cli does: locks, exports and errors of Policyfiles, held against what real chef-cli gave.
//!
//! A case is run in a scratch folder, command by command; what each has written and removed there is compared. Commits that
//! a case makes have other names each time: they are compared up to renaming.

mod compare;
pub(crate) mod different;
mod folder;
mod serve;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::read_json;
use compare::Got;
use folder::Tree;

/// A script in a case's folder that prepares it.
const SETUP: &str = "setup.sh";

/// One case.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    folder: PathBuf,
    commands: Vec<Vec<String>>,
    /// The folder that is served on the loopback.
    http: Option<String>,
}

/// The scratch folder of a case, and what stands for its paths.
#[derive(Debug)]
struct Scratch {
    place: tempfile::TempDir,
    port: Option<u16>,
}

impl Case {
    /// All cases of a folder, by name.
    pub(crate) fn all(folder: &Path) -> Result<Vec<Self>> {
        let mut cases = vec![];
        for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let folder = entry?.path();
            let description = read_json(&folder.join("case.json"))?;
            let commands = serde_json::from_value(description.get("commands").cloned().unwrap_or_default())?;
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let http = description.get("http").and_then(Value::as_str).map(str::to_owned);
            cases.push(Self { name, folder, commands, http });
        }
        cases.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(cases)
    }

    /// How the case differs from what was recorded.
    pub(crate) fn differences(&self, show: bool) -> Result<Vec<String>> {
        let program = specs::program::Program::new()?;
        let place = tempfile::Builder::new().prefix("wrun-policyfile-").tempdir()?;
        let root = place.path().canonicalize()?.join("work");
        let server = self.http.as_ref().map(|folder| serve::Server::start(&root.join(folder))).transpose()?;
        let scratch = Scratch { place, port: server.as_ref().map(|server| server.port) };
        folder::copy(&self.folder.join("work"), &root, &|text| scratch.filled(text))?;
        if root.join(SETUP).is_file() {
            scratch.shell(&format!("sh {SETUP}"), &root)?;
        }
        let mut differences = vec![];
        for (number, command) in self.commands.iter().enumerate() {
            if let [first, script] = command.as_slice()
                && first == "sh"
            {
                scratch.shell(&scratch.filled(script), &root)?;
                continue;
            }
            let before = Tree::read(&root)?;
            let (code, words) = scratch.run(&program, command, &root)?;
            let got = Got { code, words, before, after: Tree::read(&root)? }.named(&|text| scratch.named(text));
            if show {
                crate::say(&format!("$ {}\nexit {:?}\n{}", command.join(" "), got.code, got.words));
            }
            let expected = read_json(&self.folder.join(format!("expected/{number}.json")))?;
            let found = compare::differences(&self.name, number, &expected, &got)?;
            differences.extend(found.into_iter().map(|difference| format!("{}: {difference}", command.join(" "))));
        }
        Ok(differences)
    }
}

impl Scratch {
    fn root(&self) -> String {
        let place = self.place.path().canonicalize().unwrap_or_else(|_| self.place.path().to_owned());
        place.join("work").display().to_string()
    }

    /// A text of the case with the paths of this run.
    fn filled(&self, text: &str) -> String {
        let text = text.replace("@ROOT@", &self.root());
        match self.port {
            Some(port) => text.replace("PORT", &port.to_string()),
            None => text,
        }
    }

    /// A text of this run with what stands for its paths.
    fn named(&self, text: &str) -> String {
        let text = text.replace(&self.root(), "ROOT");
        match self.port {
            Some(port) => text.replace(&format!("127.0.0.1:{port}"), "127.0.0.1:PORT"),
            None => text,
        }
    }

    /// The environment of every command: nobody's own git, and an author for commits.
    fn environment(&self, command: &mut Command) {
        let home = self.place.path().join("home");
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "corpus"),
            ("GIT_AUTHOR_EMAIL", "corpus@localhost"),
            ("GIT_COMMITTER_NAME", "corpus"),
            ("GIT_COMMITTER_EMAIL", "corpus@localhost"),
        ] {
            command.env(name, value);
        }
        command.env("HOME", home).stdin(Stdio::null());
    }

    fn shell(&self, script: &str, folder: &Path) -> Result<()> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(folder).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        self.environment(&mut command);
        let output = command.output().context("cannot run sh")?;
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        anyhow::ensure!(output.status.success(), "the case's own script failed: {script}\n{words}");
        Ok(())
    }

    /// Runs a command of chef-cli as ours. Returns its code, and what it said to people.
    fn run(&self, program: &specs::program::Program, command: &[String], root: &Path) -> Result<(Option<i32>, String)> {
        let (folder, arguments) = match command.split_first() {
            Some((first, rest)) if first.starts_with("in:") => (root.join(first.trim_start_matches("in:")), rest),
            _ => (root.to_owned(), command),
        };
        let ours = match arguments.split_first() {
            Some((name, rest)) if name == "describe-cookbook" => {
                [&["cookbook".into(), "describe".into()], rest].concat()
            }
            Some((name, _)) if name.starts_with('-') => arguments.to_vec(),
            _ => [&["policy".to_owned()], arguments].concat(),
        };
        let mut process = Command::new(program.executable());
        process.args(ours).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").envs(program.environment());
        self.environment(&mut process);
        let output = process.current_dir(folder).output().context("cannot run the program")?;
        let words = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok((output.status.code(), words.concat()))
    }
}

/// The object of a result's key; empty where there is none.
fn members<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value.get(key).and_then(Value::as_object).into_iter().flatten()
}
