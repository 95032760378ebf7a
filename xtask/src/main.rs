//! The project's chores, each a command in a file of its own: `cargo xtask --help` lists them.
//!
//! They are a program and no scripts, so that a clone needs nothing but Rust, and so that what is missing is found and
//! said before any work starts.

mod checkout;
mod demo;
mod guests;
mod say;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Chores of the wrun project
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Converge three teams' policies in a throw-away root, twice
    Demo(demo::Arguments),
    /// Build the guests: fixtures for tests, and the example policies' artifacts
    Guests,
    /// Run the tests, all of them or those of some areas
    Test(test::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Chore::Demo(arguments) => demo::run(&arguments).map(|()| ExitCode::SUCCESS),
        Chore::Guests => guests::build_all().map(|()| ExitCode::SUCCESS),
        Chore::Test(arguments) => test::run(&arguments),
    };
    done.unwrap_or_else(|error| {
        say::line(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}
