//! Calls of the `git` program.

use super::access::Rights;
use crate::command::{Launch, require_success};
use crate::plan::{View, Writer};
use crate::resources::asked;
use converge::{CommandOutcome, Raised, Wanted};
use std::time::Duration;

/// What git does whatever a repository's own configuration says, where a policy may fetch and no more: no hooks, no
/// programs for transport, no server but the one that was granted.
const RESTRAINTS: [&str; 5] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.sshCommand=ssh",
    "protocol.ext.allow=never",
    "http.followRedirects=false",
];

/// Who calls git, and how.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) user: Option<String>,
    pub(super) group: Option<String>,
    /// The cookbook's own.
    pub(super) environment: Vec<(String, String)>,
    pub(super) restrained: bool,
    timeout: Option<Duration>,
}

impl Caller {
    pub(super) fn read(wanted: &Wanted<'_>) -> Self {
        let mut environment = asked::map(wanted, "environment");
        if let Some(wrapper) = asked::text(wanted, "ssh_wrapper") {
            environment.insert(0, ("GIT_SSH".into(), wrapper));
        }
        Self {
            user: asked::text(wanted, "user"),
            group: asked::text(wanted, "group"),
            environment,
            restrained: true,
            timeout: asked::number(wanted, "timeout").map(Duration::from_secs),
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

    /// Asks something, also in a dry run; what git said.
    pub(super) fn ask(&self, view: &mut View<'_>, call: &Call, codes: &[i32]) -> Result<String, Raised> {
        let launch = self.launch(call);
        let outcome = view.query(&launch).map_err(|failure| failure.into_raised(&launch))?;
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
        let restraints = RESTRAINTS.iter().filter(|_| self.restrained).flat_map(|setting| ["-c", *setting]);
        let words = restraints.map(str::to_owned).chain(call.words.iter().cloned());
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

/// One call.
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

    pub(super) fn inside(self, folder: &str) -> Self {
        Self { cwd: Some(folder.into()), ..self }
    }

    fn shown(&self) -> String {
        format!("git {}", self.shown.join(" "))
    }
}
