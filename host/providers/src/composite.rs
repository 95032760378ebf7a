//! Composite types, one file each: their actions are made of other resources.
//!
//! A composite reads its properties and returns declarations, which the runner converges as children of the action. Each child
//! needs its own grants, is reported by itself, and is planned in a dry run like any other resource.
//!
//! Names and values from the guest end up in paths, in arguments of commands and in lines of files. Each composite checks them
//! for its own case, with [`one_line`] and [`file_name`]. Commands are lists of arguments, never texts for a shell.

mod apt_preference;
mod hostname;
mod sudo;
mod sysctl;
mod timezone;
mod user_ulimit;

use crate::plan::View;
use contract::{CommandLine, CommandTest, Composition, Declaration, Property, Raised, Timing, Wanted, Wish};
use machine::command::Launch;
use serde_json::{Value, json};
use std::io::Read as _;

/// Maximum size in bytes of a file of the machine that a composite reads.
const MAXIMUM_FILE: u64 = 1 << 20;

/// A type whose actions are made of other resources.
pub(crate) trait Composite: Sync {
    /// Returns what an action is made of. Never changes anything.
    ///
    /// # Errors
    /// The properties are invalid, or the machine cannot be read.
    fn compose(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Composition, Raised>;
}

/// Returns the composite of a type, or `None` if the type has a provider of its own.
pub(crate) fn find(kind: &str) -> Option<&'static dyn Composite> {
    Some(match kind {
        "apt_preference" => &apt_preference::AptPreference,
        "hostname" => &hostname::Hostname,
        "sudo" => &sudo::Sudo,
        "sysctl" => &sysctl::Sysctl,
        "timezone" => &timezone::Timezone,
        "user_ulimit" => &user_ulimit::UserUlimit,
        _ => return None,
    })
}

/// An action that is no more than its children.
fn children(children: Vec<Declaration>) -> Composition {
    Composition { changes: vec![], children }
}

/// Declares a child with its type, name, action and properties.
fn child<const N: usize>(kind: &str, name: &str, action: &str, properties: [(&str, Value); N]) -> Declaration {
    Declaration {
        kind: kind.to_owned(),
        name: name.to_owned(),
        actions: vec![action.to_owned()],
        properties: properties.map(|(name, value)| (name.to_owned(), Property::Plain(value))).into(),
        ..Declaration::default()
    }
}

/// Declares a command by its program and arguments.
fn command(name: &str, action: &str, words: &[&str]) -> Declaration {
    child("execute", name, action, [("command", json!(words))])
}

/// The same child, which notifies another one when it changes.
fn notifying(child: Declaration, timing: Timing, receiver: &str, action: &str) -> Declaration {
    let other = contract::ResourceRef::Key(receiver.to_owned());
    let wish = Wish { action: action.to_owned(), other, timing, subscribes: false };
    Declaration { notifications: vec![wish], ..child }
}

/// Fails if a policy is not granted a command, by program and arguments.
fn granted(words: &[&str], view: &View<'_>) -> Result<(), Raised> {
    let line = CommandLine::Arguments(words.iter().map(|word| (*word).to_owned()).collect());
    view.command(&CommandTest { line, ..CommandTest::text("") }).map(drop)
}

/// Returns what a program of the host's own choosing prints, or `None` if it cannot be asked. Arguments from a guest must not be
/// able to become options.
fn printed(program: &str, arguments: &[&str], view: &mut View<'_>) -> Option<String> {
    let outcome = view.query(&Launch::program(program, arguments.iter().copied())).ok()?;
    (outcome.code == Some(0)).then(|| String::from_utf8_lossy(&outcome.output).into_owned())
}

/// Tells whether something is at a path that is the same on all machines, which is no secret.
fn exists(path: &'static str, view: &View<'_>) -> bool {
    view.root.target_entry(path).is_ok_and(|entry| entry.is_some())
}

/// Returns the text of a file that the policy may read, all links followed, or `None` if the file is absent.
///
/// # Errors
/// The policy may not read it; it is not a file; it is larger than [`MAXIMUM_FILE`].
fn readable_text(path: &str, view: &View<'_>) -> Result<Option<String>, Raised> {
    let Some((place, _)) = view.readable(path)? else { return Ok(None) };
    let (file, entry) = place.open_file()?;
    if entry.size > MAXIMUM_FILE {
        return Err(invalid(format!("{path} is larger than {MAXIMUM_FILE} bytes")));
    }
    let mut content = Vec::new();
    let read = std::fs::File::from(file).take(MAXIMUM_FILE).read_to_end(&mut content);
    read.map_err(|error| Raised::new("IOError", format!("{path}: {error}")))?;
    Ok(Some(String::from_utf8_lossy(&content).into_owned()))
}

/// As [`readable_text`]; what the policy may not see counts as absent.
fn seen_text(path: &str, view: &View<'_>) -> Option<String> {
    match view.seen_target(path) {
        Some(Ok(Some(_))) => readable_text(path, view).ok().flatten(),
        _ => None,
    }
}

/// Checks a text that becomes part of a line of a file.
///
/// # Errors
/// It has a line end or another control character.
fn one_line<'t>(property: &str, text: &'t str) -> Result<&'t str, Raised> {
    match text.chars().any(char::is_control) {
        true => Err(invalid(format!("{property} must not contain control characters"))),
        false => Ok(text),
    }
}

/// Checks the name of a file in a folder.
///
/// # Errors
/// It is empty, `.` or `..`, or has a slash or a control character.
fn file_name<'t>(property: &str, name: &'t str) -> Result<&'t str, Raised> {
    match name.is_empty() || name == "." || name == ".." || name.contains('/') {
        true => Err(invalid(format!("{property} {name:?} is not the name of a file"))),
        false => one_line(property, name),
    }
}

fn invalid(message: impl Into<String>) -> Raised {
    Raised::new("Chef::Exceptions::ValidationFailed", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_composite_of_the_schema_is_here_and_has_no_provider() {
        for resource in schema::builtin() {
            let is_composite = schema::is_composite(resource.name);
            assert_eq!(find(resource.name).is_some(), is_composite, "{}", resource.name);
            assert!(!(is_composite && crate::resources::provider(resource.name).is_some()), "{}", resource.name);
        }
    }

    #[test]
    fn names_of_files_stay_in_their_folder() {
        for name in ["", ".", "..", "a/b", "../x", "a\nb", "a\0"] {
            assert!(file_name("filename", name).is_err(), "{name:?}");
        }
        assert_eq!(file_name("filename", "..ops").unwrap(), "..ops");
    }
}
