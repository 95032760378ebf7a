//! `cron`: one job in a user's crontab, identified by the comment line above it.
//!
//! wrun reads and writes the crontab with the program `crontab`, which knows the file's place and informs the daemon. A
//! policy that may change a user's jobs can run commands as that user. So the grant names the user (`cron_users`), and no
//! field may contain a line end.
//!
//! The format is that of Chef, so that Chef and wrun find each other's jobs. There are two differences. `time_out` is written
//! in a way that works (Chef puts a `;` between `timeout` and the command). A job that is already as declared is not written
//! again.

mod table;

use crate::found::{Found, Thing, changed_meanwhile};
use crate::operation::Operation;
use crate::plan::{Plan, Provider, Step, View, Writer};
use crate::resources::asked;
use crate::resources::cron_fields::{field, line, timeout, times};
use crate::standing;
use crate::withheld::Withheld;
use contract::{Certainty, Change, CommandOutcome, ErrorKind, Raised, SystemError, Wanted};
use grants::GrantedName;
use machine::command::{CommandFailure, Launch, require_success};
use machine::denied::denied;
use machine::digest::Digest;
use schema::types::cron::CronProperties;
use table::{Entry, Table};

/// The provider of `cron`.
pub(crate) struct Cron;

impl Provider for Cron {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let name = line("name", wanted.declaration.name.clone())?;
        let properties: CronProperties = asked::properties(wanted)?;
        let user = field("user", properties.user.clone())?;
        if user.starts_with('-') {
            return Err(Raised::new(ErrorKind::InvalidValue, format!("user {user:?} is not a user's name")));
        }
        let granted = view.grants.crontab(&user, standing::of_user(&user, view)).map_err(denied)?;
        let (text, assumed) = match read(view, &name, granted.name()) {
            // An earlier resource would install the package with `crontab`; the crontab is then empty.
            Err(raised) if raised.kind == ErrorKind::Assumed && wanted.action != "delete" => {
                (String::new(), Some(Certainty::Assumed(raised.message)))
            }
            read => (read?, None),
        };
        let found = text;
        let table = Table::of(&found, &name);
        let key = wanted.declaration.key();
        let (sentence, text) = match wanted.action {
            "delete" if table.entry().is_none() => return Ok(Plan::up_to_date()),
            "delete" => (format!("remove {name} from crontab"), table.without()),
            _ => {
                let entry = entry(&properties, &wanted.declaration.name)?;
                match table.entry() {
                    Some(found) if found.same(&entry) => return Ok(Plan::up_to_date()),
                    Some(_) => (format!("update crontab entry for {key}"), table.with(&entry)),
                    None => (format!("add crontab entry for {key}"), table.with(&entry)),
                }
            }
        };
        let operation =
            WriteCrontab { granted, name, text: Withheld(text), found: Withheld(Digest::of(found.as_bytes())) };
        let step = Step::new(Change::new(sentence), Operation::WriteCrontab(operation));
        Ok(Plan { certainty: assumed.into_iter().collect(), ..Plan::steps(vec![step]) })
    }
}

/// A user's crontab with one job changed.
#[derive(Debug)]
pub(crate) struct WriteCrontab {
    /// The user whose crontab it is.
    granted: GrantedName,
    /// The job's name, for messages.
    name: String,
    /// The whole crontab, with the other jobs as they are.
    text: Withheld<String>,
    /// The digest of the crontab as it was.
    found: Withheld<Digest>,
}

impl WriteCrontab {
    /// Returns the state of the crontab when planned.
    pub(crate) fn found(&self) -> Found {
        Found::of([Thing::new("crontab", self.granted.name()).with("content", self.found.0.text())])
    }

    /// Replaces the crontab with the program `crontab`.
    ///
    /// # Errors
    /// The tool fails, or somebody has changed the crontab meanwhile, whose change would be lost.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let launch = list(self.granted.name());
        let now = writer.launch(&launch).map_err(|failure| failed("determining", &self.name, &failure.to_string()))?;
        let now = if now.code == Some(0) { now.output } else { vec![] };
        if Digest::of(&now) != self.found.0 {
            return Err(changed_meanwhile(
                format_args!("the crontab of {}", self.granted.name()),
                "its content changed",
            ));
        }
        let launch = Launch::program("crontab", ["-u", self.granted.name(), "-"]).input(self.text.0);
        let done = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch));
        let done = done.and_then(|outcome| require_success(&launch, &outcome, &[0]));
        done.map_err(|raised| failed("updating", &self.name, &raised.message))
    }
}

fn failed(doing: &str, name: &str, why: &str) -> Raised {
    Raised::new(ErrorKind::Cron, format!("Error {doing} state of {name}, error: {why}"))
}

/// Builds the command that lists a user's crontab. Its exit code is 1 if the crontab does not exist.
fn list(user: &str) -> Launch {
    Launch::program("crontab", ["-l", "-u", user])
}

/// Reads the user's crontab; empty if it does not exist.
fn read(view: &mut View<'_>, name: &str, user: &str) -> Result<String, Raised> {
    let launch = list(user);
    let outcome: Result<CommandOutcome, CommandFailure> = view.query(&launch);
    let outcome = outcome.map_err(|failure| match failure {
        CommandFailure::CannotLook { .. } => failure.into_raised(&launch),
        CommandFailure::NotStarted { error: SystemError::NotFound, .. } => {
            let hint = "install the package that has `crontab`, such as cron, before this resource";
            failed("determining", name, &failure.to_string()).with_hint(hint)
        }
        failure => failed("determining", name, &failure.to_string()),
    })?;
    if view.why_run && outcome.code == Some(1) && !rustix::process::geteuid().is_root() {
        return Err(Raised::new(ErrorKind::Unknown, format!("the crontab of {user} can only be read by root")));
    }
    if outcome.code == Some(1) {
        return Ok(String::new());
    }
    require_success(&launch, &outcome, &[0, 1]).map_err(|raised| failed("determining", name, &raised.message))?;
    String::from_utf8(outcome.output)
        .map_err(|_| failed("determining", name, "the crontab is not UTF-8 and would be damaged by a change"))
}

/// Returns the declared job.
fn entry(properties: &CronProperties, name: &str) -> Result<Entry, Raised> {
    let mut variables = vec![];
    // Variables that have their own property. Chef writes their values in quotes.
    let own = [
        ("MAILTO", "mailto", &properties.mailto),
        ("PATH", "path", &properties.path),
        ("SHELL", "shell", &properties.shell),
        ("HOME", "home", &properties.home),
    ];
    for (variable, property, value) in own {
        if let Some(value) = value {
            variables.push((variable.to_owned(), format!("\"{}\"", line(property, value.clone())?)));
        }
    }
    for (variable, value) in properties.environment.clone() {
        let value = line("environment", value)?;
        let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'=';
        if variable.is_empty() || variable.starts_with('#') || !variable.bytes().all(plain) {
            return Err(Raised::new(
                ErrorKind::InvalidArgument,
                format!("environment: {variable:?} is not a name of a variable"),
            ));
        }
        match own.iter().find(|(name, _, _)| *name == variable) {
            None => variables.push((variable, value)),
            Some((_, _, Some(_))) => {
                let message = format!(
                    "{name}: the '{variable}' property is set and environment property also contains the '{variable}' \
                     variable. Remove the variable from the environment property."
                );
                return Err(Raised::new(ErrorKind::Cron, message));
            }
            Some(_) => variables.push((variable, format!("\"{value}\""))),
        }
    }
    let CronProperties { minute, hour, day, month, weekday, .. } = properties;
    let time = match properties.time.clone() {
        Some(word) => format!("@{}", field("time", word)?),
        None => times([minute, hour, day, month, weekday])?.join(" "),
    };
    let command = line("command", properties.command.clone().unwrap_or_default())?;
    if command.trim().is_empty() {
        return Err(Raised::new(ErrorKind::InvalidValue, "command is a required property"));
    }
    let limit = timeout(&properties.time_out)?.map(|words| format!("{words} ")).unwrap_or_default();
    Ok(Entry { variables, job: Some(format!("{time} {limit}{command}")) })
}
