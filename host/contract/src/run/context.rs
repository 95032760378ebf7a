//! Run contexts, in which resources are declared, found and notified.

use super::{Notification, ResourceId, ResourceRef, Timing};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The number of a context. It is never reused within a run.
pub type ContextId = u32;

/// The root context, for the resources of recipes.
pub const ROOT: ContextId = 0;

/// A delayed notification that waits for the end of its context.
#[derive(Debug, Clone)]
pub struct Due {
    /// The resource that is notified.
    pub target: ResourceRef,
    /// The action that the receiver runs.
    pub action: String,
    /// `type[name]` of the sender; empty if an earlier run left it due.
    pub sender: String,
    /// True if no sender is sure to change: see [`super::Notified::unsure`].
    pub unsure: bool,
    /// The earlier run that left it due.
    pub since: Option<String>,
}

/// A context with its resources. An ended context keeps only its number.
#[derive(Debug, Default)]
pub struct Context {
    pub(crate) parent: Option<ContextId>,
    /// True if resources converge at their declaration.
    pub(super) unified: bool,
    /// The resource to whose action this context belongs, and whether the guest opened the context itself.
    pub(crate) owner: Option<(ResourceId, bool)>,
    pub(crate) nesting: u32,
    pub(crate) resources: Vec<ResourceId>,
    pub(crate) by_key: HashMap<Arc<str>, ResourceId>,
    /// Keys that several different resources of one recipe have.
    pub(super) repeated: HashSet<Arc<str>>,
    /// The notifications, grouped by sender in the order of first occurrence.
    pub(crate) groups: Vec<Group>,
    pub(crate) group_of: HashMap<String, usize>,
    /// The places (group and index) of immediate notifications, by the receiver as the cookbook wrote it.
    pub(crate) immediate_to: HashMap<ResourceRef, Vec<(usize, usize)>>,
    /// Delayed notifications, in the order in which they were queued first.
    pub(super) delayed: Vec<Due>,
    /// The index in `delayed` by receiver and action, so that repeated queueing is cheap.
    pub(crate) queued: HashMap<(ResourceRef, String), usize>,
    /// The keys (`type[name]`) of changed resources in this context.
    pub(super) updated: HashSet<String>,
    /// During converge, the index for the next declared resource.
    pub(super) insert_at: Option<usize>,
    pub(crate) ended: bool,
}

/// The notifications of one sender.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) notes: Vec<Notification>,
    /// The indexes of the notifications by timing.
    before: Vec<usize>,
    immediate: Vec<usize>,
    delayed: Vec<usize>,
}

impl Group {
    fn push(&mut self, note: Notification) {
        let places = match note.timing {
            Timing::Before => &mut self.before,
            Timing::Immediate => &mut self.immediate,
            Timing::Delayed => &mut self.delayed,
        };
        places.push(self.notes.len());
        self.notes.push(note);
    }

    pub(crate) fn at(&self, timing: Timing) -> &[usize] {
        match timing {
            Timing::Before => &self.before,
            Timing::Immediate => &self.immediate,
            Timing::Delayed => &self.delayed,
        }
    }
}

impl Context {
    /// Stores a notification in its sender's group.
    pub(crate) fn register(&mut self, note: Notification) {
        let group = match self.group_of.get(&note.sender_key) {
            Some(group) => *group,
            None => {
                self.group_of.insert(note.sender_key.clone(), self.groups.len());
                self.groups.push(Group::default());
                self.groups.len() - 1
            }
        };
        if let Some(there) = self.groups.get_mut(group) {
            self.immediate_to
                .entry(note.target.clone())
                .or_default()
                .extend((note.timing == Timing::Immediate).then_some((group, there.notes.len())));
            there.push(note);
        }
    }

    /// Returns the notification with index `at` of a sender and a timing. It uses an index, because running actions may add
    /// notifications.
    pub fn sent(&self, sender: &str, timing: Timing, at: usize) -> Option<Notification> {
        let group = self.groups.get(*self.group_of.get(sender)?)?;
        let at = *group.at(timing).get(at)?;
        group.notes.get(at).cloned()
    }

    /// Returns the immediate notifications to a resource with this number and key, in the order of their senders. Also
    /// returns the number of inspected notifications.
    pub(crate) fn immediately_to(&self, receiver: ResourceId, key: &str) -> (Vec<Notification>, u64) {
        let parties = [ResourceRef::Resource(receiver), ResourceRef::Key(key.to_owned())];
        let places = parties.iter().filter_map(|party| self.immediate_to.get(party)).flatten();
        let mut places: Vec<_> = places.copied().collect();
        places.sort_unstable();
        places.dedup();
        let looked_at = places.len() as u64;
        let notes = places.into_iter().filter_map(|(group, at)| self.groups.get(group)?.notes.get(at));
        // A key may have been resolved to another resource with the same key.
        (notes.filter(|note| parties.contains(&note.target)).cloned().collect(), looked_at)
    }

    /// Replaces the key of a queued notification by its receiver, in the queue, too.
    pub(crate) fn resolve_queued(&mut self, was: &ResourceRef, receiver: ResourceId, action: &str, sender: &str) {
        let Some(at) = self.queued.get(&(was.clone(), action.to_owned())).copied() else { return };
        if let Some(due) = self.delayed.get_mut(at)
            && due.sender == sender
        {
            due.target = ResourceRef::Resource(receiver);
            self.queued.entry((ResourceRef::Resource(receiver), action.to_owned())).or_insert(at);
        }
    }

    /// Returns true if a delayed notification is already queued.
    pub(crate) fn is_queued(&self, due: &Due) -> bool {
        self.queued.contains_key(&(due.target.clone(), due.action.clone()))
    }

    /// Queues a delayed notification, once per receiver and action. It keeps its first place in the queue. Returns true if it
    /// was not queued yet.
    pub(crate) fn queue(&mut self, due: Due) -> bool {
        match self.queued.entry((due.target.clone(), due.action.clone())) {
            Entry::Vacant(place) => {
                place.insert(self.delayed.len());
                self.delayed.push(due);
                true
            }
            Entry::Occupied(at) => {
                if let Some(waits) = self.delayed.get_mut(*at.get()) {
                    waits.unsure &= due.unsure;
                }
                false
            }
        }
    }
}
