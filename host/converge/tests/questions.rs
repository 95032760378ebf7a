//! Questions before a policy begins, and after a run: a signal ends them.

use contract::{
    Account, Answer, Change, ClosureValue, CommandTest, Declaration, Failure, GuardResult, Guest, GuestLost,
    GuestMessage, HostMessage, Prepared, Property, Providers, Question, Raised, Run, Stop, StopReason, Types, Wanted,
};
use converge::{Instance, Questions};
use serde_json::{Value, json};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Whoever only answers questions needs no providers and no types.
struct Nothing;

impl Providers for Nothing {
    type Plan = ();

    fn prepare(&mut self, _: &Wanted<'_>) -> Result<Prepared<()>, Raised> {
        Ok(Prepared::up_to_date())
    }

    fn stage(&mut self, (): &mut ()) -> Result<Value, Raised> {
        Ok(Value::Null)
    }

    fn commit(&mut self, _: &Wanted<'_>, (): ()) -> Result<Vec<Change>, Raised> {
        Ok(vec![])
    }

    fn guard(&mut self, _: &CommandTest, _: bool) -> Result<GuardResult, Raised> {
        Ok(GuardResult::True)
    }

    fn pause(&mut self, _: u32) {}
}

impl Types for Nothing {
    fn default_action(&self, _: &str) -> Option<&str> {
        None
    }

    fn check(&self, _: &mut Declaration) -> Result<(), Failure> {
        Ok(())
    }

    fn uses(&self, _: &str, _: &str, _: &str) -> bool {
        true
    }

    fn check_property(&self, _: &str, _: &str, property: Property) -> Result<Property, Failure> {
        Ok(property)
    }
}

/// An instance whose guest answers each question with how many there were.
struct Counting(Nothing);

struct Conversation(u32);

impl Guest for Conversation {
    async fn turn(&mut self, _: &mut Run, _: HostMessage) -> Result<GuestMessage, GuestLost> {
        self.0 += 1;
        Ok(GuestMessage::Answer(Answer::Value(ClosureValue::Json(self.0.into()))))
    }
}

impl Instance for Counting {
    type Session<'a> = Conversation;
    type Providers = Nothing;

    fn conversation(&mut self) -> (Conversation, &mut Nothing) {
        (Conversation(0), &mut self.0)
    }

    async fn end<'a>(_: Conversation) -> Result<(), GuestLost>
    where
        Self: 'a,
    {
        Ok(())
    }
}

#[test]
fn after_a_signal_no_question_is_asked() {
    let (mut instance, stop) = (Counting(Nothing), Stop::default());
    let account = Account::unmetered("test");
    let mut questions = Questions::new(&mut instance, "test", Arc::new(Nothing), account, stop.clone());
    let mut ask = || {
        let asked = std::pin::pin!(questions.ask(Question::Describe));
        let mut asked = asked;
        match asked.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => answer,
            Poll::Pending => Err(Failure::of_class("Error", "the guest waits for nobody")),
        }
    };
    assert_eq!(ask().unwrap(), json!(1));
    stop.request(StopReason::Signal(2));
    assert_eq!(ask().unwrap_err().class(), "Interrupt");
}

/// A guest that answers never, unless a signal may not end it.
struct Endless(Nothing, Stop);

struct Waiting(Stop);

impl Guest for Waiting {
    async fn turn(&mut self, run: &mut Run, _: HostMessage) -> Result<GuestMessage, GuestLost> {
        self.0.request(StopReason::Signal(15));
        if run.may_be_interrupted() {
            let (policy, why) = (run.policy().to_owned(), "was interrupted".to_owned());
            return Err(GuestLost { policy, why, ..GuestLost::default() });
        }
        Ok(GuestMessage::Answer(Answer::Value(ClosureValue::Json("too late".into()))))
    }
}

impl Instance for Endless {
    type Session<'a> = Waiting;
    type Providers = Nothing;

    fn conversation(&mut self) -> (Waiting, &mut Nothing) {
        (Waiting(self.1.clone()), &mut self.0)
    }

    async fn end<'a>(_: Waiting) -> Result<(), GuestLost>
    where
        Self: 'a,
    {
        Ok(())
    }
}

/// An environment file in Ruby could keep a run, and the agent with it, from ending for as long as its processor time lasts.
#[test]
fn a_signal_ends_the_question_that_is_asked() {
    let stop = Stop::default();
    let mut instance = Endless(Nothing, stop.clone());
    let account = Account::unmetered("test");
    let mut questions = Questions::new(&mut instance, "test", Arc::new(Nothing), account, stop);
    let mut asked = std::pin::pin!(questions.ask(Question::Describe));
    let Poll::Ready(answer) = asked.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("the guest waits for nobody");
    };
    assert_eq!(answer.unwrap_err().class(), "Interrupt");
}
