//! `wrun bootstrap`. The crate [`bootstrap`] contains the decisions; this module handles arguments, ssh, and messages.

mod inputs;

use crate::arguments::BootstrapArguments;
use crate::commands::repository::unseen;
use crate::exit::Exit;
use crate::printer::{Printer, Tone, diff_tone};
use anyhow::{Context as _, bail};
use bootstrap::{Change, Marks, Outcome, People, Plan, Session, SessionError, cloud_config, plan};
use similar::TextDiff;
use std::io::{BufReader, IsTerminal as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use text::{escape, escape_line};

/// Number of unchanged lines that are shown around a change.
const CONTEXT: usize = 3;

/// Number of random bytes in the mark.
const MARK_BYTES: usize = 16;

/// The exit code of ssh if it could not connect, or lost the connection.
const SSH_FAILED: i32 = 255;

/// The exit code of a shell that does not find a program.
const NOT_FOUND: i32 = 127;

/// The hint for the most common reason of a failed connection.
const UNKNOWN_KEY: &str = "\n\nhint: `ssh USER@HOST` shows the same error. If the host key is unknown, it asks there whether to accept it: compare it first";

/// Exit codes of the first run that this command also returns.
const PASSED_ON: [(i32, Exit); 4] =
    [(35, Exit::RebootScheduled), (37, Exit::RebootNeeded), (41, Exit::RebootFailed), (75, Exit::Busy)];

type Connection<'p> = Session<'p, BufReader<ChildStdout>, ChildStdin>;

/// Returns a new mark that cannot be guessed.
fn new_mark() -> anyhow::Result<String> {
    let mark = plain_files::random_bytes::<MARK_BYTES>().context("no random numbers")?;
    Ok(text::hex(mark))
}

pub(crate) fn run(arguments: &BootstrapArguments, printer: Printer) -> anyhow::Result<Exit> {
    let wanted = inputs::wanted(arguments)?;
    let Some(host) = &arguments.host else {
        printer.part(Tone::Plain, &cloud_config(&wanted)?);
        return Ok(Exit::Done);
    };
    anyhow::ensure!(!host.starts_with('-') && !host.is_empty(), "{host:?} is not a machine: write USER@HOST");
    let marks = Marks { login: new_mark()?, orders: new_mark()? };
    let mut ssh = Ssh::start(arguments, host, &Connection::command(&marks, arguments.sudo, &wanted.files))?;
    let (from, to) = ssh.ends.take().context("ssh has no standard input")?;
    let mut person = Person { host, printer };
    let opened = Session::open(BufReader::new(from), to, &marks, arguments.sudo, &wanted.files, &mut person);
    let (mut session, found) = match opened {
        Ok(opened) => opened,
        Err(error) => return Err(ssh.explained("", &error, "nothing was changed")),
    };
    let plan = plan(&wanted, &found).map_err(|why| anyhow::anyhow!("{}: {why}", escape_line(host)))?;
    for note in &plan.notes {
        printer.note(Tone::Warning, &escape_line(&format!("{host}: {note}")));
    }
    if arguments.repository.is_none() {
        let text = "no policies are sent: without --repository it runs what lies in its /etc/wrun/policies";
        printer.note(Tone::Warning, &escape_line(&format!("{host}: {text}")));
    }
    for same in &plan.unchanged {
        printer.prose(Tone::Quiet, &escape_line(&format!("unchanged: {same}")));
    }
    let mut loses = vec![];
    for change in &plan.changes {
        match show_change(&mut session, change, printer) {
            Ok(true) => loses.push(change.wanted.path),
            Ok(false) => {}
            Err(error) => return Err(ssh.explained("", &error, "nothing was changed")),
        }
    }
    if arguments.dry_run {
        for step in &plan.steps {
            printer.prose(Tone::Plain, &escape_line(&format!("would {}", step.words())));
        }
        drop(session.end());
        return Ok(Exit::Done);
    }
    if !loses.is_empty() && !arguments.yes && !agreed(&loses, host, printer)? {
        printer.note(Tone::Plain, "nothing was changed");
        return Ok(Exit::Done);
    }
    carry_out(session, &plan, &mut ssh, host, printer)
}

/// Carries out the steps. These change the machine, so an error also says which steps are already done.
fn carry_out(
    mut session: Connection<'_>,
    plan: &Plan,
    ssh: &mut Ssh,
    host: &str,
    printer: Printer,
) -> anyhow::Result<Exit> {
    for (at, step) in plan.steps.iter().enumerate() {
        printer.prose(Tone::Plain, &escape_line(&format!("{}:", step.words())));
        match session.step(step) {
            Ok(Outcome::Done) => {}
            Ok(Outcome::Converged(code)) => {
                drop(session.end());
                return Ok(converged(code, host, printer));
            }
            Err(error) => {
                let done = match at {
                    0 => "it was the first step".to_owned(),
                    1 => "the step before it is done".to_owned(),
                    _ => format!("the {at} steps before it are done"),
                };
                let state = format!("{done}; run the same command again to go on");
                printer.error(&ssh.explained(&format!("could not {}: ", step.words()), &error, &state));
                return Ok(Exit::Failed);
            }
        }
    }
    Ok(Exit::Done)
}

/// Returns the exit code of this command for the exit code of the first run.
fn converged(code: i32, host: &str, printer: Printer) -> Exit {
    if code == 0 {
        printer.note(
            Tone::Plain,
            &escape_line(&format!("{host} is done; `systemctl enable --now wrun-agent` there keeps it so")),
        );
        return Exit::Done;
    }
    let passed_on = PASSED_ON.iter().find(|(known, _)| *known == code).map(|(_, exit)| *exit);
    printer.note(Tone::Error, &escape_line(&format!(
        "{host} has all files, and its run ended with the exit code {code} (docs/exit-codes.md); its words are above"
    )));
    passed_on.unwrap_or(Exit::Failed)
}

/// Shows how a file of the machine would change. Returns whether existing content would be lost.
fn show_change(session: &mut Connection<'_>, change: &Change, printer: Printer) -> Result<bool, SessionError> {
    let wanted = &change.wanted;
    if wanted.is_secret {
        printer.prose(Tone::Plain, &format!("{} differs on the machine; its content is not shown", wanted.path));
        return Ok(true);
    }
    let there = String::from_utf8_lossy(&session.content(wanted.path)?).into_owned();
    let new = String::from_utf8_lossy(&wanted.content);
    if change.loses_nothing(&there) {
        printer.prose(Tone::Quiet, &format!("{} on the machine has comments only", wanted.path));
        return Ok(false);
    }
    let diff = TextDiff::from_lines(there.as_str(), &new);
    let (before, after) = (format!("{} (on the machine)", wanted.path), format!("{} (as it would be)", wanted.path));
    let text = diff.unified_diff().context_radius(CONTEXT).header(&before, &after).to_string();
    for (at, line) in text.lines().enumerate() {
        printer.prose(diff_tone(at, line), &escape(line));
    }
    Ok(true)
}

/// Asks the user whether files of the machine may be replaced.
fn agreed(paths: &[&str], host: &str, printer: Printer) -> anyhow::Result<bool> {
    let input = std::io::stdin();
    if !input.is_terminal() {
        bail!(
            "{} on {host} would be replaced, and nobody can be asked: look at the difference, then say --yes; nothing was changed",
            paths.join(" and ")
        );
    }
    printer.note(Tone::Heading, &escape_line(&format!("Replace {} on {host}? [y/N]", paths.join(" and "))));
    let mut answer = String::new();
    input.read_line(&mut answer).context("the answer cannot be read")?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// The ssh program, ended when this is dropped.
struct Ssh {
    child: Child,
    ends: Option<(ChildStdout, ChildStdin)>,
    host: String,
}

impl Ssh {
    fn start(arguments: &BootstrapArguments, host: &str, command: &str) -> anyhow::Result<Self> {
        let mut ssh = Command::new("ssh");
        ssh.args(["-T", "-e", "none"]);
        for option in &arguments.ssh_option {
            ssh.args(["-o", option]);
        }
        if let Some(port) = arguments.port {
            ssh.args(["-p", &port.to_string()]);
        }
        // These options detect a lost connection. The user's own options come earlier and so have precedence.
        ssh.args(["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=8", "--", host, command]);
        let started = ssh.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.context("ssh cannot be started: install openssh-client")?;
        let ends = child.stdout.take().zip(child.stdin.take());
        Ok(Self { child, ends, host: host.to_owned() })
    }

    /// Returns an error with the message of ssh and the current state of the work.
    fn explained(&mut self, what: &str, error: &SessionError, state: &str) -> anyhow::Error {
        let (why, hint) = if matches!(error, SessionError::Broken) {
            match self.child.wait().ok().and_then(|status| status.code()) {
                Some(SSH_FAILED) => {
                    ("ssh could not connect, or lost the connection; its words are above".to_owned(), UNKNOWN_KEY)
                }
                Some(NOT_FOUND) => ("the machine does not have /bin/sh".to_owned(), ""),
                _ => (
                    "the machine's shell ended before it was done; does it have the programs dd and id?".to_owned(),
                    "",
                ),
            }
        } else {
            // Data that is still in transit is not needed.
            drop(self.child.kill());
            (text::error_chain(error), "")
        };
        anyhow::anyhow!("{}: {}{why}; {state}{hint}", escape_line(&self.host), escape_line(what))
    }
}

impl Drop for Ssh {
    fn drop(&mut self) {
        drop(self.ends.take());
        let _collected = self.child.wait();
    }
}

/// The user of this command, who sees messages and answers questions.
struct Person<'a> {
    host: &'a str,
    printer: Printer,
}

impl People for Person<'_> {
    fn password(&mut self) -> Option<String> {
        if !std::io::stdin().is_terminal() {
            return None;
        }
        let question = escape_line(&format!("Password of sudo on {}:", self.host));
        unseen(|| self.printer.note(Tone::Heading, &question)).ok()
    }

    fn output(&mut self, line: &str) {
        self.printer.prose(Tone::Plain, line);
    }
}
