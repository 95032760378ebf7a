//! The journal of due notifications, with a listener for each change.

use contract::Memory;
use state::{Pending, StateError};

/// A listener for due notifications. It can tell which ones an interrupted run leaves.
pub trait DueNotifications: Send {
    /// A policy's notification has become due, or was left by an earlier run. The same one may be reported again.
    fn due(&self, policy: &str, receiver: &str, action: &str);
    /// A notification has run.
    fn done(&self, policy: &str, receiver: &str, action: &str);
}

/// The journal of due notifications, and its listener.
pub(crate) struct Remembered {
    journal: Pending,
    follower: Box<dyn DueNotifications>,
}

impl Remembered {
    pub(crate) fn new(journal: Pending, follower: Box<dyn DueNotifications>) -> Self {
        Self { journal, follower }
    }

    /// Ends the run's recording.
    ///
    /// # Errors
    /// Something could not be recorded in the course of the run, or cannot be now.
    pub(crate) fn finish(self) -> Result<(), StateError> {
        self.journal.finish()
    }
}

impl Memory for Remembered {
    fn due(&mut self, policy: &str, receiver: &str, action: &str) -> Result<(), String> {
        self.journal.due(policy, receiver, action)?;
        self.follower.due(policy, receiver, action);
        Ok(())
    }

    fn done(&mut self, policy: &str, receiver: &str, action: &str) {
        self.journal.done(policy, receiver, action);
        self.follower.done(policy, receiver, action);
    }

    fn left(&mut self, policy: &str) -> Vec<(String, String)> {
        let left = self.journal.left(policy);
        for (receiver, action) in &left {
            self.follower.due(policy, receiver, action);
        }
        left
    }

    fn since(&self, policy: &str, receiver: &str, action: &str) -> Option<String> {
        self.journal.since(policy, receiver, action)
    }
}
