//! Checks of what a guest says of actions, tries and amendments, the same for all types.

use super::{Amendment, Due, MAX_ACTION_BYTES, MAX_RETRY_DELAY, Party, ResourceId, Run};
use crate::account::{guard_bytes, property_bytes, text_bytes, wish_bytes};
use crate::{Failure, Outcome};

/// The class of a value that a resource cannot have.
const INVALID: &str = "Chef::Exceptions::ValidationFailed";

impl Run {
    pub(super) fn check_amendment(&self, id: ResourceId, amendment: &Amendment, is_builtin: bool) -> Outcome {
        match amendment {
            Amendment::Actions(actions) => check_actions(actions)?,
            Amendment::Delayed(action) => check_actions([action])?,
            Amendment::Notification(wish) => check_actions([&wish.action])?,
            Amendment::Retries(_, delay) => check_retry_delay(*delay)?,
            _ => {}
        }
        match is_builtin {
            false => self.builtin().check_own_amendment(&self.known(id)?.declaration, amendment),
            true => Ok(()),
        }
    }

    /// The bytes that an amendment adds to its resource, and those that it takes away.
    pub(super) fn cost_of_amendment(&self, id: ResourceId, amendment: &Amendment) -> Result<(u64, u64), Failure> {
        let resource = self.known(id)?;
        let declaration = &resource.declaration;
        let old = |name: &str| declaration.property(name).map_or(0, |property| property_bytes(name, property));
        let texts = |actions: &[String]| actions.iter().map(|action| text_bytes(action)).sum::<u64>();
        Ok(match amendment {
            Amendment::Property(name, property) => (property_bytes(name, property), old(name)),
            Amendment::Clear(name) => (0, old(name)),
            Amendment::Guard(guard) => (guard_bytes(guard), 0),
            Amendment::Notification(wish) => (wish_bytes(wish, &resource.key), 0),
            Amendment::Actions(actions) => (texts(actions), texts(&declaration.actions)),
            // Paid for where it is queued.
            Amendment::Delayed(_) => (0, 0),
            Amendment::Retries(..) | Amendment::OnFailure(_) | Amendment::Sensitive(_) => (0, 0),
        })
    }
}

/// Bytes that a queued notification takes: twice in its context, and once until it is in the journal.
pub(super) fn due_bytes(due: &Due) -> u64 {
    let target = match &due.target {
        Party::Key(key) => text_bytes(key),
        Party::Resource(_) => 64,
    };
    3 * (target + text_bytes(&due.action)) + text_bytes(&due.sender)
}

/// Whether the names of actions are short enough to be kept.
pub(super) fn check_actions<'a>(actions: impl IntoIterator<Item = &'a String>) -> Outcome {
    let is_long = actions.into_iter().any(|action| action.len() > MAX_ACTION_BYTES);
    let message = || format!("an action's name has at most {MAX_ACTION_BYTES} bytes");
    if is_long { Err(Failure::raised(INVALID, message())) } else { Ok(()) }
}

/// Whether a pause between tries is short enough.
pub(super) fn check_retry_delay(seconds: u32) -> Outcome {
    if seconds <= MAX_RETRY_DELAY {
        return Ok(());
    }
    let message = format!("retry_delay is {seconds} s, which is more than the longest possible, {MAX_RETRY_DELAY} s");
    Err(Failure::raised(INVALID, message))
}
