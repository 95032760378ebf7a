//! The current activity of a run. The status line shows it, and so does the message after an interruption, which says what
//! the run still waits for.

use crate::terminal;
use assemble::DueNotifications;
use contract::{Event, Observer};
use report::due::DueNotification;
use std::sync::{Arc, Mutex, PoisonError};
use text::escape_line;

/// The running actions. Copies share them.
#[derive(Clone, Default)]
pub(crate) struct Activity {
    running: Arc<Mutex<Running>>,
    /// Whether the status line shows the activity.
    shown: bool,
}

#[derive(Default)]
struct Running {
    /// The policy and its current work outside actions.
    phase: Option<String>,
    /// The running actions, outermost first.
    actions: Vec<Action>,
    /// The notifications that are due, in the order in which they became due.
    due: Vec<DueNotification>,
}

/// A running action. Its text is made only when it is displayed, since most actions end before that.
struct Action {
    /// `type[name]`, as the guest wrote it.
    resource: Arc<str>,
    action: String,
}

impl Action {
    /// Returns `package[nginx] install`, escaped.
    fn shown(&self) -> String {
        escape_line(&format!("{} {}", self.resource, self.action))
    }
}

impl Activity {
    /// Returns an activity that the status line also shows.
    pub(crate) fn shown() -> Self {
        Self { shown: true, ..Self::default() }
    }

    /// Returns the innermost running action, such as `package[nginx] install`, escaped.
    pub(crate) fn action(&self) -> Option<String> {
        self.running().actions.last().map(Action::shown)
    }

    /// Returns the due notifications that have not run yet.
    pub(crate) fn all_due(&self) -> Vec<DueNotification> {
        self.running().due.clone()
    }

    fn running(&self) -> std::sync::MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Running)) {
        let mut running = self.running();
        change(&mut running);
        if !self.shown {
            return;
        }
        let text = running.actions.last().map(Action::shown).or_else(|| running.phase.clone());
        drop(running);
        terminal::status(text.unwrap_or_default());
    }
}

impl DueNotifications for Activity {
    fn due(&self, policy: &str, receiver: &str, action: &str) {
        let due = DueNotification::new(policy, receiver, action);
        let mut running = self.running();
        if !running.due.contains(&due) {
            running.due.push(due);
        }
    }

    fn done(&self, policy: &str, receiver: &str, action: &str) {
        let done = DueNotification::new(policy, receiver, action);
        self.running().due.retain(|due| *due != done);
    }
}

impl Observer for Activity {
    fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::RunStarted { .. } if self.shown => terminal::show_status(),
            Event::PolicyStarted { policy, .. } => {
                let phase = escape_line(&format!("policy {policy}"));
                self.change(|running| {
                    running.phase = Some(phase);
                    running.actions.clear();
                });
            }
            Event::RecipeStarted { recipe } => {
                let phase = escape_line(&format!("recipe {recipe}"));
                self.change(|running| running.phase = Some(phase));
            }
            Event::ActionStarted { resource, action, .. } => {
                let action = Action { resource: Arc::clone(&resource.key), action: (*action).to_owned() };
                self.change(|running| running.actions.push(action));
            }
            Event::ActionFinished { .. } => self.change(|running| drop(running.actions.pop())),
            Event::RunFinished { .. } => terminal::hide_status(),
            _ => {}
        }
    }
}
