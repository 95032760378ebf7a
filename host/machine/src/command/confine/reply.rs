//! What the launcher says to wrun: one line, before the program writes anything, or in place of what a program would write that is not run.

use serde::{Deserialize, Serialize};

/// What the launcher says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// All is made; it waits to be traced.
    Ready,
    /// The confinement cannot be made, and why.
    Impossible(String),
    /// The directory cannot be entered; the error's number.
    NoDirectory(i32),
    /// The program cannot be started; the error's number.
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
