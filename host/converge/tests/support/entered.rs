//! The actions that providers really entered, in order: what the notification vectors list.

use contract::{ActionRecord, Event, Observer, Status};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Watches a run. An action that is tried again is entered again, after the children of the attempt before.
#[derive(Clone, Default)]
pub(crate) struct Entered(Arc<Mutex<Numbers>>);

/// Actions by number, in the order in which they began: that of the run's records.
#[derive(Default)]
struct Numbers {
    begun: usize,
    open: Vec<usize>,
    entered: Vec<usize>,
}

impl Observer for Entered {
    fn notice(&mut self, event: &Event<'_>) {
        let mut numbers = self.0.lock().unwrap();
        match event {
            Event::ActionStarted { .. } => {
                let number = numbers.begun;
                numbers.begun += 1;
                numbers.open.push(number);
                numbers.entered.push(number);
            }
            Event::Retrying { .. } => {
                let innermost = numbers.open.last().copied();
                numbers.entered.extend(innermost);
            }
            Event::ActionFinished { .. } => drop(numbers.open.pop()),
            _ => {}
        }
    }
}

impl Entered {
    /// The log as the vectors write it. What a guard skipped was not entered.
    pub(crate) fn log(&self, records: &[ActionRecord]) -> Value {
        let numbers = self.0.lock().unwrap();
        let entered = numbers.entered.iter().map(|number| &records[*number]);
        let entered = entered.filter(|record| !matches!(record.status, Status::Skipped | Status::Unprocessed));
        let lines =
            entered.map(|record| json!({"do": record.name, "action": record.action, "why_run": record.forced_why_run}));
        lines.collect()
    }
}
