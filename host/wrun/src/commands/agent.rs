//! `wrun agent`: the process that converges the node regularly, and the commands that control it. The decisions are in the
//! crate `agent`.

mod signals;
mod status;

use crate::arguments::{AgentArguments, AgentCommand, AgentPlace, Arguments, Common, PauseArguments};
use crate::exit::Exit;
use crate::logging;
use crate::printer::{Hinted, Printer, Tone};
use crate::settings::Settings;
use agent::{Agent, Asked, MachineClock, Moment, Notifier, Pause, Processes, Tell, ask_for_run};
use anyhow::{Context as _, bail};
use state::{AgentFolder, StateDirectory};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, SystemTime};
use text::escape_line;

/// The environment variables with the account of the user. The account before `sudo` comes first.
const ACCOUNTS: [&str; 3] = ["SUDO_USER", "LOGNAME", "USER"];

pub(crate) fn run(arguments: AgentArguments, printer: &Printer) -> anyhow::Result<Exit> {
    match arguments.command {
        None => live(arguments, *printer),
        Some(AgentCommand::RunNow(AgentPlace { common })) => run_now(&common, *printer),
        Some(AgentCommand::Status(arguments)) => status::run(&arguments, *printer),
        Some(AgentCommand::Pause(arguments)) => pause(&arguments, *printer),
        Some(AgentCommand::Resume(AgentPlace { common })) => resume(&common, *printer),
    }
}

fn live(arguments: AgentArguments, printer: Printer) -> anyhow::Result<Exit> {
    let config = arguments.common.config.clone();
    let settings = super::settings(config.as_deref(), arguments.layer())?;
    if let Err(error) = Arguments::check(&arguments.run(settings.skip_unchanged)) {
        let text = error.to_string();
        bail!("the options of runs are invalid: {}", text.strip_prefix("error: ").unwrap_or(&text).trim_end());
    }
    logging::open(&settings)?;
    let folder = StateDirectory::open(&settings.run.state_dir)?.agent()?;
    // This happens before other processes can find the lock and send signals.
    let signals = signals::listen().context("signals cannot be listened to")?;
    let Some(_lock) = folder.lock()? else {
        let text = format!("another agent runs with the state directory {}", settings.run.state_dir.display());
        printer.note(Tone::Error, &format!("error: {text}"));
        return Ok(Exit::Busy);
    };
    let arguments = Rc::new(arguments);
    let (run, config_of_run) = (Rc::clone(&arguments), config.clone());
    let processes = Processes {
        clock: MachineClock,
        signals,
        notifier: Notifier::new(|name| std::env::var_os(name), std::process::id()),
        command: Box::new(move |asked_for| {
            // If the settings are invalid, the run itself fails with the error.
            let settings = super::settings(config_of_run.as_deref(), run.layer()).ok();
            let limit = settings.and_then(|settings| settings.skip_unchanged);
            let limit = limit.map(|limit| if asked_for { Duration::ZERO } else { limit });
            // This same program, even if its file was replaced in the meantime.
            let mut command = Command::new("/proc/self/exe");
            command.arg0("wrun").args(run.run(limit));
            command
        }),
        rhythm: Box::new(move || {
            let settings =
                super::settings(config.as_deref(), arguments.layer()).map_err(|error| format!("{error:#}"))?;
            Ok(settings.rhythm)
        }),
        tell: Box::new(move |how, sentence| {
            let tone = if how == Tell::Warning { Tone::Warning } else { Tone::Plain };
            printer.note(tone, &escape_line(sentence));
        }),
        child: None,
    };
    Agent::new(processes, &folder, settings.rhythm).live();
    Ok(Exit::Done)
}

fn run_now(common: &Common, printer: Printer) -> anyhow::Result<Exit> {
    let settings = settings(common)?;
    let asked = match existing(&settings)? {
        Some(folder) => ask_for_run(&folder, now())?,
        None => Asked::NoAgent,
    };
    match asked {
        Asked::Heard => printer.note(Tone::Plain, "the agent has been asked for a run; `wrun agent status` shows it"),
        Asked::Paused(pause) => {
            let text = format!("no run begins: {}", pause.sentence());
            return Err(Hinted::new(anyhow::anyhow!(text), "`wrun agent resume` ends the pause").into());
        }
        Asked::NoAgent => {
            let text = format!("no agent runs with the state directory {}", settings.run.state_dir.display());
            let hint = "`systemctl start wrun-agent` starts it; `wrun converge` makes a run without it";
            return Err(Hinted::new(anyhow::anyhow!(text), hint).into());
        }
        Asked::Unreachable(why) => bail!("the agent cannot be reached: {why}"),
    }
    Ok(Exit::Done)
}

fn pause(arguments: &PauseArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = settings(&arguments.common)?;
    let by = ACCOUNTS.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let account = rustix::process::getuid();
    let by = by.unwrap_or_else(|| if account.is_root() { "root".into() } else { format!("user {}", account.as_raw()) });
    let pause = Pause::new(now(), arguments.time.duration(), &arguments.because, &by)?;
    pause.keep(&StateDirectory::open(&settings.run.state_dir)?.agent()?)?;
    printer.note(Tone::Plain, &escape_line(&format!("{}. A run that is under way goes on.", pause.sentence())));
    Ok(Exit::Done)
}

fn resume(common: &Common, printer: Printer) -> anyhow::Result<Exit> {
    let settings = settings(common)?;
    let Some(folder) = existing(&settings)? else {
        printer.note(Tone::Plain, "there was no pause");
        return Ok(Exit::Done);
    };
    // A pause with an unreadable file also ends.
    let ended = Pause::holding(&folder, now());
    Pause::end(&folder)?;
    let text = match ended {
        Ok(None) => "there was no pause".to_owned(),
        Ok(Some(pause)) => format!("ended: {}", pause.sentence()),
        Err(_) => "a pause that could not be read has ended".to_owned(),
    };
    printer.note(Tone::Plain, &escape_line(&text));
    Ok(Exit::Done)
}

fn settings(common: &Common) -> anyhow::Result<Settings> {
    super::settings(common.config.as_deref(), common.layer())
}

/// Returns the agent's folder, if it exists.
fn existing(settings: &Settings) -> anyhow::Result<Option<AgentFolder>> {
    let state = StateDirectory::open_existing(&settings.run.state_dir)?;
    Ok(state.map(|state| state.existing_agent()).transpose()?.flatten())
}

fn now() -> Moment {
    Moment::of(SystemTime::now())
}
