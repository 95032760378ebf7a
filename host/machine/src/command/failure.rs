//! How a program can fail.

use super::Launch;
use super::unended::Unended;
use crate::root::system_error;
use contract::{CommandOutcome, ErrorKind, Raised, SystemError};
use errors::chef::{self, AccountLookup, CommandEnd};
use std::io;
use std::time::Duration;

/// The reason why a program did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum CommandFailure {
    /// The system refused to start it.
    #[error("{sentence} - {about}")]
    NotStarted {
        /// The error of the system's call.
        error: SystemError,
        /// The C library's sentence.
        sentence: String,
        /// The command or the path that the error concerns.
        about: String,
    },
    /// wrun limits the programs that this program may start, but cannot tell which ones it needs.
    #[error("{program} is not started: it is {what}, so that wrun cannot limit which programs it starts")]
    NotLimited {
        /// The path of the program.
        program: String,
        /// The kind of file that it is, such as `a script`.
        what: &'static str,
    },
    /// The program exceeded its timeout and was ended with everything it started.
    #[error("{}", chef::timed_out(*after, end(shown, outcome)))]
    TimedOut {
        /// The command, as messages show it.
        shown: String,
        /// The time after which it was ended.
        after: Duration,
        /// What it wrote until then.
        outcome: CommandOutcome,
    },
    /// Its process was stopped before it became the program, and was ended.
    #[error("{shown} did not begin within {} s and was ended: {why}", after.as_secs())]
    HeldUp {
        /// The command, as messages show it.
        shown: String,
        /// The time after which it was ended.
        after: Duration,
        /// The reason, as a clause.
        why: &'static str,
    },
    /// It was killed, or has ended by itself, but its process is still there after some seconds. wrun does not wait any longer.
    #[error("{shown}: process {process} does not end: {why}")]
    Unended {
        /// The command, as messages show it.
        shown: String,
        /// The number of the process.
        process: i32,
        /// The reason, as a clause: another process traces it, or it waits in the kernel.
        why: String,
    },
    /// The run must end at once: the program was ended, was left running, or was not started.
    #[error("the run was stopped: {shown} {what}")]
    Stopped {
        /// The command, as messages show it.
        shown: String,
        /// The rest of the sentence: `was not started`.
        what: String,
    },
    /// A dry run could not run the command. That does not mean that the real run would fail.
    #[error("{why}")]
    CannotLook {
        /// One of [`ErrorKind::Assumed`] and [`ErrorKind::Unknown`].
        kind: ErrorKind,
        /// The reason, as a whole sentence.
        why: String,
    },
}

/// The user or the group does not exist.
#[derive(Debug, thiserror::Error)]
#[error("can't find {kind} for {name}")]
pub(super) struct Nobody {
    /// The kind that was looked for: `user` or `group`.
    pub(super) kind: &'static str,
    /// The name that no user or group has.
    pub(super) name: String,
}

impl Nobody {
    /// Returns the outcome that Chef would see: its child process looks up the user or group, fails, and prints the error.
    pub(super) fn into_outcome(self) -> CommandOutcome {
        let lookup = if self.kind == "user" { AccountLookup::User } else { AccountLookup::Group };
        let errors = chef::without_account(lookup, &self.to_string()).into_bytes();
        CommandOutcome { code: Some(1), errors, ..CommandOutcome::default() }
    }
}

impl CommandFailure {
    /// Returns the failure for an error of the system, or for a process that does not end.
    pub(super) fn of_system(error: &io::Error, about: &str) -> Self {
        if let Some(Unended { process, why }) = Unended::in_error(error).cloned() {
            return Self::Unended { shown: about.into(), process, why };
        }
        let errno = rustix::io::Errno::from_io_error(error).unwrap_or(rustix::io::Errno::IO);
        Self::NotStarted { error: system_error(errno), sentence: sentence(error), about: about.into() }
    }

    /// Adjusts the failure for a dry run. A missing program may come with an earlier resource's package. And if an ordinary
    /// user may not start a program inside another root, the answer is unknown.
    pub fn in_dry_run(self, packages_to_come: bool) -> Self {
        let Self::NotStarted { error, about, .. } = &self else { return self };
        let program = about.split_ascii_whitespace().next().unwrap_or_default();
        match *error {
            SystemError::NotFound if packages_to_come => {
                let why = format!("{program} is not there, assuming that a package of an earlier resource brings it");
                Self::CannotLook { kind: ErrorKind::Assumed, why }
            }
            SystemError::NotPermitted => {
                let why = format!("{program} can only be asked by root");
                Self::CannotLook { kind: ErrorKind::Unknown, why }
            }
            _ => self,
        }
    }

    /// Returns the exception that a cookbook may rescue.
    pub fn into_raised(self, launch: &Launch) -> Raised {
        let message = told(launch, self.to_string());
        let kind = match self {
            Self::NotLimited { program, .. } => {
                let name = program.rsplit('/').next().unwrap_or_default();
                return Raised::new(ErrorKind::Failed, message).with_hint(format!(
                    "let {program} be the program itself, or grant the command `{{ argv = [\"{name}\"] }}`, which is \
                     started without limits"
                ));
            }
            // In another root a program is started with `chroot`, and as another user with `setuid`.
            Self::NotStarted { error: SystemError::NotPermitted, .. } if !rustix::process::geteuid().is_root() => {
                let hint = "only root can start programs below another root (`--root`), or as another user";
                return Raised::new(SystemError::NotPermitted, message).with_hint(hint);
            }
            Self::NotStarted { error, .. } => error.into(),
            Self::TimedOut { .. } | Self::HeldUp { .. } | Self::Unended { .. } => ErrorKind::CommandTimeout,
            // Neither a `rescue` without a class nor `ignore_failure` continues after it.
            Self::Stopped { .. } => ErrorKind::Signalled,
            Self::CannotLook { kind, .. } => kind,
        };
        Raised::new(kind, message)
    }
}

/// Returns the C library's sentence for an error.
pub(super) fn sentence(error: &io::Error) -> String {
    error.to_string().split(" (os error").next().unwrap_or_default().to_owned()
}

/// Fails unless a program ended with one of these exit codes.
///
/// # Errors
/// [`ErrorKind::CommandFailed`].
pub fn require_success(launch: &Launch, outcome: &CommandOutcome, codes: &[i32]) -> Result<(), Raised> {
    if outcome.code.is_some_and(|code| codes.contains(&code)) {
        return Ok(());
    }
    let message = chef::unexpected_exit(codes, end(launch.shown(), outcome));
    Err(Raised::new(ErrorKind::CommandFailed, told(launch, message)))
}

/// Returns a message about a program. A program that the host chose reads settings of other teams, and tells addresses with
/// their passwords.
fn told(launch: &Launch, message: String) -> String {
    match launch.granted {
        true => message,
        false => text::without_credentials(&message).into_owned(),
    }
}

fn end<'a>(shown: &'a str, outcome: &'a CommandOutcome) -> CommandEnd<'a> {
    CommandEnd { shown, code: outcome.code, output: &outcome.output, errors: &outcome.errors }
}
