//! How far the run is: the actions that are open, what they keep, what is due.

use super::{
    ActionRecord, Context, ContextId, Due, MAX_ACTIONS, MAX_NOTIFIED_AT_ONCE, ReadKind, Reads, ResourceId, Run,
};
use crate::{Failure, HiddenRead, Outcome};

impl Run {
    /// Counts an attempt at an action. False: the policy has had as many as it may.
    pub fn count_attempt(&mut self) -> bool {
        self.actions += 1;
        self.actions <= MAX_ACTIONS
    }

    /// Counts an action that a notification starts at once. False: the policy has had as many as it may.
    pub fn count_notified_at_once(&mut self) -> bool {
        self.notified_at_once += 1;
        self.notified_at_once <= MAX_NOTIFIED_AT_ONCE
    }

    /// Counts the turn of a resource's action in a survey. False: it has had its turn.
    pub fn has_first_turn(&mut self, resource: ResourceId, action: &str) -> bool {
        self.surveyed.insert((resource, action.to_owned()))
    }

    /// From now on nothing may be changed, until [`end_trial`](Self::end_trial). Returns whether that was so before.
    pub fn begin_trial(&mut self) -> bool {
        std::mem::replace(&mut self.why_run, true)
    }

    /// Ends what [`begin_trial`](Self::begin_trial) began, whose answer is `was_dry`.
    pub fn end_trial(&mut self, was_dry: bool) {
        self.why_run = was_dry;
    }

    /// Keeps the record of an action that begins inside the open ones. Returns its place among the records.
    ///
    /// # Errors
    /// The policy's memory is used up.
    pub fn begin_action(&mut self, mut record: ActionRecord) -> Result<usize, Failure> {
        // What an action's children notify runs inside that action, wherever it was declared.
        record.nesting = u32::try_from(self.open_records.len()).unwrap_or(u32::MAX);
        let at = self.record(record)?;
        self.open_records.push(at);
        Ok(at)
    }

    /// Ends the action with the record at a place, and returns the record for its last words.
    pub fn end_action(&mut self, at: usize) -> Option<&mut ActionRecord> {
        self.open_records.retain(|open| *open != at);
        self.records.get_mut(at)
    }

    /// Returns the record of the innermost open action.
    pub fn open_record(&self) -> Option<&ActionRecord> {
        self.records.get(*self.open_records.last()?)
    }

    /// Returns the record of the innermost open action of a resource, to add to it.
    pub fn open_record_of(&mut self, resource: ResourceId) -> Option<&mut ActionRecord> {
        let mut open = self.open_records.iter().rev().copied();
        let at = open.find(|at| self.records.get(*at).is_some_and(|record| record.resource == resource))?;
        self.records.get_mut(at)
    }

    /// Counts another try of the action with the record at a place.
    pub fn count_retry(&mut self, at: usize) {
        if let Some(record) = self.records.get_mut(at) {
            record.retried += 1;
        }
    }

    /// Adds to the record of the innermost open action what a dry run cannot be sure of.
    pub fn note_doubt(&mut self, what: &str) {
        if let Some(record) = self.open_records.last().copied().and_then(|at| self.records.get_mut(at)) {
            record.uncertain.push(what.to_owned());
        }
    }

    /// Keeps a failure for the innermost open action, or outside of all for the policy. Each keeps the first one.
    ///
    /// # Errors
    /// The policy's memory is used up.
    pub fn keep_failure(&mut self, failure: Failure) -> Outcome {
        let around = self.open_records.last().copied();
        if !self.kept.iter().any(|(other, _)| *other == around) {
            self.pay_for_failure(&failure)?;
            self.kept.push((around, failure));
        }
        Ok(())
    }

    /// Takes the failure that the innermost open action keeps.
    pub fn take_kept_here(&mut self) -> Option<Failure> {
        let here = self.open_records.last().copied()?;
        let at = self.kept.iter().position(|(around, _)| *around == Some(here))?;
        Some(self.kept.remove(at).1)
    }

    /// Takes the receivers and actions that have become due in the root context since the last time.
    pub fn take_newly_due(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.newly_due)
    }

    /// Returns the delayed notification at a place in a context's queue.
    pub fn delayed_at(&self, context: ContextId, at: usize) -> Option<&Due> {
        self.context(context)?.delayed.get(at)
    }

    /// Returns how many delayed notifications a context has queued.
    pub fn delayed_in(&self, context: ContextId) -> usize {
        self.context(context).map_or(0, |context| context.delayed.len())
    }

    /// Tells whether the children of a context converge where they are declared.
    pub fn is_unified(&self, context: ContextId) -> bool {
        self.context(context).is_some_and(|context| context.unified)
    }

    /// From now on resources are declared at a place in a context's list, behind the one that converges.
    pub fn declare_at(&mut self, context: ContextId, at: usize) {
        if let Some(here) = self.contexts.get_mut(context as usize) {
            here.insert_at = Some(at);
        }
    }

    /// Notes that a resource changed in a context.
    pub fn note_updated(&mut self, context: ContextId, key: &str) {
        if let Some(here) = self.contexts.get_mut(context as usize) {
            here.updated.insert(key.to_owned());
        }
    }

    /// Tells whether a resource with a key changed in a context.
    pub fn has_updated(&self, context: ContextId, key: &str) -> bool {
        self.context(context).is_some_and(|context| context.updated.contains(key))
    }

    /// Returns what the policy read of the node beyond its own.
    pub fn reads(&self) -> &Reads {
        &self.reads
    }

    /// Notes a read. True: it was not noted yet.
    pub fn note_read(&mut self, kind: ReadKind, path: &[String]) -> bool {
        self.reads.read(kind, path)
    }

    /// Notes a read of something that is hidden from the policy. True: it was not noted yet.
    pub fn note_hidden_read(&mut self, read: HiddenRead) -> bool {
        self.reads.hid(read)
    }

    fn context(&self, context: ContextId) -> Option<&Context> {
        self.contexts.get(context as usize)
    }
}
