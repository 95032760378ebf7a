//! Reads the machine's files and runs commands, within the policy's grants. To change the machine, prefer resources.

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

/// Returns true if the path exists. It follows symbolic links.
///
/// # Errors
/// The policy may not read the path.
#[track_caller]
pub fn exists(path: &str) -> Result<bool> {
    Ok(host::stat(path, true).map_err(failed).here()?.is_some())
}

/// Returns a file's bytes, at most the first 16 MiB.
///
/// # Errors
/// The policy may not read it, or it cannot be read.
#[track_caller]
pub fn read(path: &str) -> Result<Vec<u8>> {
    host::read_file(path, 0, 16 << 20).map_err(failed).here()
}

/// Returns a file's text. It replaces bytes that are not valid UTF-8.
///
/// # Errors
/// The policy may not read it, or it cannot be read.
#[track_caller]
pub fn read_text(path: &str) -> Result<String> {
    Ok(String::from_utf8_lossy(&read(path)?).into_owned())
}

/// Returns the sorted names in a directory.
///
/// # Errors
/// The policy may not read it, or it cannot be read.
#[track_caller]
pub fn list(path: &str) -> Result<Vec<String>> {
    host::list_directory(path).map_err(failed).here()
}

/// Returns the target of a symbolic link, or `None` if the path is absent or not a symbolic link.
///
/// # Errors
/// The policy may not read the path.
#[track_caller]
pub fn link_target(path: &str) -> Result<Option<String>> {
    match host::stat(path, false).map_err(failed).here()? {
        Some(status) if status.kind == host::Kind::Link => Ok(Some(host::read_link(path).map_err(failed).here()?)),
        _ => Ok(None),
    }
}

/// The result of a command.
#[derive(Debug, Clone)]
pub struct Ran {
    /// The exit code, or `None` if a signal ended the command.
    pub code: Option<i32>,
    /// The text on standard output.
    pub output: String,
    /// The text on standard error.
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
