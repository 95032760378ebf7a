//! What the guest's own code changes on the machine, beside its resources.

use super::{MAX_RECORDS, Run};
use crate::account::{origin_bytes, text_bytes};
use crate::{Change, Event, Outcome};
use node::origin::Origin;
use std::sync::Arc;

/// One change that guest code made by itself, through the machine; in a dry run one that it would make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestWrite {
    /// The real path inside the root.
    pub path: String,
    /// The sentence for reports, as in `write file /etc/motd`.
    pub what: String,
    /// The place of the code: cookbook, recipe, file and line as far as the guest says them, else those of the resource.
    pub origin: Origin,
    /// `type[name]` of the innermost resource whose action was running; `None` while a recipe is compiled.
    pub resource: Option<Arc<str>>,
    /// How often it was done in a row.
    pub times: u32,
}

impl GuestWrite {
    /// Whether another one says the same of the same place.
    fn is_like(&self, other: &Self) -> bool {
        self.what == other.what && self.origin == other.origin && self.resource == other.resource
    }
}

impl Run {
    /// Records a change that guest code made by itself. It belongs to the innermost open action, or to none while the policy
    /// compiles. It is shown, but it updates no resource: only `converge_by` and children do. A change that is made several
    /// times in a row, as by a file that is opened, written and closed, is told once.
    ///
    /// `origin`: the place of the code; `None` if the guest does not say it.
    ///
    /// # Errors
    /// The policy's memory is used up.
    pub fn changed_by_guest(&mut self, path: String, what: String, origin: Option<Origin>) -> Outcome {
        let open = self.open_records.last().copied().and_then(|at| Some((at, self.records.get(at)?)));
        let innermost = open.map(|(at, record)| (at, record.resource));
        let resource = innermost.and_then(|(_, id)| Some(Arc::clone(&self.resources.get(id as usize)?.key)));
        let origin = origin.unwrap_or_else(|| self.here());
        let write = GuestWrite { path, what, origin, resource, times: 1 };
        if let Some(last) = self.writes.last_mut().filter(|last| last.is_like(&write)) {
            last.times = last.times.saturating_add(1);
            return Ok(());
        }
        let texts = text_bytes(&write.path) + text_bytes(&write.what) + origin_bytes(&write.origin);
        self.pay(size_of::<GuestWrite>() as u64 + texts + write.resource.as_deref().map_or(0, text_bytes))?;
        match innermost {
            Some((at, id)) => {
                let change = Change::new(write.what.clone());
                self.pay_for_change(&change)?;
                let why_run = self.why_run;
                self.notice_with(|parts| {
                    let resource = parts.resources.get(id as usize)?;
                    let (nesting, code) = (resource.nesting, Some(&write.origin));
                    Some(Event::Changed { resource, change: &change, why_run, nesting, code })
                });
                if let Some(record) = self.records.get_mut(at) {
                    record.changes.push(change);
                }
            }
            None => self.notice(&Event::Written { write: &write, why_run: self.why_run }),
        }
        if self.writes.len() < MAX_RECORDS {
            self.writes.push(write);
        }
        Ok(())
    }
}
