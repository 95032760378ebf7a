//! Runs the tools that a build needs, with errors that name the tool.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time between two checks of a tool that has a deadline.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How a tool failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("cannot start {tool}")]
    Start { tool: String, source: std::io::Error },
    #[error("{tool} failed ({status}): {last_line}")]
    Failed { tool: String, status: String, last_line: String },
    #[error("{tool} did not end within {} seconds", limit.as_secs())]
    TimedOut { tool: String, limit: Duration },
}

/// Returns the path of `program` on the search path, or `None`.
pub(super) fn find_program(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|candidate| candidate.is_file())
}

/// Runs a tool to its end and returns what it wrote to standard output. Its standard error appears in the error only.
pub(super) fn output_of(command: &mut Command) -> Result<String, CommandError> {
    let tool = name_of(command);
    let output =
        command.stdin(Stdio::null()).output().map_err(|source| CommandError::Start { tool: tool.clone(), source })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(CommandError::Failed { tool, status: output.status.to_string(), last_line: last_line(&errors).to_owned() })
}

/// Runs a tool and kills it if it has not ended after `limit`. This is for tools that may wait for a network without an
/// answer.
pub(super) fn run_within(command: &mut Command, limit: Duration) -> Result<(), CommandError> {
    let tool = name_of(command);
    let start = |source| CommandError::Start { tool: tool.clone(), source };
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(start)?;
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(start)? {
            let failed =
                || CommandError::Failed { tool: tool.clone(), status: status.to_string(), last_line: String::new() };
            return if status.success() { Ok(()) } else { Err(failed()) };
        }
        if begin.elapsed() >= limit {
            child.kill().and_then(|()| child.wait()).map_err(start)?;
            return Err(CommandError::TimedOut { tool, limit });
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// The program's name with its first argument, as it is named in errors.
fn name_of(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_else(|| command.get_program());
    let first = command.get_args().find(|argument| !is_option(argument));
    match first {
        Some(first) => format!("{} {}", program.to_string_lossy(), first.to_string_lossy()),
        None => program.to_string_lossy().into_owned(),
    }
}

fn is_option(argument: &OsStr) -> bool {
    let text = argument.to_string_lossy();
    text.starts_with('-') || text.contains("::")
}

fn last_line(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message").trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_name_the_tool_and_its_last_words() {
        let error = output_of(Command::new("sh").args(["-c", "echo first >&2; echo 'last words' >&2; exit 3"]))
            .expect_err("the shell fails");
        assert_eq!(
            error.to_string(),
            "sh echo first >&2; echo 'last words' >&2; exit 3 failed (exit status: 3): last words"
        );
    }

    #[test]
    fn a_tool_that_hangs_is_ended() {
        let error = run_within(Command::new("sleep").arg("60"), Duration::from_millis(100)).expect_err("sleep is slow");
        assert!(matches!(error, CommandError::TimedOut { .. }), "{error}");
    }

    #[test]
    fn programs_are_found_on_the_path() {
        assert!(find_program("sh").is_some());
        assert_eq!(find_program("no-such-program-anywhere"), None);
    }
}
