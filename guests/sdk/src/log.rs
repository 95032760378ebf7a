//! The run's log.

use crate::bindings::wrun::cookbook::output::{self, Level};

/// For whoever looks for a fault in the cookbook.
pub fn debug(line: &str) {
    output::log(Level::Debug, line.as_bytes());
}

/// What happens.
pub fn info(line: &str) {
    output::log(Level::Info, line.as_bytes());
}

/// What someone should look at.
pub fn warn(line: &str) {
    output::log(Level::Warn, line.as_bytes());
}

/// What went wrong.
pub fn error(line: &str) {
    output::log(Level::Error, line.as_bytes());
}

/// What ended the policy. A panic is reported so.
pub(crate) fn fatal(line: &str) {
    output::log(Level::Fatal, line.as_bytes());
}
