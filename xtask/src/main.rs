//! The project's development tasks. Each command has its own file; `cargo xtask --help` lists them.
//!
//! They are a program rather than scripts, so that a clone needs only Rust. Missing tools are reported before any work
//! starts.

mod audit;
mod bench;
mod beside;
mod builders;
mod checkout;
mod demo;
mod docs;
mod floor;
mod fuzz;
mod guests;
mod hostile;
mod package;
mod reference;
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
    /// Hold all lock files against a checkout of the RustSec advisory database
    Audit(audit::Arguments),
    /// Measure whole runs as ratios to the system calls alone
    Bench(bench::Arguments),
    /// Do a benchmark's system calls, without wrun
    #[command(hide = true)]
    BenchFloor(floor::Arguments),
    /// Run a command once and print what it took
    #[command(hide = true)]
    BenchMeasure(bench::MeasureArguments),
    /// Write the SDK's builders and the book's pages about resource types from the schema
    Builders,
    /// Converge three teams' policies in a throw-away root, twice
    Demo(demo::Arguments),
    /// Make the book of docs/, or write into its pages what their commands print
    Docs(docs::Arguments),
    /// Look for inputs that break a promise, by libFuzzer; see tests/fuzz
    Fuzz(fuzz::Arguments),
    /// Build the guests: fixtures for tests, the example policies' artifacts, and the Ruby runtime
    Guests(guests::Arguments),
    /// Try every attack of the tests' hostile guest at full size, between two other policies
    Hostile(hostile::Arguments),
    /// Make the Debian package, and an archive for other systems
    Package(package::Arguments),
    /// Run the tests, all of them or those of some areas
    Test(test::Arguments),
}

fn main() -> ExitCode {
    if let Some(code) = fuzz::as_compiler() {
        return code;
    }
    let done = match Arguments::parse().command {
        Chore::Audit(arguments) => audit::run(&arguments).map(|()| ExitCode::SUCCESS),
        Chore::Bench(arguments) => bench::run(&arguments),
        Chore::BenchFloor(arguments) => floor::run(&arguments).map(|()| ExitCode::SUCCESS),
        Chore::BenchMeasure(arguments) => bench::measure(&arguments).map(|()| ExitCode::SUCCESS),
        Chore::Builders => builders::write().map(|()| ExitCode::SUCCESS),
        Chore::Demo(arguments) => demo::run(&arguments).map(|()| ExitCode::SUCCESS),
        Chore::Docs(arguments) => docs::run(&arguments).map(|()| ExitCode::SUCCESS),
        Chore::Fuzz(arguments) => fuzz::run(&arguments).map(|()| ExitCode::SUCCESS),
        Chore::Guests(arguments) => guests::build_all(&arguments).map(|()| ExitCode::SUCCESS),
        Chore::Hostile(arguments) => hostile::run(&arguments).map(|()| ExitCode::SUCCESS),
        Chore::Package(arguments) => package::run(&arguments).map(|()| ExitCode::SUCCESS),
        Chore::Test(arguments) => test::run(&arguments),
    };
    done.unwrap_or_else(|error| {
        say::line(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}
