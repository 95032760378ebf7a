//! Replaces the machine in the test of a policy, so that the test has the same result on every machine and does not change
//! any.

use crate::error::AssembleError;
use crate::request::Request;
use crate::settings::Settings;
use artifact::Artifact;
use machine::command::Answers;
use providers::Contents;
use sandbox::Sandbox;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The replacement for the machine in a test. A run with it is a dry run below a root of its own, with given facts. It does
/// not start programs or open connections.
#[derive(Clone)]
pub struct StandIn {
    /// The answers of programs, which are not started.
    pub answers: Answers,
    /// Collects the content that each file would get, before the content is compared with the existing file.
    pub contents: Arc<Contents>,
    /// The artifact and the code that earlier tests of the same policy have read and compiled.
    pub prepared: Arc<PreparedPolicy>,
}

/// A policy's artifact and its compiled code: the same for all tests of one build.
#[derive(Default)]
pub struct PreparedPolicy {
    artifact: OnceLock<Artifact>,
    sandbox: OnceLock<Arc<Sandbox>>,
}

impl PreparedPolicy {
    /// Returns the artifact of a policy, which is read the first time.
    ///
    /// # Errors
    /// Those of reading it.
    pub(crate) fn artifact<E>(&self, read: impl FnOnce() -> Result<Artifact, E>) -> Result<Artifact, E> {
        match self.artifact.get() {
            Some(artifact) => Ok(artifact.clone()),
            None => read().map(|artifact| self.artifact.get_or_init(|| artifact).clone()),
        }
    }

    /// Returns the sandbox that has the policy's code, which is made the first time.
    ///
    /// # Errors
    /// Those of making it.
    pub(crate) fn sandbox<E>(&self, make: impl FnOnce() -> Result<Arc<Sandbox>, E>) -> Result<Arc<Sandbox>, E> {
        match self.sandbox.get() {
            Some(sandbox) => Ok(Arc::clone(sandbox)),
            None => make().map(|sandbox| Arc::clone(self.sandbox.get_or_init(|| sandbox))),
        }
    }

    /// Returns the time that was spent on compiling native code until now.
    pub(crate) fn compile_time(&self) -> Duration {
        self.sandbox.get().map_or(Duration::ZERO, |sandbox| sandbox.compile_time())
    }
}

impl std::fmt::Debug for PreparedPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PreparedPolicy")
    }
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
