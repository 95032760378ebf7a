//! One call of `serve`, and the turns in it.

use crate::handover::{Handover, Slot};
use crate::policy::{Policy, lost};
use crate::rules::Rules;
use contract::{Guest, GuestLost, GuestMessage, HostMessage, Run};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// One conversation with a policy. Borrows the policy, so a policy has one conversation at a time.
pub struct Session<'a> {
    call: Pin<Box<dyn Future<Output = ()> + Send + 'a>>,
    handover: Handover,
    lost: &'a mut Option<GuestLost>,
}

impl Policy {
    /// Begins a conversation. Nothing of the guest runs before the first turn.
    pub fn session(&mut self) -> Session<'_> {
        let Self { store, guest, lost: gone } = self;
        let handover = store.data().handover.clone();
        let call = Box::pin(async move {
            store.data_mut().rules = Rules::default();
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
            // The guest has the run, or it never picked it up.
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
            // Not polled again once it is ready: then it has left `Ended` in the handover.
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
            // Filtered above; the guest is as good as gone if it were not.
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
    /// Lets the guest return from `serve`.
    ///
    /// # Errors
    /// The guest was lost before, or is now.
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
