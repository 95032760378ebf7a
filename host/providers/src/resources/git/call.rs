//! Calls of the `git` program.

use super::access::{Rights, became_odd};
use super::plain;
use crate::plan::{View, Writer};
use contract::{CommandOutcome, ErrorKind, Raised};
use machine::command::{Answer, Fence, Launch, require_success};
use machine::root::Fault;
use schema::types::git::GitProperties;
use std::time::Duration;

/// Settings that override a repository's own configuration, for a policy that may only fetch: no hooks, no transport
/// programs, no server but the granted one.
const RESTRAINTS: [&str; 10] = [
    "core.hooksPath=/dev/null",
    // Only git's user may write to files that git creates.
    "core.sharedRepository=umask",
    "core.fsmonitor=false",
    "core.sshCommand=ssh",
    "protocol.ext.allow=never",
    "http.followRedirects=false",
    // git would read the configuration of each submodule that it enters.
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    // No process continues in the folder after the call, because the policy may then change the folder.
    "gc.autoDetach=false",
    "maintenance.autoDetach=false",
];

/// Git looks at what it fetches before it keeps it: at names that lead out of a checkout, and at what does not have the number that
/// it is called by.
const LOOKS_AT_OBJECTS: &str = "fetch.fsckObjects=true";

/// What is odd about many old repositories, and harms nobody: how dates, names and modes are written.
const HARMLESS_ODDITIES: [&str; 12] = [
    "badDate",
    "badDateOverflow",
    "badEmail",
    "badName",
    "badTimezone",
    "missingEmail",
    "missingNameBeforeEmail",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "multipleAuthors",
    "zeroPaddedDate",
    "zeroPaddedFilemode",
];

/// Fixes the repository to this folder. Otherwise git searches the folders above if it does not accept this one.
const HERE: [&str; 2] = ["--git-dir=.git", "--work-tree=."];

/// The user and the environment of git calls.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) user: Option<String>,
    pub(super) group: Option<String>,
    /// The variables of the cookbook, in addition to those that wrun sets.
    pub(super) environment: Vec<(String, String)>,
    /// Numeric id of git's user. `None`: the user does not exist.
    pub(super) uid: Option<u32>,
    /// Numeric id of the declared group.
    pub(super) gid: Option<u32>,
    pub(super) restrained: bool,
    /// True if not everything is granted: names in a commit are then checked before the checkout.
    pub(super) limited: bool,
    /// The limits that keep git to its folder: see [`fence`].
    pub(super) confinement: Option<Confinement>,
    /// How another user's git starts ssh, which then reads none of that user's settings, as git itself does not: a right to
    /// such a file is no right to run programs as the user.
    pub(super) ssh_of_another: Option<String>,
    timeout: Option<Duration>,
}

/// The data for a fence around git.
#[derive(Debug, Clone)]
pub(super) struct Confinement {
    /// True if the repository is on another machine.
    pub(super) is_elsewhere: bool,
    /// The file in which ssh stores the keys of servers.
    pub(super) known_hosts: String,
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
            uid: None,
            gid: None,
            restrained: true,
            limited: true,
            confinement: None,
            ssh_of_another: None,
            timeout: properties.timeout.map(Duration::from_secs),
        }
    }

    /// Returns the name of the user if that user does not exist.
    pub(super) fn missing_user(&self, view: &mut View<'_>) -> Option<String> {
        let user = self.user.clone()?;
        let number = user.parse().ok();
        let users = view.users();
        let known = users.user(&user).is_some() || number.is_some_and(|number| users.user_by_id(number).is_some());
        (!known).then_some(user)
    }

    /// Looks up the numeric ids of git's user and group.
    pub(super) fn find_numbers(&mut self, view: &mut View<'_>) {
        let users = view.users();
        let uid = |user: &String| users.user(user).map(|user| user.uid).or_else(|| user.parse().ok());
        self.uid = self.user.as_ref().map_or_else(|| Some(rustix::process::getuid().as_raw()), uid);
        let gid = |group: &String| users.group(group).map(|group| group.gid).or_else(|| group.parse().ok());
        self.gid = self.group.as_ref().and_then(gid);
    }

    /// Asks something, also in a dry run; what git said. Variables and the settings of another user can name programs that git
    /// is to run, so with them a dry run asks confined, as it asks the commands of guards.
    pub(super) fn ask(&self, view: &mut View<'_>, call: &Call, codes: &[i32]) -> Result<String, Silence> {
        // Chef looks for the user's home before it starts anything.
        if let Some(nobody) = self.missing_user(view) {
            return Err(Raised::new(ErrorKind::InvalidArgument, format!("can't find user for {nobody}")).into());
        }
        let launch = self.launch(call, false);
        // git reads what it is told to, and says some of it in its errors.
        if view.grants.is_survey() {
            return Err(Silence::Unknown(format!("{}: a plan for suggestions does not start git", launch.shown())));
        }
        let is_own = self.uid == Some(rustix::process::getuid().as_raw());
        let outcome = if view.why_run && !(self.environment.is_empty() && is_own) {
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

    /// Runs a git command that changes the checkout. Needs the rights to it.
    pub(super) fn run(
        &self,
        writer: &mut Writer<'_>,
        call: &Call,
        codes: &[i32],
        rights: &Rights,
    ) -> Result<CommandOutcome, Raised> {
        if self.confinement.is_some()
            && call.cwd.is_some()
            && let Some(odd) = plain::renew_configuration(rights.tree(), writer.root)?
        {
            return Err(became_odd(&odd, writer));
        }
        let launch = self.launch(call, true);
        let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch))?;
        require_success(&launch, &outcome, codes)?;
        Ok(outcome)
    }

    fn launch(&self, call: &Call, writes: bool) -> Launch {
        let mut words: Vec<String> = vec![];
        if self.restrained {
            words.extend(RESTRAINTS.iter().flat_map(|setting| ["-c", *setting]).map(str::to_owned));
        }
        if self.restrained && call.words.first().is_some_and(|command| FETCHING.contains(&command.as_str())) {
            words.extend(["-c", LOOKS_AT_OBJECTS].map(str::to_owned));
            let ignored = HARMLESS_ODDITIES.iter().map(|oddity| format!("fetch.fsck.{oddity}=ignore"));
            words.extend(ignored.flat_map(|setting| ["-c".to_owned(), setting]));
        }
        if let Some(ssh) = &self.ssh_of_another {
            words.extend(["-c".to_owned(), format!("core.sshCommand={ssh}")]);
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
        // git must not prompt for a password.
        launch = launch.environment("GIT_TERMINAL_PROMPT", "0");
        for (name, value) in &self.environment {
            launch = launch.environment(name, value);
        }
        if self.ssh_of_another.is_some() {
            // Older ones than 2.32 know only the home.
            launch = launch.environment("GIT_CONFIG_GLOBAL", "/dev/null").without(&["HOME".to_owned()]);
        }
        if let Some(cwd) = &call.cwd {
            launch = launch.cwd(cwd);
        }
        if let Some(confinement) = &self.confinement {
            if let Some(made) = &call.makes {
                launch = launch.cwd(made);
            }
            launch = launch.fenced(fence(command, writes, confinement));
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

/// Words that a call gets and that Chef's sentences do not show. A clone checks nothing out before that was looked at, and takes
/// from a repository on this machine what it would take from another one: it shares no file with it, and looks at the objects.
/// A checkout does not list what differs, for which it would start git in submodules.
fn unshown(command: &[String]) -> &'static [&'static str] {
    match command.first().map(String::as_str) {
        Some("clone") => &["--no-checkout", "--no-local"],
        Some("checkout") => &["-q"],
        _ => &[],
    }
}

/// The commands that fetch.
const FETCHING: [&str; 2] = ["clone", "fetch"];

/// The commands that talk to a repository, on this machine or another.
const TALKING: [&str; 3] = ["clone", "fetch", "ls-remote"];

/// The folders of git's own programs.
const OWN_PROGRAMS: [&str; 4] =
    ["/usr/lib/git-core", "/usr/libexec/git-core", "/usr/local/lib/git-core", "/usr/local/libexec/git-core"];

/// The same folders, and the shell that git needs to use a repository on this machine.
const WITH_SHELL: [&str; 7] = [
    "/usr/lib/git-core",
    "/usr/libexec/git-core",
    "/usr/local/lib/git-core",
    "/usr/local/libexec/git-core",
    "/usr/bin/git-upload-pack",
    "/usr/local/bin/git-upload-pack",
    "/bin/sh",
];

/// Returns the limits for a call of git: the files that it may write and the programs that it may start, whatever the
/// configuration or a link in the folder says. For another machine, git needs ssh, shells, and helpers that only the operator
/// knows. But in that case it neither checks out files nor runs filters.
fn fence(command: &[String], writes: bool, confinement: &Confinement) -> Fence {
    let Confinement { is_elsewhere, known_hosts } = confinement;
    let talks = command.first().is_some_and(|command| TALKING.contains(&command.as_str()));
    let (files, programs): (_, Option<&'static [&'static str]>) = match (talks, is_elsewhere) {
        // For a call that only reads, ssh does not need to store keys.
        (true, true) => (if writes { vec![known_hosts.clone()] } else { vec![] }, None),
        (true, false) => (vec![], Some(&WITH_SHELL)),
        (false, _) => (vec![], Some(&OWN_PROGRAMS)),
    };
    Fence { writes_here: writes, files, programs }
}

/// The reason why git gave no answer.
pub(super) enum Silence {
    Raised(Raised),
    /// The dry run stopped git.
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
    /// The words as Chef's messages show them, some in quotes.
    shown: Vec<String>,
    cwd: Option<String>,
    /// The directory that it fills. It already exists if git is fenced.
    makes: Option<String>,
}

impl Call {
    pub(super) fn new(command: &str) -> Self {
        Self { words: vec![command.into()], shown: vec![command.into()], cwd: None, makes: None }
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

    /// Adds a word that messages show as the cookbook wrote it.
    pub(super) fn quoted_as(mut self, word: &str, shown: &str) -> Self {
        self.words.push(word.into());
        self.shown.push(format!("\"{shown}\""));
        self
    }

    pub(super) fn inside(self, folder: &str) -> Self {
        Self { cwd: Some(folder.into()), ..self }
    }

    pub(super) fn making(self, folder: &str) -> Self {
        Self { makes: Some(folder.into()), ..self }
    }

    fn shown(&self) -> String {
        format!("git {}", self.shown.join(" "))
    }
}
