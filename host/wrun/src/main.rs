//! The program `wrun`: arguments, output, and one file per command. The decisions are in other crates. `main` sets the exit
//! code.

mod activity;
mod arguments;
mod commands;
mod exit;
mod format;
mod logging;
mod printer;
mod program;
mod settings;
mod signals;
mod table;
mod terminal;

use arguments::{Arguments, Command};
use exit::Exit;
use printer::{Printer, Tone};
use std::process::ExitCode;

/// The system's allocator asks the kernel for each 4 KiB of a thread's heap. These calls would be most of a small run's time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The hidden command with which wrun starts itself to confine a command of a dry run.
const LAUNCH_CONFINED: &str = "launch-confined";

/// The first file descriptor after standard input, output, and error.
const FIRST_INHERITED: i32 = 3;

fn main() -> ExitCode {
    // Commands that wrun starts must not inherit other open files of its parent, such as a lock or a file with secrets.
    close_fds::set_fds_cloexec(FIRST_INHERITED, &[]);
    if std::env::args_os().nth(1).is_some_and(|word| word == LAUNCH_CONFINED) {
        return machine::command::launch_confined();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == sandbox::COMPILE_WORD) {
        let arguments: Vec<_> = std::env::args_os().skip(2).map(|word| word.to_string_lossy().into_owned()).collect();
        return sandbox::compile_standard_input(&arguments, machine::command::give_up_all_rights);
    }
    match commands::completions::answer() {
        Ok(false) => {}
        Ok(true) => return Exit::Done.into(),
        Err(error) => {
            let _ = error.print();
            return Exit::Usage.into();
        }
    }
    // Parsing runs on its own thread, so that its stack is freed afterwards. It needs half a megabyte, which an agent would
    // otherwise hold for weeks.
    let read = match std::thread::Builder::new().spawn(Arguments::read).map(std::thread::JoinHandle::join) {
        Ok(Ok(read)) => read,
        Ok(Err(_)) | Err(_) => return Exit::Bug.into(),
    };
    let arguments = match read {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            if error.use_stderr() {
                commands::converge::tell_usage_error(&error);
            }
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() };
        }
    };
    let printer = Printer::new();
    let run = assemble::spawn(move || {
        let outcome = match arguments.command {
            Command::Converge(converge) => commands::converge::run(*converge, &printer),
            Command::Agent(agent) => commands::agent::run(agent, &printer),
            Command::Node(node) => commands::node::run(node, &printer),
            Command::Layer(layer) => commands::layer::run(layer, &printer),
            Command::Search(search) => commands::search::run(&search, &printer),
            Command::Role(role) => commands::objects::role(role, &printer),
            Command::Environment(environment) => commands::objects::environment(environment, &printer),
            Command::DataBag(bag) => commands::data_bag::run(bag, &printer),
            Command::Run(run) => commands::run::run(run, &printer),
            Command::Config(config) => commands::config::run(&config, &printer),
            Command::Bootstrap(bootstrap) => commands::bootstrap::run(&bootstrap, printer),
            Command::Settings(settings) => commands::settings_import::run(&settings, printer),
            Command::Completions(completions) => commands::completions::run(&completions, &printer),
            Command::Man(man) => commands::completions::man(&man, &printer),
            Command::Facts(facts) => commands::facts::run(&facts, &printer),
            Command::Resources(resources) => commands::resources::run(&resources, &printer),
            Command::Cookbook(cookbook) => commands::cookbook::run(cookbook, &printer),
            Command::Policy(policy) => commands::policy::run(policy, &printer),
            Command::Keys(keys) => commands::keys::run(keys, &printer),
            Command::Repository(repository) => commands::repository::run(repository, &printer),
            Command::ShipRuntime(runtime) => commands::ship_runtime::run(&runtime, &printer),
            Command::Grants(grants) => commands::grants::run(grants, &printer),
        };
        match outcome {
            Ok(exit) => all_written(exit, printer),
            Err(error) => {
                printer.error(&error);
                Exit::of(&error)
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

/// Returns a failure if output was lost. A user who writes it to a file on a full disk must not take a part for the whole.
fn all_written(exit: Exit, printer: Printer) -> Exit {
    let Some(error) = printer.lost() else { return exit };
    printer.note(Tone::Error, &format!("error: standard output could not be written: {error}"));
    if exit == Exit::Done { Exit::Failed } else { exit }
}
