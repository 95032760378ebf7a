//! `wrun converge`: brings the node to what its policies ask for.
//!
//! Everything that can be wrong with the input is found before anything is changed: settings, grants, artifacts, run lists,
//! attributes, the state. Then the run, its report, its record.

mod artifacts;
mod askers;
mod data;
mod denials;
mod ending;
mod folders;
mod handlers;
mod input;
mod native_cache;
mod not_begun;
mod outline;
mod own_places;
mod prepare;
mod rest;
mod running;
mod unseen;

use crate::activity::Activity;
use crate::arguments::{ConvergeArguments, SuggestArguments, Suggesting};
use crate::exit::Exit;
use crate::house;
use crate::logging;
use crate::printer::{Printer, Tone};
use crate::settings::{Color, Format, Settings};
use crate::signals::{self, Interruption};
use anyhow::Context as _;
use input::Input;
use running::Running;
use state::StateError;
use std::path::Path;
use std::time::SystemTime;
use text::escape_line;

/// A dry run that prints what it asked for, as the operator's file of grants would say it.
pub(crate) fn suggest_grants(arguments: SuggestArguments, printer: &Printer) -> anyhow::Result<Exit> {
    let SuggestArguments { converge, write, yes } = arguments;
    let suggest_grants = Some(Suggesting { write, yes });
    run(ConvergeArguments { suggest_grants, why_run: true, keep_going: true, ..converge }, printer)
}

pub(crate) fn run(arguments: ConvergeArguments, printer: &Printer) -> anyhow::Result<Exit> {
    // Without settings nobody knows the format but the command line and its variable.
    let mut format = arguments.format.or_else(not_begun::format_of_environment);
    let ended = begin(arguments, &mut format, printer);
    if let Err(error) = &ended {
        not_begun::tell(format, error, *printer);
    }
    ended
}

/// Says on standard output that the command line is wrong, if it asks for a format for programs.
pub(crate) fn tell_usage_error(error: &clap::Error) {
    not_begun::tell_usage_error(error, Printer::new());
}

fn begin(arguments: ConvergeArguments, format: &mut Option<Format>, printer: &Printer) -> anyhow::Result<Exit> {
    let settings = super::settings(arguments.common.config.as_deref(), arguments.layer())?;
    // A suggestion is text in all formats.
    *format = Some(settings.format).filter(|_| arguments.suggest_grants.is_none());
    colours(settings.color);
    logging::open(&settings)?;
    let is_watched = settings.format == Format::Doc && !arguments.compile_only && arguments.suggest_grants.is_none();
    let activity = if is_watched { Activity::shown() } else { Activity::default() };
    let interruption = Interruption::default().with_activity(activity);
    signals::listen(&interruption, *printer).context("signals cannot be listened to")?;
    let outcome = prepare_and_run(arguments, settings, &interruption, *printer);
    interruption.die_if_at_once();
    outcome
}

fn prepare_and_run(
    arguments: ConvergeArguments,
    settings: Settings,
    interruption: &Interruption,
    printer: Printer,
) -> anyhow::Result<Exit> {
    let stop = &interruption.stop;
    let began = SystemTime::now();
    let mut input = Input::read(&arguments, &settings, began)?;
    if arguments.allow_all {
        let text = "every policy may do everything on this machine (--allow-all)";
        printer.note(Tone::Warning, &format!("warning: {text}"));
    }
    for warning in &input.warnings {
        printer.note(Tone::Warning, &format!("warning: {warning}"));
    }
    let dry = arguments.why_run || arguments.compile_only;
    let state = prepare::open_state(&settings, dry, printer)?;
    if !dry {
        prepare::own_folders(&settings)?;
    }
    let cache = native_cache::open(&settings, dry, printer);
    let mut sandbox = prepare::sandbox(cache, house::compiler(&settings, stop), &input, dry, printer)?;
    if settings.format != Format::Json && !arguments.compile_only {
        sandbox = sandbox.announcing(move |policy| {
            let text = format!("compiling native code of policy {policy}");
            printer.note(Tone::Quiet, &escape_line(&text));
        });
    }
    if let Some(folders) = &input.folders {
        let limits = sandbox::Limits::default();
        sandbox.check(folders::POLICY, folders.runtime().component(), contract::Interfaces::ALL, &limits)?;
    }
    let data = data::of_policies(&settings)?;
    let Some(sources) = artifacts::make_ready(&mut input, data.as_ref(), &sandbox, &settings, stop, printer)? else {
        return Ok(signals::exit(stop.requested()));
    };
    let (keeper, folder) = match prepare::keeper(&settings, state.as_ref(), &input, began, interruption, dry, printer) {
        Err(error) if matches!(error.downcast_ref(), Some(StateError::Interrupted)) => {
            printer.error(&error);
            not_begun::tell(Some(settings.format), &error, printer);
            return Ok(signals::exit(stop.requested()));
        }
        other => other?,
    };
    let mut node = prepare::load_node(state.as_ref(), &keeper, &input.node_name, printer)?;
    let names: Vec<_> = input.policies.iter().map(|policy| policy.name.clone()).collect();
    node.begin_run(&names, input.attributes.clone());
    let run = Running { settings: &settings, arguments: &arguments, printer, interruption, began };
    run.go(input, sources, sandbox, node, keeper, folder)
}

fn colours(color: Color) {
    let choice = match color {
        Color::Auto => return,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

/// The text of a file that was named on the command line.
fn read_text(path: &Path, what: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("{what} {} cannot be read", path.display()))
}
