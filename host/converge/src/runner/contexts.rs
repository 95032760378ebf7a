//! Converges a context: its resources in order, then its delayed notifications. Then the context ends.

use super::Runner;
use contract::Due;
use contract::{
    ActionRecord, ContextId, Failure, Guest, MAX_RECORDS, Notified, Outcome, Place, Providers, ROOT, Request,
    ResourceId, ResourceRef, Status, Timing,
};

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    /// Converges a context and then its delayed notifications, which also run after a failure.
    pub(super) async fn converge_context(&mut self, context: ContextId) -> Outcome {
        let main = self.converge_each(context).await;
        let mut failures: Vec<_> = main.err().map(|failure| (Place::Converge, failure)).into_iter().collect();
        let mut at = 0;
        // After a signal, due notifications stay recorded for the next run, also if the signal ended the failed command.
        while (failures.is_empty() || self.stop.requested().is_none())
            && let Some(due) = self.delayed(context, at)
        {
            at += 1;
            let outcome = match self.target(context, &due.sender, &due.target, &due.action) {
                Ok(target) => self.run_delayed(context, target, due).await,
                // The receiver may be declared in the rest of a recipe that a dry run did not see.
                Err(_) if self.run.misses_declarations() => Ok(()),
                // An undeclared receiver has already failed the context, with the same words.
                Err(failure) if failures.iter().any(|(_, known)| known.to_string() == failure.to_string()) => Ok(()),
                Err(failure) => self.kept_if_dry(Err(failure)),
            };
            failures.extend(outcome.err().map(|failure| (Place::DelayedNotification, failure)));
        }
        match failures.len() {
            0 => Ok(()),
            1 => failures.pop().map_or(Ok(()), |(_, failure)| Err(failure)),
            _ => Err(Failure::Many(failures)),
        }
    }

    fn delayed(&self, context: ContextId, at: usize) -> Option<Due> {
        self.run.delayed_at(context, at).cloned()
    }

    async fn run_delayed(&mut self, context: ContextId, target: ResourceId, due: Due) -> Outcome {
        let Due { action, sender, unsure, since, .. } = due;
        let notified = Notified { timing: Timing::Delayed, by: None, unsure: unsure.then_some(sender), since };
        let receiver = self.run.known(target)?.key.clone();
        let outcome = self.run_action(context, target, action.clone(), Some(notified)).await;
        // A stopped or denied notification did not run, so it stays due until it is granted.
        let is_still_due = |failure: &Failure| matches!(failure, Failure::Stopped(_)) || failure.is_denial();
        if context == ROOT && !self.run.why_run() && !outcome.as_ref().is_err_and(is_still_due) {
            self.memory.done(self.run.policy(), &receiver, &action);
        }
        outcome
    }

    async fn converge_each(&mut self, context: ContextId) -> Outcome {
        let unified = self.run.is_unified(context);
        for id in self.run.all(context) {
            let outcome = self.run.resolve(id, false);
            self.kept_if_dry(outcome)?;
        }
        let mut at = 0;
        while let Some(resource) = self.run.listed(context, at) {
            at += 1;
            if self.run.known(resource)?.retracted {
                continue;
            }
            self.run.declare_at(context, at);
            // In a unified context the guest itself settles the declared resources. Any others are run here.
            if !(unified && self.run.known(resource)?.executed) {
                self.run_all(context, resource).await?;
            }
        }
        if unified {
            for id in self.run.all(context) {
                let outcome = self.run.resolve(id, true);
                self.kept_if_dry(outcome)?;
            }
        }
        Ok(())
    }

    /// Runs all actions of a resource. In a unified context, it then runs the immediate notifications that earlier resources
    /// sent to it.
    pub(super) async fn run_all(&mut self, context: ContextId, resource: ResourceId) -> Outcome {
        let outcome = self.run_all_actions(context, resource).await;
        self.run.known_mut(resource)?.executed = true;
        outcome
    }

    async fn run_all_actions(&mut self, context: ContextId, resource: ResourceId) -> Outcome {
        let actions = self.run.known(resource)?.declaration.actions.clone();
        for (at, action) in actions.iter().enumerate() {
            let begun = self.run.records().len();
            if let Err(failure) = self.run_action(context, resource, action.clone(), None).await {
                if context == ROOT && matches!(failure, Failure::Stopped(_)) {
                    let rest = at + usize::from(self.run.records().len() > begun);
                    self.record_unprocessed(resource, actions.get(rest..).unwrap_or_default());
                }
                return Err(failure);
            }
        }
        self.run.open(context)?;
        if !self.run.is_unified(context) {
            return Ok(());
        }
        for note in self.run.immediately_to(resource)? {
            self.run.open(context)?;
            if self.run.has_updated(context, &note.sender_key) {
                let target = self.target(context, &note.sender_key, &note.target, &note.action)?;
                let unsure = self.run.is_unsure(context, &note.sender_key).then(|| note.sender_key.clone());
                let notified = Notified { timing: Timing::Immediate, by: Some(note.sender_key), unsure, since: None };
                self.run_action(context, target, note.action, Some(notified)).await?;
            }
        }
        Ok(())
    }

    /// Ends a context, and the contexts that the guest left open inside it.
    pub(super) async fn end(&mut self, context: ContextId) -> Outcome {
        let mut outcome = Ok(());
        for context in self.run.open_inside(context).into_iter().chain([context]) {
            self.run.end(context);
            let forgotten = self.ask(Request::Forget(context)).await.map(drop);
            outcome = outcome.and(forgotten);
        }
        outcome
    }

    /// Records the actions of the policy's own resources that never ran in order, even if a notification ran one of them.
    pub(super) fn report_unprocessed(&mut self) {
        for id in self.run.all(ROOT) {
            let Ok(resource) = self.run.known(id) else { continue };
            if resource.executed {
                continue;
            }
            let actions = resource.declaration.actions.clone();
            if !self.record_unprocessed(id, &actions) {
                return;
            }
        }
    }

    /// Records actions of a resource whose turn never came. False: the policy cannot pay for more records.
    fn record_unprocessed(&mut self, id: ResourceId, actions: &[String]) -> bool {
        for action in actions {
            let Ok(resource) = self.run.known(id) else { return true };
            if self.run.records().len() >= MAX_RECORDS {
                return false;
            }
            let record = ActionRecord::new(resource, id, action, Status::Unprocessed);
            if self.run.record(record).is_err() {
                return false;
            }
        }
        true
    }

    pub(super) fn target(
        &self,
        context: ContextId,
        sender: &str,
        target: &ResourceRef,
        action: &str,
    ) -> Result<ResourceId, Failure> {
        match target {
            ResourceRef::Resource(id) => Ok(*id),
            ResourceRef::Key(key) => self.run.find(context, key).ok_or_else(|| {
                let origin = self.run.find(context, sender).and_then(|id| self.run.known(id).ok());
                let origin = origin.map(|sender| sender.declaration.origin.clone()).unwrap_or_default();
                self.run.no_receiver(context, sender, &origin, key, action)
            }),
        }
    }
}
