//! Finds things that a command needs and this machine lacks. In a real run an earlier resource must create them.

use crate::plan::{Plan, View};
use contract::Certainty;
use grants::{GrantedCommand, Program};
use machine::command::DEFAULT_PATH;

/// Adds assumptions to the plan of a dry run: that the missing program, directory, user or group would exist.
pub(super) fn assume(plan: &mut Plan, command: &GrantedCommand, is_sensitive: bool, view: &mut View<'_>) {
    let mut assume = |what: String| plan.certainty.push(Certainty::Assumed(format!("assuming {what}")));
    if let Some(program) = program(command).filter(|program| !is_sensitive && is_missing(program, command, view)) {
        assume(format!("the program {program} would have been installed"));
    }
    if let Some(cwd) = command.cwd().filter(|cwd| matches!(view.root.target_entry(cwd), Ok(None))) {
        assume(format!("directory {cwd} would have been created"));
    }
    let is_name = |name: &&str| name.parse::<u32>().is_err();
    if let Some(user) = command.user().filter(is_name).filter(|user| view.users().user(user).is_none()) {
        assume(format!("user {user} would have been created"));
    }
    if let Some(group) = command.group().filter(is_name).filter(|group| view.users().group(group).is_none()) {
        assume(format!("group {group} would have been created"));
    }
}

/// Returns the program that wrun starts itself. For a shell line, the shell looks for programs.
fn program(command: &GrantedCommand) -> Option<&str> {
    match command.program() {
        Program::Arguments(words) => words.first().map(String::as_str),
        Program::Shell(_) => None,
        Program::Script { interpreter, .. } => interpreter.first().map(String::as_str),
    }
}

/// Tells whether a program is missing in all places where it would be looked up. A place that may not be read does not count
/// as missing.
fn is_missing(program: &str, command: &GrantedCommand, view: &View<'_>) -> bool {
    let is_absent = |path: &str| matches!(view.root.target_entry(path), Ok(None));
    let below = |folder: &str| format!("{}/{program}", folder.trim_end_matches('/'));
    match program {
        "" => false,
        path if path.starts_with('/') => is_absent(path),
        path if path.contains('/') => is_absent(&below(command.cwd().unwrap_or("/"))),
        _ => {
            let named = command.environment().iter().find(|(name, _)| name == "PATH");
            let path = named.map_or(DEFAULT_PATH, |(_, path)| path.as_str());
            path.split(':').filter(|folder| folder.starts_with('/')).all(|folder| is_absent(&below(folder)))
        }
    }
}
