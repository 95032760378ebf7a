//! Handlers: code that the host calls for events of the run. They never change the run's outcome.

use crate::bindings::wrun::turns::events;
use crate::error::{Error, Here as _, Result};
use crate::table::table;
use serde_json::Value;
use std::rc::Rc;

/// Registers a handler for the start, before the first recipe is compiled. Its argument is `{"run_id", "start_time"}`.
///
/// # Errors
/// The host does not know this handler.
#[track_caller]
pub fn on_start(handler: impl Fn(&Value) -> Result + 'static) -> Result {
    on_event("start", handler)
}

/// Registers a handler for the end of a successful run, after the last policy. Its argument is the run's status.
///
/// # Errors
/// The host does not know this handler.
#[track_caller]
pub fn on_report(handler: impl Fn(&Value) -> Result + 'static) -> Result {
    on_event("report", handler)
}

/// Registers a handler for the end of a failed run, after the last policy. Its argument is the run's status with the error.
///
/// # Errors
/// The host does not know this handler.
#[track_caller]
pub fn on_exception(handler: impl Fn(&Value) -> Result + 'static) -> Result {
    on_event("exception", handler)
}

/// Registers a handler for an event of this policy, by name: `resource_updated`, `converge_failed`, ..
///
/// # Errors
/// The event does not exist.
#[track_caller]
pub fn on_event(name: &str, handler: impl Fn(&Value) -> Result + 'static) -> Result {
    events::listen(&[name.to_owned()]).here()?;
    table(|table| table.handlers.push((name.to_owned(), Rc::new(handler))));
    Ok(())
}

pub(crate) fn run(name: &str, input: &Value) -> Result {
    let handlers: Vec<_> = table(|table| {
        table.handlers.iter().filter(|(other, _)| other == name).map(|(_, handler)| Rc::clone(handler)).collect()
    });
    if handlers.is_empty() {
        return Err(Error::new("Wrun::GuestError", format!("this policy has no handler of `{name}`")));
    }
    handlers.into_iter().try_for_each(|handler| handler(input))
}
