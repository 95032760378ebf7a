//! Converts Chef's errors to plain sentences, for people who do not know Ruby. A run's record has a class and a message in
//! Chef's words.

use crate::{ErrorKind, SystemError};

/// The beginning of the message of a dry run's refusal in Ruby. The message continues with `would`.
const DRY_RUN: &str = "this is a dry run, which ";

/// Returns true if the class is wrun's own, so that its name does not help authors.
pub fn is_own(class: &str) -> bool {
    class.starts_with("Wrun::")
}

/// Returns the change that a dry run refused: `would run /usr/bin/x: its program is not on this machine`. Returns `None` for
/// other errors.
///
/// A Ruby guest gets such a refusal as the error of a read-only file system, and passes this error on.
pub fn dry_refusal<'a>(kind: &ErrorKind, message: &'a str) -> Option<&'a str> {
    match kind {
        ErrorKind::DryRun => Some(message),
        ErrorKind::System(SystemError::ReadOnly) => Some(message.split_once(DRY_RUN)?.1),
        _ => None,
    }
}

/// Returns the error as a plain sentence, without a class.
pub fn plainly(class: &str, message: &str) -> String {
    let said = match super::kind(class) {
        ErrorKind::CommandFailed => exited(message),
        ErrorKind::InvalidValue => invalid_value(message),
        ErrorKind::ResourceNotFound => no_receiver(message),
        ErrorKind::CommandTimeout => Some(format!("the command took too long: {message}")),
        ErrorKind::System(error) => system_error(message).or_else(|| named_error(error, message)),
        _ if class.starts_with("Errno::") => system_error(message),
        _ => None,
    };
    said.unwrap_or_else(|| if message.is_empty() { class.to_owned() } else { message.to_owned() })
}

/// Rewrites the message of an invalid value, also with a resource before it: `Option action must be equal to one of: :start,
/// :stop!  You passed :strat.`
fn invalid_value(message: &str) -> Option<String> {
    let (before, option) = message.split_at(message.find("Option ")?);
    let option = option.strip_prefix("Option ")?;
    let symbol = |text: &str| text.strip_prefix(':').unwrap_or(text).to_owned();
    if let Some((name, rest)) = option.split_once(" must be equal to one of: ") {
        let (choices, passed) = rest.split_once("!  You passed ")?;
        let choices = choices.split(", ").map(symbol).collect::<Vec<_>>().join(", ");
        let what = if name == "action" { "the action".to_owned() } else { format!("property `{name}`") };
        return Some(format!("{before}{what} must be one of {choices}, not {}", symbol(passed.strip_suffix('.')?)));
    }
    let (name, rest) = option.split_once("'s value ")?;
    let value = rest.strip_suffix(" not in valid numeric range!")?;
    Some(format!(
        "{before}property `{name}` is `{value}`, which is not a mode: write its octal digits, such as \"0644\""
    ))
}

/// The part of Chef's message between an undeclared receiver and the sender's place.
const NOT_DECLARED: &str = " cannot be found in the resource collection.";

/// Rewrites the message of an undeclared receiver: `resource file[/x] is configured to notify resource service[y] with action
/// restart, but service[y] cannot be found ..`
fn no_receiver(message: &str) -> Option<String> {
    let (sender, rest) = message.strip_prefix("resource ")?.split_once(" is configured to notify resource ")?;
    let (target, rest) = rest.split_once(" with action ")?;
    let (action, _) = rest.split_once(&format!(", but {target}{NOT_DECLARED}"))?;
    Some(format!("{sender} notifies {target} ({action}), which no recipe declared"))
}

/// Removes repetitions from a message. It removes the place at the end, `FILE:LINE:in 'from_file'`, which reports show
/// separately. And it removes the first part of `Connection refused - Connection refused connecting to ..`.
pub fn without_repetition<'a>(class: &str, message: &'a str) -> &'a str {
    match (super::kind(class), message.find(NOT_DECLARED)) {
        (ErrorKind::ResourceNotFound, Some(at)) => message.get(..at + NOT_DECLARED.len() - 1).unwrap_or(message),
        (ErrorKind::System(_), _) => said_once(message),
        _ => message,
    }
}

/// Removes the beginning of a message if the rest begins with the same words.
fn said_once(message: &str) -> &str {
    let rest = message.split_once(" - ").map(|(sentence, rest)| (rest, rest.starts_with(sentence)));
    rest.filter(|(_, repeats)| *repeats).map_or(message, |(rest, _)| rest)
}

/// Rewrites the message of a failed command: `Expected process to exit with [0, 2], but received '3'`, with the output below.
fn exited(message: &str) -> Option<String> {
    let (first, output) = message.split_once('\n').map_or((message, None), |(first, rest)| (first, Some(rest)));
    let (wanted, received) = first.strip_prefix("Expected process to exit with [")?.split_once("], but received ")?;
    let (wanted, received) = (wanted.replace(", ", " or "), received.trim_matches('\''));
    let output = output.map(|output| format!("\n{output}")).unwrap_or_default();
    Some(format!("the command ended with {received}, not with {wanted}{output}"))
}

/// Rewrites a system error with the name of Ruby's function: `No such file or directory @ rb_sysopen - /srv/x`.
fn system_error(message: &str) -> Option<String> {
    let (sentence, about) = message.split_once(" - ")?;
    let sentence = sentence.split(" @ ").next().unwrap_or(sentence);
    let once = said_once(message);
    let (sentence, about) = if once == message { (sentence, format!(": {about}")) } else { (once, String::new()) };
    let mut letters = sentence.chars();
    let first = letters.next()?.to_lowercase();
    Some(format!("{first}{}{about}", letters.as_str()))
}

/// Rewrites a system error of a guest's direct call, whose message is only the path: `/srv/x`.
fn named_error(error: SystemError, about: &str) -> Option<String> {
    let words = match error {
        SystemError::Access | SystemError::NotPermitted => "permission denied",
        SystemError::Exists => "something is there already",
        SystemError::Invalid => "the path is invalid",
        SystemError::IsDirectory => "it is a directory",
        SystemError::Loop => "its links lead in a circle",
        SystemError::NotFound => "no such file or directory",
        SystemError::NotDirectory => "a part of the path is not a directory",
        SystemError::NotEmpty => "the directory is not empty",
        SystemError::ReadOnly => "a dry run changes nothing",
        _ => return None,
    };
    // A single word is a program that was not found in PATH.
    let is_program = error == SystemError::NotFound && !about.is_empty() && !about.contains(char::is_whitespace);
    match about.starts_with('/') && !about.contains('\n') {
        true => Some(format!("{about}: {words}")),
        false => is_program.then(|| format!("there is no program `{about}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rubys_functions_and_mixlibs_sentences_are_left_out() {
        let check = |class: &str, message: &str, expected: &str| assert_eq!(plainly(class, message), expected);
        let output = "---- Begin output of x ----\nno\n---- End output of x ----";
        check(
            "Mixlib::ShellOut::ShellCommandFailed",
            &format!("Expected process to exit with [0, 2], but received '3'\n{output}"),
            &format!("the command ended with 3, not with 0 or 2\n{output}"),
        );
        check("Mixlib::ShellOut::ShellCommandFailed", "something else", "something else");
        check("Mixlib::ShellOut::CommandTimeout", "after 1s", "the command took too long: after 1s");
        check("Errno::ENOENT", "No such file or directory - nosuch", "no such file or directory: nosuch");
        check("Errno::EACCES", "Permission denied @ rb_sysopen - /srv/a - b", "permission denied: /srv/a - b");
        check("Errno::EPIPE", "Broken pipe - x", "broken pipe: x");
        check("Errno::ENOENT", "/etc/nosuch", "/etc/nosuch: no such file or directory");
        check("Errno::ENOENT", "nosuchprog", "there is no program `nosuchprog`");
        check("Errno::ENOENT", "said by the policy", "said by the policy");
        check("Errno::EACCES", "said by the policy", "said by the policy");
        let invalid = "Chef::Exceptions::ValidationFailed";
        check(
            invalid,
            "service[x]: Option action must be equal to one of: :nothing, :start!  You passed :strat.",
            "service[x]: the action must be one of nothing, start, not strat",
        );
        check(
            invalid,
            "Option mode's value rwx not in valid numeric range!",
            "property `mode` is `rwx`, which is not a mode: write its octal digits, such as \"0644\"",
        );
        check(invalid, "owner is a required property", "owner is a required property");
        let unknown = "resource file[/x] is configured to notify resource service[y] with action restart, but service[y] \
                       cannot be found in the resource collection. file[/x] is defined in src/a.rs:3";
        let not_found = "Chef::Exceptions::ResourceNotFound";
        check(not_found, unknown, "file[/x] notifies service[y] (restart), which no recipe declared");
        let refused = "Connection refused - Connection refused connecting to http://127.0.0.1:9/a, giving up";
        let once = "Connection refused connecting to http://127.0.0.1:9/a, giving up";
        assert_eq!(without_repetition("Errno::ECONNREFUSED", refused), once);
        check("Errno::ECONNREFUSED", refused, &once.replace("Connection refused c", "connection refused c"));
        assert!(
            without_repetition(not_found, unknown).ends_with("service[y] cannot be found in the resource collection")
        );
        check("NoMethodError", "resource type `x` does not exist", "resource type `x` does not exist");
        check("RuntimeError", "", "RuntimeError");
    }

    #[test]
    fn a_refusal_of_a_dry_run_is_found_in_both_languages() {
        let read_only = ErrorKind::System(SystemError::ReadOnly);
        let refused = "Read-only file system - this is a dry run, which would write /x";
        assert_eq!(dry_refusal(&ErrorKind::DryRun, "would write /x"), Some("would write /x"));
        assert_eq!(dry_refusal(&read_only, refused), Some("would write /x"));
        assert_eq!(dry_refusal(&read_only, "Read-only file system @ rb_sysopen - /x"), None);
        assert_eq!(dry_refusal(&ErrorKind::Failed, refused), None);
    }
}
