//! Records of actions for reports, one per action in the order of their start.

use super::{Resource, ResourceId, Timing};
use crate::{Change, Failure, Status};
use node::origin::Origin;
use std::sync::Arc;

/// One action of one resource.
#[derive(Debug, Clone)]
pub struct ActionRecord {
    /// The resource that the action belongs to.
    pub resource: ResourceId,
    /// The resource's type, such as `file`.
    pub kind: Arc<str>,
    /// The resource's name, such as `/etc/motd`.
    pub name: String,
    /// The place of the resource's declaration.
    pub origin: Arc<Origin>,
    /// True for a sensitive resource: its content is never shown.
    pub sensitive: bool,
    /// The action's name, such as `create`.
    pub action: String,
    /// The outcome of the action.
    pub status: Status,
    /// The depth of nesting inside other resources. It is 0 for a recipe's resource.
    pub nesting: u32,
    /// The changes that were made, or that a dry run would make.
    pub changes: Vec<Change>,
    /// The assumptions and unknowns of a dry run.
    pub uncertain: Vec<String>,
    /// The notification that started it, or `None` if it ran in its normal order.
    pub notified: Option<Notified>,
    /// True for the trial run of a `:before` notification.
    pub forced_why_run: bool,
    /// The number of retries.
    pub retried: u32,
    /// The guard that skipped it.
    pub conditional: Option<String>,
    /// The error, if the action failed.
    pub failure: Option<Failure>,
    /// True if the run went on after the failure (`ignore_failure`).
    pub ignored: bool,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The state before the action. Only resources of guest types have it.
    pub before: Option<serde_json::Value>,
    /// The state after the action; absent as `before` is.
    pub after: Option<serde_json::Value>,
}

/// The notification that started an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notified {
    /// The timing of the notification.
    pub timing: Timing,
    /// `type[name]` of the sender; not kept for delayed ones, which may have several.
    pub by: Option<String>,
    /// In a dry run, the sender for which a change is not certain. `None` if a sender would surely change.
    pub unsure: Option<String>,
    /// The earlier run that left it due.
    pub since: Option<String>,
}

/// The number of actions by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Actions that changed something, or would change it in a real run.
    pub updated: usize,
    /// Actions for which a dry run cannot tell whether they would change something.
    pub unknown: usize,
    /// Actions that failed, or would fail in a real run, without ignored failures.
    pub failed: usize,
    /// The number of all actions, whatever their status.
    pub total: usize,
}

impl Tally {
    /// Counts records by outcome. Trial runs for `:before` count only in `total`.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a ActionRecord>) -> Self {
        let mut tally = Self::default();
        for record in records {
            tally.total += 1;
            match record.status {
                _ if record.forced_why_run => {}
                Status::Updated => tally.updated += 1,
                Status::Unknown => tally.unknown += 1,
                Status::Interrupted => {}
                // An action that never ran can have a failure, too, such as the missing receiver of a notification.
                _ if record.failure.is_some() && !record.ignored => tally.failed += 1,
                _ => {}
            }
        }
        tally
    }
}

impl ActionRecord {
    /// Creates the record of an action that begins.
    pub fn new(resource: &Resource, id: ResourceId, action: &str, status: Status) -> Self {
        let declaration = &resource.declaration;
        Self {
            resource: id,
            kind: Arc::clone(&resource.kind),
            name: declaration.name.clone(),
            origin: Arc::clone(&declaration.origin),
            sensitive: declaration.sensitive,
            action: action.into(),
            status,
            nesting: resource.nesting,
            changes: vec![],
            uncertain: vec![],
            notified: None,
            forced_why_run: false,
            retried: 0,
            conditional: None,
            failure: None,
            ignored: false,
            seconds: 0.0,
            before: None,
            after: None,
        }
    }
}
