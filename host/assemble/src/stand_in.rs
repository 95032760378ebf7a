//! What stands in for the machine in the test of a policy, so that the test says the same on every machine and changes none.

use crate::error::AssembleError;
use crate::request::Request;
use crate::settings::Settings;
use machine::command::Answers;
use providers::Contents;
use std::path::Path;
use std::sync::Arc;

/// What stands in for the machine. A run with it is dry, below a root of its own, with given facts; it starts no program
/// and opens no connection.
#[derive(Clone)]
pub struct StandIn {
    /// How the programs end that would be started.
    pub answers: Answers,
    /// Hears the content that each file would get, before it is compared with what is there.
    pub contents: Arc<Contents>,
}

impl std::fmt::Debug for StandIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StandIn")
    }
}

/// Checks that a run with a stand-in cannot reach the real machine.
///
/// # Errors
/// It is a real run, below the machine's own root, or without given facts.
pub(crate) fn check(request: &Request, settings: &Settings) -> Result<(), AssembleError> {
    if request.stand_in.is_none() {
        return Ok(());
    }
    let root = settings.root.canonicalize().unwrap_or_else(|_| settings.root.clone());
    if !request.mode.is_dry() || root == Path::new("/") || request.facts.is_none() {
        return Err(AssembleError::StandIn);
    }
    Ok(())
}
