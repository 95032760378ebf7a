//! Passes the turn between host and guest through one slot. The lock is never contended and never held across an await.

use contract::{GuestLost, GuestMessage, HostMessage, Run};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Clone, Default)]
pub(crate) struct Handover(Arc<Mutex<Option<Slot>>>);

/// A message with the run. The side that takes it gets the turn and the run.
pub(crate) enum Slot {
    ToGuest(Box<Run>, HostMessage),
    ToHost(Box<Run>, GuestMessage),
    /// The guest's call of `serve` has ended, in the second case early.
    Ended(Box<Run>, Option<GuestLost>),
}

impl Slot {
    pub(crate) fn into_run(self) -> Box<Run> {
        let (Self::ToGuest(run, _) | Self::ToHost(run, _) | Self::Ended(run, _)) = self;
        run
    }
}

impl Handover {
    pub(crate) fn put(&self, slot: Slot) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(slot);
    }

    pub(crate) fn take_if(&self, wanted: impl FnOnce(&Slot) -> bool) -> Option<Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take_if(|slot| wanted(slot))
    }
}
