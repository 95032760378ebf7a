//! Runs one call of the guest's `serve`, and the turns within it.

use crate::handover::{Handover, Slot};
use crate::policy::{Policy, lost};
use crate::rules::Rules;
use contract::{Guest, GuestLost, GuestMessage, HostMessage, Run};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// One session with a policy's instance. It borrows the policy, so a policy has at most one session at a time.
pub struct Session<'a> {
    call: Pin<Box<dyn Future<Output = ()> + Send + 'a>>,
    handover: Handover,
    lost: &'a mut Option<GuestLost>,
}

impl Policy {
    /// Begins a session. The guest's code first runs at the first turn.
    pub fn session(&mut self) -> Session<'_> {
        let Self { store, guest, lost: gone } = self;
        let handover = store.data().handover.clone();
        let call = Box::pin(async move {
            store.data_mut().rules = Rules::of_session();
            store.data_mut().clock.start();
            let ended = guest.call_serve(&mut *store).await;
            let state = store.data_mut();
            state.clock.stop();
            let why = match ended {
                Err(error) => Some(lost(&state.policy, &error, &state.last_words)),
                Ok(()) if !state.rules.closed() => {
                    let why = "left its loop before it was told to".to_owned();
                    Some(GuestLost { policy: state.policy.clone(), why, ..GuestLost::default() })
                }
                Ok(()) => None,
            };
            // The guest had the turn, or it ended before it took its turn.
            let run = state.run.take().or_else(|| state.handover.take_if(|_| true).map(Slot::into_run));
            state.handover.put(Slot::Ended(run.unwrap_or_default(), why));
        });
        Session { call, handover, lost: gone }
    }
}

impl Guest for Session<'_> {
    async fn turn(&mut self, run: &mut Run, tell: HostMessage) -> Result<GuestMessage, GuestLost> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        self.handover.put(Slot::ToGuest(Box::new(std::mem::take(run)), tell));
        let slot = poll_fn(|context| {
            // The call is not polled again once it is ready, because it then leaves `Ended` in the handover.
            let _ = self.call.as_mut().poll(context);
            self.handover.take_if(|slot| !matches!(slot, Slot::ToGuest(..))).map_or(Poll::Pending, Poll::Ready)
        });
        match slot.await {
            Slot::ToHost(back, said) => {
                *run = *back;
                Ok(said)
            }
            Slot::Ended(back, why) => {
                *run = *back;
                let why = why.unwrap_or_else(|| GuestLost {
                    policy: run.policy().to_owned(),
                    why: "has ended its conversation".into(),
                    ..GuestLost::default()
                });
                Err(self.lost.insert(why).clone())
            }
            // The filter above excludes this case. If it happened anyway, the guest would count as ended.
            Slot::ToGuest(back, _) => {
                *run = *back;
                Err(GuestLost {
                    policy: run.policy().to_owned(),
                    why: "did not take its turn".into(),
                    ..GuestLost::default()
                })
            }
        }
    }
}

impl Session<'_> {
    /// Tells the guest to return from `serve`.
    ///
    /// # Errors
    /// Returns the reason if the guest has ended early, before or during this call.
    pub async fn end(mut self) -> Result<(), GuestLost> {
        if let Some(lost) = self.lost {
            return Err(lost.clone());
        }
        self.handover.put(Slot::ToGuest(Box::default(), HostMessage::Done(Ok(()))));
        self.call.as_mut().await;
        match self.handover.take_if(|_| true) {
            Some(Slot::Ended(_, Some(why))) => Err(self.lost.insert(why).clone()),
            _ => Ok(()),
        }
    }
}
