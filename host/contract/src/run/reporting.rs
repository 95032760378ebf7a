//! Reports the events of a run to the observer: log lines, changes and places.

use super::{ActionRecord, HOST_AS_GUEST, Resource, ResourceId, Run};
use crate::{Change, Event, Failure, GuestEvent, LogLevel, LogSource, Observer, Outcome};
use node::origin::Origin;

/// Bytes of a log line in addition to its text.
const LINE_BYTES: u64 = 64;

/// The parts of a run that an event may use while the observer is borrowed.
pub struct Parts<'a> {
    /// The declared resources, by number: see [`Run::resources`].
    pub resources: &'a [Resource],
    /// The records of begun actions: see [`Run::records`].
    pub records: &'a [ActionRecord],
}

impl Run {
    /// Sends an event to the observer.
    pub fn notice(&mut self, event: &Event<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.notice(event);
        }
    }

    /// Does the same as [`notice`](Self::notice) for events with references to the run itself.
    pub fn notice_with<'a>(&'a mut self, event: impl FnOnce(Parts<'a>) -> Option<Event<'a>>) {
        let Self { observer, resources, records, .. } = self;
        if let (Some(observer), Some(event)) = (observer, event(Parts { resources, records })) {
            observer.notice(&event);
        }
    }

    /// Does the same as [`notice_with`](Self::notice_with), and returns the event for the guest if the guest has subscribed
    /// to it.
    #[must_use]
    pub fn happened<'a>(&'a mut self, event: impl FnOnce(Parts<'a>) -> Option<Event<'a>>) -> Option<GuestEvent> {
        let Self { observer, resources, records, listens, .. } = self;
        let event = event(Parts { resources, records })?;
        if let Some(observer) = observer {
            observer.notice(&event);
        }
        event.for_guests_who(|name| listens.contains(name))
    }

    /// Returns the policy's present place: that of the resource with the running action, or else only the policy.
    pub fn here(&self) -> Origin {
        here(&self.open_records, &self.records, &self.policy)
    }

    /// Returns true if the running action, or an enclosing one, belongs to a sensitive resource.
    pub fn is_sensitive_here(&self) -> bool {
        self.open_records.iter().any(|at| self.records.get(*at).is_some_and(|record| record.sensitive))
    }

    /// Removes and returns the observer, for events between policies.
    pub fn take_observer(&mut self) -> Option<Box<dyn Observer>> {
        self.observer.take()
    }

    /// Sets the observer of the run.
    pub fn set_observer(&mut self, observer: Option<Box<dyn Observer>>) {
        self.observer = observer;
    }

    /// Removes and returns the first failure of a dry run that continued after it. A real run would end there.
    pub fn take_kept(&mut self) -> Option<Failure> {
        let kept = std::mem::take(&mut self.kept);
        kept.into_iter().next().map(|(_, failure)| failure)
    }

    /// Returns the first failure of a dry run that continued after it.
    pub fn kept(&self) -> Option<&Failure> {
        self.kept.first().map(|(_, failure)| failure)
    }

    /// Charges a log line. Lines from level `info` on are also written to the run's record on disk.
    fn pay_for_line(&mut self, level: LogLevel, line: &str) -> Outcome {
        let bytes = line.len() as u64 + LINE_BYTES;
        self.pay(bytes)?;
        if level < LogLevel::Info { Ok(()) } else { self.spend_on_record(bytes) }
    }

    /// Writes a line of the host to the log. If the line exceeds the policy's limit, it is dropped, and the policy ends.
    pub fn log(&mut self, level: LogLevel, line: &str) {
        if self.pay_for_line(level, line).is_err() {
            return;
        }
        self.say(LogSource::Host, level, line);
    }

    /// Writes a line of a cookbook to the log, as [`log`](Self::log) does.
    pub fn cookbook_log(&mut self, level: LogLevel, line: &str) {
        if self.pay_for_line(level, line).is_err() {
            return;
        }
        self.say(LogSource::Cookbook, level, line);
    }

    fn say(&mut self, source: LogSource, level: LogLevel, line: &str) {
        let Self { observer, policy, .. } = self;
        if let Some(observer) = observer {
            observer.notice(&Event::Log { policy: Some(policy), source, level, line });
        }
    }

    /// Writes a line that a cookbook's code printed, as [`log`](Self::log).
    pub fn printed(&mut self, level: LogLevel, line: &str) {
        if self.pay_for_line(level, line).is_err() {
            return;
        }
        let Self { observer, policy, .. } = self;
        if let Some(observer) = observer {
            observer.notice(&Event::Printed { policy, level, line });
        }
    }

    /// Records a guest action's change, and returns true if the action may make it. The resource counts as updated after the
    /// action has succeeded.
    ///
    /// # Errors
    /// The resource does not exist.
    pub fn converge_by(&mut self, id: ResourceId, what: Vec<String>) -> Result<bool, Failure> {
        self.known_mut(id)?.converged = true;
        let mut what = what.into_iter();
        let first = what.next().unwrap_or_default();
        let change = Change::new(what.fold(first, |all, line| all + "\n" + &line));
        self.changed(id, change)?;
        Ok(!self.why_run || self.survey)
    }

    /// Records a change in the open action of a resource and shows it.
    ///
    /// # Errors
    /// The policy's memory is used up.
    pub fn changed(&mut self, id: ResourceId, change: Change) -> Outcome {
        let id = self.reported_as(id);
        self.pay_for_change(&change)?;
        let why_run = self.why_run;
        self.notice_with(|parts| {
            let resource = parts.resources.get(id as usize)?;
            Some(Event::Changed { resource, change: &change, why_run, nesting: resource.nesting, code: None })
        });
        if let Some(record) = self.open_record_of(id) {
            record.changes.push(change);
        }
        Ok(())
    }

    /// Returns the resource that reports a resource's changes: the owner for a child without its own row, or else the
    /// resource itself.
    pub fn reported_as(&self, id: ResourceId) -> ResourceId {
        let declaration = self.resources.get(id as usize).map(|resource| &resource.declaration);
        let without_row = declaration.filter(|it| it.detached && it.guest_id == HOST_AS_GUEST);
        let owner = without_row.and_then(|it| self.contexts.get(it.context as usize)?.owner);
        owner.map_or(id, |(owner, _)| owner)
    }

    /// Records the state that `load_current_value` found before the running action.
    ///
    /// # Errors
    /// The resource does not exist.
    pub fn observed(&mut self, id: ResourceId, state: serde_json::Value) -> Outcome {
        self.known(id)?;
        // The record also keeps the state after the resource drops it.
        self.pay_for_state(&state)?;
        self.known_mut(id)?.before = Some(state);
        Ok(())
    }

    /// Marks a resource as updated or not, without recording a change.
    ///
    /// # Errors
    /// The resource does not exist.
    pub fn mark(&mut self, id: ResourceId, updated: bool) -> Outcome {
        let resource = self.known_mut(id)?;
        resource.mark(updated);
        resource.surely_updated |= updated;
        Ok(())
    }
}

/// Returns the innermost action's place, else the policy: see [`Run::here`].
pub(super) fn here(open_records: &[usize], records: &[ActionRecord], policy: &str) -> Origin {
    let open = open_records.last().and_then(|at| records.get(*at));
    open.map_or_else(|| Origin::policy(policy), |record| record.origin.as_ref().clone())
}
