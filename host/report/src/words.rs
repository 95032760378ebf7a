//! Phrases that several reports use.

use contract::{CommandEffect, GuestCommand, Tally};
use node::origin::Origin;
use text::escape_line;

/// Returns the summary of a dry run: `3 would change, 2 unknown, 1 would fail (of 12)`.
pub fn would(tally: Tally) -> String {
    let Tally { updated, unknown, failed, total } = tally;
    let mut said = format!("{updated} would change");
    for (count, word) in [(unknown, "unknown"), (failed, "would fail")] {
        if count > 0 {
            said.push_str(&format!(", {count} {word}"));
        }
    }
    format!("{said} (of {total})")
}

/// Sentences that begin with what a resource is doing, as Chef words them, and the verb that follows `would`.
const DOING: [(&str, &str); 15] = [
    ("creating", "create"),
    ("deleting", "delete"),
    ("removing", "remove"),
    ("Removing", "remove"),
    ("Cleaning", "clean"),
    ("enabling", "enable"),
    ("disabling", "disable"),
    ("reenabling", "reenable"),
    ("masking", "mask"),
    ("unmasking", "unmask"),
    ("starting", "start"),
    ("stopping", "stop"),
    ("restarting", "restart"),
    ("reloading", "reload"),
    ("restoring", "restore"),
];

/// Returns the sentence about a change that a dry run would make: `would create unit: web.service`.
pub fn would_do(what: &str) -> String {
    let (first, rest) = what.split_once(' ').unwrap_or((what, ""));
    match DOING.iter().find(|(doing, _)| *doing == first) {
        Some((_, verb)) if !rest.is_empty() => format!("would {verb} {rest}"),
        _ => format!("would {what}"),
    }
}

/// Returns the numbers of changes and commands that guest code made itself, for the end of a run. The text is empty if there
/// are none. In a dry run, `commands` counts those with unknown changes.
pub fn by_code(writes: usize, commands: usize, why_run: bool) -> String {
    let counted = |count: usize, word: &str| match count {
        0 => None,
        1 => Some(format!("1 {word}")),
        count => Some(format!("{count} {word}s")),
    };
    let command = if why_run { "unknown command" } else { "command" };
    let counts: Vec<_> = [counted(writes, "change"), counted(commands, command)].into_iter().flatten().collect();
    if counts.is_empty() { String::new() } else { format!(", {} by the cookbooks' own code", counts.join(" and ")) }
}

/// Returns the line about a command that guest code ran itself.
pub fn ran(command: &GuestCommand) -> String {
    let line = escape_line(&command.command);
    match command.effect {
        CommandEffect::Unknown => format!("would run {line}: not known what it changes"),
        CommandEffect::Ran | CommandEffect::Looked => format!("run {line}"),
    }
}

/// Returns a place as `cookbook/file:line`, or the recipe if the file is unknown.
pub fn place(origin: &Origin) -> Option<String> {
    let cookbook = origin.cookbook.as_deref()?;
    match origin.line.and_then(|_| origin.place()) {
        Some(place) => Some(place),
        None => origin.recipe.as_ref().map(|recipe| format!("{cookbook}::{recipe}")),
    }
}

#[cfg(test)]
mod tests {
    use super::would_do;

    #[test]
    fn a_planned_change_is_told_with_its_verb() {
        assert_eq!(would_do("creating unit: web.service"), "would create unit: web.service");
        assert_eq!(would_do("Removing web repository from /x/"), "would remove web repository from /x/");
        for other in ["create new file /x", "creating", "string the beads"] {
            assert_eq!(would_do(other), format!("would {other}"));
        }
    }
}
