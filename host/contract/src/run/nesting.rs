//! Opens, finds and ends nested contexts.

use super::{Context, ContextId, MAX_OPEN_CONTEXTS, ResourceId, Run};
use crate::Failure;
use errors::ErrorKind;
use std::collections::HashSet;

impl Run {
    /// Opens a context for an action of `owner`. `by_guest` is true if the guest opens it itself.
    ///
    /// # Errors
    /// Too many contexts are open, or the policy's memory is used up.
    pub fn begin(&mut self, parent: ContextId, owner: ResourceId, by_guest: bool) -> Result<ContextId, Failure> {
        if self.open_contexts.len() >= MAX_OPEN_CONTEXTS {
            let message = format!("more than {MAX_OPEN_CONTEXTS} contexts are open at a time");
            return Err(Failure::raised(ErrorKind::TooManyContexts, message));
        }
        self.pay(size_of::<Context>() as u64)?;
        let unified = self.resources.get(owner as usize).is_some_and(|owner| match self.type_of(&owner.declaration) {
            Some(guest_type) => guest_type.unified,
            None => self.is_composite(&owner.declaration.kind),
        });
        let outer = self.contexts.get(parent as usize);
        // A context that the guest opens for an inner action does not increase the depth.
        let nesting = outer.map_or(0, |outer| outer.nesting) + u32::from(!by_guest);
        let owner = Some((owner, by_guest));
        self.contexts.push(Context { parent: Some(parent), unified, owner, nesting, ..Context::default() });
        let id = ContextId::try_from(self.contexts.len() - 1).unwrap_or(ContextId::MAX);
        self.open_contexts.push(id);
        Ok(id)
    }

    /// Opens a context for an action that another action of the same resource calls.
    ///
    /// # Errors
    /// `parent` does not belong to an action of `owner`, or [`begin`](Self::begin) fails.
    pub fn enter(&mut self, owner: ResourceId, parent: ContextId) -> Result<ContextId, Failure> {
        self.known(owner)?;
        match self.open(parent)?.owner {
            Some((around, _)) if around == owner => self.begin(parent, owner, true),
            _ => {
                let message = format!("context {parent} is not around an action of resource {owner}");
                Err(Failure::raised(ErrorKind::NotInAction, message))
            }
        }
    }

    /// Returns the resource of a context that the guest has opened itself.
    ///
    /// # Errors
    /// The context is not open, or the runner opened it.
    pub fn entered_for(&self, context: ContextId) -> Result<ResourceId, Failure> {
        match self.open(context)?.owner {
            Some((owner, true)) => Ok(owner),
            _ => {
                let message = format!("context {context} is not the guest's to leave");
                Err(Failure::raised(ErrorKind::NotEntered, message))
            }
        }
    }

    /// Returns the open contexts inside `context`, innermost first, in time linear in the number of open contexts.
    pub fn open_inside(&self, context: ContextId) -> Vec<ContextId> {
        let mut inside = HashSet::from([context]);
        let mut found = Vec::new();
        // A context has a larger number than its parent, so one pass is enough.
        for at in self.open_contexts.iter().copied().filter(|at| *at > context) {
            let _looked_at_later = self.account.work(1);
            let parent = self.contexts.get(at as usize).and_then(|context| context.parent);
            if parent.is_some_and(|parent| inside.contains(&parent)) {
                inside.insert(at);
                found.push(at);
            }
        }
        found.reverse();
        found
    }

    /// Ends a context: keeps its resources for the report and drops its other data. If a resource in it changed, its owner
    /// counts as changed.
    pub fn end(&mut self, id: ContextId) {
        self.open_contexts.retain(|open| *open != id);
        let Some(context) = self.contexts.get_mut(id as usize) else { return };
        let (parent, unified, nesting) = (context.parent, context.unified, context.nesting);
        let resources = std::mem::take(&mut context.resources);
        let owner = context.owner;
        *context = Context { parent, unified, nesting, ended: true, ..Context::default() };
        let children = || {
            resources.iter().filter_map(|child| self.resources.get(*child as usize)).filter(|child| !child.retracted)
        };
        let (changed, surely) = (children().any(|child| child.updated), children().any(|child| child.surely_updated));
        if let (Some((owner, _)), true) = (owner, changed)
            && let Some(owner) = self.resources.get_mut(owner as usize)
        {
            let was_sure = owner.updated_by_last_action && !owner.unsure;
            owner.mark(true);
            owner.unsure = !(surely || was_sure);
        }
        // These values are no longer needed, because the records have the results.
        for child in resources {
            if let Some(child) = self.resources.get_mut(child as usize) {
                child.declaration.properties = Vec::new();
                child.declaration.guards = Vec::new();
                child.declaration.notifications = Vec::new();
                let left = super::paying::declaration_bytes(&child.declaration);
                child.paid.shrink(child.paid.bytes().saturating_sub(left));
            }
        }
    }
}
