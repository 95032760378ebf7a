//! A denial ends a resource. Before that, whatever else the resource would need is asked for without acting, so that its
//! operator hears of all its denials in one run. The answers change nothing of the run: the grants' journal keeps them.
//!
//! No code of the policy runs for this. Where an action uses a value that only such code knows, the action is not asked about.

use super::Runner;
use contract::{
    CommandTest, Composition, ContextId, Declaration, Failure, Guest, HOST_AS_GUEST, Outcome, Property, Providers,
    Purpose, ROOT, ResourceId, ResourceRef, Shared, Test, Wanted,
};

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
        self.ask_for_action(id, action)
    }

    /// Asks for what the actions of a resource need that come after the denied one, and that a real run does not reach.
    ///
    /// # Errors
    /// The policy may cost no more.
    pub(super) fn ask_for_later_actions(&mut self, id: ResourceId, action: &str, failure: &Failure) -> Outcome {
        if self.is_dry() || !failure.is_denial() {
            return Ok(());
        }
        let actions = self.run.known(id)?.declaration.actions.clone();
        let later = actions.iter().skip_while(|one| *one != action).skip(1).filter(|one| *one != "nothing");
        later.into_iter().try_for_each(|action| self.ask_for_the_rest(id, action, failure))
    }

    /// Asks for what one action needs. The parts of a composite type are asked about one by one.
    fn ask_for_action(&mut self, id: ResourceId, action: &str) -> Outcome {
        let declaration = &self.run.known(id)?.declaration;
        let context = declaration.context;
        let wanted = Wanted { resource: id, declaration, action, resolved: vec![], why_run: true };
        if !self.run.is_composite(&declaration.kind) {
            self.providers.ask(&wanted);
            return Ok(());
        }
        match self.providers.compose(&wanted, Purpose::Question) {
            Ok(composition) => self.ask_for_children(id, context, parts(composition), 0),
            Err(_) => Ok(()),
        }
    }

    /// Asks for what the children of an action need from the one at index `from` on, which the action did not get past, and for
    /// what their notifications would start.
    ///
    /// # Errors
    /// The policy may cost no more.
    pub(super) fn ask_for_children(
        &mut self,
        owner: ResourceId,
        context: ContextId,
        children: Vec<Declaration>,
        from: usize,
    ) -> Outcome {
        let mut notified: Vec<_> = children.iter().filter(|child| !is_skipped(child)).flat_map(sent).collect();
        for (at, child) in children.into_iter().enumerate() {
            let mut actions = if at < from || is_skipped(&child) { vec![] } else { child.actions.clone() };
            let key = child.key();
            let here = notified.extract_if(.., |(receiver, _)| *receiver == key);
            actions.extend(here.map(|(_, action)| action));
            if actions.iter().all(|action| action == "nothing") {
                continue;
            }
            let child = self.declare_child(owner, context, child, true)?;
            self.ask_for_actions(child, &actions)?;
        }
        // The other receivers are resources of the whole policy, which the host has declared for several owners.
        for (receiver, action) in notified {
            let is_hosts =
                |id: &ResourceId| self.run.known(*id).is_ok_and(|found| found.declaration.guest_id == HOST_AS_GUEST);
            if let Some(id) = self.run.find(ROOT, &receiver).filter(is_hosts) {
                self.ask_for_actions(id, &[action])?;
            }
        }
        Ok(())
    }

    fn ask_for_actions(&mut self, id: ResourceId, actions: &[String]) -> Outcome {
        for (at, action) in actions.iter().enumerate() {
            let is_first = actions.iter().position(|one| one == action) == Some(at);
            if is_first && action != "nothing" {
                self.ask_for_action(id, action)?;
            }
        }
        Ok(())
    }
}

/// Returns what an action consists of: its children, and the resources that it shares with other actions, each with the
/// actions that are requested of it.
pub(super) fn parts(composition: Composition) -> Vec<Declaration> {
    let shared = composition.shared.into_iter().map(|Shared { mut declaration, action, delayed, .. }| {
        declaration.actions.extend(action.into_iter().chain(delayed).map(str::to_owned));
        declaration
    });
    composition.children.into_iter().map(|child| child.declaration).chain(shared).collect()
}

/// Returns the keys and actions of the notifications that a child sends.
fn sent(child: &Declaration) -> impl Iterator<Item = (String, String)> {
    child.notifications.iter().filter_map(|wish| match &wish.other {
        ResourceRef::Key(key) if !wish.subscribes => Some((key.clone(), wish.action.clone())),
        _ => None,
    })
}

/// Tells whether a guard with a known result skips the child: the machine is as its action would make it.
fn is_skipped(child: &Declaration) -> bool {
    child.guards.iter().any(|guard| matches!(guard.test, Test::Decided(truth) if truth == guard.negated))
}
