//! Words that several reports have.

use contract::Tally;
use node::origin::Origin;

/// What a dry run says at its end: `3 would change, 2 unknown, 1 would fail (of 12)`.
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

/// The count of what guest code changed by itself, for the end of a run; empty if that is nothing.
pub fn by_code(writes: usize) -> String {
    match writes {
        0 => String::new(),
        1 => ", 1 change by the cookbooks' own code".to_owned(),
        writes => format!(", {writes} changes by the cookbooks' own code"),
    }
}

/// A place as people read it: `cookbook/file:line`, without a file the recipe.
pub fn place(origin: &Origin) -> Option<String> {
    let cookbook = origin.cookbook.as_deref()?;
    match (&origin.file, origin.line, &origin.recipe) {
        (Some(file), Some(line), _) => Some(format!("{cookbook}/{file}:{line}")),
        (_, _, recipe) => recipe.as_ref().map(|recipe| format!("{cookbook}::{recipe}")),
    }
}
