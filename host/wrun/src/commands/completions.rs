//! `wrun completions` and `wrun man`. Both outputs are generated from the command line's description.
//!
//! The script that `wrun completions` prints calls wrun for each word. So the completions include the names of nodes, roles,
//! and other saved objects.

mod names;

use crate::arguments::{Arguments, CompletionsArguments, ManArguments};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use anyhow::Context as _;
use clap_complete::env::{CompleteEnv, Shells};

/// The name of the program.
const NAME: &str = "wrun";

/// The environment variable with which a shell asks for completions. Its leading underscore distinguishes it from settings.
const ASKING: &str = "_WRUN_COMPLETE";

pub(crate) fn run(arguments: &CompletionsArguments, printer: &Printer) -> anyhow::Result<Exit> {
    let shells = Shells::builtins();
    let shell = shells.completer(&arguments.shell.to_string()).context("there are no completions for this shell")?;
    let mut text = Vec::new();
    shell.write_registration(ASKING, NAME, NAME, NAME, &mut text)?;
    printer.part(Tone::Plain, &String::from_utf8_lossy(&text));
    Ok(Exit::Done)
}

/// Answers a shell that asks for completions. Returns whether a shell has asked.
pub(crate) fn answer() -> Result<bool, clap::Error> {
    if std::env::var_os(ASKING).is_none() {
        return Ok(false);
    }
    let here = std::env::current_dir().ok();
    let completing = CompleteEnv::with_factory(|| names::offer(Arguments::description())).var(ASKING);
    completing.try_complete(std::env::args_os(), here.as_deref())
}

pub(crate) fn man(arguments: &ManArguments, printer: &Printer) -> anyhow::Result<Exit> {
    let description = Arguments::description().disable_help_subcommand(true);
    match &arguments.folder {
        Some(folder) => std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(description, folder))
            .with_context(|| format!("the pages cannot be written to {}", folder.display()))?,
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(description).render(&mut page).context("the page cannot be made")?;
            printer.part(Tone::Plain, &String::from_utf8_lossy(&page));
        }
    }
    Ok(Exit::Done)
}
