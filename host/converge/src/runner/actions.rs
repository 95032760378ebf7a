//! Runs one action, with its guards, attempts and record.

use super::Runner;
use super::depth::Nested;
use contract::{
    ActionRecord, ContextId, ErrorKind, Event, Failure, FailureMode, Guest, Limit, LogLevel, MAX_ACTIONS,
    MAX_NOTIFIED_AT_ONCE, MAX_RECORDS, NOTHING_CONDITIONAL, Notified, Outcome, Property, Providers, ROOT, ResourceId,
    Status, StopReason, Timing,
};
use errors::chef;
use std::pin::Pin;
use std::time::Instant;

/// The end of an action, for its record.
#[derive(Clone, Copy)]
struct Closing<'a> {
    status: Status,
    conditional: Option<&'a str>,
    failure: Option<&'a Failure>,
    ignored: bool,
}

impl Default for Closing<'_> {
    fn default() -> Self {
        Self { status: Status::Unprocessed, conditional: None, failure: None, ignored: false }
    }
}

/// The outcome of an attempt that did not fail.
pub(super) enum ActionOutcome {
    Skipped(String),
    UpToDate,
    Updated,
    /// The outcome is unknown in a dry run.
    Unknown,
    Bypassed,
}

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    /// Runs one action with its notifications. The future is boxed because actions can run other actions.
    pub(super) fn run_action(
        &mut self,
        context: ContextId,
        resource: ResourceId,
        action: String,
        notified: Option<Notified>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>> {
        Box::pin(async move {
            let outcome = match self.may_begin(resource, notified.as_ref()) {
                Ok(_nested) => self.notify_around(context, resource, action, notified).await,
                Err(failure) => Err(failure),
            };
            self.kept_if_dry(outcome)
        })
    }

    /// Counts a new action within the open ones, and the number of immediate notifications.
    fn may_begin(&mut self, resource: ResourceId, notified: Option<&Notified>) -> Result<Nested, Failure> {
        let is_at_once = notified.is_some_and(|notified| notified.timing != Timing::Delayed);
        if is_at_once && !self.run.count_notified_at_once() {
            let why = format!(
                "took more than {MAX_NOTIFIED_AT_ONCE} actions that `:before` and `:immediately` notifications started: look for \
                 resources that notify each other"
            );
            return Err(self.lost(why));
        }
        self.deeper(resource)
    }

    /// Runs one action without notifications: guards, attempts, and `ignore_failure`.
    pub(super) async fn act(&mut self, resource: ResourceId, action: &str, notified: Option<Notified>) -> Outcome {
        self.go_on()?;
        if self.had_its_turn(resource, action) {
            self.run.known_mut(resource)?.mark(false);
            return Ok(());
        }
        let this = self.run.known_mut(resource)?;
        this.mark(false);
        let (context, key) = (this.declaration.context, this.key.clone());
        if self.run.open(context).is_err() {
            return Err(Failure::raised(ErrorKind::ContextEnded, format!("{key} belongs to a context that has ended")));
        }
        let record = self.begin_record(resource, action, notified).await?;
        let began = Instant::now();
        let outcome = match self.run.resolve(resource, false) {
            Ok(()) => {
                let ended = self.attempts(resource, action, record).await;
                if let Err(failure) = &ended {
                    self.ask_for_later_actions(resource, action, failure)?;
                }
                self.finish_record(resource, action, record, began, ended).await
            }
            // In Chef, the action has begun by then, so the report lists it as an action that was not carried out.
            Err(failure) => {
                let closing = Closing { failure: Some(&failure), ..Closing::default() };
                self.close_record(resource, action, record, began, closing).await?;
                Err(failure)
            }
        };
        let left = self.run.happened(|parts| {
            Some(Event::ActionCompleted { id: resource, resource: parts.resources.get(resource as usize)?, action })
        });
        self.hand_over(left).await;
        outcome
    }

    async fn attempts(&mut self, resource: ResourceId, action: &str, record: usize) -> Result<ActionOutcome, Failure> {
        let mut left = self.run.known(resource)?.declaration.retries;
        loop {
            let failure = match self.attempt(resource, action).await {
                Ok(outcome) => return Ok(outcome),
                Err(failure) => failure,
            };
            let this = &self.run.known(resource)?.declaration;
            let (forgiven, delay) = (this.on_failure != FailureMode::Raise, this.retry_delay);
            if !failure.is_standard() || forgiven || left == 0 || failure.is_missing_grant() {
                return Err(failure);
            }
            left -= 1;
            self.run.count_retry(record);
            let heard = self.run.happened(|parts| {
                let (id, resource) = (resource, parts.resources.get(resource as usize)?);
                let nesting = resource.nesting;
                Some(Event::Retrying { id, resource, action, left, failure: &failure, nesting })
            });
            self.hand_over(heard).await;
            // Waiting changes nothing that a dry run sees.
            if !self.run.why_run() {
                let milliseconds = u64::from(delay).saturating_mul(1_000);
                self.run
                    .account()
                    .spend(Limit::Pauses, milliseconds)
                    .map_err(|ended| ended.or_at(|| self.run.here()))?;
                self.providers.pause(delay);
            }
            self.go_on()?;
        }
    }

    async fn attempt(&mut self, resource: ResourceId, action: &str) -> Result<ActionOutcome, Failure> {
        if !self.run.count_attempt() {
            return Err(self.lost(format!("took more than {MAX_ACTIONS} actions")));
        }
        if action == "nothing" {
            return Ok(ActionOutcome::Skipped(NOTHING_CONDITIONAL.into()));
        }
        let skips = self.run.is_survey() && self.survey_guards(resource).await?;
        let verdict = match self.run.is_survey() {
            true => super::guards::Verdict::Run,
            false => match self.guards(resource).await {
                Err(failure) => {
                    self.ask_for_the_rest(resource, action, &failure)?;
                    return Err(failure);
                }
                Ok(verdict) => verdict,
            },
        };
        let unknown = match verdict {
            super::guards::Verdict::Run => None,
            super::guards::Verdict::Skip(conditional) => return Ok(ActionOutcome::Skipped(conditional)),
            super::guards::Verdict::Unknown(what) => Some(what),
        };
        let doubts: Vec<_> = self.unsure_sender().into_iter().chain(unknown).collect();
        for what in &doubts {
            self.uncertain(resource, what);
        }
        let declaration = &self.run.known(resource)?.declaration;
        let outcome = match self.run.type_of(declaration) {
            Some(guest_type) => {
                let acted = self.act_in_guest(resource, action, guest_type).await;
                acted.map_err(|failure| self.hidden(resource, failure))
            }
            None if self.run.is_composite(&declaration.kind) => self.act_in_children(resource, action).await,
            None => match self.run.without_provider(resource)? {
                Some(idle) => Err(idle),
                None => self.act_on_machine(resource, action).await,
            },
        };
        let this = self.run.known_mut(resource)?;
        this.unsure |= !doubts.is_empty() && this.updated_by_last_action;
        let outcome = match self.with_kept(outcome) {
            Ok(outcome) => Ok(outcome),
            Err(failure) => self.refused_in_dry(failure).and_then(|what| {
                self.uncertain(resource, &what);
                let this = self.run.known_mut(resource)?;
                this.mark(true);
                this.unsure = true;
                Ok(ActionOutcome::Unknown)
            }),
        };
        self.surveyed(resource, skips, outcome, ActionOutcome::Updated)
    }

    /// Returns the uncertainty of an action that was notified by a sender with an unknown outcome.
    fn unsure_sender(&self) -> Option<String> {
        let sender = self.run.open_record()?.notified.as_ref()?.unsure.as_deref()?;
        Some(format!("notified by {sender}, and whether that would change is not known"))
    }

    pub(super) async fn begin_record(
        &mut self,
        id: ResourceId,
        action: &str,
        notified: Option<Notified>,
    ) -> Result<usize, Failure> {
        let resource = self.run.known(id)?;
        let mut record = ActionRecord::new(resource, id, action, Status::Unprocessed);
        record.notified = notified;
        record.forced_why_run = self.trial > 0;
        if self.run.records().len() >= MAX_RECORDS {
            return Err(self.lost(format!("took more than {MAX_RECORDS} actions")));
        }
        let at = self.run.begin_action(record)?;
        let heard = self.run.happened(|parts| {
            let resource = parts.resources.get(id as usize)?;
            let notified = parts.records.get(at)?.notified.as_ref();
            Some(Event::ActionStarted { id, resource, action, nesting: resource.nesting, notified })
        });
        self.hand_over(heard).await;
        Ok(at)
    }

    pub(super) async fn finish_record(
        &mut self,
        id: ResourceId,
        action: &str,
        at: usize,
        began: Instant,
        ended: Result<ActionOutcome, Failure>,
    ) -> Outcome {
        let mode = self.run.known(id)?.declaration.on_failure;
        let unshown = match &ended {
            Err(failure) if failure.is_standard() => self.show_failed(id).await,
            _ => None,
        };
        let (status, conditional, failure) = match ended {
            Ok(ActionOutcome::Skipped(conditional)) => (Status::Skipped, Some(conditional), None),
            Ok(ActionOutcome::UpToDate) => (Status::UpToDate, None, None),
            Ok(ActionOutcome::Updated) => (Status::Updated, None, None),
            Ok(ActionOutcome::Unknown) => (Status::Unknown, None, None),
            Ok(ActionOutcome::Bypassed) => (Status::Bypassed, None, None),
            Err(failure) if self.is_interrupted_by(&failure) => (Status::Interrupted, None, Some(failure)),
            Err(_) if unshown.is_some() => (Status::Unprocessed, None, unshown.clone()),
            // An exception that Ruby's plain `rescue` does not catch ends the run in the middle of the action. Chef then does
            // not report the action's end.
            Err(failure @ Failure::Raised(_)) if !failure.is_standard() => (Status::Unprocessed, None, Some(failure)),
            Err(failure) => (Status::Failed, None, Some(failure)),
        };
        let forgiving = mode != FailureMode::Raise && unshown.is_none();
        let ignored = forgiving && failure.as_ref().is_some_and(Failure::is_standard);
        let closing = Closing { status, conditional: conditional.as_deref(), failure: failure.as_ref(), ignored };
        self.close_record(id, action, at, began, closing).await?;
        let Some(failure) = failure else {
            let this = self.run.known_mut(id)?;
            this.surely_updated |= this.updated_by_last_action && !this.unsure;
            return Ok(());
        };
        if unshown.is_some() {
            return Err(failure);
        }
        let failure = self.in_resource(id, failure);
        if !ignored {
            return Err(failure);
        }
        if mode == FailureMode::Ignore {
            // The terminal output recognizes this line by its end.
            self.run.log(LogLevel::Error, &format!("{failure}; ignore_failure is set, continuing"));
        }
        Ok(())
    }

    /// Tells whether an action failed because of the signal that ends the run: its code, its command or a child process was
    /// ended.
    fn is_interrupted_by(&self, failure: &Failure) -> bool {
        matches!(self.stop.requested(), Some(StopReason::Signal(_))) && *failure.kind() == ErrorKind::Signalled
    }

    /// Records the end of an action, and sends its event.
    async fn close_record(
        &mut self,
        id: ResourceId,
        action: &str,
        at: usize,
        began: Instant,
        closing: Closing<'_>,
    ) -> Outcome {
        let Closing { status, conditional, failure, ignored } = closing;
        // A failure that ends the policy is always stored, because there is only one.
        let paid = match failure {
            Some(failure) if failure.is_final() => Ok(()),
            Some(failure) => self.run.pay_for_failure(failure),
            None => conditional.map_or(Ok(()), |text| self.run.pay_for_words(text)),
        };
        if let Some(record) = self.run.end_action(at) {
            record.status = status;
            // If nothing is to be done, the outcome is certain, whatever a guard or sender would decide.
            if matches!(status, Status::UpToDate | Status::Skipped) {
                record.uncertain.clear();
            }
            record.conditional = conditional.filter(|_| paid.is_ok()).map(Into::into);
            // Text that exceeds the limit is not stored; the policy ends.
            record.failure = failure.filter(|_| paid.is_ok()).cloned();
            record.ignored = ignored;
            record.seconds = began.elapsed().as_secs_f64();
        }
        let heard = self.run.happened(|parts| {
            let resource = parts.resources.get(id as usize)?;
            Some(Event::ActionFinished {
                id,
                resource,
                action,
                status,
                conditional,
                failure,
                ignored,
                nesting: resource.nesting,
            })
        });
        paid?;
        self.hand_over(heard).await;
        Ok(())
    }

    /// Chef shows a failed resource with its properties, and evaluates its lazy values once more for that. An exception in
    /// one of them replaces the failure, without the resource's name, and `ignore_failure` does not apply to it.
    async fn show_failed(&mut self, id: ResourceId) -> Option<Failure> {
        let mut at = 0;
        while let Ok(resource) = self.run.known(id)
            && !resource.declaration.sensitive
            && let Some((_, property)) = resource.declaration.properties.get(at)
        {
            at += 1;
            let Property::Lazy(callback) = property else { continue };
            let callback = *callback;
            match self.evaluate(callback, None).await {
                // A value of a wrong type is shown unchanged.
                Ok(_) => {}
                Err(failure) if *failure.kind() == ErrorKind::InvalidValue => {}
                Err(failure) => return Some(failure),
            }
        }
        None
    }

    /// Returns a failure as the resource's declarer gets it: with the same kind and exception object, and the place of the
    /// resource.
    fn in_resource(&self, id: ResourceId, failure: Failure) -> Failure {
        let Ok(resource) = self.run.known(id) else { return failure };
        if !failure.is_standard() {
            return failure;
        }
        let declaration = &resource.declaration;
        let place = format!("{}[{}] ({})", resource.kind, declaration.name, defined_at(&declaration.origin));
        match failure {
            Failure::Raised(raised) if chef::has_own_message(&raised.kind) => Failure::Raised(raised),
            Failure::Raised(mut raised) => {
                if raised.passed.len() <= contract::MAX_DEPTH as usize {
                    raised.passed.push(place);
                }
                Failure::Raised(raised)
            }
            many @ Failure::Many(_) => many.into_raised().into(),
            other => other,
        }
    }

    /// Records and shows an uncertainty of a dry run.
    pub(super) fn uncertain(&mut self, id: ResourceId, what: &str) {
        let id = self.run.reported_as(id);
        // If the policy's limit is exceeded, it ends, and the uncertainty does not matter.
        if self.run.pay_for_words(what).is_err() {
            return;
        }
        self.run.note_doubt(what);
        self.run.notice_with(|parts| {
            let resource = parts.resources.get(id as usize)?;
            Some(Event::Assumed { resource, what, nesting: resource.nesting })
        });
    }

    /// Returns the number of queued delayed notifications in the root context.
    pub fn pending(&self) -> usize {
        self.run.delayed_in(ROOT)
    }
}

/// Returns the place of a resource's declaration, in Chef's words.
fn defined_at(origin: &node::origin::Origin) -> String {
    match (&origin.cookbook, &origin.recipe, &origin.file, origin.line) {
        (Some(cookbook), Some(recipe), _, Some(line)) => format!("{cookbook}::{recipe} line {line}"),
        (_, _, Some(file), Some(line)) => format!("{file} line {line}"),
        _ => "dynamically defined".into(),
    }
}
