//! `wrun converge`: brings the node to the state that its policies declare.
//!
//! All input is checked before anything changes: settings, grants, artifacts, run lists, attributes, and the state. After the
//! run come its report and its record.

mod ending;
mod handlers;
mod not_begun;
mod note;
mod reports;
mod running;
mod skipped;

use crate::activity::Activity;
use crate::arguments::ConvergeArguments;
use crate::exit::Exit;
use crate::logging;
use crate::printer::{Hinted, Printer, Tone};
use crate::settings::{Color, Format, Settings};
use crate::signals::{self, Interruption};
use agent::{Moment, Pause};
use anyhow::Context as _;
use assemble::{Assembly, Notice};
use report::paused::Paused;
use running::Running;
use serde_json::json;
use state::RunId;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;
use text::escape_line;

/// The hint for an ordinary user who may not write to the state directory.
const AS_ORDINARY_USER: &str = "a real run changes the machine and is usually started as root (`sudo wrun converge ..`); \
                                `--why-run` shows what would change, as any user; `--state-dir DIR` names a directory of \
                                this user's own";

pub(crate) fn run(arguments: ConvergeArguments, printer: &Printer) -> anyhow::Result<Exit> {
    // Before the settings are read, only the command line and the environment variable tell the format.
    let mut format = arguments.format.or_else(not_begun::format_of_environment);
    let ended = begin(arguments, &mut format, printer);
    if let Err(error) = &ended {
        not_begun::tell(format, error, *printer);
    }
    ended
}

/// Reports a wrong command line on standard output, if it asks for a format for programs.
pub(crate) fn tell_usage_error(error: &clap::Error) {
    not_begun::tell_usage_error(error, Printer::new());
}

/// Returns the absolute path of the file of grants, or `None` if the run may do everything.
fn grants_file(settings: &Settings, arguments: &ConvergeArguments) -> Option<PathBuf> {
    let file = &settings.run.grants;
    (!arguments.allow_all).then(|| std::path::absolute(file).unwrap_or_else(|_| file.clone()))
}

fn begin(arguments: ConvergeArguments, format: &mut Option<Format>, printer: &Printer) -> anyhow::Result<Exit> {
    let settings = super::settings(arguments.common.config.as_deref(), arguments.layer())?;
    // A suggestion is text in all formats.
    *format = Some(settings.format).filter(|_| arguments.suggest_grants.is_none());
    colours(settings.color);
    logging::open(&settings)?;
    if let Some(pause) = arguments.unless_paused.then(|| pause(&settings)).flatten() {
        tell_paused(&pause, settings.format, *printer)?;
        return Ok(Exit::Done);
    }
    let is_watched = settings.format == Format::Doc && !arguments.compile_only && arguments.suggest_grants.is_none();
    let activity = if is_watched { Activity::shown() } else { Activity::default() };
    let interruption = Interruption::default().with_activity(activity);
    signals::listen(&interruption, *printer).context("signals cannot be listened to")?;
    let (by_agent, is_dry) = (arguments.by_agent, arguments.is_dry());
    let outcome = prepare_and_run(arguments, &settings, &interruption, *printer);
    if let Err(error) = &outcome {
        if by_agent {
            note::not_begun(&settings.run.state_dir, error);
        }
        if let Ok(id) = RunId::new(SystemTime::now()) {
            let report = not_begun::report(id.as_str(), settings.run.node_name.as_deref(), error);
            reports::send(&settings, id.as_str(), is_dry, &report, *printer);
        }
    }
    interruption.die_if_at_once();
    outcome
}

fn prepare_and_run(
    arguments: ConvergeArguments,
    settings: &Settings,
    interruption: &Interruption,
    printer: Printer,
) -> anyhow::Result<Exit> {
    let stop = &interruption.stop;
    let (request, program) = (arguments.request(settings), crate::program::program());
    let tells_compiling = settings.format != Format::Json && !arguments.compile_only;
    let is_only = request.policies.len() == 1;
    let assembly = Assembly {
        request: &request,
        settings: &settings.run,
        program: &program,
        stop,
        notify: Arc::new(move |notice| match notice {
            Notice::Compiling { .. } if !tells_compiling => {}
            // The turn of the only policy comes at once, and its failure is told then.
            Notice::Refused { .. } if is_only => {}
            notice => tell(&notice, printer),
        }),
        began: SystemTime::now(),
    };
    let ready = match assembly.make_ready(Box::new(interruption.activity.clone())) {
        Err(error) if error.is_interrupted() || stop.requested().is_some() => {
            let error = error.into();
            printer.error(&error);
            not_begun::tell(Some(settings.format), &error, printer);
            return Ok(signals::exit(stop.requested()));
        }
        Err(error) if error.is_forbidden_state() && !rustix::process::geteuid().is_root() => {
            return Err(Hinted::new(error, AS_ORDINARY_USER).into());
        }
        ready => ready?,
    };
    let Some(ready) = ready else { return Ok(signals::exit(stop.requested())) };
    if let Some(skipped) = ready.skipped() {
        // The lock is released before the handlers are called.
        drop(ready);
        return skipped::end(&skipped, settings, &arguments, paused(settings), printer);
    }
    Running { settings, arguments: &arguments, printer, interruption }.go(ready)
}

/// Returns the agent's current pause, if there is one.
fn pause(settings: &Settings) -> Option<Pause> {
    Pause::of_state(&settings.run.state_dir, Moment::of(SystemTime::now()))
}

/// Returns the current pause for the report, so that users who start a run in spite of it learn about it.
fn paused(settings: &Settings) -> Option<Paused> {
    let pause = pause(settings)?;
    Some(Paused { json: serde_json::to_value(&pause).unwrap_or_default(), sentence: pause.sentence() })
}

/// Reports that the run does not start because of a pause.
fn tell_paused(pause: &Pause, format: Format, printer: Printer) -> serde_json::Result<()> {
    match format {
        Format::Json => printer.json_document(&json!({ "version": 1, "outcome": "paused", "paused": pause }))?,
        Format::Ndjson => printer.json_line(&json!({ "version": 1, "event": "paused", "paused": pause })),
        Format::Doc | Format::Minimal => {
            printer.note(Tone::Warning, &escape_line(&format!("No run is made: the agent is {}", pause.sentence())));
        }
    }
    Ok(())
}

/// Shows people a notice before the run begins.
fn tell(notice: &Notice, printer: Printer) {
    let text = escape_line(&notice.to_string());
    match notice {
        Notice::Compiling { .. } => printer.note(Tone::Quiet, &text),
        Notice::Waiting { .. } => printer.note(Tone::Warning, &text),
        Notice::Refused { .. } => printer.note(Tone::Error, &format!("error: {text}")),
        _ => printer.note(Tone::Warning, &format!("warning: {text}")),
    }
}

fn colours(color: Color) {
    let choice = match color {
        Color::Auto => return,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}
