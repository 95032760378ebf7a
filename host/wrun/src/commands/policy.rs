//! `wrun policy`, one file per command. The commands for locks share one file.

mod build;
mod cookbooks;
mod describe;
mod dev;
mod import;
mod list;
mod lock;
mod new;
mod push;
mod release;
mod ruby;
mod show;
mod test;
mod test_files;
mod test_server;

use crate::arguments::PolicyCommand;
use crate::exit::Exit;
use crate::printer::Printer;
pub(crate) use lock::{here, with_tools};

pub(crate) fn run(command: PolicyCommand, printer: &Printer) -> anyhow::Result<Exit> {
    match command {
        PolicyCommand::New(arguments) => new::run(arguments, *printer),
        PolicyCommand::Import(arguments) => import::run(&arguments, *printer),
        PolicyCommand::Build(arguments) => build::run(&arguments, *printer),
        PolicyCommand::Install(arguments) => lock::install_policy(&arguments, *printer),
        PolicyCommand::Update(arguments) => lock::update_policy(arguments, *printer),
        PolicyCommand::Push(arguments) => push::run(&arguments, *printer),
        PolicyCommand::PushArchive(arguments) => push::archive(&arguments, *printer),
        PolicyCommand::Sign(arguments) => release::sign(&arguments, *printer),
        PolicyCommand::Promote(arguments) => release::promote(&arguments, *printer),
        PolicyCommand::Verify(arguments) => release::verify(&arguments, *printer),
        PolicyCommand::Clean(arguments) => release::clean(&arguments, *printer),
        PolicyCommand::Export(arguments) => lock::export_policy(arguments, *printer),
        PolicyCommand::Diff(arguments) => lock::diff_policy(&arguments, *printer),
        PolicyCommand::List(arguments) => list::run(&arguments, *printer),
        PolicyCommand::Show(arguments) => show::run(&arguments, *printer),
        PolicyCommand::Dev(arguments) => dev::run(&arguments, *printer),
        PolicyCommand::Test(arguments) => test::run(&arguments, *printer),
        PolicyCommand::TestServer(arguments) => test_server::run(&arguments, *printer),
    }
}
