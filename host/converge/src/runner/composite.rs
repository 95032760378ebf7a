//! Actions of composite types: they are made of other resources, which the host declares and converges inside the action.

use super::Runner;
use super::actions::ActionOutcome;
use super::performing::why;
use contract::{
    Composition, ContextId, Declaration, Failure, Guest, HOST_AS_GUEST, Outcome, Providers, ResourceId, Wanted,
};
use std::sync::Arc;

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    pub(super) async fn act_in_children(&mut self, id: ResourceId, action: &str) -> Result<ActionOutcome, Failure> {
        self.run.check_required(id, action)?;
        let (resolved, _checks) = self.resolve_properties(id, action).await?;
        let why_run = self.run.why_run();
        let declaration = &self.run.known(id)?.declaration;
        let parent = declaration.context;
        let wanted = Wanted { resource: id, declaration, action, resolved, why_run };
        let Composition { changes, children } =
            self.providers.compose(&wanted).map_err(|raised| why(self.run, raised))?;
        let is_only_planned = why_run && !changes.is_empty() && !self.run.is_survey();
        if !changes.is_empty() {
            self.changed(id, changes)?;
            self.run.known_mut(id)?.mark(true);
        }
        let context = self.run.begin(parent, id, false)?;
        let outcome = match self.declare_children(id, context, children) {
            Ok(()) if is_only_planned => self.plan_children(context),
            Ok(()) => self.converge_context(context).await,
            Err(failure) => Err(failure),
        };
        // No guest has entered this context, so no guest has to forget it.
        for context in self.run.open_inside(context).into_iter().chain([context]) {
            self.run.end(context);
        }
        outcome?;
        self.outcome_of(id)
    }

    fn declare_children(&mut self, owner: ResourceId, context: ContextId, children: Vec<Declaration>) -> Outcome {
        let declaration = &self.run.known(owner)?.declaration;
        let (origin, sensitive) = (Arc::clone(&declaration.origin), declaration.sensitive);
        for child in children {
            let origin = Arc::clone(&origin);
            let sensitive = sensitive || child.sensitive;
            self.run.declare(Declaration { context, origin, sensitive, guest_id: HOST_AS_GUEST, ..child })?;
        }
        Ok(())
    }

    /// Plans the children of an action whose own sentences a dry run shows: what they are denied is an error there too.
    fn plan_children(&mut self, context: ContextId) -> Outcome {
        for id in self.run.all(context) {
            let declaration = &self.run.known(id)?.declaration;
            for action in declaration.actions.iter().filter(|action| *action != "nothing") {
                let wanted = Wanted { resource: id, declaration, action, resolved: vec![], why_run: true };
                self.providers.prepare(&wanted).map_err(|raised| why(self.run, raised))?;
            }
        }
        Ok(())
    }
}
