//! The launcher's reply to wrun: one line, sent before any output of the program, or in its place if the program does not
//! run.

use serde::{Deserialize, Serialize};

/// A reply of the launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// The view is ready, and the launcher waits to be traced.
    Ready,
    /// The confinement failed, with the reason.
    Impossible(String),
    /// The launcher cannot enter the directory; the number of the error (`errno`).
    NoDirectory(i32),
    /// The launcher cannot start the program; the number of the error (`errno`).
    NotStarted(i32),
}

impl Reply {
    pub(super) fn to_line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }

    pub(super) fn of_line(line: &[u8]) -> Self {
        let broken = |_| Self::Impossible(format!("it says `{}`", String::from_utf8_lossy(line).escape_debug()));
        serde_json::from_slice(line).unwrap_or_else(broken)
    }
}
