//! The program: arguments, printer, one file per command. Nothing here decides; `main` owns the exit code.

mod activity;
mod arguments;
mod commands;
mod errors;
mod exit;
mod format;
mod grants_files;
mod house;
mod logging;
mod own_state;
mod poll;
mod printer;
mod settings;
mod signals;
mod terminal;

use arguments::{Arguments, Command};
use exit::Exit;
use printer::{Printer, Tone};
use std::process::ExitCode;

/// The system's allocator asks the kernel for each 4 KiB of a thread's heap, which is most of what a small run would cost.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = match Arguments::read() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() };
        }
    };
    if matches!(arguments.command, Command::LaunchConfined) {
        return providers::launch_confined();
    }
    let printer = Printer::new();
    // What a run makes is as Chef would make it, whoever started the run.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    // The converge loop nests guests' children on this stack; see `converge::MAX_DEPTH`.
    let run = std::thread::Builder::new().name("main".into()).stack_size(16 << 20).spawn(move || {
        let outcome = match arguments.command {
            Command::Converge(converge) => commands::converge::run(*converge, &printer),
            Command::Node(node) => commands::node::run(node, &printer),
            Command::Resources(resources) => commands::resources::run(&resources, &printer),
            Command::Cookbook(cookbook) => commands::cookbook::run(cookbook, &printer),
            Command::Policy(policy) => commands::policy::run(policy, &printer),
            Command::LaunchConfined => Ok(Exit::Usage),
            Command::Grants(grants) => commands::grants::run(grants, &printer),
        };
        match outcome {
            Ok(exit) => all_written(exit, printer),
            Err(error) => {
                // Whatever fails after something was changed ends in a report; an error that comes here changed nothing.
                printer.error(&error);
                Exit::Usage
            }
        }
    });
    let ended = run.map(std::thread::JoinHandle::join);
    terminal::hide_status();
    match ended {
        Ok(Ok(exit)) => exit.into(),
        // The thread has printed its panic.
        Ok(Err(_)) | Err(_) => Exit::Bug.into(),
    }
}

/// What was asked for has to arrive: whoever keeps it in a file on a full disk must not take a part for the whole.
fn all_written(exit: Exit, printer: Printer) -> Exit {
    let Some(error) = printer.lost() else { return exit };
    printer.note(Tone::Error, &format!("error: standard output could not be written: {error}"));
    if exit == Exit::Done { Exit::Failed } else { exit }
}
