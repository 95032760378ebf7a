//! Calls of the `git` program.

use super::access::{Rights, became_odd};
use super::plain;
use crate::plan::{View, Writer};
use contract::{CommandOutcome, ErrorKind, Raised};
use machine::command::{Answer, Fence, Launch, require_success};
use machine::root::Fault;
use schema::types::git::GitProperties;
use std::time::Duration;

/// What git does whatever a repository's own configuration says, where a policy may fetch and no more: no hooks, no
/// programs for transport, no server but the one that was granted.
const RESTRAINTS: [&str; 10] = [
    "core.hooksPath=/dev/null",
    // What git makes is its user's alone to write.
    "core.sharedRepository=umask",
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
    /// As which number git runs; `None`: the user does not exist.
    pub(super) uid: Option<u32>,
    /// The number of the group that was asked for.
    pub(super) gid: Option<u32>,
    pub(super) restrained: bool,
    /// Not everything is granted: what is checked out is looked at before.
    pub(super) limited: bool,
    /// Git is kept to the folder that it works in: see [`fence`].
    pub(super) confinement: Option<Confinement>,
    /// How another user's git starts ssh, which then reads none of that user's settings, as git itself does not: a right to
    /// such a file is no right to run programs as the user.
    pub(super) ssh_of_another: Option<String>,
    timeout: Option<Duration>,
}

/// What a fence depends on.
#[derive(Debug, Clone)]
pub(super) struct Confinement {
    /// The repository is on another machine.
    pub(super) is_elsewhere: bool,
    /// The file in which ssh notes the keys of servers.
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

    /// The name of the user, if that user does not exist.
    pub(super) fn missing_user(&self, view: &mut View<'_>) -> Option<String> {
        let user = self.user.clone()?;
        let number = user.parse().ok();
        let users = view.users();
        let known = users.user(&user).is_some() || number.is_some_and(|number| users.user_by_id(number).is_some());
        (!known).then_some(user)
    }

    /// Finds out as which numbers git runs.
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

    /// Does something, with the rights to it.
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
        // Nobody is there to be asked for a password.
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

/// Where git has its own programs.
const OWN_PROGRAMS: [&str; 4] =
    ["/usr/lib/git-core", "/usr/libexec/git-core", "/usr/local/lib/git-core", "/usr/local/libexec/git-core"];

/// The same with what it needs to talk to a repository on this machine, which it does through a shell.
const WITH_SHELL: [&str; 7] = [
    "/usr/lib/git-core",
    "/usr/libexec/git-core",
    "/usr/local/lib/git-core",
    "/usr/local/libexec/git-core",
    "/usr/bin/git-upload-pack",
    "/usr/local/bin/git-upload-pack",
    "/bin/sh",
];

/// What a call of git may write and start, whatever a configuration or a link in the folder says. To talk to another machine git
/// needs ssh, shells, and helpers that only the operator knows of; but then it neither checks anything out nor runs filters.
fn fence(command: &[String], writes: bool, confinement: &Confinement) -> Fence {
    let Confinement { is_elsewhere, known_hosts } = confinement;
    let talks = command.first().is_some_and(|command| TALKING.contains(&command.as_str()));
    let (files, programs): (_, Option<&'static [&'static str]>) = match (talks, is_elsewhere) {
        // Only asked, ssh notes nothing.
        (true, true) => (if writes { vec![known_hosts.clone()] } else { vec![] }, None),
        (true, false) => (vec![], Some(&WITH_SHELL)),
        (false, _) => (vec![], Some(&OWN_PROGRAMS)),
    };
    Fence { writes_here: writes, files, programs }
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
    /// The directory that it fills, which is there already if git is fenced in.
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

    /// A word that is shown as the cookbook wrote it.
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
