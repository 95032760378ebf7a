//! `execute`: runs one command, in every run unless the path of `creates` exists.
//!
//! Failures are those of Chef's provider and of Mixlib::ShellOut, since cookbooks rescue the former and people search for the
//! latter. There are two differences. The environment is clean, not that of wrun itself. And a line goes to a shell only if
//! it needs one, so `command` means the same with and without grants.

mod needs;

use crate::found::{Found, FoundPath, Still, Thing};
use crate::operation::Operation;
use crate::plan::{Assumption, Plan, Provider, Step, View, Writer};
use crate::resources::asked;
use crate::withheld::Withheld;
use contract::{Certainty, Change, ErrorKind, Raised, Wanted};
use grants::{CommandAsked, GrantedCommand, LineAsked};
use machine::command::{
    CommandFailure, CommandOptions, Launch, denied_secretly, home, list_of_words, real_directory, require_success,
};
use machine::written;
use schema::types::execute::{CommandProperties, ExecuteProperties};
use serde_json::Value;

pub(crate) struct Execute;

/// The command of a resource, before the grant check.
pub(super) enum Command {
    Line(String),
    PathSource(Vec<String>),
    /// Interpreter with flags, the script, and Chef's name for it in messages.
    Script(Vec<String>, String, String),
}

impl Command {
    fn shown(&self) -> String {
        match self {
            Self::Line(line) => line.clone(),
            Self::PathSource(words) => list_of_words(words),
            Self::Script(_, _, shown) => shown.clone(),
        }
    }
}

impl Provider for Execute {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        plan(command(wanted)?, wanted, view)
    }

    fn survey(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        ask(&command(wanted)?, wanted, view)
    }

    fn settles(&self, _action: &str) -> bool {
        false
    }
}

fn command(wanted: &Wanted<'_>) -> Result<Command, Raised> {
    let ExecuteProperties { command } = asked::properties(wanted)?;
    Ok(match command {
        Value::Array(words) => Command::PathSource(words.iter().map(plain_text).collect()),
        other => Command::Line(plain_text(&other)),
    })
}

/// Checks the grant of a command, even if the path of `creates` exists.
pub(super) fn ask(command: &Command, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
    grant(command, &asked::properties(wanted)?, wanted, view).map(drop)
}

/// Plans to run a command, with the properties that `execute` and script resources share.
pub(super) fn plan(command: Command, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
    let properties: CommandProperties = asked::properties(wanted)?;
    let creates = creates(&properties, wanted)?;
    if let Some(path) = &creates
        && let Some(found) = sentinel(path, view)?
    {
        return Ok(found);
    }
    let sensitive = wanted.declaration.sensitive;
    let granted = grant(&command, &properties, wanted, view).map_err(|raised| {
        if sensitive && raised.kind == ErrorKind::Denied { denied_secretly(view.grants) } else { raised }
    })?;
    let shown = command.shown();
    let shown = if sensitive { "sensitive resource".to_owned() } else { shown };
    let unset = unset(&properties);
    let how = CommandOptions {
        timeout: Some(properties.timeout.0),
        live: !sensitive && properties.live_stream,
        login: properties.login,
    };
    let mut assumed = Plan::up_to_date();
    if view.why_run {
        needs::assume(&mut assumed, &granted, sensitive, view);
    }
    let change = Change::new(format!("execute {shown}"));
    let codes = properties.returns.0;
    let operation = RunCommand {
        granted: Withheld(granted),
        how,
        shown: Withheld(shown),
        unset,
        codes,
        sensitive,
        creates: creates.clone(),
    };
    let step = Step::new(change, Operation::RunCommand(Box::new(operation)));
    let mut plan = Plan { certainty: assumed.certainty, ..Plan::steps(vec![step]) };
    if let Some(path) = creates {
        plan.assume(Assumption::Path(view.root.asked_about(&path)));
    }
    Ok(plan)
}

/// A command to run, with the exit codes that count as success.
#[derive(Debug)]
pub(crate) struct RunCommand {
    granted: Withheld<GrantedCommand>,
    how: CommandOptions,
    /// The command as messages show it.
    shown: Withheld<String>,
    /// Variables that the command must not see.
    unset: Vec<String>,
    codes: Vec<i32>,
    sensitive: bool,
    /// The path that the command creates and that did not exist. `None`: the command runs in every run.
    creates: Option<String>,
}

impl RunCommand {
    /// Returns the state that the path of `creates` did not exist. Without such a path, the command does not depend on the
    /// machine's state.
    pub(crate) fn found(&self) -> Found {
        self.creates.as_ref().map_or(Found::Nothing, |path| Found::of([Thing::absent("path", path)]))
    }

    /// Runs the command to its end.
    ///
    /// # Errors
    /// The command cannot be started, takes too long, or ends with another exit code. For a sensitive command only the kind
    /// of error is reported. Or the path of `creates` exists meanwhile.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        if let Some(path) = &self.creates {
            let now = writer.root.locate_target(path).and_then(|place| place.entry());
            FoundPath::absent().require(Still::Itself, now, path)?;
        }
        let launch = Launch::granted(&self.granted.0, &self.how).shown_as(&self.shown.0).without(&self.unset);
        let outcome = match writer.launch(&launch) {
            Ok(outcome) => outcome,
            // The output until then may be secret. That the program or the user does not exist is not secret.
            Err(
                failure @ (CommandFailure::TimedOut { .. }
                | CommandFailure::HeldUp { .. }
                | CommandFailure::Unended { .. }),
            ) if self.sensitive => return Err(hidden(failure.into_raised(&launch).kind)),
            Err(failure) => return Err(failure.into_raised(&launch)),
        };
        match require_success(&launch, &outcome, &self.codes) {
            Err(raised) if self.sensitive => Err(hidden(raised.kind)),
            other => other,
        }
    }
}

fn hidden(kind: ErrorKind) -> Raised {
    Raised::new(kind, "Command execution failed. STDOUT/STDERR suppressed for sensitive resource")
}

/// Returns the absolute path of `creates`.
fn creates(properties: &CommandProperties, wanted: &Wanted<'_>) -> Result<Option<String>, Raised> {
    let Some(creates) = properties.creates.clone() else { return Ok(None) };
    match (creates.starts_with('/'), &properties.cwd) {
        (true, _) => Ok(Some(creates)),
        (false, Some(cwd)) => Ok(Some(format!("{}/{creates}", cwd.trim_end_matches('/')))),
        (false, None) => {
            let key = wanted.declaration.key();
            Err(Raised::new(
                ErrorKind::Execute,
                format!(
                    "Please either specify a full path for the creates property, or specify a cwd property to the {key} resource"
                ),
            ))
        }
    }
}

/// Returns a plan without steps if the path of `creates` exists.
fn sentinel(path: &str, view: &View<'_>) -> Result<Option<Plan>, Raised> {
    // Running or skipping the command reveals whether the path exists, so this needs the right to read it.
    if view.readable(path)?.is_some() {
        return Ok(Some(Plan::up_to_date()));
    }
    if view.why_run && view.assumed.path(path) {
        let why = format!("whether it would run is not known: an earlier resource would have created {path}");
        return Ok(Some(Plan::uncertain(Certainty::Unknown(why))));
    }
    Ok(None)
}

/// Returns the directory of the command, with all links followed: the resource's own, or the home directory for a login.
fn directory(properties: &CommandProperties, view: &mut View<'_>) -> Option<String> {
    let cwd = match &properties.cwd {
        Some(cwd) => Some(cwd.clone()),
        None if properties.login => home(properties.user.as_deref(), view.users()),
        None => None,
    };
    cwd.map(|cwd| real_directory(view.root, &cwd))
}

fn grant(
    command: &Command,
    properties: &CommandProperties,
    wanted: &Wanted<'_>,
    view: &mut View<'_>,
) -> Result<GrantedCommand, Raised> {
    let cwd = directory(properties, view);
    let environment: Vec<(String, String)> =
        variables(properties).map(|(name, value)| (name.clone(), variable(value))).collect();
    let line = match command {
        Command::Line(line) => LineAsked::Text(line),
        // A list with one element is a line like a string, as for Ruby's `exec`.
        Command::PathSource(words) => match words.as_slice() {
            [line] => LineAsked::Text(line),
            several => LineAsked::Arguments(several),
        },
        Command::Script(interpreter, code, _) => LineAsked::Script { interpreter, code },
    };
    let asked = CommandAsked {
        line,
        user: properties.user.as_deref(),
        group: properties.group.as_deref(),
        cwd: cwd.as_deref(),
        // The mask of the command's own property, or else the common `umask` of resources.
        umask: properties.umask.map(|mask| mask.0).or(wanted.declaration.umask),
        environment: &environment,
        input: properties.input.as_deref().map(str::as_bytes),
        sensitive: wanted.declaration.sensitive,
    };
    let written = properties.cwd.clone().or_else(|| cwd.clone());
    view.grants.command(&asked).map_err(|denial| written::command(denial, &asked, written.as_deref(), view.grants))
}

/// Returns the variables of the command. A null value removes a variable.
fn variables(properties: &CommandProperties) -> impl Iterator<Item = (&String, &Value)> {
    properties.environment.as_object().into_iter().flatten()
}

/// Returns a variable's value for the grant check. Removing a variable needs the right to set it to an empty value.
fn variable(value: &Value) -> String {
    if value.is_null() { String::new() } else { plain_text(value) }
}

/// Variables that the command must not see.
fn unset(properties: &CommandProperties) -> Vec<String> {
    variables(properties).filter(|(_, value)| value.is_null()).map(|(name, _)| name.clone()).collect()
}

/// Returns text unchanged, and any other value as JSON: `1`, `true`.
fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), Into::into)
}
