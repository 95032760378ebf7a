//! Sends a request to the guest, and carries out the guest's tasks until it answers.

use super::Runner;
use contract::{
    Answer, Callback, ClosureValue, Errand, ErrorKind, Failure, Guest, GuestLost, GuestMessage, HostMessage, Outcome,
    Providers, Request, StopStep,
};
use serde_json::Value;
use std::pin::Pin;

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    /// Sends a request and carries out the guest's tasks until it answers.
    pub(super) async fn ask(&mut self, request: Request) -> Result<Answer, Failure> {
        let mut tell = HostMessage::Request(request);
        loop {
            let said = self.guest.turn(self.run, tell).await.map_err(|lost| self.ended_or_lost(lost))?;
            self.remember()?;
            match said {
                GuestMessage::Answer(Answer::Failed(raised)) => return Err(self.run.known_again(raised).into()),
                GuestMessage::Answer(answer) => return Ok(answer),
                GuestMessage::Errand(errand) => tell = HostMessage::Done(self.errand(errand).await),
            }
        }
    }

    /// Returns why a guest is lost: a second signal ends its code at any point.
    fn ended_or_lost(&self, lost: GuestLost) -> Failure {
        let reason = self.stop.requested().filter(|_| self.stop.step() >= Some(StopStep::AtOnce));
        reason.map_or_else(|| lost.into(), Failure::Stopped)
    }

    pub(super) async fn evaluate(&mut self, callback: Callback, input: Option<Value>) -> Result<ClosureValue, Failure> {
        match self.ask(Request::Evaluate { callback, input }).await? {
            Answer::Value(value) => Ok(value),
            // The sandbox rejects answers of a wrong kind, so this does not happen.
            _ => Err(self.lost("gave no value".into())),
        }
    }

    /// Carries out a task of the guest. The future is boxed because a task can run other actions.
    fn errand(&mut self, errand: Errand) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>> {
        Box::pin(async move {
            match errand {
                Errand::Settle(resource) => {
                    let this = self.run.of_guests(resource)?;
                    let context = this.declaration.context;
                    self.run.open(context)?;
                    let unified = self.run.is_unified(context);
                    match this.executed || this.declaration.detached || !unified {
                        true => Ok(()),
                        false => self.run_all(context, resource).await,
                    }
                }
                Errand::RunAction(resource, action) => {
                    self.run.of_guests(resource)?;
                    self.deeper(resource)?;
                    let outcome = self.act(resource, &action, None).await;
                    self.depth -= 1;
                    outcome
                }
                Errand::IncludeRecipe(recipe) => {
                    self.deeper_recipe(&recipe)?;
                    let outcome = self.compile(&recipe).await;
                    self.depth -= 1;
                    outcome
                }
                Errand::Leave(context) => {
                    self.deeper(self.run.entered_for(context)?)?;
                    let outcome = self.converge_context(context).await;
                    self.depth -= 1;
                    let forgotten = self.end(context).await;
                    outcome.and(forgotten)
                }
                Errand::Abandon(context) => {
                    self.run.entered_for(context)?;
                    self.end(context).await
                }
            }
        })
    }

    fn deeper_recipe(&mut self, recipe: &str) -> Outcome {
        if self.depth >= contract::MAX_DEPTH {
            let message = format!("recipe {recipe}: recipes include each other more than {} deep", contract::MAX_DEPTH);
            return Err(Failure::raised(ErrorKind::NestedTooDeep, message));
        }
        self.depth += 1;
        Ok(())
    }
}
