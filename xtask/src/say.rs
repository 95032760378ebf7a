//! What the chores tell: one line per step on standard error, results on standard output.

use std::io::Write as _;

/// Says one line on standard error. A reader who went away is not a reason to stop.
pub(crate) fn line(text: &str) {
    let _ignored = writeln!(std::io::stderr(), "{text}");
}

/// Prints one line of a result on standard output.
pub(crate) fn result(text: &str) {
    let _ignored = writeln!(std::io::stdout(), "{text}");
}
