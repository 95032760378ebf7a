//! What sensitive resources must not show: their guards, what their blocks and lazy values raise.

use super::Runner;
use contract::{Answer, Callback, ClosureValue, Failure, Guest, Providers, Request, ResourceId};
use serde_json::Value;

/// What stands for a guard.
pub(super) const SUPPRESSED_GUARD: &str = "suppressed sensitive guard";

/// What stands for the sentences of a composite action.
pub(super) const SUPPRESSED_CHANGE: &str = "suppressed sensitive resource";

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    /// Evaluates a closure of a resource. What it raises is as sensitive as the resource.
    pub(super) async fn evaluate_of(
        &mut self,
        resource: ResourceId,
        callback: Callback,
        input: Option<Value>,
    ) -> Result<ClosureValue, Failure> {
        match self.ask(Request::Evaluate { callback, input }).await {
            Ok(Answer::Value(value)) => Ok(value),
            // The sandbox lets no answer of the wrong kind through.
            Ok(_) => Err(self.lost("gave no value".into())),
            Err(failure) => Err(self.hidden(resource, failure)),
        }
    }

    /// A failure without its message, if the resource is sensitive. The class and the place stay.
    pub(super) fn hidden(&mut self, resource: ResourceId, failure: Failure) -> Failure {
        if self.is_sensitive(resource) { self.run.hide(failure) } else { failure }
    }

    pub(super) fn is_sensitive(&self, resource: ResourceId) -> bool {
        self.run.known(resource).is_ok_and(|resource| resource.declaration.sensitive)
    }
}
