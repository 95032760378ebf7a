//! What the run is doing right now: for the status line, and for whoever interrupts the run and wants to know what it
//! still waits for.

use crate::terminal;
use contract::{Event, Observer};
use std::sync::{Arc, Mutex, PoisonError};
use text::escape_line;

/// The running actions. Copies share them.
#[derive(Clone, Default)]
pub(crate) struct Activity {
    running: Arc<Mutex<Running>>,
    /// It is shown in the status line.
    shown: bool,
}

#[derive(Default)]
struct Running {
    /// The policy and what it does beside actions.
    phase: Option<String>,
    /// The actions that have begun and not ended, outermost first, as `package[nginx] install`.
    actions: Vec<String>,
}

impl Activity {
    /// An activity that the status line shows too.
    pub(crate) fn shown() -> Self {
        Self { shown: true, ..Self::default() }
    }

    /// The innermost action that has begun and not ended, as `package[nginx] install`, escaped.
    pub(crate) fn action(&self) -> Option<String> {
        self.running().actions.last().cloned()
    }

    fn running(&self) -> std::sync::MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Running)) {
        let mut running = self.running();
        change(&mut running);
        let text = running.actions.last().or(running.phase.as_ref()).cloned();
        drop(running);
        if self.shown {
            terminal::status(text.unwrap_or_default());
        }
    }
}

impl Observer for Activity {
    fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::RunStarted { .. } if self.shown => terminal::show_status(),
            Event::PolicyStarted { policy, .. } => {
                let phase = escape_line(&format!("policy {policy}"));
                self.change(|running| *running = Running { phase: Some(phase), actions: vec![] });
            }
            Event::RecipeStarted { recipe } => {
                let phase = escape_line(&format!("recipe {recipe}"));
                self.change(|running| running.phase = Some(phase));
            }
            Event::ActionStarted { resource, action, .. } => {
                let action = escape_line(&format!("{} {action}", resource.key));
                self.change(|running| running.actions.push(action));
            }
            Event::ActionFinished { .. } => self.change(|running| drop(running.actions.pop())),
            Event::RunFinished { .. } => terminal::hide_status(),
            _ => {}
        }
    }
}
