//! Sends a request to the guest, and carries out the guest's tasks until it answers.

use super::Runner;
use super::depth::Nested;
use contract::{
    Answer, Callback, ClosureValue, Errand, ErrorKind, Failure, Guest, GuestLost, GuestMessage, HostMessage, MAX_DEPTH,
    Outcome, Providers, Request, StopStep,
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
                    let _nested = self.deeper(resource)?;
                    self.act(resource, &action, None).await
                }
                Errand::IncludeRecipe(recipe) => {
                    let _nested = self.deeper_recipe(&recipe)?;
                    self.compile(&recipe).await
                }
                Errand::Leave(context) => {
                    let nested = self.deeper(self.run.entered_for(context)?)?;
                    let outcome = self.converge_context(context).await;
                    drop(nested);
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

    fn deeper_recipe(&self, recipe: &str) -> Result<Nested, Failure> {
        self.depth.enter(MAX_DEPTH).ok_or_else(|| {
            let message = format!("recipe {recipe}: recipes include each other more than {MAX_DEPTH} deep");
            Failure::raised(ErrorKind::NestedTooDeep, message)
        })
    }
}
