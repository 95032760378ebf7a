//! Starts and stops services, and finds out whether they run: by the resource's own commands, the bus, or an init script.
//!
//! A resource's own command comes from the cookbook and not from the service, so it needs its own grant.

use super::{script, unsupported};
use crate::plan::{View, Writer};
use crate::withheld::Withheld;
use contract::{Certainty, CommandTest, ErrorKind, Raised};
use grants::{GrantedCommand, GrantedService, Program};
use machine::command::{Answer, CommandFailure, CommandOptions, Launch, require_success};
use machine::process_search::{self, Scope};
use machine::systemd::{Bus, Way};
use schema::types::service::ServiceProperties;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The pause between stop and start, if a service is restarted that way: one second, as in Chef.
const BETWEEN_STOP_AND_START: Duration = Duration::from_secs(1);

/// The time for a started or stopped service to reach its state.
const SETTLING: Duration = Duration::from_secs(5);

/// The interval for checking a service's state.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The resource's own commands, and its data about the init script.
#[derive(Clone)]
pub(super) struct Commands {
    start: Option<String>,
    stop: Option<String>,
    restart: Option<String>,
    reload: Option<String>,
    status: Option<String>,
    init: Option<String>,
    pattern: String,
    pattern_is_own: bool,
    supports_status: Option<bool>,
    supports_restart: Option<bool>,
    supports_reload: Option<bool>,
    timeout: Duration,
}

impl Commands {
    /// Returns the commands of a resource. `pattern_is_own` is true if the declaration itself sets the pattern for the
    /// process table.
    pub(super) fn of(properties: &ServiceProperties, pattern_is_own: bool) -> Self {
        let supports = |what: &str| properties.supports.get(what).and_then(Value::as_bool);
        Self {
            start: properties.start_command.0.clone(),
            stop: properties.stop_command.0.clone(),
            restart: properties.restart_command.0.clone(),
            reload: properties.reload_command.0.clone(),
            status: properties.status_command.0.clone(),
            init: properties.init_command.clone(),
            pattern_is_own,
            pattern: properties.pattern.clone(),
            supports_status: supports("status"),
            supports_restart: supports("restart"),
            supports_reload: supports("reload"),
            timeout: Duration::from_secs(properties.timeout),
        }
    }

    fn line(&self, way: Way) -> Option<&str> {
        match way {
            Way::Start => self.start.as_deref(),
            Way::Stop => self.stop.as_deref(),
            Way::Restart => self.restart.as_deref(),
            Way::Reload => self.reload.as_deref(),
        }
    }

    /// Tells whether the resource has its own command for this operation. For a restart, stop and start together suffice.
    pub(super) fn is_own(&self, way: Way) -> bool {
        self.line(way).is_some() || (way == Way::Restart && self.start.is_some() && self.stop.is_some())
    }

    pub(super) fn has_init_command(&self) -> bool {
        self.init.is_some()
    }

    /// Returns the calls for an operation, with their grants checked.
    pub(super) fn prepare(&self, way: Way, key: &str, view: &View<'_>) -> Result<Act, Raised> {
        if way == Way::Reload && self.reload.is_none() && self.supports_reload == Some(false) {
            return Err(unsupported(format!("{key} does not support :reload")));
        }
        let grant = |line: &str| {
            view.command(&CommandTest::text(line)).map(|command| Call::Command(Withheld(Box::new(command))))
        };
        let single = |way: Way| match (self.line(way), &self.init) {
            (Some(line), _) => grant(line),
            (None, Some(init)) => grant(&format!("{init} {}", way.verb())),
            (None, None) => Ok(Call::Manager(way)),
        };
        let in_two = match way {
            Way::Restart if self.restart.is_none() => {
                self.start.is_some() || self.stop.is_some() || self.supports_restart == Some(false)
            }
            _ => false,
        };
        let calls = if in_two { vec![single(Way::Stop)?, single(Way::Start)?] } else { vec![single(way)?] };
        Ok(Act { way, calls, commands: Withheld(self.clone()) })
    }

    /// Checks the grant of the command that tells whether the service runs.
    pub(super) fn ask_status(&self, view: &View<'_>) -> Result<(), Raised> {
        let own = self.status.is_none() && !self.script_is_mute();
        let init = self.init.as_ref().filter(|_| own).map(|init| format!("{init} status"));
        self.status.iter().chain(&init).try_for_each(|line| view.command(&CommandTest::text(line)).map(drop))
    }

    /// Tells whether the service runs. If a dry run cannot know it, it counts as not running, as in Chef.
    pub(super) fn is_running(
        &self,
        name: &str,
        bus: Option<&Bus>,
        view: &mut View<'_>,
        certainty: &mut Vec<Certainty>,
    ) -> Result<bool, Raised> {
        if let Some(line) = &self.status {
            let granted = view.command(&CommandTest::text(line))?;
            let launch =
                Launch::granted(&granted, &CommandOptions { timeout: Some(self.timeout), ..CommandOptions::default() });
            if view.why_run {
                return Ok(match view.ask(&launch) {
                    Answer::Ended(outcome) => outcome.code == Some(0),
                    Answer::Unknown(why) => {
                        certainty.push(unknown_status(&granted, &why, view));
                        false
                    }
                });
            }
            return match view.query(&launch) {
                Ok(outcome) => Ok(outcome.code == Some(0)),
                Err(CommandFailure::NotStarted { .. }) => Ok(false),
                Err(failure) => Err(failure.into_raised(&launch)),
            };
        }
        if let Some(bus) = bus {
            return bus.is_active(name);
        }
        let answer = self.script_status(name, view)?;
        if let ScriptAnswer::Known(running) = answer
            && (running || !view.why_run)
        {
            return Ok(running);
        }
        // A confined script cannot send signals, so it reports a running service as stopped. The process table has the
        // correct answer.
        let everything = view.grants.allows_everything();
        let scope = if everything { Scope::Line } else { Scope::Program };
        let found = process_search::any_matches(&self.pattern, scope, view.root.path(), view.root.account())?;
        if let ScriptAnswer::Unknown(why) = answer
            && !found
        {
            certainty.push(Certainty::Unknown(format!("whether it runs is not known: {why}")));
        }
        Ok(found)
    }

    /// Tells whether the resource has another way to find out, so that the init script's answer is not used.
    fn knows_better(&self) -> bool {
        self.status.is_some() || self.init.is_some() || self.script_is_mute()
    }

    fn script_is_mute(&self) -> bool {
        self.supports_status == Some(false) || (self.pattern_is_own && self.supports_status.is_none())
    }

    /// Returns the answer of the init script. A dry run runs it confined, like guards, because the effects of a script are
    /// not known.
    fn script_status(&self, name: &str, view: &mut View<'_>) -> Result<ScriptAnswer, Raised> {
        if self.script_is_mute() {
            return Ok(ScriptAnswer::Silent);
        }
        let launch = match &self.init {
            Some(init) => {
                let granted = view.command(&CommandTest::text(&format!("{init} status")))?;
                Launch::granted(&granted, &CommandOptions { timeout: Some(self.timeout), ..CommandOptions::default() })
            }
            None if script::knows_status(view.root, name) => script::launch(name, "status").timeout(self.timeout),
            None => return Ok(ScriptAnswer::Silent),
        };
        Ok(match view.answer(&launch) {
            Ok(Answer::Unknown(why)) => ScriptAnswer::Unknown(why),
            Ok(Answer::Ended(outcome)) if self.supports_status == Some(true) => {
                ScriptAnswer::Known(outcome.code == Some(0))
            }
            Ok(Answer::Ended(outcome)) => {
                script::meaning(outcome.code).map_or(ScriptAnswer::Silent, ScriptAnswer::Known)
            }
            Err(_) => ScriptAnswer::Silent,
        })
    }
}

/// The answer of an init script about its service.
enum ScriptAnswer {
    /// Whether the service runs.
    Known(bool),
    /// The script does not exist, or does not support `status`.
    Silent,
    /// A dry run could not run the script; the text is the reason.
    Unknown(String),
}

/// Returns the uncertainty about a status command without an answer: unknown, or assumed if its program is not installed yet.
fn unknown_status(command: &GrantedCommand, why: &str, view: &View<'_>) -> Certainty {
    let program = match command.program() {
        Program::Arguments(words) => words.first().map(String::as_str),
        _ => None,
    };
    let folders = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
    let is_there = |program: &str| match program.starts_with('/') {
        true => view.root.target_entry(program).is_ok_and(|entry| entry.is_some()),
        false => folders
            .iter()
            .any(|folder| view.root.target_entry(&format!("{folder}/{program}")).is_ok_and(|entry| entry.is_some())),
    };
    match program {
        Some(program) if !is_there(program) => Certainty::Assumed(
            "Service status not available. Assuming a prior action would have installed the service. Assuming status of \
             not running."
                .into(),
        ),
        _ => Certainty::Unknown(format!("whether it runs is not known: {why}")),
    }
}

/// One call of a program or of the service manager.
#[derive(Debug, Clone)]
enum Call {
    Command(Withheld<Box<GrantedCommand>>),
    Manager(Way),
}

/// An operation on a service, with its calls.
#[derive(Debug)]
pub(super) struct Act {
    way: Way,
    calls: Vec<Call>,
    commands: Withheld<Commands>,
}

impl Act {
    /// Carries out the operation, and waits until the service reaches its state, if that can be observed.
    pub(super) fn run(
        &self,
        name: &str,
        service: &GrantedService,
        bus: Option<&Bus>,
        writer: &mut Writer<'_>,
    ) -> Result<(), Raised> {
        for (at, call) in self.calls.iter().enumerate() {
            if at > 0 {
                std::thread::sleep(BETWEEN_STOP_AND_START);
            }
            let launch = match (call, bus) {
                (Call::Command(Withheld(command)), _) => Launch::granted(
                    command,
                    &CommandOptions { timeout: Some(self.commands.0.timeout), ..CommandOptions::default() },
                ),
                (Call::Manager(way), Some(bus)) => {
                    bus.job(service, *way, self.commands.0.timeout, &writer.settings.account)?;
                    continue;
                }
                (Call::Manager(way), None) => script::launch(name, way.verb()).timeout(self.commands.0.timeout),
            };
            let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch))?;
            require_success(&launch, &outcome, &[0])?;
        }
        self.await_effect(name, bus, writer)
    }

    fn await_effect(&self, name: &str, bus: Option<&Bus>, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let expected = match self.way {
            Way::Start | Way::Restart => true,
            Way::Stop => false,
            Way::Reload => return Ok(()),
        };
        let begin = Instant::now();
        while let Some(running) = self.looks(name, bus, writer) {
            if running == expected {
                return Ok(());
            }
            if begin.elapsed() > SETTLING {
                let state = if expected { "does not run" } else { "still runs" };
                return Err(Raised::new(
                    ErrorKind::Service,
                    format!("service {name} {state} after `{}`", self.way.verb()),
                ));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }

    /// Tells whether the service runs, if the machine itself can tell. It ignores commands and patterns of the cookbook,
    /// which may mean anything, and init scripts without `status`, whose programs may end at once. With systemd, the bus has
    /// already waited.
    fn looks(&self, name: &str, bus: Option<&Bus>, writer: &mut Writer<'_>) -> Option<bool> {
        if bus.is_some() || self.commands.0.knows_better() || !script::knows_status(writer.root, name) {
            return None;
        }
        let launch = script::launch(name, "status").timeout(self.commands.0.timeout);
        writer.launch(&launch).ok().and_then(|outcome| script::meaning(outcome.code))
    }
}
