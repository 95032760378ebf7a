//! The way from the first dry run to a file of grants, as an operator goes it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and helpers are not tests to the lints"
)]

mod asking;
mod check;
mod claims;
mod denials;
mod dry_runs;
mod files;
mod suggest;
mod survey_rights;

use serde_json::Value;
use specs::{Machine, Output, Program};
use std::fs;
use std::path::PathBuf;

/// Two resources, each with what it needs.
const RECIPE: &str = "directory '/srv/site'\nfile '/srv/site/index' do\n  content 'x'\nend\nexecute 'true'\n";

struct Bench {
    program: Program,
    cookbooks: String,
}

impl Bench {
    fn new(recipe: &str) -> Self {
        let program = Program::new().unwrap();
        let folder = program.configuration().join("cookbooks");
        fs::create_dir_all(folder.join("site/recipes")).unwrap();
        fs::write(folder.join("site/metadata.rb"), "name 'site'\n").unwrap();
        fs::write(folder.join("site/recipes/default.rb"), recipe).unwrap();
        let cookbooks = folder.display().to_string();
        Self { program, cookbooks }
    }

    fn grants(&self) -> PathBuf {
        self.program.configuration().join("grants.toml")
    }

    fn wrun(&self, machine: &Machine<'_>, command: &[&str], more: &[&str]) -> Output {
        let root = machine.root().path().display().to_string();
        let fixed = ["--root", &root, "--node-name", "n1", "--cookbooks", &self.cookbooks, "--run-list", "site"];
        self.program.run_in(machine, &[command, &fixed[..], more].concat()).unwrap()
    }

    fn converge(&self, machine: &Machine<'_>, more: &[&str]) -> Output {
        let grants = self.grants().display().to_string();
        self.wrun(machine, &["converge"], &[&["--grants", &grants], more].concat())
    }

    fn tool(&self, arguments: &[&str]) -> Output {
        let grants = self.grants().display().to_string();
        self.program.run(&[arguments, &["--grants", &grants]].concat()).unwrap()
    }
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in\n{}", output.text()))
}
