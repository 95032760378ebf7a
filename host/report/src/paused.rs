//! The pause of the agent, in the report of a run that was started by hand.

use crate::{Block, Tone};
use serde_json::Value;
use text::escape_line;

/// A pause of the agent during the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Paused {
    /// The pause as an object: `since`, `until`, `because`, `by`.
    pub json: Value,
    /// The pause as a sentence without its subject: `paused until ..`.
    pub sentence: String,
}

/// Returns the line about the pause.
pub fn block(paused: &Paused) -> Block {
    Block::new(Tone::Warning, escape_line(&format!("The agent is {}", paused.sentence)))
}
