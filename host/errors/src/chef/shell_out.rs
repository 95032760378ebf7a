//! Error messages of Mixlib::ShellOut, which runs Chef's commands.

use crate::SystemError;
use std::time::Duration;

/// The maximum number of characters of each output in a message.
const MAX_SHOWN: usize = 65_536;

/// The beginning of a command's output in a message.
pub const OUTPUT_BEGINS: &str = "---- Begin output of ";

/// The result of a command.
#[derive(Debug, Clone, Copy)]
pub struct CommandEnd<'a> {
    /// The command, as messages show it.
    pub shown: &'a str,
    /// Its exit code, or `None` if a signal ended it.
    pub code: Option<i32>,
    /// The bytes that it wrote to its standard output.
    pub output: &'a [u8],
    /// The bytes that it wrote to its standard error.
    pub errors: &'a [u8],
}

/// Returns the message of a command with an exit code that is not among the successful ones.
pub fn unexpected_exit(successes: &[i32], end: CommandEnd<'_>) -> String {
    let successes: Vec<String> = successes.iter().map(ToString::to_string).collect();
    format!(
        "Expected process to exit with [{}], but received '{}'\n{}",
        successes.join(", "),
        code_text(end),
        outputs(end)
    )
}

/// Returns the message of a command that was ended because it took too long.
pub fn timed_out(after: Duration, end: CommandEnd<'_>) -> String {
    format!(
        "Command timed out after {}s:\nCommand exceeded allowed execution time, process terminated\n{}",
        after.as_secs(),
        outputs(end)
    )
}

/// Returns the error output of Chef's child process if its working directory is missing. `sentence` is the C library's text.
pub fn without_directory(sentence: &str, error: SystemError, directory: &str) -> String {
    format!("in `chdir': {sentence} @ dir_s_chdir - {directory} (Errno::{})", error.name())
}

/// The kind of account that is looked up by name, to run a command as it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountLookup {
    /// A user of the machine.
    User,
    /// A group of the machine.
    Group,
}

/// Returns the error output of Chef's child process if the account that should run the command is missing.
///
/// `sentence` is the text about the missing account.
pub fn without_account(lookup: AccountLookup, sentence: &str) -> String {
    let call = match lookup {
        AccountLookup::User => "getpwnam",
        AccountLookup::Group => "getgrnam",
    };
    format!("in `{call}': {sentence} (ArgumentError)")
}

fn code_text(end: CommandEnd<'_>) -> String {
    end.code.map(|code| code.to_string()).unwrap_or_default()
}

fn outputs(end: CommandEnd<'_>) -> String {
    let shown = end.shown;
    format!(
        "{OUTPUT_BEGINS}{shown} ----\nSTDOUT: {}\nSTDERR: {}\n---- End output of {shown} ----\nRan {shown} returned {}",
        beginning(end.output),
        beginning(end.errors),
        code_text(end)
    )
}

fn beginning(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}[..]", text.get(..end).unwrap_or_default()),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_does_not_find_its_account_names_the_call() {
        let user = without_account(AccountLookup::User, "can't find user for x");
        assert_eq!(user, "in `getpwnam': can't find user for x (ArgumentError)");
        assert!(without_account(AccountLookup::Group, "x").starts_with("in `getgrnam'"));
    }
}
