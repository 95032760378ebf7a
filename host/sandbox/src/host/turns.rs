//! Passes the turn from the guest to the host and back.

use crate::bindings::wrun::turns::turns;
use crate::handover::Slot;
use crate::policy::State;
use crate::words;
use std::future::poll_fn;
use std::task::Poll;
use wasmtime::Result;

impl turns::Host for State {
    async fn next(&mut self, message: turns::GuestMessage) -> Result<turns::Turn> {
        self.clock.stop();
        // This check is necessary because an endless chain of short turns may never reach the engine's own check.
        self.clock.check()?;
        self.may_go_on()?;
        self.rules.said(&message)?;
        let _while_it_lasts = self.pay_for_call(words::message_bytes(&message)).ok();
        if let (Some(said), Some(run)) = (words::said(self.guest, message)?, self.run.take()) {
            self.handover.put(Slot::ToHost(run, said));
        }
        let handover = self.handover.clone();
        let (run, tell) = poll_fn(|_| match handover.take_if(|slot| matches!(slot, Slot::ToGuest(..))) {
            Some(Slot::ToGuest(run, tell)) => Poll::Ready((run, tell)),
            // A waker is not needed: the session polls again after it has put a message into the handover.
            _ => Poll::Pending,
        })
        .await;
        let number = self.rules.told(&tell);
        let attributes_version = run.attributes().version();
        if !self.rules.closed() {
            self.run = Some(run);
        }
        self.clock.start();
        Ok(turns::Turn { attributes_version, message: words::told(self.guest, number, tell) })
    }
}
