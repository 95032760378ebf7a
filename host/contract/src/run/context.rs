//! A run context: where resources are declared, found and notified.

use super::{Notification, Party, ResourceId, Timing};
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
    /// Its receiver.
    pub target: Party,
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
    pub unified: bool,
    /// The guest-made resource whose action this context is around, and whether the guest entered it on its own.
    pub(crate) owner: Option<(ResourceId, bool)>,
    pub(crate) nesting: u32,
    pub(crate) resources: Vec<ResourceId>,
    pub(crate) by_key: HashMap<Arc<str>, ResourceId>,
    /// Grouped by sender, groups in the order in which the sender was first seen.
    pub groups: Vec<Vec<Notification>>,
    pub(crate) group_of: HashMap<String, usize>,
    /// Delayed notifications, in the order in which they were queued first.
    pub delayed: Vec<Due>,
    /// Where in `delayed` it is, by receiver and action, so that queueing again costs nothing.
    pub(crate) queued: HashMap<(Party, String), usize>,
    /// The keys of resources that changed in it, `type[name]`.
    pub updated: HashSet<String>,
    /// While converging: where the next declared resource goes.
    pub insert_at: Option<usize>,
    pub(crate) ended: bool,
}

impl Context {
    pub(crate) fn group(&mut self, sender: &str) -> &mut Vec<Notification> {
        let at = match self.group_of.get(sender) {
            Some(at) => *at,
            None => {
                let at = self.groups.len();
                self.group_of.insert(sender.to_owned(), at);
                at
            }
        };
        if at >= self.groups.len() {
            self.groups.resize_with(at + 1, Vec::new);
        }
        #[expect(clippy::indexing_slicing, reason = "made long enough on the line above")]
        &mut self.groups[at]
    }

    /// The `at`-th notification that `sender` sends at that time; by number, since actions may add more meanwhile.
    pub fn sent(&self, sender: &str, timing: Timing, at: usize) -> Option<Notification> {
        let group = self.groups.get(*self.group_of.get(sender)?)?;
        group.iter().filter(|note| note.timing == timing).nth(at).cloned()
    }

    /// A notification that was queued by a key now has its receiver: it is the same one, also where it waits.
    pub(crate) fn resolve_queued(&mut self, was: &Party, receiver: ResourceId, action: &str, sender: &str) {
        let Some(at) = self.queued.get(&(was.clone(), action.to_owned())).copied() else { return };
        if let Some(due) = self.delayed.get_mut(at)
            && due.sender == sender
        {
            due.target = Party::Resource(receiver);
            self.queued.entry((Party::Resource(receiver), action.to_owned())).or_insert(at);
        }
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
