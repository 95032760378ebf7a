//! `wrun completions` and `wrun man`: both are made from the command line's description.

use crate::arguments::{Arguments, CompletionsArguments, ManArguments};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use anyhow::Context as _;

/// The program's name.
const NAME: &str = "wrun";

pub(crate) fn run(arguments: &CompletionsArguments, printer: &Printer) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::description(), NAME, &mut text);
    printer.part(Tone::Plain, &String::from_utf8_lossy(&text));
    Ok(Exit::Done)
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
