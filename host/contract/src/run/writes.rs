//! Records changes that the guest's own code makes on the machine, outside of resources.

use super::{MAX_RECORDS, Run};
use crate::account::{origin_bytes, text_bytes};
use crate::{Change, Event, Outcome};
use node::origin::Origin;
use std::sync::Arc;

/// A change that guest code made itself through the machine interface, or would make in a real run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestWrite {
    /// The real path inside the root.
    pub path: String,
    /// The sentence for reports, as in `write file /etc/motd`.
    pub what: String,
    /// The place of the code: cookbook, recipe, file and line from the guest, or else the place of the resource.
    pub origin: Origin,
    /// `type[name]` of the innermost resource whose action was running; `None` while a recipe is compiled.
    pub resource: Option<Arc<str>>,
    /// The number of consecutive repetitions.
    pub times: u32,
}

impl GuestWrite {
    /// Returns true if another record has the same change and place.
    fn is_like(&self, other: &Self) -> bool {
        self.what == other.what && self.origin == other.origin && self.resource == other.resource
    }
}

impl Run {
    /// Records a change that guest code made itself. It belongs to the innermost open action, or to no action while the
    /// policy compiles. It is shown, but it does not mark the resource as updated: only `converge_by` and child resources do.
    /// Consecutive equal changes are reported once, for example if a file is opened, written and closed.
    ///
    /// `origin` is the place of the code, or `None` if the guest did not send it.
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
