//! `execute`: runs one command, each time unless `creates` names something that exists.
//!
//! Classes and sentences are those of Chef's provider and of Mixlib::ShellOut, since cookbooks rescue the former and people
//! search for the latter. What differs: the environment is clean, not the one wrun was started in; a line is given to a
//! shell only where it needs one, so `command` means the same with and without grants.

mod needs;

use crate::operation::Operation;
use crate::plan::{Assumption, Plan, Provider, Step, View, Writer};
use crate::value;
use crate::withheld::Withheld;
use contract::{Certainty, Change, Raised, Wanted};
use grants::{CommandAsked, GrantedCommand, LineAsked};
use machine::command::{
    CommandFailure, CommandOptions, Launch, denied_secretly, home, list_of_words, real_directory, require_success,
};
use machine::denied::DENIED;
use machine::written;
use serde_json::Value;
use std::time::Duration;

/// How long a command may take if the cookbook does not say: Chef's own.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(3600);

pub(crate) struct Execute;

/// What is run, before it is granted.
pub(super) enum Command {
    Line(String),
    PathSource(Vec<String>),
    /// Interpreter with flags, the script, and how Chef shows it.
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
        plan(command(wanted), wanted, view)
    }

    fn survey(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        ask(&command(wanted), wanted, view)
    }

    fn settles(&self, _action: &str) -> bool {
        false
    }
}

fn command(wanted: &Wanted<'_>) -> Command {
    match value(wanted, "command") {
        Some(Value::Array(words)) => Command::PathSource(words.iter().map(plain_text).collect()),
        Some(other) => Command::Line(plain_text(other)),
        None => Command::Line(wanted.declaration.name.clone()),
    }
}

/// Asks for the grant of a command, also where `creates` says that it need not be run now.
pub(super) fn ask(command: &Command, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
    grant(command, wanted, view, text(wanted, "cwd").as_deref()).map(drop)
}

/// Plans to run a command, with the properties that `execute` and scripts share.
pub(super) fn plan(command: Command, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
    let cwd = text(wanted, "cwd");
    if let Some(found) = sentinel(wanted, cwd.as_deref(), view)? {
        return Ok(found);
    }
    let sensitive = wanted.declaration.sensitive;
    let granted = grant(&command, wanted, view, cwd.as_deref())
        .map_err(|raised| if sensitive && raised.class == DENIED { denied_secretly(view.grants) } else { raised })?;
    let shown = command.shown();
    let shown = if sensitive { "sensitive resource".to_owned() } else { shown };
    let unset = unset(wanted);
    let codes = exit_codes(wanted);
    let how = CommandOptions {
        timeout: Some(timeout(wanted).unwrap_or(DEFAULT_TIMEOUT)),
        live: !sensitive && flag(wanted, "live_stream"),
        login: flag(wanted, "login"),
    };
    let mut assumed = Plan::up_to_date();
    if view.why_run {
        needs::assume(&mut assumed, &granted, sensitive, view);
    }
    let change = Change::new(format!("execute {shown}"));
    let operation = RunCommand { granted: Withheld(granted), how, shown: Withheld(shown), unset, codes, sensitive };
    let step = Step::new(change, Operation::RunCommand(Box::new(operation)));
    let mut plan = Plan { certainty: assumed.certainty, ..Plan::steps(vec![step]) };
    if let Some(path) = creates(wanted, cwd.as_deref())? {
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
}

impl RunCommand {
    /// Runs the command to its end.
    ///
    /// # Errors
    /// It cannot be started, takes too long, or ends with another exit code. Of a sensitive one only the class is told.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let launch = Launch::granted(&self.granted.0, &self.how).shown_as(&self.shown.0).without(&self.unset);
        let outcome = match writer.launch(&launch) {
            Ok(outcome) => outcome,
            // What it wrote until then may be secret; that there is no such program or user is not.
            Err(failure @ CommandFailure::TimedOut { .. }) if self.sensitive => {
                return Err(hidden(&failure.into_raised(&launch).class));
            }
            Err(failure) => return Err(failure.into_raised(&launch)),
        };
        match require_success(&launch, &outcome, &self.codes) {
            Err(raised) if self.sensitive => Err(hidden(&raised.class)),
            other => other,
        }
    }
}

fn hidden(class: &str) -> Raised {
    Raised::new(class, "Command execution failed. STDOUT/STDERR suppressed for sensitive resource")
}

/// The absolute path that `creates` names.
fn creates(wanted: &Wanted<'_>, cwd: Option<&str>) -> Result<Option<String>, Raised> {
    let Some(creates) = text(wanted, "creates") else { return Ok(None) };
    match (creates.starts_with('/'), cwd) {
        (true, _) => Ok(Some(creates)),
        (false, Some(cwd)) => Ok(Some(format!("{}/{creates}", cwd.trim_end_matches('/')))),
        (false, None) => {
            let key = wanted.declaration.key();
            Err(Raised::new(
                "Chef::Exceptions::Execute",
                format!(
                    "Please either specify a full path for the creates property, or specify a cwd property to the {key} resource"
                ),
            ))
        }
    }
}

/// `creates`: whether what the command would make is there already.
fn sentinel(wanted: &Wanted<'_>, cwd: Option<&str>, view: &View<'_>) -> Result<Option<Plan>, Raised> {
    let Some(path) = creates(wanted, cwd)? else { return Ok(None) };
    // What is there is told by whether the command runs, so it needs the right to be read.
    if view.readable(&path)?.is_some() {
        return Ok(Some(Plan::up_to_date()));
    }
    if view.why_run && view.assumed.path(&path) {
        let why = format!("whether it would run is not known: an earlier resource would have created {path}");
        return Ok(Some(Plan::uncertain(Certainty::Unknown(why))));
    }
    Ok(None)
}

/// Where the command starts, all links followed: where the resource says, or at home for a login.
fn directory(wanted: &Wanted<'_>, view: &mut View<'_>, cwd: Option<&str>) -> Option<String> {
    let cwd = match cwd {
        Some(cwd) => Some(cwd.to_owned()),
        None if flag(wanted, "login") => home(text(wanted, "user").as_deref(), view.users()),
        None => None,
    };
    cwd.map(|cwd| real_directory(view.root, &cwd))
}

fn grant(
    command: &Command,
    wanted: &Wanted<'_>,
    view: &mut View<'_>,
    cwd: Option<&str>,
) -> Result<GrantedCommand, Raised> {
    let cwd = directory(wanted, view, cwd);
    let environment: Vec<(String, String)> = match value(wanted, "environment") {
        Some(Value::Object(all)) => all.iter().map(|(name, value)| (name.clone(), variable(value))).collect(),
        _ => vec![],
    };
    let (user, group, input) = (text(wanted, "user"), text(wanted, "group"), text(wanted, "input"));
    let line = match command {
        Command::Line(line) => LineAsked::Text(line),
        // A list of one is the line that a string would be, as for Ruby's `exec`.
        Command::PathSource(words) => match words.as_slice() {
            [line] => LineAsked::Text(line),
            several => LineAsked::Arguments(several),
        },
        Command::Script(interpreter, code, _) => LineAsked::Script { interpreter, code },
    };
    let asked = CommandAsked {
        line,
        user: user.as_deref(),
        group: group.as_deref(),
        cwd: cwd.as_deref(),
        umask: umask(wanted)?,
        environment: &environment,
        input: input.as_deref().map(str::as_bytes),
        sensitive: wanted.declaration.sensitive,
    };
    let written = text(wanted, "cwd").or_else(|| cwd.clone());
    view.grants.command(&asked).map_err(|denial| written::command(denial, &asked, written.as_deref(), view.grants))
}

/// A variable that is taken away needs the right to set it to nothing.
fn variable(value: &Value) -> String {
    if value.is_null() { String::new() } else { plain_text(value) }
}

/// Variables that the command must not see.
fn unset(wanted: &Wanted<'_>) -> Vec<String> {
    let all = value(wanted, "environment").and_then(Value::as_object).into_iter().flatten();
    all.filter(|(_, value)| value.is_null()).map(|(name, _)| name.clone()).collect()
}

/// The mask of the command: the resource's own, or the one that is common to all resources.
fn umask(wanted: &Wanted<'_>) -> Result<Option<u32>, Raised> {
    let Some(value) = value(wanted, "umask") else { return Ok(wanted.declaration.umask) };
    let mask = match value {
        Value::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
        Value::String(text) => u32::from_str_radix(text, 8).ok(),
        _ => None,
    };
    let mask = mask.filter(|mask| *mask <= 0o777);
    mask.map(Some).ok_or_else(|| Raised::new("Chef::Exceptions::ValidationFailed", "umask must be 0 to 0777"))
}

fn exit_codes(wanted: &Wanted<'_>) -> Vec<i32> {
    let number = |value: &Value| {
        let number = value.as_i64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
        number.and_then(|number| i32::try_from(number).ok())
    };
    match value(wanted, "returns") {
        Some(Value::Array(all)) => all.iter().filter_map(number).collect(),
        Some(one) => number(one).into_iter().collect(),
        None => vec![0],
    }
}

fn timeout(wanted: &Wanted<'_>) -> Option<Duration> {
    let value = value(wanted, "timeout")?;
    let seconds = value.as_f64().or_else(|| value.as_str().and_then(|text| text.parse().ok()))?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn flag(wanted: &Wanted<'_>, name: &str) -> bool {
    value(wanted, name).and_then(Value::as_bool).unwrap_or(false)
}

fn text(wanted: &Wanted<'_>, name: &str) -> Option<String> {
    value(wanted, name).map(plain_text)
}

/// Text as it is, anything else as JSON: `1`, `true`.
pub(in crate::resources) fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), Into::into)
}
