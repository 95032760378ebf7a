//! A run context: where resources are declared, found and notified.

use super::{Notification, ResourceId, ResourceRef, Timing};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A context; an index that is never reused within a run.
pub type ContextId = u32;

/// The context that recipes declare into.
pub const ROOT: ContextId = 0;

/// A delayed notification that waits for the end of its context.
#[derive(Debug, Clone)]
pub struct Due {
    /// The resource that is to act.
    pub target: ResourceRef,
    /// The action that the receiver is to do.
    pub action: String,
    /// `type[name]` of the sender; empty if an earlier run left it due.
    pub sender: String,
    /// None of its senders surely changes: see [`super::Notified::unsure`].
    pub unsure: bool,
    /// The earlier run that left it due.
    pub since: Option<String>,
}

/// A context and what is declared in it. One that has ended keeps its place and nothing else.
#[derive(Debug, Default)]
pub struct Context {
    pub(crate) parent: Option<ContextId>,
    /// Children converge where they are declared.
    pub(super) unified: bool,
    /// The guest-made resource whose action this context is around, and whether the guest entered it on its own.
    pub(crate) owner: Option<(ResourceId, bool)>,
    pub(crate) nesting: u32,
    pub(crate) resources: Vec<ResourceId>,
    pub(crate) by_key: HashMap<Arc<str>, ResourceId>,
    /// Grouped by sender, groups in the order in which the sender was first seen.
    pub(crate) groups: Vec<Group>,
    pub(crate) group_of: HashMap<String, usize>,
    /// The places of immediate notifications, group and number in it, by the receiver as it was written.
    pub(crate) immediate_to: HashMap<ResourceRef, Vec<(usize, usize)>>,
    /// Delayed notifications, in the order in which they were queued first.
    pub(super) delayed: Vec<Due>,
    /// Where in `delayed` it is, by receiver and action, so that queueing again costs nothing.
    pub(crate) queued: HashMap<(ResourceRef, String), usize>,
    /// The keys of resources that changed in it, `type[name]`.
    pub(super) updated: HashSet<String>,
    /// While converging: where the next declared resource goes.
    pub(super) insert_at: Option<usize>,
    pub(crate) ended: bool,
}

/// The notifications of one sender.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) notes: Vec<Notification>,
    /// The places of those of each timing.
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
    /// Keeps a notification of its sender's.
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

    /// The `at`-th notification that `sender` sends at that time; by number, since actions may add more meanwhile.
    pub fn sent(&self, sender: &str, timing: Timing, at: usize) -> Option<Notification> {
        let group = self.groups.get(*self.group_of.get(sender)?)?;
        let at = *group.at(timing).get(at)?;
        group.notes.get(at).cloned()
    }

    /// The immediate notifications to a resource, which has this number and this key: in the order of their senders.
    /// Beside them how many were looked at.
    pub(crate) fn immediately_to(&self, receiver: ResourceId, key: &str) -> (Vec<Notification>, u64) {
        let parties = [ResourceRef::Resource(receiver), ResourceRef::Key(key.to_owned())];
        let places = parties.iter().filter_map(|party| self.immediate_to.get(party)).flatten();
        let mut places: Vec<_> = places.copied().collect();
        places.sort_unstable();
        places.dedup();
        let looked_at = places.len() as u64;
        let notes = places.into_iter().filter_map(|(group, at)| self.groups.get(group)?.notes.get(at));
        // A key that is a resource by now may be another one of that key.
        (notes.filter(|note| parties.contains(&note.target)).cloned().collect(), looked_at)
    }

    /// A notification that was queued by a key now has its receiver: it is the same one, also where it waits.
    pub(crate) fn resolve_queued(&mut self, was: &ResourceRef, receiver: ResourceId, action: &str, sender: &str) {
        let Some(at) = self.queued.get(&(was.clone(), action.to_owned())).copied() else { return };
        if let Some(due) = self.delayed.get_mut(at)
            && due.sender == sender
        {
            due.target = ResourceRef::Resource(receiver);
            self.queued.entry((ResourceRef::Resource(receiver), action.to_owned())).or_insert(at);
        }
    }

    /// Whether a delayed notification waits already.
    pub(crate) fn is_queued(&self, due: &Due) -> bool {
        self.queued.contains_key(&(due.target.clone(), due.action.clone()))
    }

    /// Queues a delayed notification, once per receiver and action; the first place in the queue stays.
    /// True: it was not queued yet.
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
