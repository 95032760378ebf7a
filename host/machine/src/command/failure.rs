//! How a program can fail, under the classes and in the words of Mixlib::ShellOut, which cookbooks rescue and people grep
//! for.

use super::Launch;
use contract::{CommandOutcome, Raised};
use std::io;
use std::time::Duration;

/// The most characters of each output that a message repeats.
const MAX_SHOWN: usize = 65_536;

/// Why a program did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum CommandFailure {
    /// The system refused to start it.
    #[error("{sentence} - {about}")]
    NotStarted {
        /// The error's name, as in `ENOENT`.
        name: &'static str,
        /// The C library's sentence.
        sentence: String,
        /// What it was about.
        about: String,
    },
    /// It took too long, and was ended with all that it started.
    #[error("{}", timed_out(shown, *after, outcome))]
    TimedOut {
        /// The command, as messages show it.
        shown: String,
        /// The time after which it was ended.
        after: Duration,
        /// What it wrote until then.
        outcome: CommandOutcome,
    },
    /// The run is to end at once: it was ended, was left running, or was not even started.
    #[error("the run was stopped: {shown} {what}")]
    Stopped {
        /// The command, as messages show it.
        shown: String,
        /// The rest of the sentence: `was not started`.
        what: &'static str,
    },
    /// A dry run could not ask it, which is not a failure of what it was asked about.
    #[error("{why}")]
    CannotLook {
        /// One of [`ASSUMED`] and [`UNKNOWN`].
        class: &'static str,
        /// The reason, as a whole sentence.
        why: String,
    },
}

/// The class of what a dry run takes for granted instead of asking. A provider's plan comes of it, never an exception.
pub const ASSUMED: &str = "Wrun::Assumed";

/// The class of what a dry run cannot ask.
pub const UNKNOWN: &str = "Wrun::Unknown";

/// There is no such user or group.
#[derive(Debug, thiserror::Error)]
#[error("can't find {kind} for {name}")]
pub(super) struct Nobody {
    /// The kind that was looked for: `user` or `group`.
    pub(super) kind: &'static str,
    /// The name that no user or group has.
    pub(super) name: String,
}

impl Nobody {
    /// Chef's child looks up whom it is to run as, dies of not finding anybody, and says so.
    pub(super) fn into_outcome(self) -> CommandOutcome {
        let call = if self.kind == "user" { "getpwnam" } else { "getgrnam" };
        let errors = format!("in `{call}': {self} (ArgumentError)").into_bytes();
        CommandOutcome { code: Some(1), errors, ..CommandOutcome::default() }
    }
}

impl CommandFailure {
    pub(super) fn of_system(error: &io::Error, about: &str) -> Self {
        let errno = rustix::io::Errno::from_io_error(error).unwrap_or(rustix::io::Errno::IO);
        let fault = crate::root::Fault::new(errno, "", about);
        let text = error.to_string();
        let sentence = text.split(" (os error").next().unwrap_or_default().to_owned();
        Self::NotStarted { name: fault.name(), sentence, about: about.into() }
    }

    /// In a dry run a program that is missing may be one that an earlier resource's package brings, and one that an
    /// ordinary user may not start inside another root has said nothing.
    pub fn in_dry_run(self, packages_to_come: bool) -> Self {
        let Self::NotStarted { name, about, .. } = &self else { return self };
        let program = about.split_ascii_whitespace().next().unwrap_or_default();
        match *name {
            "ENOENT" if packages_to_come => {
                let why = format!("{program} is not there, assuming that a package of an earlier resource brings it");
                Self::CannotLook { class: ASSUMED, why }
            }
            "EPERM" => {
                let why = format!("{program} can only be asked by root");
                Self::CannotLook { class: UNKNOWN, why }
            }
            _ => self,
        }
    }

    /// The exception that a cookbook may rescue.
    pub fn into_raised(self, _launch: &Launch) -> Raised {
        let class = match &self {
            Self::NotStarted { name, .. } => format!("Errno::{name}"),
            Self::TimedOut { .. } => "Mixlib::ShellOut::CommandTimeout".into(),
            // No `rescue` without a class and no `ignore_failure` goes on after it.
            Self::Stopped { .. } => "SignalException".into(),
            Self::CannotLook { class, .. } => (*class).into(),
        };
        Raised::new(&class, self.to_string())
    }
}

/// Fails unless a program ended with one of these exit codes.
///
/// # Errors
/// `Mixlib::ShellOut::ShellCommandFailed`.
pub fn require_success(launch: &Launch, outcome: &CommandOutcome, codes: &[i32]) -> Result<(), Raised> {
    if outcome.code.is_some_and(|code| codes.contains(&code)) {
        return Ok(());
    }
    let codes: Vec<String> = codes.iter().map(ToString::to_string).collect();
    let message = format!(
        "Expected process to exit with [{}], but received '{}'\n{}",
        codes.join(", "),
        code_text(outcome),
        outputs(launch.shown(), outcome)
    );
    Err(Raised::new("Mixlib::ShellOut::ShellCommandFailed", message))
}

fn code_text(outcome: &CommandOutcome) -> String {
    outcome.code.map(|code| code.to_string()).unwrap_or_default()
}

fn outputs(shown: &str, outcome: &CommandOutcome) -> String {
    format!(
        "---- Begin output of {shown} ----\nSTDOUT: {}\nSTDERR: {}\n---- End output of {shown} ----\nRan {shown} returned {}",
        beginning(&outcome.output),
        beginning(&outcome.errors),
        code_text(outcome)
    )
}

fn timed_out(shown: &str, after: Duration, outcome: &CommandOutcome) -> String {
    format!(
        "Command timed out after {}s:\nCommand exceeded allowed execution time, process terminated\n{}",
        after.as_secs(),
        outputs(shown, outcome)
    )
}

fn beginning(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}[..]", text.get(..end).unwrap_or_default()),
        None => text.into(),
    }
}
