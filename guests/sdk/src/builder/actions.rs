//! Checks the actions of notifications against the resource types.
//!
//! The host would find an unknown action only when the notification is due, and could not name the line that requested it.

use crate::bindings::wrun::resources::collection::{self, Notification, Party};
use crate::bindings::wrun::resources::schema;
use crate::error::{Error, Result};
use crate::near::did_you_mean;
use crate::table::table;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;

/// The action that every resource has.
const NOTHING: &str = "nothing";

thread_local! {
    /// The cached actions of built-in types. `None` means that the host does not have the type.
    static KNOWN: RefCell<HashMap<String, Option<Vec<String>>>> = RefCell::default();
}

/// Checks that the receiving type has the action of a notification. `declaring` is the type of the resource that is declared.
pub(super) fn check(notification: &Notification, declaring: &str) -> Result {
    let kind = match (&notification.other, notification.subscribes) {
        (_, true) => declaring,
        (Party::Key(key), false) => key.split('[').next().unwrap_or_default(),
        (Party::Declared(id), false) => match collection::describe(*id) {
            Some(described) => &described.kind.clone(),
            None => return Ok(()),
        },
    };
    let action = notification.action.as_str();
    let Some(known) = actions(kind) else { return Ok(()) };
    if action == NOTHING || known.iter().any(|one| one == action) {
        return Ok(());
    }
    let message = format!("{kind} does not have the action `{action}`; it has: {}", known.join(", "));
    let error = Error::new("NoMethodError", message);
    Err(match did_you_mean(action, known.iter().map(String::as_str)) {
        Some(hint) => error.with_hint(hint),
        None => error,
    })
}

/// Returns the actions of one of this policy's own types or of a built-in type, or `None` if no type has this name.
fn actions(kind: &str) -> Option<Vec<String>> {
    let own = table(|table| table.types.get(kind).cloned());
    if let Some(own) = own.filter(|own| own.has_actions()) {
        return Some(own.actions());
    }
    if let Some(known) = KNOWN.with_borrow(|known| known.get(kind).cloned()) {
        return known;
    }
    let asked = built_in(kind);
    KNOWN.with_borrow_mut(|known| known.insert(kind.to_owned(), asked.clone()));
    asked
}

fn built_in(kind: &str) -> Option<Vec<String>> {
    let described: Value = serde_json::from_str(&schema::describe(kind)?).ok()?;
    let actions = described.get("actions")?.as_array()?.iter();
    let names = actions.map(|action| action.as_str().or_else(|| action.get("name")?.as_str()).map(str::to_owned));
    names.collect()
}
