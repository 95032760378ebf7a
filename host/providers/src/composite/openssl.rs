//! The `openssl_*` types: files with keys, certificates and revocation lists, which the machine's `openssl` creates.
//!
//! The content of a new file comes from commands that print it and change nothing. Each command needs its own grant. Real
//! runs run the commands while the action is composed. Dry runs only check the grants. Keys and passwords go to a command
//! through its environment and its input, where no other user of the machine sees them.
//!
//! Calls that read several files sign something: their keys and texts differ each time, so that no grant for them would be
//! both narrow and lasting. They need no grant. wrun chooses their words, and confines them: they read files that only they
//! see, write nothing, and reach no network. What is signed with is a key that the policy may read.

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
use machine::command::{Answer, Launch, PLACED, require_success};
use machine::root::Fault;
use rustix::io::Errno;
use schema::types::openssl::KeyFileProperties;
use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};

/// The environment variable with the password of the key that a command reads or encrypts.
const PASSWORD: &str = "WRUN_PASSWORD";

/// The option that makes `openssl` read the password from its environment.
const BY_PASSWORD: [&str; 2] = ["-passin", "env:WRUN_PASSWORD"];

/// A placeholder for a key or another text that a dry run does not create. It is not empty, so that the grant check sees an
/// input.
const NOT_MADE: &str = "-";

/// The number of seconds in a day.
const DAY: i64 = 86_400;

/// A kind of private key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A key for the algorithm RSA.
    Rsa,
    /// An elliptic curve key.
    Ec,
}

/// Turns the error for an unknown text into a composition with an unknown result, for a dry run.
fn known(composed: Result<Composition, Raised>) -> Result<Composition, Raised> {
    match composed {
        Err(raised) if raised.kind == ErrorKind::Unknown => {
            Ok(Composition { unknown: Some(raised.message), ..Composition::default() })
        }
        composed => composed,
    }
}

/// Builds a command of `openssl` with its input, which may be empty.
fn openssl(words: &[&str], input: Option<&str>) -> CommandTest {
    let words = ["openssl"].iter().chain(words).map(|word| (*word).to_owned()).collect();
    CommandTest {
        line: CommandLine::Arguments(words),
        input: input.map(|text| text.as_bytes().to_vec()),
        ..CommandTest::text("")
    }
}

/// Adds a password to the environment of a command.
fn opened_by(command: CommandTest, password: Option<&str>) -> CommandTest {
    CommandTest { environment: vec![(PASSWORD.to_owned(), password.unwrap_or_default().to_owned())], ..command }
}

/// The path of a file that exists only for one call, by the name of its content.
fn private(name: &str) -> String {
    format!("{PLACED}/{name}")
}

/// Builds a call of `openssl` that reads files which exist only for it; see [`private`].
fn with_files(words: &[&str], files: &[(&str, &str)], password: Option<&str>) -> Launch {
    let launch = Launch::program("openssl", words.iter().copied()).environment(PASSWORD, password.unwrap_or_default());
    files.iter().fold(launch, |launch, (name, text)| launch.placed(name, text.as_bytes().to_vec())).shown_as_words()
}

/// Returns the bytes that a call of wrun's own prints. It runs confined, in a dry run too. A survey or a question returns a
/// placeholder.
///
/// # Errors
/// The call fails; or it cannot be confined, which in a dry run is [`ErrorKind::Unknown`].
fn computed(machine: &mut Machine<'_, '_>, launch: &Launch) -> Result<Vec<u8>, Raised> {
    if machine.is_survey || machine.is_question {
        return Ok(NOT_MADE.into());
    }
    match machine.view.ask(launch) {
        Answer::Ended(mut outcome) => {
            let output = std::mem::take(&mut outcome.output);
            require_success(launch, &outcome, &[0])?;
            Ok(output)
        }
        Answer::Unknown(why) if machine.view.why_run => Err(Raised::new(ErrorKind::Unknown, why)),
        Answer::Unknown(why) => {
            Err(Raised::new(ErrorKind::Failed, format!("{} cannot be run confined: {why}", launch.shown())))
        }
    }
}

/// Returns the text that a call of wrun's own prints. A dry run returns a placeholder.
fn computed_text(machine: &mut Machine<'_, '_>, launch: &Launch) -> Result<String, Raised> {
    if machine.view.why_run {
        return Ok(NOT_MADE.to_owned());
    }
    computed(machine, launch).map(|output| String::from_utf8_lossy(&output).into_owned())
}

/// Returns the bytes that a command prints. A dry run runs it too. A survey or a question only checks its grant and returns a
/// placeholder.
fn printed(machine: &mut Machine<'_, '_>, command: &CommandTest) -> Result<Vec<u8>, Raised> {
    if machine.is_survey || machine.is_question {
        machine.may_run(command)?;
        return Ok(NOT_MADE.into());
    }
    let (launch, answer) = machine.run(command)?;
    match answer {
        Answer::Ended(mut outcome) => {
            // The output may be a key, so no error message contains it.
            let output = std::mem::take(&mut outcome.output);
            require_success(&launch, &outcome, &[0])?;
            Ok(output)
        }
        Answer::Unknown(why) => Err(Raised::new(ErrorKind::Unknown, why)),
    }
}

/// Returns the text that a command prints. A dry run only checks its grant and returns a placeholder.
fn made(machine: &mut Machine<'_, '_>, command: &CommandTest) -> Result<String, Raised> {
    if machine.view.why_run {
        machine.may_run(command)?;
        return Ok(NOT_MADE.to_owned());
    }
    printed(machine, command).map(|output| String::from_utf8_lossy(&output).into_owned())
}

/// Tells whether a command succeeds. A survey or a question only checks its grant and returns false.
///
/// # Errors
/// The command is not granted; or [`ErrorKind::Unknown`]: a dry run cannot run it.
fn succeeds(machine: &mut Machine<'_, '_>, command: &CommandTest) -> Result<bool, Raised> {
    if machine.is_survey || machine.is_question {
        machine.may_run(command)?;
        return Ok(false);
    }
    match machine.run(command)?.1 {
        Answer::Ended(outcome) => Ok(outcome.code == Some(0)),
        Answer::Unknown(why) => Err(Raised::new(ErrorKind::Unknown, why)),
    }
}

/// Returns the text of a file that must exist. In a dry run, an earlier resource may create an absent one, so a placeholder
/// is returned.
fn required_text(machine: &Machine<'_, '_>, path: &str) -> Result<String, Raised> {
    match machine.readable_text(path)? {
        Some(text) => Ok(text),
        None if machine.view.why_run => Ok(NOT_MADE.to_owned()),
        None => Err(Fault::new(Errno::NOENT, FileCall::Open, path).into()),
    }
}

/// Tells whether a file exists that the policy may read.
fn is_there(machine: &Machine<'_, '_>, path: &str) -> Result<bool, Raised> {
    Ok(!machine.is_survey && machine.readable_text(path)?.is_some())
}

/// Tells whether a text is a private key that the password opens. If a dry run cannot find out, the result is true.
fn is_private_key(machine: &mut Machine<'_, '_>, text: &str, password: Option<&str>) -> Result<bool, Raised> {
    let is_key = text.contains("PRIVATE KEY-----");
    if !machine.is_survey && !machine.is_question && !is_key {
        return Ok(false);
    }
    let command = opened_by(openssl(&["pkey", "-noout", BY_PASSWORD[0], BY_PASSWORD[1]], Some(text)), password);
    match succeeds(machine, &command) {
        Err(raised) if raised.kind == ErrorKind::Unknown => Ok(true),
        Ok(_) if machine.is_question => Ok(is_key),
        known => known,
    }
}

/// Returns the text of a new RSA key, encrypted if there is a password.
fn new_rsa_key(machine: &mut Machine<'_, '_>, bits: i64, locked: Option<(&str, &str)>) -> Result<String, Raised> {
    let text = made(machine, &openssl(&["genrsa", "-traditional", &bits.to_string()], None))?;
    let Some((password, cipher)) = locked else { return Ok(text) };
    let words = ["rsa", "-traditional", &format!("-{cipher}"), "-passout", "env:WRUN_PASSWORD"];
    made(machine, &opened_by(openssl(&words, Some(&text)), Some(password)))
}

/// Returns the text of a new elliptic curve key, encrypted if there is a password.
fn new_ec_key(machine: &mut Machine<'_, '_>, curve: &str, locked: Option<(&str, &str)>) -> Result<String, Raised> {
    let text = made(machine, &openssl(&["ecparam", "-name", curve, "-genkey", "-noout"], None))?;
    let Some((password, cipher)) = locked else { return Ok(text) };
    let words = ["ec", &format!("-{cipher}"), "-passout", "env:WRUN_PASSWORD"];
    made(machine, &opened_by(openssl(&words, Some(&text)), Some(password)))
}

/// Declares a file with the resource's owner, group and mode. In a dry run it has no content.
fn own_file(wanted: &Wanted<'_>, place: &str, action: &str, text: Option<String>) -> Result<Declaration, Raised> {
    let KeyFileProperties { path: _, owner, group, mode } = asked::properties(wanted)?;
    let given = [("owner", owner), ("group", group), ("mode", mode), ("content", text.map(|text| json!(text)))];
    let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
    Ok(given.fold(child("file", place, action, []), |file, (name, value)| with(file, name, value)))
}

/// Marks a file as sensitive, so that its content is never shown.
fn secret(file: Declaration) -> Declaration {
    Declaration { sensitive: true, ..file }
}

/// Returns the time in seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    i64::try_from(since).unwrap_or(i64::MAX)
}
