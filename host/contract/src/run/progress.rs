//! The progress of a run: open actions, their failures, and due notifications.

use super::{
    ActionRecord, Context, ContextId, Due, MAX_ACTIONS, MAX_NOTIFIED_AT_ONCE, ReadKind, Reads, ResourceId, Run,
};
use crate::{Failure, HiddenRead, Outcome};

impl Run {
    /// Counts an attempt at an action. Returns false if the policy has reached its limit.
    pub fn count_attempt(&mut self) -> bool {
        self.actions += 1;
        self.actions <= MAX_ACTIONS
    }

    /// Counts an action that a notification starts at once. Returns false if the policy has reached its limit.
    pub fn count_notified_at_once(&mut self) -> bool {
        self.notified_at_once += 1;
        self.notified_at_once <= MAX_NOTIFIED_AT_ONCE
    }

    /// Registers a resource's action in a survey. Returns false if the survey has already run it.
    pub fn has_first_turn(&mut self, resource: ResourceId, action: &str) -> bool {
        self.surveyed.insert((resource, action.to_owned()))
    }

    /// Forbids changes until [`end_trial`](Self::end_trial). Returns true if they were already forbidden.
    pub fn begin_trial(&mut self) -> bool {
        std::mem::replace(&mut self.why_run, true)
    }

    /// Ends the trial of [`begin_trial`](Self::begin_trial), which returned `was_dry`.
    pub fn end_trial(&mut self, was_dry: bool) {
        self.why_run = was_dry;
    }

    /// Stores the record of an action that begins inside the open actions. Returns its index among the records.
    ///
    /// # Errors
    /// The policy's memory is used up.
    pub fn begin_action(&mut self, mut record: ActionRecord) -> Result<usize, Failure> {
        // A receiver that an action's child resources notify runs inside this action, even if it was declared elsewhere.
        record.nesting = u32::try_from(self.open_records.len()).unwrap_or(u32::MAX);
        let at = self.record(record)?;
        self.open_records.push(at);
        Ok(at)
    }

    /// Ends the action with the record at an index. Returns the record, for final changes.
    pub fn end_action(&mut self, at: usize) -> Option<&mut ActionRecord> {
        self.open_records.retain(|open| *open != at);
        self.records.get_mut(at)
    }

    /// Returns the record of the innermost open action.
    pub fn open_record(&self) -> Option<&ActionRecord> {
        self.records.get(*self.open_records.last()?)
    }

    /// Returns the record of the innermost open action of a resource, for changes.
    pub fn open_record_of(&mut self, resource: ResourceId) -> Option<&mut ActionRecord> {
        let mut open = self.open_records.iter().rev().copied();
        let at = open.find(|at| self.records.get(*at).is_some_and(|record| record.resource == resource))?;
        self.records.get_mut(at)
    }

    /// Counts a retry of the action with the record at an index.
    pub fn count_retry(&mut self, at: usize) {
        if let Some(record) = self.records.get_mut(at) {
            record.retried += 1;
        }
    }

    /// Adds a doubt of a dry run to the record of the innermost open action.
    pub fn note_doubt(&mut self, what: &str) {
        if let Some(record) = self.open_records.last().copied().and_then(|at| self.records.get_mut(at)) {
            record.uncertain.push(what.to_owned());
        }
    }

    /// Stores a failure for the innermost open action, or for the policy outside of all actions. Only the first failure of
    /// each is stored.
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

    /// Returns the stored failure of the innermost open action.
    pub fn kept_here(&self) -> Option<&Failure> {
        let here = self.open_records.last().copied()?;
        self.kept.iter().find(|(around, _)| *around == Some(here)).map(|(_, failure)| failure)
    }

    /// Removes and returns the stored failure of the innermost open action.
    pub fn take_kept_here(&mut self) -> Option<Failure> {
        let here = self.open_records.last().copied()?;
        let at = self.kept.iter().position(|(around, _)| *around == Some(here))?;
        Some(self.kept.remove(at).1)
    }

    /// Removes and returns the notifications that have become due in the root context since the last call: receivers and
    /// actions.
    pub fn take_newly_due(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.newly_due)
    }

    /// Returns the delayed notification at an index in a context's queue.
    pub fn delayed_at(&self, context: ContextId, at: usize) -> Option<&Due> {
        self.context(context)?.delayed.get(at)
    }

    /// Returns the number of delayed notifications in a context's queue.
    pub fn delayed_in(&self, context: ContextId) -> usize {
        self.context(context).map_or(0, |context| context.delayed.len())
    }

    /// Returns true if a context's resources converge at their declaration.
    pub fn is_unified(&self, context: ContextId) -> bool {
        self.context(context).is_some_and(|context| context.unified)
    }

    /// Sets the index in a context's list for later declarations, right after the converging resource.
    pub fn declare_at(&mut self, context: ContextId, at: usize) {
        if let Some(here) = self.contexts.get_mut(context as usize) {
            here.insert_at = Some(at);
        }
    }

    /// Records that a resource changed in a context.
    pub fn note_updated(&mut self, context: ContextId, key: &str) {
        if let Some(here) = self.contexts.get_mut(context as usize) {
            here.updated.insert(key.to_owned());
        }
    }

    /// Returns true if a resource with this key changed in a context.
    pub fn has_updated(&self, context: ContextId, key: &str) -> bool {
        self.context(context).is_some_and(|context| context.updated.contains(key))
    }

    /// Returns the policy's reads of values that are not its own.
    pub fn reads(&self) -> &Reads {
        &self.reads
    }

    /// Records a read. Returns true if it was not recorded before.
    pub fn note_read(&mut self, kind: ReadKind, path: &[String]) -> bool {
        self.reads.read(kind, path)
    }

    /// Records a read of a value that is hidden from the policy. `is_told` is true if the guest told its place. Returns true if
    /// it was not recorded before.
    pub fn note_hidden_read(&mut self, read: HiddenRead, is_told: bool) -> bool {
        self.reads.hid(read, is_told)
    }

    fn context(&self, context: ContextId) -> Option<&Context> {
        self.contexts.get(context as usize)
    }
}
