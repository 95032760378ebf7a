//! The only place that starts programs.
//!
//! A program needs a root, a user, groups, a directory and a file mode creation mask of its own, and all of these belong to
//! the *process* as the standard library sees it; setting them between fork and exec needs `unsafe`. On Linux, however,
//! they belong to the *thread*: so each program is started from a short-lived thread that first makes the directory, root
//! and mask its own (`unshare(CLONE_FS)`), then takes the groups, and then spawns; the child inherits all of it. For a
//! program of wrun's own user, `posix_spawn` is used, which does not copy the page tables of a process with several guests
//! in it. All by safe calls.
//!
//! No thread of wrun ever has the user of a program as its own: the kernel would let that user's processes kill and stop
//! this thread, and with it all of wrun. The thread looks at files with that user's rights, and the child alone becomes
//! the user.
//!
//! Rejected: starting our own program as a launcher, which costs an exec of a large binary per command; `chroot` and
//! `umask` of the whole process, which other threads would feel.
//!
//! Programs get a clean environment, never that of wrun. If the root is not `/`, wrun starts the program with `chroot`. That
//! separates names, but it does not hold a program that runs as root and tries to break out.

mod answers;
mod confine;
mod end;
mod exported;
mod failure;
mod fence;
mod held;
mod launch;
mod process_tree;
mod start;
mod unended;
mod wait;

pub use answers::Answers;
pub use confine::{Answer, MAX_PLACED, MISSING_PROGRAM, PLACED};
pub use confine::{give_up_all_rights, launch_confined};
pub(crate) use exported::Exported;
pub use failure::{CommandFailure, require_success};
pub use fence::Fence;
pub use launch::{CommandOptions, DEFAULT_TIMEOUT, Launch};
pub(crate) use start::command as prepared;
pub use start::home;
pub use wait::MAX_OUTPUT;

use crate::guest::{Overlay, TOO_MANY};
use crate::root::Root;
use crate::users::Users;
use crate::written;
use contract::{Account, CommandLine, CommandOutcome, CommandTest, ErrorKind, Raised, Stop, StopStep};
use grants::{CommandAsked, GrantedCommand, LineAsked, PolicyGrants, split_words};
use start::Identity;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use unended::Unended;
use wait::{Patience, Watch};

/// The search path for programs of a command that sets no `PATH`, as in Chef.
pub const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The shell that runs command lines, and files without `#!`.
const SHELL: &str = "/bin/sh";

/// The shell's name for itself (`argv[0]`) in its own messages, as when Ruby starts it.
const SHELL_NAME: &str = "sh";

/// The reason why a survey does not know the answer of a command.
const NOT_STARTED: &str = "a plan for suggestions starts only commands that are granted";

/// A callback that receives the program's output while the program writes it.
pub type Live = dyn Fn(&[u8]) + Send + Sync;

/// Starts programs below one root.
#[derive(Debug, Clone)]
pub struct Commands {
    root: PathBuf,
    launcher: Option<PathBuf>,
    exported: Exported,
    overlay: Overlay,
    stop: Stop,
    /// The account of the policy that is charged for the processes of granted commands.
    account: Option<Account>,
    /// A test's answers. If present, no program is started.
    answers: Option<Answers>,
    /// True in a survey, which starts only commands that a rule allows.
    is_survey: bool,
}

impl Commands {
    /// Creates a starter of programs for this root. `launcher` is the program that confines commands.
    pub fn new(root: &Path, launcher: Option<&Path>) -> Self {
        let (root, launcher) = (root.into(), launcher.map(Into::into));
        let (exported, overlay, stop) = (Exported::default(), Overlay::default(), Stop::default());
        Self { root, launcher, exported, overlay, stop, account: None, answers: None, is_survey: false }
    }

    /// Ends the programs when the run must end at once.
    #[must_use]
    pub fn stopped_by(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// Counts the processes of granted commands for a policy.
    #[must_use]
    pub fn charged_to(self, account: &Account) -> Self {
        Self { account: Some(account.clone()), ..self }
    }

    /// Uses a test's answers, if there are any: then no program is ever started.
    #[must_use]
    pub fn answered_by(self, answers: Option<&Answers>) -> Self {
        Self { answers: answers.cloned(), ..self }
    }

    /// Starts only commands that a rule of the operator allows, if this is a survey. Every user of the machine sees the words
    /// of running programs, and in a survey the words may be about anything.
    #[must_use]
    pub fn surveying(self, is_survey: bool) -> Self {
        Self { is_survey, ..self }
    }

    /// The variables that the policy has set for all its commands.
    pub(crate) fn exported(&self) -> &Exported {
        &self.exported
    }

    /// Returns the changes that the guest's own code would have made in a dry run.
    pub fn overlay(&self) -> &Overlay {
        &self.overlay
    }

    /// Runs a command confined, for a dry run. If the confinement refuses it something, the answer is unknown.
    pub fn ask(&self, launch: &Launch, users: &mut Users) -> Answer {
        if let Some(answers) = &self.answers {
            return answers.ask(launch);
        }
        let Some(launcher) = &self.launcher else {
            return Answer::Unknown("a dry run runs no commands here".into());
        };
        if self.is_survey && !launch.may_start {
            return Answer::Unknown(NOT_STARTED.into());
        }
        let input = launch.input.as_deref().map(String::from_utf8_lossy);
        let texts = launch.words.iter().chain(&launch.cwd).chain(launch.environment.iter().map(|(_, value)| value));
        let texts = texts.map(String::as_str).chain(input.as_deref());
        if self.overlay.is_incomplete() {
            return Answer::Unknown(TOO_MANY.into());
        }
        match self.overlay.named_by(texts, self.account.as_ref()) {
            Ok(None) => {}
            Ok(Some(path)) => {
                let why = match self.overlay.changed_by(&path) {
                    Some(by) => format!("it names {path}, which {by} would change before"),
                    None => format!("it names {path}, which the cookbook's own code would have changed"),
                };
                return Answer::Unknown(why);
            }
            Err(ended) => return Answer::Unknown(ended.to_string()),
        }
        // An earlier resource of the run may create the missing user or group.
        let identity = match Identity::of(launch, users) {
            Ok(identity) => identity,
            Err(nobody) => return Answer::Unknown(nobody.to_string()),
        };
        let environment = environment(launch, &identity, &self.exported);
        // The policy chooses its own timeouts, but the operator limits its wall time.
        let left = self.account.as_ref().and_then(Account::wall_left);
        let launch = &launch.clone().timeout(left.map_or(launch.timeout, |left| left.min(launch.timeout)));
        let account = self.account.as_ref().filter(|_| launch.granted);
        confine::ask(launcher, &self.root, launch, &identity, environment, Watch { stop: &self.stop, account })
    }

    /// Runs a program to its end and blocks until then, or until a killed program has not ended for a few seconds. An interrupted run waits for it too, because wrun finishes an action
    /// that has begun. A run that must end at once also ends the program and everything it started, unless it is a package
    /// manager.
    ///
    /// # Errors
    /// The program cannot be started, it exceeded its limit and was ended with everything it started, or the run must end at
    /// once.
    pub fn run(
        &self,
        launch: &Launch,
        users: &mut Users,
        live: Option<&Live>,
    ) -> Result<CommandOutcome, CommandFailure> {
        if let Some(answers) = &self.answers {
            return answers.run(launch);
        }
        let stopped = |what: &str| CommandFailure::Stopped { shown: launch.shown.clone(), what: what.into() };
        if self.is_to_end() {
            return Err(stopped("was not started"));
        }
        let identity = match Identity::of(launch, users) {
            Ok(identity) => identity,
            Err(nobody) => return Ok(nobody.into_outcome()),
        };
        let failed = |error: io::Error| match Unended::in_error(&error) {
            Some(unended) if self.is_to_end() => stopped(&format!("is left behind: {unended}")),
            None if error.kind() == io::ErrorKind::Interrupted => stopped("is left running"),
            _ => CommandFailure::of_system(&error, &launch.shown),
        };
        // The loop that waits never checks programs that end soon, so the wall time is checked here, before each start.
        if let Some(Err(ended)) = self.account.as_ref().map(Account::check_wall) {
            return Err(failed(io::Error::other(ended)));
        }
        let environment = environment(launch, &identity, &self.exported);
        let root = (self.root != Path::new("/")).then(|| self.root.clone());
        let child = match start::start(launch, root, identity, environment, &|waited| self.is_over(launch, waited)) {
            Ok(child) => child,
            Err(start::Refusal::Failure(CommandFailure::HeldUp { .. } | CommandFailure::Unended { .. }))
                if self.is_to_end() =>
            {
                return Err(stopped("was ended"));
            }
            Err(start::Refusal::Failure(failure)) => {
                let wall = self.account.as_ref().map(Account::check_wall);
                let ended = wall.and_then(Result::err).filter(|_| matches!(failure, CommandFailure::HeldUp { .. }));
                return Err(ended.map_or(failure, |ended| failed(io::Error::other(ended))));
            }
            Err(start::Refusal::Outcome(outcome)) => return Ok(outcome),
        };
        let live = live.filter(|_| launch.live);
        let patience = Patience { timeout: launch.timeout, account: self.account.as_ref(), counts: launch.granted };
        let ended = wait::wait(child, launch.input.as_deref(), patience, live, &self.stop);
        ended.map_err(failed).and_then(|outcome| {
            if self.is_to_end() && outcome.signal.is_some() {
                return Err(stopped("was ended"));
            }
            if outcome.timed_out {
                return Err(CommandFailure::TimedOut { shown: launch.shown.clone(), after: launch.timeout, outcome });
            }
            Ok(outcome)
        })
    }

    /// Tells whether the run is to end at once.
    fn is_to_end(&self) -> bool {
        self.stop.step() >= Some(StopStep::AtOnce)
    }

    /// Tells whether a program may no longer be waited for, `waited` after its start began.
    fn is_over(&self, launch: &Launch, waited: Duration) -> bool {
        let wall = self.account.as_ref().map(Account::check_wall);
        waited >= launch.timeout || self.is_to_end() || wall.is_some_and(|wall| wall.is_err())
    }
}

/// Formats a list of words as Ruby shows an array.
pub fn list_of_words(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("{:?}", word.as_ref())).collect();
    format!("[{}]", words.join(", "))
}

/// Returns the program's whole environment. Variables of the command override those of wrun.
fn environment(launch: &Launch, identity: &Identity, exported: &Exported) -> Vec<(String, String)> {
    let mut all = vec![
        ("PATH".to_owned(), DEFAULT_PATH.to_owned()),
        ("LANG".into(), launch.locale.into()),
        ("LANGUAGE".into(), launch.locale.into()),
        ("LC_ALL".into(), launch.locale.into()),
        ("HOME".into(), identity.home.clone()),
        ("USER".into(), identity.name.clone()),
        ("LOGNAME".into(), identity.name.clone()),
    ];
    if launch.login {
        all.push(("SHELL".into(), identity.shell.clone()));
    }
    exported.put_into(&mut all, launch.granted);
    all.extend(launch.environment.iter().cloned());
    let unset: HashSet<&String> = launch.unset.iter().collect();
    // If a name occurs several times, the last one wins.
    let mut known = HashSet::new();
    all.reverse();
    all.retain(|(name, _)| !unset.contains(name) && known.insert(name.clone()));
    all.reverse();
    all
}

/// Returns the directory of a command with all links followed. The grant is checked for this directory, and the command
/// starts in it: a link in a granted directory gives no right to its target. Returns the path as written if a part is
/// missing, if links form a circle or if the policy may not look there. The command will not find the directory, and a policy
/// without the right cannot learn which part is missing.
///
pub fn real_directory(root: &Root, cwd: &str) -> String {
    // A relative path starts at the directory in which wrun was started, as in Chef. No rule grants that.
    if cwd.starts_with('/') { root.asked_about(cwd) } else { cwd.to_owned() }
}

/// Checks a command that a cookbook wrote.
///
/// # Errors
/// The command is not granted.
pub fn check(grants: &PolicyGrants, root: &Root, command: &CommandTest) -> Result<GrantedCommand, Raised> {
    let cwd = command.cwd.as_deref().map(|cwd| real_directory(root, cwd));
    let interpreter = match command.interpreter.as_deref() {
        None | Some("execute" | "default") => None,
        // The interpreter with its flags, as in a script resource.
        Some(name) => Some(split_words(name).unwrap_or_else(|| vec![name.to_owned()])),
    };
    let line = match (&command.line, &interpreter) {
        (CommandLine::Text(code), Some(interpreter)) => LineAsked::Script { interpreter, code },
        (CommandLine::Text(text), None) => LineAsked::Text(text),
        (CommandLine::Arguments(words), _) => LineAsked::Arguments(words),
    };
    let asked = CommandAsked {
        line,
        user: command.user.as_deref(),
        group: command.group.as_deref(),
        cwd: cwd.as_deref(),
        umask: command.umask,
        environment: &command.environment,
        input: command.input.as_deref(),
        sensitive: command.sensitive,
    };
    grants.command(&asked).map_err(|denial| match command.sensitive {
        true => denied_secretly(grants),
        false => written::command(denial, &asked, command.cwd.as_deref(), grants),
    })
}

/// Returns the denial of a command that no message may show.
pub fn denied_secretly(grants: &PolicyGrants) -> Raised {
    let policy = grants.policy();
    Raised::new(ErrorKind::Denied, format!("policy `{policy}` may not run command `[sensitive]`"))
        .with_hint(grants::SENSITIVE_HINT)
}
