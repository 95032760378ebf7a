//! What happened, for reports: one record per action, in the order in which they began.

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
    /// Where it was declared.
    pub origin: Arc<Origin>,
    /// True for a sensitive resource: its content is never shown.
    pub sensitive: bool,
    /// The action's name, such as `create`.
    pub action: String,
    /// Whether the action changed something, was skipped or failed.
    pub status: Status,
    /// How deep the resource is nested in others: 0 for a recipe's.
    pub nesting: u32,
    /// The changes that were made, or that a dry run would make.
    pub changes: Vec<Change>,
    /// What a dry run takes for granted or cannot know.
    pub uncertain: Vec<String>,
    /// Why it ran, if not in its turn.
    pub notified: Option<Notified>,
    /// The trial run that `:before` makes.
    pub forced_why_run: bool,
    /// How often it was tried again.
    pub retried: u32,
    /// The guard that skipped it.
    pub conditional: Option<String>,
    /// The error, if the action failed.
    pub failure: Option<Failure>,
    /// True if the run went on after the failure (`ignore_failure`).
    pub ignored: bool,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Of a guest-made resource: what was there before, and after.
    pub before: Option<serde_json::Value>,
    /// The state after the action; absent as `before` is.
    pub after: Option<serde_json::Value>,
}

/// What made an action run out of its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notified {
    /// When the notification is carried out.
    pub timing: Timing,
    /// `type[name]` of the sender; not kept for delayed ones, which may have several.
    pub by: Option<String>,
    /// In a dry run: the sender of which it is not known whether it would change. None: some sender surely would.
    pub unsure: Option<String>,
    /// The earlier run that left it due.
    pub since: Option<String>,
}

/// How many actions ended in which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// They changed something, or would in a real run.
    pub updated: usize,
    /// A dry run cannot know whether they would.
    pub unknown: usize,
    /// They failed, or would in a real run, and nobody forgave it.
    pub failed: usize,
    /// The number of all actions, whatever their status.
    pub total: usize,
}

impl Tally {
    /// Counts; the trial runs that `:before` makes count as actions only.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a ActionRecord>) -> Self {
        let mut tally = Self::default();
        for record in records {
            tally.total += 1;
            match record.status {
                _ if record.forced_why_run => {}
                Status::Updated => tally.updated += 1,
                Status::Unknown => tally.unknown += 1,
                Status::Interrupted => {}
                // One that was never carried out may have failed too: a notification's receiver is missing.
                _ if record.failure.is_some() && !record.ignored => tally.failed += 1,
                _ => {}
            }
        }
        tally
    }
}

impl ActionRecord {
    /// The record of an action that begins.
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
