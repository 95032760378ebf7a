//! `wrun run list`, `wrun run show`, `wrun run diff`: the records of earlier runs, as docs/run-json.md describes them.
//!
//! A record holds texts of guests: what is shown of it is escaped.

mod diff;
mod list;
mod show;

use crate::arguments::RunCommand;
use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(command: RunCommand, printer: &Printer) -> anyhow::Result<Exit> {
    match command {
        RunCommand::List(arguments) => list::run(&arguments, *printer),
        RunCommand::Show(arguments) => show::run(&arguments, *printer),
        RunCommand::Diff(arguments) => diff::run(&arguments, *printer),
    }
}
