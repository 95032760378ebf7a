//! `wrun policy dev`: a policy is built and tried, again whenever one of its files changes.
//!
//! The policy is in Ruby, which needs no compiler.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and helpers are not tests to the lints"
)]

use specs::{Program, Root};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long a line may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(300);

/// The program while it watches; ended with this value.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Watching {
    fn start(mut command: Command) -> Self {
        // One pipe for both: the order of the lines is that in which they were written.
        let (output, input) = std::io::pipe().unwrap();
        let errors = input.try_clone().unwrap();
        let child = command.stdin(Stdio::null()).stdout(input).stderr(errors).spawn().unwrap();
        // It holds the pipe's other ends, and the reader would wait for their end.
        drop(command);
        let (said, lines) = channel();
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).for_each(|line| drop(said.send(line)));
        });
        Self { child, lines }
    }

    /// The first try that says this. A file may be seen half-written, or one of two files before the other: what is tried then is tried again.
    fn try_with(&self, expected: &str) -> String {
        loop {
            let text = self.one_try();
            if text.contains(expected) {
                return text;
            }
        }
    }

    /// The lines up to the end of one try.
    fn one_try(&self) -> String {
        let mut text = String::new();
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{error} after\n{text}"));
            let is_last = line.contains("waiting for changes");
            text.push_str(&line);
            text.push('\n');
            if is_last {
                return text;
            }
        }
    }
}

#[test]
fn each_change_is_tried() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let folder = program.configuration().join("site");
    let place = folder.display().to_string();
    let _ = program.run(&["policy", "new", "--ruby", &place]).unwrap().expect_code(0).unwrap();
    let mut command = Command::new(program.executable());
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").envs(program.environment());
    command.args(["policy", "dev", &place, "--", "--allow-all", "-N", "n1", "--root"]).arg(root.path());
    let watching = Watching::start(command);
    let first = watching.one_try();
    assert!(first.contains("template[/etc/site.txt]") && first.contains("dry run"), "{first}");
    // A mistake is told, and does not end it.
    let recipe = folder.join("cookbooks/site/recipes/default.rb");
    fs::write(folder.join("policy.toml"), "name = \"site\"\nrun_list = [\"site::missing\"]\n").unwrap();
    let failed = watching.try_with("policy.toml:2: cookbook site does not have the recipe `missing`");
    assert!(failed.contains("failed after ") && !failed.contains("tried in "), "{failed}");
    fs::write(&recipe, "file '/etc/other.txt'\n").unwrap();
    fs::write(folder.join("policy.toml"), "name = \"site\"\nrun_list = [\"site\"]\n").unwrap();
    let third = watching.try_with("file[/etc/other.txt]");
    assert!(!third.contains("site.txt") && third.contains("tried in "), "{third}");
    assert!(!root.exists("etc/other.txt"), "nothing is changed");
    assert!(!folder.join("site.wasm").exists(), "the artifact for nodes is another file");
}

#[test]
fn a_policyfile_is_watched_with_the_cookbooks_that_it_names() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let folder = program.configuration().join("site");
    let cookbook = program.configuration().join("cookbooks/site");
    for made in [folder.clone(), cookbook.join("recipes")] {
        fs::create_dir_all(made).unwrap();
    }
    let policyfile = "name 'site'\nrun_list 'site'\ncookbook 'site', path: '../cookbooks/site'\n";
    fs::write(folder.join("Policyfile.rb"), policyfile).unwrap();
    fs::write(cookbook.join("metadata.rb"), "name 'site'\nversion '1.0.0'\n").unwrap();
    let recipe = cookbook.join("recipes/default.rb");
    fs::write(&recipe, "file '/etc/first.txt'\n").unwrap();
    let (place, file) = (folder.display().to_string(), folder.join("Policyfile.rb").display().to_string());
    let _ = program.run(&["policy", "install", &file]).unwrap().expect_code(0).unwrap();
    let mut command = Command::new(program.executable());
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").envs(program.environment());
    command.args(["policy", "dev", &place, "--", "--allow-all", "-N", "n1", "--root"]).arg(root.path());
    let watching = Watching::start(command);
    let first = watching.one_try();
    assert!(first.contains("file[/etc/first.txt]") && first.contains("tried in "), "{first}");
    fs::write(&recipe, "file '/etc/second.txt'\n").unwrap();
    let second = watching.try_with("file[/etc/second.txt]");
    assert!(second.contains("Policyfile.lock.json does not fit what was built"), "{second}");
    fs::write(&recipe, "raise 'no disk'\n").unwrap();
    let failed = watching.try_with("no disk");
    assert!(failed.contains("failed after "), "{failed}");
}
