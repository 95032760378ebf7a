//! `wrun cookbook check` and `wrun cookbook describe`.

mod check;
mod describe;

use crate::arguments::CookbookCommand;
use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(command: CookbookCommand, printer: &Printer) -> anyhow::Result<Exit> {
    match command {
        CookbookCommand::Check(arguments) => check::run(&arguments, *printer),
        CookbookCommand::Describe(arguments) => describe::run(&arguments, *printer),
    }
}
