//! Registers and resolves notifications.

use super::{Due, HOST_AS_GUEST, ResourceId, ResourceRef, Run, Timing, Wish};
use crate::{Failure, Outcome, Raised};
use errors::{ErrorKind, chef};
use node::origin::Origin;

/// The maximum number of resources that are compared with a missing receiver, for a hint.
const MAX_COMPARED: usize = 1_000;

/// A notification in its context.
#[derive(Debug, Clone)]
pub struct Notification {
    /// `type[name]` of the sender.
    pub sender_key: String,
    /// The resource that is notified.
    pub target: ResourceRef,
    /// The action that the receiver runs.
    pub action: String,
    /// The timing of the action.
    pub timing: Timing,
}

impl Run {
    /// Returns the notification for a wish, and its context: the sender's context if it is known, or else the resource's own.
    pub(super) fn interpret(&self, id: ResourceId, wish: Wish) -> Result<(super::ContextId, Notification), Failure> {
        let own = self.known(id)?;
        let other = match &wish.other {
            ResourceRef::Resource(other) if own.declaration.guest_id == HOST_AS_GUEST => Some(self.known(*other)?),
            ResourceRef::Resource(other) => Some(self.of_guests(*other)?),
            ResourceRef::Key(_) => None,
        };
        let (context, sender_key, target) = match (wish.subscribes, wish.other) {
            (false, other) => (own.declaration.context, own.key.to_string(), other),
            (true, ResourceRef::Key(key)) => (own.declaration.context, key, ResourceRef::Resource(id)),
            (true, ResourceRef::Resource(_)) => {
                let sender = other.unwrap_or(own);
                (sender.declaration.context, sender.key.to_string(), ResourceRef::Resource(id))
            }
        };
        let there = self.open(context)?;
        if wish.timing == Timing::Before && there.unified && there.updated.contains(&sender_key) {
            let message = format!(
                "before subscription from {} resource cannot be setup to {sender_key} resource, which has already fired \
                 while in unified mode",
                own.key
            );
            return Err(Failure::raised(ErrorKind::TooLateForBefore, message));
        }
        Ok((context, Notification { sender_key, target, action: wish.action, timing: wish.timing }))
    }

    pub(super) fn register(&mut self, context: super::ContextId, note: Notification) -> Outcome {
        let Some(there) = self.contexts.get_mut(context as usize) else { return Ok(()) };
        if note.timing == Timing::Delayed && there.unified && there.updated.contains(&note.sender_key) {
            let (target, action, sender) = (note.target.clone(), note.action.clone(), note.sender_key.clone());
            let unsure = self.is_unsure(context, &sender);
            self.queue(context, Due { target, action, sender, unsure, since: None })?;
        }
        if let Some(there) = self.contexts.get_mut(context as usize) {
            there.register(note);
        }
        Ok(())
    }

    /// Returns the immediate notifications to a resource from its own context, in the order of their senders.
    ///
    /// # Errors
    /// The resource does not exist, or its context has ended.
    pub fn immediately_to(&self, id: ResourceId) -> Result<Vec<Notification>, Failure> {
        let resource = self.known(id)?;
        let (notes, looked_at) = self.open(resource.declaration.context)?.immediately_to(id, &resource.key);
        self.account.work(looked_at + 1).map_err(Failure::from)?;
        Ok(notes)
    }

    /// Returns true if a dry run expects a change of the sender but is not sure of it.
    pub fn is_unsure(&self, context: super::ContextId, sender: &str) -> bool {
        let sender = self.find(context, sender).and_then(|id| self.resources.get(id as usize));
        sender.is_some_and(|sender| sender.updated && !sender.surely_updated)
    }

    /// Resolves the keys in a resource's notifications to resources. In a unified context, keys of undeclared resources stay
    /// unresolved unless `always` is true.
    ///
    /// # Errors
    /// A receiver is not declared, or a key names several resources. A dry run that did not see all of a recipe expects the
    /// receiver there.
    pub fn resolve(&mut self, id: ResourceId, always: bool) -> Outcome {
        let Some(own) = self.resources.get(id as usize) else { return Ok(()) };
        let context_id = own.declaration.context;
        let Some(context) = self.contexts.get(context_id as usize) else { return Ok(()) };
        let Some(group) = context.group_of.get(&*own.key).copied() else { return Ok(()) };
        let Some(own_group) = context.groups.get(group) else { return Ok(()) };
        let (mut found, mut remarks) = (Vec::new(), Vec::new());
        for timing in [Timing::Before, Timing::Immediate, Timing::Delayed] {
            for at in own_group.at(timing).iter().copied() {
                let Some(note) = own_group.notes.get(at) else { continue };
                let ResourceRef::Key(target) = &note.target else { continue };
                match self.find(context_id, target) {
                    Some(receiver) => {
                        remarks.extend(self.remark_on_receiver(context_id, &own.key, receiver));
                        found.push((at, receiver));
                    }
                    None if self.finds_several(context_id, target) => {
                        return Err(too_many(&own.key, &self.place(&own.declaration.origin), target));
                    }
                    None if context.unified && !always && timing != Timing::Before => {}
                    None if self.misses_declarations() => {}
                    None => {
                        let origin = &own.declaration.origin;
                        return Err(self.no_receiver(context_id, &own.key, origin, target, &note.action));
                    }
                }
            }
        }
        remarks.iter().for_each(|remark| self.log(crate::LogLevel::Warn, remark));
        let Some(context) = self.contexts.get_mut(context_id as usize) else { return Ok(()) };
        for (at, receiver) in found {
            let note = context.groups.get_mut(group).and_then(|own_group| own_group.notes.get_mut(at));
            let Some(note) = note else { continue };
            let was = std::mem::replace(&mut note.target, ResourceRef::Resource(receiver));
            let (action, sender) = (note.action.clone(), note.sender_key.clone());
            if note.timing == Timing::Delayed {
                context.resolve_queued(&was, receiver, &action, &sender);
            }
        }
        Ok(())
    }

    /// Returns the failure of a notification with an undeclared receiver, at the place of its sender. Its hint is the most
    /// similar key that is declared in the context or in an enclosing one, or one with the same name and another type.
    pub fn no_receiver(
        &self,
        context: super::ContextId,
        sender: &str,
        origin: &Origin,
        target: &str,
        action: &str,
    ) -> Failure {
        let enclosing =
            |context: &&super::Context| context.parent.and_then(|parent| self.contexts.get(parent as usize));
        let contexts = std::iter::successors(self.contexts.get(context as usize), enclosing);
        let declared = contexts.flat_map(|context| &context.resources);
        let known = declared.take(MAX_COMPARED).filter_map(|id| self.known(*id).ok());
        let keys = known.map(|resource| &*resource.key);
        // A bare type means the resource of this type without a name.
        let unnamed = target.strip_suffix("[]").unwrap_or(target);
        let name = unnamed.split_once('[').map_or(unnamed, |(_, name)| name.trim_end_matches(']'));
        let end = format!("[{name}]");
        let mut namesakes = keys.clone().filter(|key| !name.is_empty() && key.ends_with(&end));
        let namesake = || namesakes.next().map(|key| format!("did you mean `{key}`?"));
        let hint = text::did_you_mean(target, keys).or_else(namesake);
        let hint = hint.unwrap_or_else(|| format!("declare {unnamed} in a recipe that this policy runs"));
        let mut raised = not_found(sender, &self.place(origin), unnamed, action);
        let recipe =
            origin.cookbook.iter().zip(&origin.recipe).map(|(cookbook, recipe)| format!(": in {cookbook}::{recipe}"));
        let recipe: String = recipe.collect();
        raised.backtrace.extend(origin.line.and(origin.place()).map(|place| format!("{place}{recipe}")));
        raised.with_hint(hint).into()
    }

    /// Returns true if a key is a list, `type[a,b]`, and all its resources exist.
    fn finds_several(&self, context: super::ContextId, key: &str) -> bool {
        let Some((kind, names)) = key.strip_suffix(']').and_then(|key| key.split_once('[')) else { return false };
        names.contains(',') && names.split(',').all(|name| self.find(context, &format!("{kind}[{name}]")).is_some())
    }
}

/// Returns Chef's error about several receivers in one notification, with the receivers in the hint.
fn too_many(sender: &str, place: &str, target: &str) -> Failure {
    let raised = Raised::new(ErrorKind::InvalidResourceKey, chef::several_receivers(sender, place));
    raised.with_hint(format!("notify each of {target} by itself")).into()
}

/// Returns Chef's error about an undeclared receiver.
fn not_found(sender: &str, place: &str, target: &str, action: &str) -> Raised {
    Raised::new(
        ErrorKind::ResourceNotFound,
        format!(
            "resource {sender} is configured to notify resource {target} with action {action}, but {target} cannot be \
             found in the resource collection. {sender} is defined in {place}"
        )
        .trim_end(),
    )
}
