//! The `openssl_*` types: files with keys, certificates and lists, which the machine's `openssl` makes.
//!
//! The text of a new file comes from commands that print it and change nothing. Each of them needs a grant of its own. Real runs
//! run them while the action is composed, dry runs ask for their grants and make nothing. Keys and passwords reach a command by
//! its environment and its input, where no other user of the machine sees them.
//!
//! Commands that read several files are lines for a shell, unlike those of other composites: the shell gives `openssl` each file
//! as a pipe, so that no key is ever written to a disk for it. Every word of such a line is escaped.

mod certificates;
mod der;
mod keys;
mod revocation_list;

pub(super) use certificates::{Certificate, Request};
pub(super) use keys::{Dhparam, PrivateKey, PublicKey};
pub(super) use revocation_list::RevocationList;

use super::{Machine, child, with};
use crate::resources::asked;
use contract::{CommandLine, CommandTest, Composition, Declaration, ErrorKind, Raised, Wanted};
use errors::FileCall;
use machine::command::{Answer, require_success};
use machine::root::Fault;
use rustix::io::Errno;
use schema::types::openssl::KeyFileProperties;
use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};

/// The variable in which a command finds the password of the key that it opens or locks.
const PASSWORD: &str = "WRUN_PASSWORD";

/// The option that has `openssl` read the password from its environment.
const BY_PASSWORD: [&str; 2] = ["-passin", "env:WRUN_PASSWORD"];

/// Stands for a key or another text that a dry run does not make. It is not empty, so that grants see an input.
const NOT_MADE: &str = "-";

/// The seconds of a day.
const DAY: i64 = 86_400;

/// A kind of private key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A pair of keys of Rivest, Shamir and Adleman.
    Rsa,
    /// A key on an elliptic curve.
    Ec,
}

/// A word of a line for the shell.
#[derive(Debug, Clone, Copy)]
enum Word<'w> {
    /// A word as it is.
    Text(&'w str),
    /// A file whose text is in the variable of this name.
    File(&'static str),
}

/// An action whose text cannot be known in a dry run is one that the dry run does not know.
fn known(composed: Result<Composition, Raised>) -> Result<Composition, Raised> {
    match composed {
        Err(raised) if raised.kind == ErrorKind::Unknown => {
            Ok(Composition { unknown: Some(raised.message), ..Composition::default() })
        }
        composed => composed,
    }
}

/// A command of `openssl` with its input, which may be empty.
fn openssl(words: &[&str], input: Option<&str>) -> CommandTest {
    let words = ["openssl"].iter().chain(words).map(|word| (*word).to_owned()).collect();
    CommandTest {
        line: CommandLine::Arguments(words),
        input: input.map(|text| text.as_bytes().to_vec()),
        ..CommandTest::text("")
    }
}

/// The same command, which finds a password in its environment.
fn opened_by(command: CommandTest, password: Option<&str>) -> CommandTest {
    CommandTest { environment: vec![(PASSWORD.to_owned(), password.unwrap_or_default().to_owned())], ..command }
}

/// A command of `openssl` that reads files which are there for it alone.
fn with_files(words: &[Word<'_>], files: &[(&str, &str)]) -> CommandTest {
    let word = |word: &Word<'_>| match word {
        Word::Text(text) => escaped(text),
        Word::File(name) => format!("<(printf '%s' \"${name}\")"),
    };
    let line = words.iter().map(word).collect::<Vec<_>>().join(" ");
    let words = ["bash".to_owned(), "-c".to_owned(), format!("exec openssl {line}")];
    let environment = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    CommandTest { line: CommandLine::Arguments(words.into()), environment, ..CommandTest::text("") }
}

/// Returns a word that a shell reads as this text, as Ruby's `Shellwords` writes it.
fn escaped(text: &str) -> String {
    if text.is_empty() {
        return "''".to_owned();
    }
    let mut word = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '\n' => word.push_str("'\n'"),
            plain if plain.is_ascii_alphanumeric() || "_-.,:+/@".contains(plain) => word.push(plain),
            other => word.extend(['\\', other]),
        }
    }
    word
}

/// Returns the bytes that a command prints. A dry run asks it too; a survey asks for its grant alone, and gets none.
fn printed(machine: &mut Machine<'_, '_>, command: &CommandTest) -> Result<Vec<u8>, Raised> {
    if machine.is_survey {
        machine.may_run(command)?;
        return Ok(NOT_MADE.into());
    }
    let (launch, answer) = machine.run(command)?;
    match answer {
        Answer::Ended(mut outcome) => {
            // What it prints may be a key, which no error shows.
            let output = std::mem::take(&mut outcome.output);
            require_success(&launch, &outcome, &[0])?;
            Ok(output)
        }
        Answer::Unknown(why) => Err(Raised::new(ErrorKind::Unknown, why)),
    }
}

/// Returns the text that a command prints which is run in real runs alone. A dry run asks for its grant.
fn made(machine: &mut Machine<'_, '_>, command: &CommandTest) -> Result<String, Raised> {
    if machine.view.why_run {
        machine.may_run(command)?;
        return Ok(NOT_MADE.to_owned());
    }
    printed(machine, command).map(|output| String::from_utf8_lossy(&output).into_owned())
}

/// Tells whether a command ends as it does if all is well. A survey asks for its grant alone, and is told no.
///
/// # Errors
/// It is not granted; or [`ErrorKind::Unknown`]: a dry run cannot ask it.
fn succeeds(machine: &mut Machine<'_, '_>, command: &CommandTest) -> Result<bool, Raised> {
    if machine.is_survey {
        machine.may_run(command)?;
        return Ok(false);
    }
    match machine.run(command)?.1 {
        Answer::Ended(outcome) => Ok(outcome.code == Some(0)),
        Answer::Unknown(why) => Err(Raised::new(ErrorKind::Unknown, why)),
    }
}

/// Returns the text of a file that must be there. A dry run takes an absent one for one that an earlier resource makes.
fn required_text(machine: &Machine<'_, '_>, path: &str) -> Result<String, Raised> {
    match machine.readable_text(path)? {
        Some(text) => Ok(text),
        None if machine.view.why_run => Ok(NOT_MADE.to_owned()),
        None => Err(Fault::new(Errno::NOENT, FileCall::Open, path).into()),
    }
}

/// Tells whether something is at a path that the policy may read.
fn is_there(machine: &Machine<'_, '_>, path: &str) -> Result<bool, Raised> {
    Ok(!machine.is_survey && machine.readable_text(path)?.is_some())
}

/// Tells whether a text is a private key that a password opens. Where a dry run cannot ask, it is taken for one.
fn is_private_key(machine: &mut Machine<'_, '_>, text: &str, password: Option<&str>) -> Result<bool, Raised> {
    if !machine.is_survey && !text.contains("PRIVATE KEY-----") {
        return Ok(false);
    }
    let command = opened_by(openssl(&["pkey", "-noout", BY_PASSWORD[0], BY_PASSWORD[1]], Some(text)), password);
    match succeeds(machine, &command) {
        Err(raised) if raised.kind == ErrorKind::Unknown => Ok(true),
        known => known,
    }
}

/// Returns the text of a new RSA key, locked by a password if there is one.
fn new_rsa_key(machine: &mut Machine<'_, '_>, bits: i64, locked: Option<(&str, &str)>) -> Result<String, Raised> {
    let text = made(machine, &openssl(&["genrsa", "-traditional", &bits.to_string()], None))?;
    let Some((password, cipher)) = locked else { return Ok(text) };
    let words = ["rsa", "-traditional", &format!("-{cipher}"), "-passout", "env:WRUN_PASSWORD"];
    made(machine, &opened_by(openssl(&words, Some(&text)), Some(password)))
}

/// Returns the text of a new key on a curve, locked by a password if there is one.
fn new_ec_key(machine: &mut Machine<'_, '_>, curve: &str, locked: Option<(&str, &str)>) -> Result<String, Raised> {
    let text = made(machine, &openssl(&["ecparam", "-name", curve, "-genkey", "-noout"], None))?;
    let Some((password, cipher)) = locked else { return Ok(text) };
    let words = ["ec", &format!("-{cipher}"), "-passout", "env:WRUN_PASSWORD"];
    made(machine, &opened_by(openssl(&words, Some(&text)), Some(password)))
}

/// Declares a file with the resource's owner and mode. A dry run has no text for it.
fn own_file(wanted: &Wanted<'_>, place: &str, action: &str, text: Option<String>) -> Result<Declaration, Raised> {
    let KeyFileProperties { path: _, owner, group, mode } = asked::properties(wanted)?;
    let given = [("owner", owner), ("group", group), ("mode", mode), ("content", text.map(|text| json!(text)))];
    let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
    Ok(given.fold(child("file", place, action, []), |file, (name, value)| with(file, name, value)))
}

/// The same file, whose text is shown nowhere.
fn secret(file: Declaration) -> Declaration {
    Declaration { sensitive: true, ..file }
}

/// Returns the time in seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    i64::try_from(since).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_means_itself_to_a_shell() {
        let check = |text, expected| assert_eq!(escaped(text), expected, "{text:?}");
        check("", "''");
        check("env:WRUN_PASSWORD", "env:WRUN_PASSWORD");
        check("/C=DE/CN=a b", "/C\\=DE/CN\\=a\\ b");
        check("$(id);'\"`<(x)", "\\$\\(id\\)\\;\\'\\\"\\`\\<\\(x\\)");
        check("a\nb", "a'\n'b");
        check("ä*", "\\ä\\*");
    }

    #[test]
    fn a_file_is_named_by_its_variable_and_its_text_is_in_no_word() {
        let words = [Word::Text("req"), Word::Text("<(id)"), Word::File("WRUN_KEY")];
        let CommandTest { line, environment, .. } = with_files(&words, &[("WRUN_KEY", "SECRET")]);
        let line = match line {
            CommandLine::Arguments(words) => words,
            CommandLine::Text(line) => panic!("{line}"),
        };
        assert_eq!(line, ["bash", "-c", "exec openssl req \\<\\(id\\) <(printf '%s' \"$WRUN_KEY\")"]);
        assert_eq!(environment, [("WRUN_KEY".to_owned(), "SECRET".to_owned())]);
    }
}
