//! Shows a stranger what wrun does: three teams' policies converge a throw-away Debian, twice.
//!
//! Nothing of the machine itself is changed. The second run is held against the first file by file, so that "nothing
//! changed" is seen and not believed.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result, bail, ensure};
use specs::{Kind, Machine, Network, Program, Root, Tree};

use crate::{checkout, guests, say};

/// The example policies in the order in which the demo's node runs them.
const POLICIES: [&str; 3] = ["core", "database", "monitoring"];

/// Folders whose changes are told file by file; of others, where packages bring hundreds of files, only the number.
const TOLD_FOLDERS: [&str; 3] = ["etc", "srv", "opt"];

/// Most files that are named; the rest is counted.
const NAMED_LIMIT: usize = 40;

/// What `cargo xtask demo` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Open a shell in the throw-away root before it goes
    #[arg(long)]
    shell: bool,
}

/// Checks what it needs, builds everything, and runs the demo.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(sentence) = specs::base::missing_prerequisite().or_else(specs::base::missing_mirror) {
        bail!(sentence);
    }
    let compiler = guests::find_compiler()?;
    say::line("building the program (the first build takes some minutes)");
    let executable = checkout::build_program()?;
    guests::build(&compiler)?;

    let root = Root::announced(&mut say::line)?;
    let machine = root.machine(Network::Shared)?;
    let program = Program::at(&executable)?;
    say::line("");
    say::line(&format!("== A fresh Debian in {}: three teams' policies converge", root.path().display()));
    converge(&machine, &program)?;
    let first = root.changes()?;
    say::line("");
    say::line("== What changed");
    tell_changes(&first);
    say::line("");
    say::line("== Again: nothing is left to do");
    converge(&machine, &program)?;
    let second = root.changes()?;
    let difference = machine_difference(&first, &second);
    ensure!(difference.is_empty(), "the second run changed something:\n{difference}");
    say::line("");
    say::line("The second run changed no file.");
    if arguments.shell {
        say::line("");
        say::line("== A shell in the root; leave it with `exit`");
        machine.command("/bin/bash").env("TERM", "linux").status().context("cannot start a shell")?;
    }
    tell_next();
    Ok(())
}

/// Runs the program with its words going to the user.
fn converge(machine: &Machine<'_>, program: &Program) -> Result<()> {
    let mut command = machine.outside(program.executable());
    command
        .arg("converge")
        .arg("--root")
        .arg(machine.root().path())
        .args(["--policy-name", &POLICIES.join(",")])
        .arg("--policies")
        .arg(checkout::artifacts())
        .arg("--grants")
        .arg(checkout::root().join("policies/grants.toml"))
        .args(["--node-name", "demo"])
        .envs(program.environment())
        .stdin(Stdio::null());
    let status = command.status().context("cannot start the program")?;
    ensure!(status.success(), "wrun converge failed ({status})");
    Ok(())
}

/// Names the files that matter and counts the others.
fn tell_changes(changes: &Tree) {
    let is_told = |path: &Path| TOLD_FOLDERS.iter().any(|folder| path.starts_with(folder));
    let files: Vec<_> = changes.entries.iter().filter(|(_, entry)| entry.kind != Kind::Folder).collect();
    let told: Vec<_> = files.iter().filter(|(path, _)| is_told(path)).collect();
    for (path, entry) in told.iter().take(NAMED_LIMIT) {
        let what = match &entry.kind {
            Kind::Link(target) => format!("-> {}", target.display()),
            Kind::Removed => "removed".to_owned(),
            _ => format!("{:04o}", entry.mode),
        };
        say::line(&format!("  /{} {what}", path.display()));
    }
    let rest = told.len().saturating_sub(NAMED_LIMIT);
    if rest > 0 {
        say::line(&format!("  and {rest} more below /{}", TOLD_FOLDERS.join(", /")));
    }
    say::line(&format!("  {} files in other folders, most from packages", files.len() - told.len()));
}

/// What differs between two layers of changes, apart from what a running machine writes by itself.
fn machine_difference(first: &Tree, second: &Tree) -> String {
    let lines = first.difference(second);
    let written_by_services = |line: &&str| {
        let path = line.get(2..).unwrap_or_default();
        ["var/log/", "var/lib/", "run/", "tmp/", "var/cache/"].iter().any(|folder| path.starts_with(folder))
    };
    lines.lines().filter(|line| !written_by_services(line)).map(|line| format!("{line}\n")).collect()
}

fn tell_next() {
    say::line("");
    say::line("Try next:");
    say::line("  cargo xtask demo --shell       look around in the root");
    say::line("  policies/core/                 read or change a team's policy, and run the demo again");
    say::line("  policies/grants.toml           take a right away, and see what is said");
    say::line("  cargo xtask test               run the tests");
}
