//! The output of the tasks: one line per step on standard error, and results on standard output.

use std::io::Write as _;

/// Prints one line on standard error. Errors are ignored, since a closed stream is no reason to stop.
pub(crate) fn line(text: &str) {
    let _ignored = writeln!(std::io::stderr(), "{text}");
}

/// Prints one line of a result on standard output.
pub(crate) fn result(text: &str) {
    let _ignored = writeln!(std::io::stdout(), "{text}");
}
