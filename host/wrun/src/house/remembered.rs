//! The memory of due notifications, which whoever interrupts the run can read too.

use crate::activity::{Activity, DueNotification};
use contract::Memory;
use state::{Pending, StateError};

/// The journal of due notifications. What it holds of this run's policies is also in the run's activity.
pub(crate) struct Remembered {
    journal: Pending,
    activity: Activity,
}

impl Remembered {
    pub(crate) fn new(journal: Pending, activity: Activity) -> Self {
        Self { journal, activity }
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
        self.activity.add_due(DueNotification::new(policy, receiver, action));
        Ok(())
    }

    fn done(&mut self, policy: &str, receiver: &str, action: &str) {
        self.journal.done(policy, receiver, action);
        self.activity.remove_due(&DueNotification::new(policy, receiver, action));
    }

    fn left(&mut self, policy: &str) -> Vec<(String, String)> {
        let left = self.journal.left(policy);
        for (receiver, action) in &left {
            self.activity.add_due(DueNotification::new(policy, receiver, action));
        }
        left
    }

    fn since(&self, policy: &str, receiver: &str, action: &str) -> Option<String> {
        self.journal.since(policy, receiver, action)
    }
}
