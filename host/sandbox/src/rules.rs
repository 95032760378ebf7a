//! Checks the order of a guest's messages. A violation traps in the guest's own frame, so it ends the guest and never the
//! host.

use crate::bindings::wrun::turns::turns as wit;
use crate::limits::{LimitSource, MAX_OPEN};
use contract::{HostMessage, Request};
use std::fmt;
use std::time::Duration;

/// The state of the protocol in one session. The open requests and tasks are listed innermost last, and the two kinds
/// alternate.
#[derive(Default)]
pub(crate) struct Rules {
    /// True once the host has begun a session. Before that, nobody would answer the guest.
    begun: bool,
    ready: bool,
    done: bool,
    open: Vec<Open>,
    /// The number of the last request. Requests have numbers, so that the host notices an early return from a nested loop at
    /// once.
    last: u32,
}

enum Open {
    Request(u32, Wants),
    Errand,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Wants {
    Finished,
    Value,
}

/// A violation of the protocol or of the guest's own limits.
#[derive(Debug)]
pub(crate) enum ProtocolViolation {
    NotReady,
    ReadyAgain,
    AfterDone,
    NothingOpen,
    OutOfOrder { answered: u32, open: u32 },
    WrongKind { request: u32 },
    BadValue { request: u32, why: String },
    TooDeep,
    OutOfTime(Duration, LimitSource),
    OutOfMemory(LimitSource),
}

impl Rules {
    /// The rules of a new session.
    pub(crate) fn of_session() -> Self {
        Self { begun: true, ..Self::default() }
    }

    pub(crate) fn said(&mut self, said: &wit::GuestMessage) -> Result<(), ProtocolViolation> {
        if self.done {
            return Err(ProtocolViolation::AfterDone);
        }
        if !self.begun {
            return Err(ProtocolViolation::NotReady);
        }
        match said {
            wit::GuestMessage::Ready if self.ready => Err(ProtocolViolation::ReadyAgain),
            wit::GuestMessage::Ready => {
                self.ready = true;
                Ok(())
            }
            _ if !self.ready => Err(ProtocolViolation::NotReady),
            wit::GuestMessage::Task(_) if self.open.len() >= MAX_OPEN => Err(ProtocolViolation::TooDeep),
            wit::GuestMessage::Task(_) if !matches!(self.open.last(), Some(Open::Request(..))) => {
                Err(ProtocolViolation::NothingOpen)
            }
            wit::GuestMessage::Task(_) => {
                self.open.push(Open::Errand);
                Ok(())
            }
            wit::GuestMessage::Answer(answered) => self.answered(answered.number, &answered.answer),
        }
    }

    fn answered(&mut self, answered: u32, answer: &wit::Answer) -> Result<(), ProtocolViolation> {
        let Some(Open::Request(open, wants)) = self.open.pop() else {
            return Err(ProtocolViolation::NothingOpen);
        };
        if open != answered {
            return Err(ProtocolViolation::OutOfOrder { answered, open });
        }
        let fits = match answer {
            wit::Answer::Failed(_) => true,
            wit::Answer::Finished => wants == Wants::Finished,
            wit::Answer::Value(_) | wit::Answer::Content(_) => wants == Wants::Value,
        };
        if fits { Ok(()) } else { Err(ProtocolViolation::WrongKind { request: open }) }
    }

    /// Opens a request or closes a task, as the host's message says. Returns the number of the latest request.
    pub(crate) fn told(&mut self, tell: &HostMessage) -> u32 {
        match tell {
            HostMessage::Request(request) => {
                self.last = self.last.wrapping_add(1);
                let value = matches!(request, Request::Evaluate { .. } | Request::Inspect(_) | Request::Question(_));
                self.open.push(Open::Request(self.last, if value { Wants::Value } else { Wants::Finished }));
            }
            HostMessage::Done(_) => self.done = self.open.pop().is_none(),
        }
        self.last
    }

    /// Returns true if the host has told the guest that the session is over.
    pub(crate) fn closed(&self) -> bool {
        self.done
    }
}

impl std::error::Error for ProtocolViolation {}

impl fmt::Display for ProtocolViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReady => f.write_str("spoke before it was ready"),
            Self::ReadyAgain => f.write_str("said that it is ready twice"),
            Self::AfterDone => f.write_str("spoke after it was told that all is done"),
            Self::NothingOpen => f.write_str("answered where nothing was asked"),
            Self::OutOfOrder { answered, open } => {
                write!(f, "answered request {answered} while request {open} was open")
            }
            Self::WrongKind { request } => write!(f, "gave request {request} an answer of the wrong kind"),
            Self::BadValue { request, why } => write!(f, "gave request {request} a value that is not JSON: {why}"),
            Self::TooDeep => write!(f, "nested more than {MAX_OPEN} requests and tasks"),
            Self::OutOfMemory(source) => {
                write!(f, "used up its memory {}", source.named("memory_mib", "guest_memory_mib"))
            }
            Self::OutOfTime(budget, source) => {
                let place = source.named("guest_seconds", "guest_seconds");
                write!(f, "used up its {} s of processor time {place}", budget.as_secs_f64())
            }
        }
    }
}
