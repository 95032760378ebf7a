//! Actions of composite types. They consist of other resources, which the host declares and converges inside the action.
//!
//! Children are converged one after the other when they are declared, like those of Chef's own types. A child without a row
//! in the report is a step of the action itself. If a composition has its own sentences, a dry run shows the change by these
//! sentences.

use super::Runner;
use super::actions::ActionOutcome;
use super::asking::parts;
use super::performing::why;
use super::sensitive::{SUPPRESSED_CHANGE, SecretValues};
use contract::{
    Amendment, Change, Child, ChildRow, Claim, Composition, ContextId, Declaration, ErrorKind, Expected, Failure,
    Guest, HOST_AS_GUEST, LogLevel, Outcome, Property, Providers, Purpose, ROOT, ResourceId, Shared, SharedLine,
    Wanted,
};
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    pub(super) async fn act_in_children(&mut self, id: ResourceId, action: &str) -> Result<ActionOutcome, Failure> {
        let (composition, claims, secrets) = self.compose(id, action).await?;
        let Composition { unknown, warnings, changes, shared, children } = composition;
        if let Some(what) = unknown {
            self.uncertain(id, &secrets.hide(what));
            let this = self.run.known_mut(id)?;
            this.mark(true);
            this.unsure = true;
            return Ok(ActionOutcome::Unknown);
        }
        for warning in warnings {
            self.run.log(LogLevel::Warn, &secrets.hide(warning));
        }
        let changes = match self.is_sensitive(id) && !changes.is_empty() {
            true => vec![Change::new(SUPPRESSED_CHANGE)],
            false => changes,
        };
        let is_only_planned = self.run.why_run() && !changes.is_empty() && !self.run.is_survey();
        if !changes.is_empty() {
            self.changed(id, changes)?;
            self.run.known_mut(id)?.mark(true);
        }
        for shared in shared {
            self.share(id, shared).await?;
        }
        let parent = self.run.known(id)?.declaration.context;
        let context = self.run.begin(parent, id, false)?;
        let outcome = match self.converge_children(id, context, children, is_only_planned).await {
            Ok(()) => self.converge_context(context).await,
            Err(failure) => Err(failure),
        };
        // The guest does not know this context, so it need not be told of its end.
        for context in self.run.open_inside(context).into_iter().chain([context]) {
            self.run.end(context);
        }
        outcome?;
        match self.outcome_of(id)? {
            ActionOutcome::UpToDate => self.up_to_date(id, action, claims),
            ended => {
                self.claim(id, action, claims, true)?;
                Ok(ended)
            }
        }
    }

    /// Returns the children of an action, the claims of the resource itself, and its secret values.
    async fn compose(
        &mut self,
        id: ResourceId,
        action: &str,
    ) -> Result<(Composition, Vec<Claim>, SecretValues), Failure> {
        self.run.check_required(id, action)?;
        let (resolved, _checks) = self.resolve_properties(id, action).await?;
        let why_run = self.run.why_run();
        let purpose = if self.run.is_survey() { Purpose::Survey } else { Purpose::Action };
        let declaration = &self.run.known(id)?.declaration;
        let wanted = Wanted { resource: id, declaration, action, resolved, why_run };
        let composed = self.providers.compose(&wanted, purpose);
        let is_denied = composed.as_ref().is_err_and(|raised| raised.kind == ErrorKind::Denied);
        let asked = match is_denied && purpose == Purpose::Action {
            true => {
                let question = Wanted { resolved: wanted.resolved.clone(), why_run: true, ..wanted };
                self.providers.compose(&question, Purpose::Question).map(parts).unwrap_or_default()
            }
            false => vec![],
        };
        let claims = if composed.is_ok() && self.claims_count() { self.providers.claims(&wanted) } else { vec![] };
        let secrets = SecretValues::of(&wanted);
        let context = declaration.context;
        self.ask_for_children(id, context, asked, 0)?;
        let composition = composed.map_err(|raised| {
            let failure = why(self.run, raised);
            // A denial never contains values of a sensitive resource.
            if failure.is_denial() { failure } else { self.hidden(id, failure) }
        })?;
        Ok((composition, claims, secrets))
    }

    async fn converge_children(
        &mut self,
        owner: ResourceId,
        context: ContextId,
        children: Vec<Child>,
        is_only_planned: bool,
    ) -> Outcome {
        let all: Vec<_> = children.iter().map(|child| child.declaration.clone()).collect();
        for (at, child) in children.into_iter().enumerate() {
            if let Err(failure) = self.converge_child(owner, context, child, is_only_planned).await {
                if failure.is_denial() && !self.run.is_survey() {
                    self.ask_for_children(owner, context, all, at)?;
                }
                return Err(failure);
            }
        }
        // A dry run has gone on after a denied child. What this child would have notified was not asked about.
        match self.run.kept_here().is_some_and(Failure::is_denial) && !self.run.is_survey() {
            true => self.ask_for_children(owner, context, all, usize::MAX),
            false => Ok(()),
        }
    }

    async fn converge_child(
        &mut self,
        owner: ResourceId,
        context: ContextId,
        child: Child,
        is_only_planned: bool,
    ) -> Outcome {
        let Child { declaration, row } = child;
        match row {
            ChildRow::Never => self.carry_out(owner, context, declaration, is_only_planned).await,
            ChildRow::RealRuns if is_only_planned => {
                let child = self.declare_child(owner, context, declaration, true)?;
                self.plan_child(child).await
            }
            ChildRow::RealRuns | ChildRow::Always => {
                let child = self.declare_child(owner, context, declaration, false)?;
                self.run_all(context, child).await
            }
        }
    }

    /// Declares a child of an action; it has the origin of its owner, and is sensitive if the owner is.
    pub(super) fn declare_child(
        &mut self,
        owner: ResourceId,
        context: ContextId,
        child: Declaration,
        detached: bool,
    ) -> Result<ResourceId, Failure> {
        let declaration = &self.run.known(owner)?.declaration;
        let (origin, sensitive) = (Arc::clone(&declaration.origin), declaration.sensitive || child.sensitive);
        self.run.declare(Declaration { context, origin, sensitive, detached, guest_id: HOST_AS_GUEST, ..child })
    }

    /// Carries out a child without a row in the report. In a dry run with known sentences it is only planned.
    async fn carry_out(
        &mut self,
        owner: ResourceId,
        context: ContextId,
        declaration: Declaration,
        is_only_planned: bool,
    ) -> Outcome {
        let child = self.declare_child(owner, context, declaration, true)?;
        if is_only_planned {
            return self.plan_child(child).await;
        }
        for action in self.run.known(child)?.declaration.actions.clone() {
            self.act_on_machine(child, &action).await?;
            let (updated, unsure) = {
                let child = self.run.known(child)?;
                (child.updated_by_last_action, child.unsure)
            };
            if updated {
                let owner = self.run.known_mut(owner)?;
                let was_sure = owner.updated_by_last_action && !owner.unsure;
                owner.mark(true);
                owner.unsure = unsure && !was_sure;
            }
        }
        Ok(())
    }

    /// Plans a child and its own children: a denial is an error in a dry run too.
    fn plan_child(&mut self, child: ResourceId) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>> {
        Box::pin(async move {
            let actions = self.run.known(child)?.declaration.actions.clone();
            for action in actions.iter().filter(|action| *action != "nothing") {
                let declaration = &self.run.known(child)?.declaration;
                if self.run.is_composite(&declaration.kind) {
                    let context = declaration.context;
                    for grandchild in self.compose(child, action).await?.0.children {
                        let grandchild = self.declare_child(child, context, grandchild.declaration, true)?;
                        self.plan_child(grandchild).await?;
                    }
                    continue;
                }
                let wanted = Wanted { resource: child, declaration, action, resolved: vec![], why_run: true };
                let prepared = self.providers.prepare(&wanted);
                let prepared = prepared.map_err(|raised| SecretValues::of(&wanted).hide_in(why(self.run, raised)))?;
                let claims = if self.claims_count() { self.providers.claims(&wanted) } else { vec![] };
                let changes = !matches!(prepared.expected(), (Expected::Nothing, _));
                self.claim(child, action, claims, changes)?;
            }
            Ok(())
        })
    }

    /// Declares a resource for the whole policy unless it exists, and adds a line to it, or runs its action.
    async fn share(&mut self, owner: ResourceId, shared: Shared) -> Outcome {
        let Shared { declaration, action, delayed, line } = shared;
        let key = declaration.key();
        let found = self.run.find(ROOT, &key);
        if let Some(action) = action {
            let Some(id) = found else {
                let message = format!("Cannot find a resource matching {key} (did you define it first?)");
                return Err(Failure::raised(ErrorKind::ResourceNotFound, message));
            };
            return self.run_action(ROOT, id, action.to_owned(), None).await;
        }
        let is_own = |id: &ResourceId| {
            line.is_none() || self.run.known(*id).is_ok_and(|found| found.declaration.guest_id == HOST_AS_GUEST)
        };
        let id = match found.filter(is_own) {
            Some(id) => id,
            None => {
                let id = self.declare_child(owner, ROOT, declaration, false)?;
                if let Some(action) = delayed {
                    self.run.amend(id, Amendment::Delayed(action.to_owned()))?;
                }
                id
            }
        };
        // A shared resource is sensitive if one of its users is.
        if self.is_sensitive(owner) {
            self.run.amend(id, Amendment::Sensitive(true))?;
        }
        let Some(SharedLine { head, line }) = line else { return Ok(()) };
        let content = match self.run.known(id)?.declaration.property(CONTENT) {
            Some(Property::Plain(Value::String(content))) => content.as_str(),
            _ => head,
        };
        self.run.account().work((content.len() / 64) as u64).map_err(|ended| ended.or_at(|| self.run.here()))?;
        let mut lines: Vec<&str> = content.strip_prefix(head).unwrap_or_default().lines().collect();
        if let Err(place) = lines.binary_search(&line.as_str()) {
            lines.insert(place, &line);
        }
        let all = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let content = Property::Plain(Value::String(format!("{head}{all}")));
        self.run.amend(id, Amendment::Property(CONTENT.to_owned(), content))
    }
}

/// The property with the lines of a shared file.
const CONTENT: &str = "content";
