//! Sends the notifications of an action.

use super::Runner;
use contract::{
    ContextId, Due, Failure, Guest, Limit, Notified, Outcome, Providers, ROOT, ResourceId, ResourceRef, Timing,
};

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    /// Runs an action, and the notifications that it sends: `:before` ones first, and the others if it changed the resource.
    pub(super) async fn notify_around(
        &mut self,
        context: ContextId,
        resource: ResourceId,
        action: String,
        notified: Option<Notified>,
    ) -> Outcome {
        let key = self.run.known(resource)?.key.clone();
        if self.run.open(context)?.sent(&key, Timing::Before, 0).is_some() {
            self.notify_before(context, resource, &key, &action).await?;
        }
        match self.act(resource, &action, notified).await {
            // A survey also asks for what the notifications of an action start that it did not see.
            Err(failure) if self.run.is_survey() && !failure.is_final() => {
                self.kept_if_dry(Err(failure))?;
                self.run.known_mut(resource)?.mark(true);
            }
            outcome => outcome?,
        }
        let this = self.run.known(resource)?;
        let unsure = this.unsure;
        if !this.updated_by_last_action {
            return Ok(());
        }
        self.run.note_updated(context, &key);
        // The action's own code may have added notifications after all others were resolved.
        self.run.resolve(resource, false)?;
        let immediate = self.notify_immediately(context, &key, unsure).await;
        if !immediate.as_ref().is_err_and(|failure| self.is_kept_for_next_run(context, failure)) {
            immediate?;
            return self.queue_delayed(context, &key, unsure);
        }
        self.queue_delayed(context, &key, unsure)?;
        immediate
    }

    /// Runs the immediate notifications of a resource. The operator can grant what one was denied, and the resource will then
    /// be up to date. So the denied notification and those after it become due for the next run.
    async fn notify_immediately(&mut self, context: ContextId, key: &str, unsure: bool) -> Outcome {
        let mut outcome = Ok(());
        let mut at = 0;
        while let Some(note) = self.run.open(context)?.sent(key, Timing::Immediate, at) {
            at += 1;
            let target = match note.target {
                ResourceRef::Resource(target) => target,
                // No resource has this key yet. A unified context runs the notification when it is declared.
                ResourceRef::Key(_) => continue,
            };
            if outcome.is_err() {
                self.keep_due(target, &note.action)?;
                continue;
            }
            let by = key.to_owned();
            let notified =
                Notified { timing: Timing::Immediate, unsure: unsure.then(|| by.clone()), by: Some(by), since: None };
            outcome = self.run_action(context, target, note.action.clone(), Some(notified)).await;
            let Err(failure) = &outcome else { continue };
            if !self.is_kept_for_next_run(context, failure) {
                return outcome;
            }
            // If the receiver itself was changed, one of its own notifications was denied, and is due already.
            if !self.run.known(target)?.updated_by_last_action {
                self.keep_due(target, &note.action)?;
            }
        }
        outcome
    }

    /// Tells whether a failed notification from a context is due again in the next run.
    fn is_kept_for_next_run(&self, context: ContextId, failure: &Failure) -> bool {
        context == ROOT && !self.run.why_run() && failure.is_denial() && !failure.is_final()
    }

    fn keep_due(&mut self, receiver: ResourceId, action: &str) -> Outcome {
        let receiver = self.run.known(receiver)?.key.clone();
        self.record_due(&receiver, action)
    }

    fn queue_delayed(&mut self, context: ContextId, key: &str, unsure: bool) -> Outcome {
        let mut at = 0;
        while let Some(note) = self.run.open(context)?.sent(key, Timing::Delayed, at) {
            at += 1;
            let receiver = match &note.target {
                ResourceRef::Resource(target) => self.run.known(*target)?.declaration.context,
                ResourceRef::Key(_) if self.run.misses_declarations() => continue,
                ResourceRef::Key(_) => context,
            };
            let due = Due { target: note.target, action: note.action, sender: key.to_owned(), unsure, since: None };
            self.run.queue(receiver, due)?;
        }
        self.remember()
    }

    /// Makes a trial run. If it would change the resource, the `:before` notifications run first.
    async fn notify_before(&mut self, context: ContextId, resource: ResourceId, key: &str, action: &str) -> Outcome {
        let survey = self.run.is_survey();
        let was_dry = self.run.begin_trial();
        self.trial += u32::from(!was_dry);
        // In a survey each action runs only once, and the trial run must not use that.
        let outcome = if survey { Ok(()) } else { self.act(resource, action, None).await };
        self.trial -= u32::from(!was_dry);
        self.run.end_trial(was_dry);
        outcome?;
        let this = self.run.known(resource)?;
        let unsure = this.unsure;
        if survey || this.updated_by_last_action {
            let mut at = 0;
            while let Some(note) = self.run.open(context)?.sent(key, Timing::Before, at) {
                at += 1;
                let target = match self.target(context, key, &note.target, &note.action) {
                    Err(_) if self.run.misses_declarations() => continue,
                    target => target?,
                };
                let unsure = (unsure && self.is_dry()).then(|| key.to_owned());
                let notified = Notified { timing: Timing::Before, by: Some(key.to_owned()), unsure, since: None };
                self.run_action(context, target, note.action, Some(notified)).await?;
            }
            self.run.known_mut(resource)?.mark(false);
        }
        Ok(())
    }

    /// Records the delayed notifications that were queued since the last call, so that a later run sends them if this one
    /// cannot.
    pub(crate) fn remember(&mut self) -> Outcome {
        for (receiver, action) in self.run.take_newly_due() {
            self.record_due(&receiver, &action)?;
        }
        Ok(())
    }

    fn record_due(&mut self, receiver: &str, action: &str) -> Outcome {
        // If the limit is exceeded, the policy ends at the next check of its account. The due notifications are recorded
        // anyway.
        let _spent = self.run.account().spend(Limit::Disk, (receiver.len() + action.len()) as u64);
        let kept = self.memory.due(self.run.policy(), receiver, action);
        kept.map_err(|why| self.lost(why))
    }
}
