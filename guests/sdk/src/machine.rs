//! The machine as a cookbook sees it: reads and commands, each within what the policy is granted. Resources are the better
//! way to change anything.

use crate::bindings::wrun::machine::types::{MachineError, SystemError};
use crate::bindings::wrun::machine::{commands, files as host};
use crate::bindings::wrun::types::types::CommandLine;
use crate::builder::command;
use crate::error::{Error, Here as _, Result};

#[track_caller]
fn failed(error: MachineError) -> Error {
    match error {
        MachineError::Denied(text) => Error::new("Wrun::Denied", text),
        MachineError::DryRun(text) => Error::new("Wrun::DryRun", text),
        MachineError::System(SystemError { name, about }) => Error::new(format!("Errno::{name}"), about),
        MachineError::TooMuch(text) => Error::new("RangeError", text),
    }
}

/// Whether there is anything at a path; of a link, at what it leads to.
///
/// # Errors
/// The policy may not look there.
#[track_caller]
pub fn exists(path: &str) -> Result<bool> {
    Ok(host::stat(path, true).map_err(failed).here()?.is_some())
}

/// A file's bytes, at most 16 MiB of them.
///
/// # Errors
/// The policy may not read it, or it cannot be read.
#[track_caller]
pub fn read(path: &str) -> Result<Vec<u8>> {
    host::read_file(path, 0, 16 << 20).map_err(failed).here()
}

/// A file's text; what is not UTF-8 is replaced.
///
/// # Errors
/// The policy may not read it, or it cannot be read.
#[track_caller]
pub fn read_text(path: &str) -> Result<String> {
    Ok(String::from_utf8_lossy(&read(path)?).into_owned())
}

/// The names in a directory, sorted.
///
/// # Errors
/// The policy may not read it, or it cannot be read.
#[track_caller]
pub fn list(path: &str) -> Result<Vec<String>> {
    host::list_directory(path).map_err(failed).here()
}

/// What a symbolic link says; none if there is nothing at the path, or something else.
///
/// # Errors
/// The policy may not look there.
#[track_caller]
pub fn link_target(path: &str) -> Result<Option<String>> {
    match host::stat(path, false).map_err(failed).here()? {
        Some(status) if status.kind == host::Kind::Link => Ok(Some(host::read_link(path).map_err(failed).here()?)),
        _ => Ok(None),
    }
}

/// How a command ended.
#[derive(Debug, Clone)]
pub struct Ran {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// The text it wrote to standard output.
    pub output: String,
    /// The text it wrote to standard error.
    pub errors: String,
}

/// Runs a program without a shell and waits for its end.
///
/// # Errors
/// The policy may not run it, or it cannot be started.
#[track_caller]
pub fn run(program: &[&str]) -> Result<Ran> {
    let command = command(CommandLine::Arguments(program.iter().map(|word| (*word).to_owned()).collect()));
    let origin = crate::table::origin(std::panic::Location::caller());
    let outcome = commands::run(&command, Some(&origin)).map_err(failed).here()?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(Ran { code: outcome.code, output: text(outcome.output), errors: text(outcome.errors) })
}
