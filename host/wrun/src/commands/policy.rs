//! `wrun policy new`, `wrun policy build`, `wrun policy dev`, `wrun policy test` and `wrun policy show`.

mod build;
mod describe;
mod dev;
mod new;
mod ruby;
mod show;
mod test;
mod test_server;

use crate::arguments::PolicyCommand;
use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(command: PolicyCommand, printer: &Printer) -> anyhow::Result<Exit> {
    match command {
        PolicyCommand::New(arguments) => new::run(arguments, *printer),
        PolicyCommand::Build(arguments) => build::run(&arguments, *printer),
        PolicyCommand::Show(arguments) => show::run(&arguments, *printer),
        PolicyCommand::Dev(arguments) => dev::run(&arguments, *printer),
        PolicyCommand::Test(arguments) => test::run(&arguments, *printer),
        PolicyCommand::TestServer(arguments) => test_server::run(&arguments, *printer),
    }
}
