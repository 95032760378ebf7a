//! `wrun cookbook check`.

mod check;

use crate::arguments::CookbookCommand;
use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(command: CookbookCommand, printer: &Printer) -> anyhow::Result<Exit> {
    match command {
        CookbookCommand::Check(arguments) => check::run(&arguments, *printer),
    }
}
