//! `wrun run list`, `wrun run show`, `wrun run diff`: show the records of earlier runs. docs/run-json.md describes the
//! records.
//!
//! A record contains text from guests, so all output is escaped.

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
