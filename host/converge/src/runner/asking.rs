//! A denial ends a resource. Before that, whatever else the resource would need is asked for without acting, so that its
//! operator hears of all its denials in one run. The answers change nothing of the run: the grants' journal keeps them.
//!
//! No code of the policy runs for this. Where an action uses a value that only such code knows, the action is not asked about.

use super::Runner;
use contract::{Child, CommandTest, ContextId, Failure, Guest, Outcome, Property, Providers, ResourceId, Test, Wanted};

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    /// Asks for what a resource needs beside what it was denied: the commands of all its guards, and its action.
    ///
    /// # Errors
    /// The policy may cost no more.
    pub(super) fn ask_for_the_rest(&mut self, id: ResourceId, action: &str, failure: &Failure) -> Outcome {
        // A survey is allowed everything.
        if !failure.is_denial() || failure.is_final() || self.run.is_survey() {
            return Ok(());
        }
        let declaration = &self.run.known(id)?.declaration;
        let sensitive = declaration.sensitive;
        for guard in &declaration.guards {
            if let Test::Command(command) = &guard.test {
                self.providers.ask_guard(&CommandTest { sensitive, ..(**command).clone() });
            }
        }
        let is_lazy = |(name, property): &(String, Property)| {
            matches!(property, Property::Lazy(_)) && self.run.uses(&declaration.kind, action, name)
        };
        let is_guests = self.run.type_of(declaration).is_some();
        if is_guests || declaration.properties.iter().any(is_lazy) {
            return Ok(());
        }
        let wanted = Wanted { resource: id, declaration, action, resolved: vec![], why_run: true };
        if !self.run.is_composite(&declaration.kind) {
            self.providers.ask(&wanted);
            return Ok(());
        }
        let Ok(composition) = self.providers.compose(&wanted, false) else { return Ok(()) };
        let context = declaration.context;
        self.ask_for_children(id, context, composition.children)
    }

    /// Asks for what the children of an action need that do not get their turn.
    ///
    /// # Errors
    /// The policy may cost no more.
    pub(super) fn ask_for_children(
        &mut self,
        owner: ResourceId,
        context: ContextId,
        children: impl IntoIterator<Item = Child>,
    ) -> Outcome {
        for Child { declaration, .. } in children {
            let child = self.declare_child(owner, context, declaration, true)?;
            let declaration = &self.run.known(child)?.declaration;
            for action in declaration.actions.iter().filter(|action| *action != "nothing") {
                self.providers.ask(&Wanted { resource: child, declaration, action, resolved: vec![], why_run: true });
            }
        }
        Ok(())
    }
}
