//! A demonstration of wrun for new users: three teams release their policies, and a temporary Debian system converges them.
//! Then one team releases a change.
//!
//! The machine itself is not changed. The files after the second run are compared with those after the first, which proves
//! that nothing changed.

mod releases;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use specs::{Kind, Machine, Network, Program, Root, Tree};

use releases::Releases;

use crate::{checkout, guests, say};

/// The example policies in the order in which the demo's node runs them.
const POLICIES: [&str; 3] = ["core", "database", "monitoring"];

/// Folders with changes that are listed file by file.
const TOLD_FOLDERS: [&str; 3] = ["etc", "home", "srv"];

/// The folder with dpkg's list of each package's files.
const PACKAGE_LISTS: &str = "var/lib/dpkg/info";

/// Largest number of files that are named. The others are only counted.
const NAMED_LIMIT: usize = 40;

/// The arguments of `cargo xtask demo`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Open a shell in the throw-away root before it goes
    #[arg(long)]
    shell: bool,
}

/// Checks the prerequisites, builds everything, and runs the demo.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(sentence) = specs::base::missing_prerequisite().or_else(specs::base::missing_mirror) {
        bail!(sentence);
    }
    let compiler = guests::find_compiler()?;
    say::line("building the program (the first build takes some minutes)");
    let executable = checkout::build_program()?;
    guests::build_policies(&compiler)?;
    let program = Program::at(&executable)?;
    say::line("");
    say::line("== Three teams release their policies to the group staging");
    let releases = Releases::of_all_teams(&program)?;

    let root = Root::announced(&mut say::line)?;
    let machine = root.machine(Network::Shared)?;
    say::line("");
    say::line(&format!("== A fresh Debian in {}: three teams' policies converge", root.path().display()));
    converge(&machine, &program, &releases, "staging", &[])?;
    let first = root.changes()?;
    say::line("");
    say::line("== What changed");
    tell_changes(&machine, &first)?;
    say::line("");
    say::line(
        "== The teams promote their revisions to the group prod, and the node converges as one of prod: nothing is left to do",
    );
    releases.promote()?;
    converge(&machine, &program, &releases, "prod", &[])?;
    let second = root.changes()?;
    let difference = machine_difference(&first, &second);
    ensure!(difference.is_empty(), "the second run changed something:\n{difference}");
    say::line("");
    say::line("The second run changed no file.");
    say::line("");
    say::line("== The database team releases a change to staging, alone");
    releases.change_of_database()?;
    converge(&machine, &program, &releases, "staging", &[])?;
    let changed = changed_policies(&program)?;
    ensure!(
        changed == ["database"],
        "the database team has released a change alone, and these changed something: {changed:?}"
    );
    say::line("");
    say::line("Nothing but the policy database changed anything.");
    say::line("");
    say::line("== Somebody changes a byte of the released artifact: a node that fetches it refuses it");
    releases.tamper()?;
    let state = program.configuration().join("another-node");
    let state = ["--state-dir".to_owned(), state.display().to_string(), "--why-run".to_owned()];
    let refused =
        command(&machine, &program, &releases, "staging", &state).output().context("cannot start the program")?;
    let words = [refused.stdout, refused.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    words.iter().for_each(|text| say::line(text.trim_end()));
    let is_told = words.iter().any(|text| text.contains("is not the file that was signed"));
    ensure!(!refused.status.success() && is_told, "wrun did not refuse an artifact that its team did not sign");
    say::line("It was refused.");
    if arguments.shell {
        say::line("");
        say::line("== A shell in the root; leave it with `exit`");
        machine.command("/bin/bash").env("TERM", "linux").status().context("cannot start a shell")?;
    }
    tell_next();
    Ok(())
}

/// Runs the program with its output visible to the user.
fn converge(
    machine: &Machine<'_>,
    program: &Program,
    releases: &Releases<'_>,
    group: &str,
    more: &[String],
) -> Result<()> {
    let status = command(machine, program, releases, group, more).status().context("cannot start the program")?;
    ensure!(status.success(), "wrun converge failed ({status})");
    Ok(())
}

/// Returns the policies of the last run that made changes.
fn changed_policies(program: &Program) -> Result<Vec<String>> {
    let record = program.run(&["run", "show", "--format", "json"])?.expect_code(0)?;
    let record: Value = serde_json::from_str(&record.stdout).context("the record is not JSON")?;
    let list = |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let is_updated = |resource: &Value| resource.get("status").and_then(Value::as_str) == Some("updated");
    let changed =
        list(&record, "policies").into_iter().filter(|policy| list(policy, "resources").iter().any(is_updated));
    Ok(changed.filter_map(|policy| Some(policy.get("name")?.as_str()?.to_owned())).collect())
}

/// Returns the command for a run of a node in a policy group.
fn command(machine: &Machine<'_>, program: &Program, releases: &Releases<'_>, group: &str, more: &[String]) -> Command {
    let mut command = machine.outside(program.executable());
    command
        .arg("converge")
        .arg("--root")
        .arg(machine.root().path())
        .args(["--policy-name", &POLICIES.join(",")])
        .args(["--policy-group", group])
        .arg("--repository")
        .arg(releases.place())
        .arg("--grants")
        .arg(checkout::root().join("policies/grants.toml"))
        .args(["--node-name", "demo"])
        .args(more)
        .envs(program.environment())
        .stdin(Stdio::null());
    command
}

/// Lists the files that the policies wrote, and counts the files from packages.
fn tell_changes(machine: &Machine<'_>, changes: &Tree) -> Result<()> {
    let root = machine.root();
    let is_list = |path: &Path| path.starts_with(PACKAGE_LISTS) && path.extension().is_some_and(|end| end == "list");
    let lists: Vec<_> = changes.entries.keys().filter(|path| is_list(path)).collect();
    let mut from_packages = BTreeSet::new();
    for list in &lists {
        from_packages.extend(root.read(list)?.lines().map(str::to_owned));
    }
    // Files that differ from their package were overwritten by a policy.
    let verified = machine.run(&["dpkg", "--verify"])?;
    let verified = String::from_utf8_lossy(&verified.stdout).into_owned();
    let written_over: BTreeSet<&str> = verified.lines().filter_map(|line| line.split_whitespace().last()).collect();
    let files = changes.entries.iter().filter(|(_, entry)| entry.kind != Kind::Folder);
    let told: Vec<_> = files
        .filter(|(path, _)| TOLD_FOLDERS.iter().any(|folder| path.starts_with(folder)) && !is_by_product(path))
        .map(|(path, entry)| (format!("/{}", path.display()), entry))
        .filter(|(path, _)| !from_packages.contains(path) || written_over.contains(path.as_str()))
        .collect();
    say::line(&format!("  {} packages were installed, with what they need", lists.len()));
    for (path, entry) in told.iter().take(NAMED_LIMIT) {
        let what = match &entry.kind {
            Kind::Link(target) => format!("-> {}", target.display()),
            Kind::Removed => "removed".to_owned(),
            _ => format!("{:04o}", entry.mode),
        };
        say::line(&format!("  {path} {what}"));
    }
    let rest = told.len().saturating_sub(NAMED_LIMIT);
    if rest > 0 {
        say::line(&format!("  and {rest} more below /{}", TOLD_FOLDERS.join(", /")));
    }
    Ok(())
}

/// Returns whether a file is a side effect of a tool: run-level links, backups of the user database, or locks.
fn is_by_product(path: &Path) -> bool {
    let text = path.to_string_lossy();
    text.starts_with("etc/rc")
        || text.starts_with("etc/systemd/system/")
        || text.ends_with('-')
        || text.ends_with(".lock")
}

/// Returns the differences between two layers of changes, without files that a running machine writes by itself.
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
