//! Questions that an instance answers before a policy begins, such as a cookbook's metadata or a role's content.

use super::Instance;
use contract::{
    Account, Answer, ClosureValue, ErrorKind, Failure, Guest as _, GuestMessage, HostMessage, Outcome, Question,
    Request, Run, Stop, StopReason, Types, signal_name,
};
use node::attributes::Attributes;
use serde_json::Value;
use std::sync::Arc;

/// A session of questions. Its instance is not used for anything else.
pub struct Questions<'a, I: Instance + 'a> {
    session: I::Session<'a>,
    run: Run,
    stop: Stop,
}

impl<'a, I: Instance + 'a> Questions<'a, I> {
    /// Starts a session. A signal in `stop` ends the present question, and no further question is asked.
    pub fn new(instance: &'a mut I, policy: &str, builtin: Arc<dyn Types>, account: Account, stop: Stop) -> Self {
        let (session, _) = instance.conversation();
        let mut run = Run::new(policy, true, Attributes::new(), builtin);
        account.begin_turn(stop.clone());
        run.charge_to(account);
        // An interrupted question leaves nothing half done.
        run.set_compiling(true);
        Self { session, run, stop }
    }

    /// Asks one question.
    ///
    /// # Errors
    /// Returns the error that guest code raised, that the guest is lost, or that a signal came.
    pub async fn ask(&mut self, question: Question) -> Result<Value, Failure> {
        let name = question.name();
        if let Some(StopReason::Signal(signal)) = self.stop.requested() {
            return Err(Failure::raised(
                ErrorKind::Interrupted,
                format!("{name}: not asked after {}", signal_name(signal)),
            ));
        }
        let mut tell = HostMessage::Request(Request::Question(question));
        loop {
            let answered = self.session.turn(&mut self.run, tell).await;
            if let (Err(_), Some(StopReason::Signal(signal))) = (&answered, self.stop.requested()) {
                return Err(Failure::raised(
                    ErrorKind::Interrupted,
                    format!("{name}: stopped by {}", signal_name(signal)),
                ));
            }
            match answered? {
                GuestMessage::Answer(Answer::Value(ClosureValue::Json(value))) => return Ok(value),
                GuestMessage::Answer(Answer::Failed(raised)) => return Err(raised.into()),
                GuestMessage::Answer(_) => {
                    return Err(Failure::raised(ErrorKind::WrongType, format!("{name}: the answer is not a value")));
                }
                GuestMessage::Errand(_) => {
                    let message = format!("{name}: resources and recipes are not to be had before the policy begins");
                    tell = HostMessage::Done(Err(Failure::raised(ErrorKind::TooEarly, message)));
                }
            }
        }
    }

    /// Ends the session.
    ///
    /// # Errors
    /// The guest is lost.
    pub async fn end(self) -> Outcome {
        I::end(self.session).await.map_err(Failure::from)
    }
}
