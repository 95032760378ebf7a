//! `wrun grants`: compares the needs of policies with the permissions that operators grant.

mod add;
mod allow;
mod check;
mod edit;
mod suggest;

use crate::arguments::GrantsCommand;
use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) use add::Consent;
pub(crate) use edit::{Written, write_suggestion};

pub(crate) fn run(command: GrantsCommand, printer: &Printer) -> anyhow::Result<Exit> {
    match command {
        GrantsCommand::Suggest(arguments) => suggest::run(*arguments, printer),
        GrantsCommand::Allow(arguments) => allow::run(&arguments, *printer),
        GrantsCommand::Check(arguments) => check::run(&arguments, *printer),
    }
}
