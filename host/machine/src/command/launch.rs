//! A program about to be started, with everything that is known before: words, user, environment, limits.

use super::{Fence, SHELL, SHELL_NAME, list_of_words};
use grants::{GrantedCommand, Program};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// The timeout of a program without one of its own: Chef's limit for commands of guards and providers.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// The longest time that a guest may ask for: a day. Longer times are cut to it.
const MAX_TIMEOUT: Duration = Duration::from_secs(86_400);

/// The file mode creation mask (umask) of a program without a granted one. A resource's own mask is only for files that wrun
/// itself creates.
const HOST_MASK: u32 = 0o022;

/// Options of a granted command that are set when it is run.
#[derive(Debug, Clone, Default)]
pub struct CommandOptions {
    /// The timeout. `None`: [`DEFAULT_TIMEOUT`].
    pub timeout: Option<Duration>,
    /// True if the output is shown while the program writes it.
    pub live: bool,
    /// True if the command gets the environment of the user's login shell. That it starts in the home directory is part of
    /// the grant.
    pub login: bool,
}

/// A program about to be started.
#[derive(Debug, Clone)]
pub struct Launch {
    pub(super) words: Vec<String>,
    /// The program's own name (`argv[0]`). `None`: the first word.
    pub(super) arg0: Option<&'static str>,
    /// True if Chef would start the program through a shell. If the program is missing, the error then reads as the shell's.
    pub(super) from_shell: bool,
    pub(super) shown: String,
    pub(super) user: Option<String>,
    pub(super) group: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) umask: u32,
    pub(super) environment: Vec<(String, String)>,
    pub(super) unset: Vec<String>,
    pub(super) input: Option<Arc<[u8]>>,
    pub(super) timeout: Duration,
    pub(super) locale: &'static str,
    pub(super) live: bool,
    pub(super) login: bool,
    pub(super) placed: Vec<(String, Vec<u8>)>,
    /// More directories where a confined program may write. These writes are discarded.
    pub(super) scratch: Vec<&'static str>,
    /// Its locks count as taken, if it is confined, and are not.
    pub(super) pretends_locks: bool,
    /// True if a confined program is told that there are no networks and no attributes of files.
    pub(super) lacks_network: bool,
    /// The files that the program may write and the programs that it may start. `None`: everything that its user may.
    pub(super) fence: Option<Fence>,
    /// True if a cookbook wrote the command: its processes then count towards the policy's limit.
    pub(super) granted: bool,
    /// True if a rule of the operator allows the command. A survey starts no others.
    pub(super) may_start: bool,
}

impl Launch {
    /// Creates a launch of a program that the host chooses. wrun parses its output, so its locale is `C`.
    pub fn program(name: &str, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut words = vec![name.to_owned()];
        words.extend(arguments.into_iter().map(Into::into));
        Self {
            shown: words.join(" "),
            words,
            arg0: None,
            from_shell: false,
            user: None,
            group: None,
            cwd: None,
            umask: HOST_MASK,
            environment: vec![],
            unset: vec![],
            input: None,
            timeout: DEFAULT_TIMEOUT,
            locale: "C",
            live: false,
            login: false,
            placed: vec![],
            scratch: vec![],
            pretends_locks: false,
            lacks_network: false,
            fence: None,
            granted: false,
            may_start: false,
        }
    }

    /// Creates a launch of a granted command.
    pub fn granted(command: &GrantedCommand, how: &CommandOptions) -> Self {
        let (words, input) = match command.program() {
            Program::Arguments(words) => (words.clone(), command.input().map(Into::into)),
            Program::Shell(line) => ([SHELL, "-c", line].map(Into::into).to_vec(), command.input().map(Into::into)),
            Program::Script { interpreter, code } => (interpreter.clone(), Some(code.as_bytes().into())),
        };
        Self {
            words,
            arg0: matches!(command.program(), Program::Shell(_)).then_some(SHELL_NAME),
            from_shell: command.by_shell(),
            shown: command.shown().into(),
            user: command.user().map(Into::into),
            group: command.group().map(Into::into),
            cwd: command.cwd().map(Into::into),
            umask: command.umask().unwrap_or(HOST_MASK),
            environment: command.environment().to_vec(),
            unset: vec![],
            input,
            timeout: how.timeout.unwrap_or(DEFAULT_TIMEOUT).min(MAX_TIMEOUT),
            locale: "C.UTF-8",
            live: how.live,
            login: how.login,
            placed: vec![],
            scratch: vec![],
            pretends_locks: false,
            lacks_network: false,
            fence: None,
            granted: true,
            may_start: command.may_start(),
        }
    }

    /// Sets the timeout, at most one day, because guests choose some of these times.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: timeout.min(MAX_TIMEOUT), ..self }
    }

    /// Sets the user that the program runs as.
    #[must_use]
    pub fn user(self, user: &str) -> Self {
        Self { user: Some(user.into()), ..self }
    }

    /// Sets the group that the program runs in.
    #[must_use]
    pub fn group(self, group: &str) -> Self {
        Self { group: Some(group.into()), ..self }
    }

    /// Sets the working directory, which is `/` without this call.
    #[must_use]
    pub fn cwd(self, cwd: &str) -> Self {
        Self { cwd: Some(cwd.into()), ..self }
    }

    /// Adds a variable to the clean environment.
    #[must_use]
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Sets the bytes of the program's standard input.
    #[must_use]
    pub fn input(self, input: impl Into<Vec<u8>>) -> Self {
        Self { input: Some(input.into().into()), ..self }
    }

    /// Adds a file that a confined command finds in [`PLACED`] and that no other process sees.
    #[must_use]
    pub fn placed(mut self, name: &str, content: Vec<u8>) -> Self {
        self.placed.push((name.into(), content));
        self
    }

    /// Adds a directory below the root, such as `run`, where a confined program may write. The writes are discarded, as in
    /// `/tmp`. This is for programs that the host chooses and that also keep notes there.
    #[must_use]
    pub fn scratch(mut self, directory: &'static str) -> Self {
        self.scratch.push(directory);
        self
    }

    /// A confined program is told that it has every lock (`flock`) that it asks for, and gets none: for one of the host's own
    /// choosing that does not answer without. A lock would keep others waiting, and a guard that asks for one must be told the
    /// truth.
    #[must_use]
    pub fn pretending_locks(self) -> Self {
        Self { pretends_locks: true, ..self }
    }

    /// A confined program is told that there are no networks and that files have no attributes, where others are ended when
    /// they use these: for one of the host's own choosing that needs neither. A guard's command must not be told so, since it
    /// would answer for the network.
    #[must_use]
    pub fn without_network(self) -> Self {
        Self { lacks_network: true, ..self }
    }

    /// Limits the files that the program writes and the programs that it starts, if the kernel has Landlock. Not for a
    /// confined command, which writes nothing at all.
    #[must_use]
    pub fn fenced(self, fence: Fence) -> Self {
        Self { fence: Some(fence), ..self }
    }

    /// Removes variables from the environment: those that the command sets to an empty value.
    #[must_use]
    pub fn without(mut self, names: &[String]) -> Self {
        let unset: HashSet<&String> = names.iter().collect();
        self.environment.retain(|(name, _)| !unset.contains(name));
        self.unset.extend_from_slice(names);
        self
    }

    /// Sets the command's name in messages, if it differs from its words.
    #[must_use]
    pub fn shown_as(self, shown: &str) -> Self {
        Self { shown: shown.into(), ..self }
    }

    /// Shows the command in messages as Chef shows a list of words, without a `--`, which wrun adds.
    #[must_use]
    pub fn shown_as_words(self) -> Self {
        let shown = list_of_words(self.words.iter().filter(|word| *word != "--"));
        self.shown_as(&shown)
    }

    /// The program and its arguments.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the command's name in messages.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}
