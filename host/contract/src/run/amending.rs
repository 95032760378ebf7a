//! Changes declared resources, and checks a guest's actions and retries for all types.

use super::{
    Amendment, ContextId, Due, MAX_ACTION_BYTES, MAX_DELAYED, MAX_PER_RESOURCE, MAX_RETRY_DELAY, ROOT, ResourceId,
    ResourceRef, Run,
};
use crate::account::{guard_bytes, property_bytes, text_bytes, wish_bytes};
use crate::{Failure, GuestLost, Outcome};
use errors::ErrorKind;

impl Run {
    /// Changes a declared resource.
    ///
    /// # Errors
    /// The resource does not exist, or the change is invalid for its type.
    pub fn amend(&mut self, id: ResourceId, amendment: Amendment) -> Outcome {
        let resource = self.known(id)?;
        let (context, kind) = (resource.declaration.context, resource.declaration.kind.clone());
        let is_builtin = self.guest_type(resource.declaration.guest_id, &kind).is_none();
        let amendment = match amendment {
            Amendment::Property(name, property) if is_builtin => {
                let is_sensitive = resource.declaration.sensitive;
                let checked = self.check_property(&kind, &name, property);
                let property = checked.map_err(|failure| if is_sensitive { self.hide(failure) } else { failure })?;
                Amendment::Property(self.builtin().canonical(&kind, name), property)
            }
            Amendment::Clear(name) if is_builtin => Amendment::Clear(self.builtin().canonical(&kind, name)),
            amendment => amendment,
        };
        self.check_amendment(id, &amendment, is_builtin)?;
        let (more, less) = self.cost_of_amendment(id, &amendment)?;
        self.pay_for_more_of(id, more, less)?;
        let declaration = &mut self.known_mut(id)?.declaration;
        match amendment {
            Amendment::Actions(actions) => declaration.actions = actions,
            Amendment::Property(name, property) => match declaration.properties.iter_mut().find(|(n, _)| *n == name) {
                Some((_, old)) => *old = property,
                None => declaration.properties.push((name, property)),
            },
            Amendment::Clear(name) => declaration.properties.retain(|(other, _)| *other != name),
            Amendment::Guard(guard) if declaration.guards.len() < MAX_PER_RESOURCE => declaration.guards.push(guard),
            Amendment::Guard(_) => return Err(Failure::raised(ErrorKind::TooManyNotifications, "too many guards")),
            Amendment::Notification(wish) => {
                let (context, note) = self.interpret(id, wish)?;
                let there = self.open(context)?;
                let sent = there.group_of.get(&note.sender_key).and_then(|group| there.groups.get(*group));
                if sent.is_some_and(|group| group.notes.len() >= MAX_PER_RESOURCE) {
                    return Err(Failure::raised(ErrorKind::TooManyNotifications, "too many notifications"));
                }
                self.register(context, note)?;
            }
            Amendment::Delayed(action) => {
                let key = self.known(id)?.key.clone();
                let (target, sender) = (ResourceRef::Resource(id), key.to_string());
                self.queue(context, Due { target, action, sender, unsure: false, since: None })?;
            }
            Amendment::Retries(retries, delay) => (declaration.retries, declaration.retry_delay) = (retries, delay),
            Amendment::OnFailure(mode) => declaration.on_failure = mode,
            Amendment::Sensitive(sensitive) => declaration.sensitive = sensitive,
        }
        Ok(())
    }

    /// Queues a delayed notification, once per receiver and action. Returns true if it was not queued yet.
    ///
    /// # Errors
    /// Too many are queued, or the policy's memory is used up.
    pub fn queue(&mut self, context: ContextId, due: Due) -> Result<bool, Failure> {
        if self.contexts.get(context as usize).is_some_and(|there| there.is_queued(&due)) {
            return Ok(self.contexts.get_mut(context as usize).is_some_and(|there| there.queue(due)));
        }
        if self.delayed >= MAX_DELAYED {
            // This ends the policy, because a partial declaration cannot be undone.
            let why = format!("queued more than {MAX_DELAYED} delayed actions");
            return Err(GuestLost { policy: self.policy.clone(), why, ..GuestLost::default() }.into());
        }
        self.pay(due_bytes(&due))?;
        self.delayed += 1;
        let action = due.action.clone();
        let receiver = match &due.target {
            ResourceRef::Key(key) => key.clone(),
            ResourceRef::Resource(id) => {
                self.resources.get(*id as usize).map(|it| it.key.to_string()).unwrap_or_default()
            }
        };
        let there = self.contexts.get_mut(context as usize);
        let new = there.is_some_and(|there| there.queue(due));
        if new && context == ROOT && !self.why_run {
            self.newly_due.push((receiver, action));
        }
        Ok(new)
    }

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

    /// Returns the bytes that an amendment adds to its resource, and those that it removes.
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
            // The queue pays for it.
            Amendment::Delayed(_) => (0, 0),
            Amendment::Retries(..) | Amendment::OnFailure(_) | Amendment::Sensitive(_) => (0, 0),
        })
    }
}

/// Returns the bytes of a queued notification: twice in its context, and once until it is in the journal.
pub(super) fn due_bytes(due: &Due) -> u64 {
    let target = match &due.target {
        ResourceRef::Key(key) => text_bytes(key),
        ResourceRef::Resource(_) => 64,
    };
    3 * (target + text_bytes(&due.action)) + text_bytes(&due.sender)
}

/// Checks that the names of actions are not too long.
pub(super) fn check_actions<'a>(actions: impl IntoIterator<Item = &'a String>) -> Outcome {
    let is_long = actions.into_iter().any(|action| action.len() > MAX_ACTION_BYTES);
    let message = || format!("an action's name has at most {MAX_ACTION_BYTES} bytes");
    if is_long { Err(Failure::raised(ErrorKind::InvalidValue, message())) } else { Ok(()) }
}

/// Checks that the delay between retries is not too long.
pub(super) fn check_retry_delay(seconds: u32) -> Outcome {
    if seconds <= MAX_RETRY_DELAY {
        return Ok(());
    }
    let message = format!("retry_delay is {seconds} s, which is more than the longest possible, {MAX_RETRY_DELAY} s");
    Err(Failure::raised(ErrorKind::InvalidValue, message))
}
