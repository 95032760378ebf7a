//! Calls of the `git` program.

use super::access::Rights;
use crate::plan::{View, Writer};
use contract::{CommandOutcome, ErrorKind, Raised};
use machine::command::{Answer, Launch, require_success};
use machine::root::Fault;
use schema::types::git::GitProperties;
use std::time::Duration;

/// What git does whatever a repository's own configuration says, where a policy may fetch and no more: no hooks, no
/// programs for transport, no server but the one that was granted.
const RESTRAINTS: [&str; 9] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.sshCommand=ssh",
    "protocol.ext.allow=never",
    "http.followRedirects=false",
    // A submodule's own configuration is read wherever git enters it.
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    // Nothing goes on in the folder once the call has ended, and the policy may fill it again.
    "gc.autoDetach=false",
    "maintenance.autoDetach=false",
];

/// The repository is the folder's own and no other: git looks for one in the folders above where it does not like what it
/// finds here.
const HERE: [&str; 2] = ["--git-dir=.git", "--work-tree=."];

/// Who calls git, and how.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) user: Option<String>,
    pub(super) group: Option<String>,
    /// The variables that the cookbook sets, beside those that wrun sets.
    pub(super) environment: Vec<(String, String)>,
    pub(super) restrained: bool,
    /// Not everything is granted: what is checked out is looked at before.
    pub(super) limited: bool,
    timeout: Option<Duration>,
}

impl Caller {
    pub(super) fn read(properties: &GitProperties) -> Self {
        let mut environment = properties.environment.clone();
        if let Some(wrapper) = properties.ssh_wrapper.clone() {
            environment.insert(0, ("GIT_SSH".into(), wrapper));
        }
        Self {
            user: properties.user.clone(),
            group: properties.group.clone(),
            environment,
            restrained: true,
            limited: true,
            timeout: properties.timeout.map(Duration::from_secs),
        }
    }

    /// The user, if there is no such one.
    pub(super) fn missing_user(&self, view: &mut View<'_>) -> Option<String> {
        let user = self.user.clone()?;
        let number = user.parse().ok();
        let users = view.users();
        let known = users.user(&user).is_some() || number.is_some_and(|number| users.user_by_id(number).is_some());
        (!known).then_some(user)
    }

    /// As which number git runs; none: there is no such user.
    pub(super) fn uid(&self, view: &mut View<'_>) -> Option<u32> {
        let Some(user) = &self.user else { return Some(rustix::process::getuid().as_raw()) };
        view.users().user(user).map(|user| user.uid).or_else(|| user.parse().ok())
    }

    /// Asks something, also in a dry run; what git said. Variables can name programs that git is to run, so with them a
    /// dry run asks confined, as it asks the commands of guards.
    pub(super) fn ask(&self, view: &mut View<'_>, call: &Call, codes: &[i32]) -> Result<String, Silence> {
        // Chef looks for the user's home before it starts anything.
        if let Some(nobody) = self.missing_user(view) {
            return Err(Raised::new(ErrorKind::InvalidArgument, format!("can't find user for {nobody}")).into());
        }
        let launch = self.launch(call);
        let outcome = if view.why_run && !self.environment.is_empty() {
            match view.ask(&launch) {
                Answer::Ended(outcome) => outcome,
                Answer::Unknown(why) => return Err(Silence::Unknown(format!("{}: {why}", launch.shown()))),
            }
        } else {
            view.query(&launch).map_err(|failure| failure.into_raised(&launch))?
        };
        require_success(&launch, &outcome, codes)?;
        Ok(String::from_utf8_lossy(&outcome.output).into_owned())
    }

    /// Does something, with the rights to it.
    pub(super) fn run(
        &self,
        writer: &mut Writer<'_>,
        call: &Call,
        codes: &[i32],
        _rights: &Rights,
    ) -> Result<CommandOutcome, Raised> {
        let launch = self.launch(call);
        let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch))?;
        require_success(&launch, &outcome, codes)?;
        Ok(outcome)
    }

    fn launch(&self, call: &Call) -> Launch {
        let mut words: Vec<String> = vec![];
        if self.restrained {
            words.extend(RESTRAINTS.iter().flat_map(|setting| ["-c", *setting]).map(str::to_owned));
        }
        if self.restrained && call.cwd.is_some() {
            words.extend(HERE.map(str::to_owned));
        }
        let (command, arguments) = call.words.split_at(1.min(call.words.len()));
        words.extend_from_slice(command);
        if self.limited {
            words.extend(unshown(command).iter().map(|word| (*word).to_owned()));
        }
        words.extend_from_slice(arguments);
        let mut launch = Launch::program("git", words).shown_as(&call.shown());
        // Nobody is there to be asked for a password.
        launch = launch.environment("GIT_TERMINAL_PROMPT", "0");
        for (name, value) in &self.environment {
            launch = launch.environment(name, value);
        }
        if let Some(cwd) = &call.cwd {
            launch = launch.cwd(cwd);
        }
        if let Some(user) = &self.user {
            launch = launch.user(user);
        }
        if let Some(group) = &self.group {
            launch = launch.group(group);
        }
        match self.timeout {
            Some(timeout) => launch.timeout(timeout),
            None => launch,
        }
    }
}

/// Words that a call gets and that Chef's sentences do not show. A clone checks nothing out before that was looked at, and
/// shares no file with a repository that may only be read; a checkout does not list what differs, for which it would start
/// git in submodules.
fn unshown(command: &[String]) -> &'static [&'static str] {
    match command.first().map(String::as_str) {
        Some("clone") => &["--no-checkout", "--no-hardlinks"],
        Some("checkout") => &["-q"],
        _ => &[],
    }
}

/// Why git did not say anything.
pub(super) enum Silence {
    Raised(Raised),
    /// A dry run stopped it.
    Unknown(String),
}

impl From<Raised> for Silence {
    fn from(raised: Raised) -> Self {
        Self::Raised(raised)
    }
}

impl From<Fault> for Silence {
    fn from(fault: Fault) -> Self {
        Self::Raised(fault.into())
    }
}

/// One call of git, with its arguments.
#[derive(Debug, Clone)]
pub(super) struct Call {
    words: Vec<String>,
    /// As Chef's messages show them: some in quotes.
    shown: Vec<String>,
    cwd: Option<String>,
}

impl Call {
    pub(super) fn new(command: &str) -> Self {
        Self { words: vec![command.into()], shown: vec![command.into()], cwd: None }
    }

    pub(super) fn word(mut self, word: &str) -> Self {
        self.words.push(word.into());
        self.shown.push(word.into());
        self
    }

    pub(super) fn quoted(mut self, word: &str) -> Self {
        self.words.push(word.into());
        self.shown.push(format!("\"{word}\""));
        self
    }

    /// A word that is shown as the cookbook wrote it.
    pub(super) fn quoted_as(mut self, word: &str, shown: &str) -> Self {
        self.words.push(word.into());
        self.shown.push(format!("\"{shown}\""));
        self
    }

    pub(super) fn inside(self, folder: &str) -> Self {
        Self { cwd: Some(folder.into()), ..self }
    }

    fn shown(&self) -> String {
        format!("git {}", self.shown.join(" "))
    }
}
