//! Carries out an action: in the guest for the guest's own types, through a provider for built-in types.

use super::Runner;
use super::actions::ActionOutcome;
use super::guards::is_true;
use super::sensitive::SecretValues;
use crate::claims::{ChangedBy, Ended};
use contract::{
    Answer, Call, Callback, Certainty, Change, Claim, Claimant, ClosureValue, ErrorKind, Expected, Failure, Guest,
    GuestType, Outcome, Property, Providers, Raised, Request, ResourceId, Run, Wanted, claim_bytes,
};
use serde_json::Value;
use std::sync::Arc;

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    pub(super) async fn act_in_guest(
        &mut self,
        resource: ResourceId,
        action: &str,
        guest_type: GuestType,
    ) -> Result<ActionOutcome, Failure> {
        if self.run.why_run() && guest_type.bypassed_in_why_run {
            self.providers.left_out_code();
            return Ok(ActionOutcome::Bypassed);
        }
        let parent = self.run.known(resource)?.declaration.context;
        let context = self.run.begin(parent, resource, false)?;
        let call = Call { resource, action: action.into(), context, why_run: self.run.why_run() };
        // An action of the same resource may already be running, and may have called this one.
        let outer = std::mem::take(&mut self.run.known_mut(resource)?.converged);
        let mut outcome = match self.ask(Request::Act(call)).await {
            Ok(_) => self.converge_context(context).await,
            Err(failure) => Err(failure),
        };
        let converged = std::mem::replace(&mut self.run.known_mut(resource)?.converged, outer);
        if outcome.is_ok() && guest_type.inspects {
            match self.ask(Request::Inspect(resource)).await {
                Ok(Answer::Value(ClosureValue::Json(state))) => {
                    self.run.pay_for_state(&state)?;
                    self.run.known_mut(resource)?.after = Some(state);
                }
                Ok(_) => {}
                Err(failure) => outcome = Err(failure),
            }
            self.keep_states(resource)?;
        }
        let forgotten = self.end(context).await;
        outcome.and(forgotten)?;
        if converged {
            if self.run.why_run() {
                self.providers.left_out_code();
            }
            self.run.known_mut(resource)?.mark(true);
        }
        self.outcome_of(resource)
    }

    /// Returns the outcome of an action after its children have been converged.
    pub(super) fn outcome_of(&self, resource: ResourceId) -> Result<ActionOutcome, Failure> {
        let this = self.run.known(resource)?;
        Ok(match (this.updated_by_last_action, this.unsure) {
            (true, true) => ActionOutcome::Unknown,
            (true, false) => ActionOutcome::Updated,
            (false, _) => ActionOutcome::UpToDate,
        })
    }

    /// Stores the states that `load_current_value` found before and after the action in its record.
    fn keep_states(&mut self, id: ResourceId) -> Outcome {
        let resource = self.run.known_mut(id)?;
        let (before, after) = (resource.before.take(), resource.after.take());
        if let Some(record) = self.run.open_record_of(id).filter(|record| !record.sensitive) {
            (record.before, record.after) = (before, after);
        }
        Ok(())
    }

    pub(super) async fn act_on_machine(&mut self, id: ResourceId, action: &str) -> Result<ActionOutcome, Failure> {
        let outcome = self.plan_and_commit(id, action).await;
        if outcome.is_err() && self.run.why_run() {
            self.cannot_foresee(id, action)?;
        }
        outcome
    }

    /// Tells the providers that the results of an action of this dry run are unknown.
    fn cannot_foresee(&mut self, id: ResourceId, action: &str) -> Outcome {
        let declaration = &self.run.known(id)?.declaration;
        self.providers.cannot_foresee(&Wanted { resource: id, declaration, action, resolved: vec![], why_run: true });
        Ok(())
    }

    async fn plan_and_commit(&mut self, id: ResourceId, action: &str) -> Result<ActionOutcome, Failure> {
        self.run.check_required(id, action)?;
        let (resolved, checks) = match self.resolve_properties(id, action).await {
            Ok(resolved) => resolved,
            Err(failure) => {
                self.ask_for_the_rest(id, action, &failure)?;
                return Err(failure);
            }
        };
        let why_run = self.run.why_run();
        let declaration = &self.run.known(id)?.declaration;
        let wanted = Wanted { resource: id, declaration, action, resolved, why_run };
        if self.run.is_survey() {
            self.providers.survey(&wanted);
        }
        let secrets = SecretValues::of(&wanted);
        let prepared = match self.providers.prepare(&wanted) {
            Ok(prepared) => prepared,
            Err(raised) => {
                if raised.kind == ErrorKind::Denied {
                    self.providers.ask(&wanted);
                }
                return Err(secrets.hide_in(why(self.run, raised)));
            }
        };
        let claims = if self.claims_count() { self.providers.claims(&wanted) } else { vec![] };
        let resolved = wanted.resolved;
        for certainty in prepared.certainty() {
            let (Certainty::Assumed(what) | Certainty::Unknown(what)) = certainty;
            self.uncertain(id, &secrets.hide(what.clone()));
        }
        let (expected, changes) = prepared.expected();
        let without_secrets = |changes: Vec<Change>| {
            let shown = |change: Change| Change { what: secrets.hide(change.what), ..change };
            changes.into_iter().map(shown).collect::<Vec<_>>()
        };
        let changes = without_secrets(changes);
        let plan = match expected {
            Expected::Nothing => {
                self.report_parts(id).await?;
                return self.up_to_date(id, action, claims);
            }
            Expected::Unknown => {
                let this = self.run.known_mut(id)?;
                this.mark(true);
                this.unsure = true;
                self.claim(id, action, claims, true)?;
                return Ok(ActionOutcome::Unknown);
            }
            Expected::Change(plan) => plan,
        };
        if why_run {
            // Every change needs a line in the report. A plan that is only assumed has no sentences of its own.
            let assumed = plan.is_none() && changes.is_empty();
            let changes = if assumed { vec![self.only_assumed(id, action)?] } else { changes };
            self.changed(id, changes)?;
            self.report_parts(id).await?;
        } else if let Some(plan) = plan {
            let plan = self.verify(id, plan, checks).await.map_err(|failure| secrets.hide_in(failure))?;
            let declaration = &self.run.known(id)?.declaration;
            let wanted = Wanted { resource: id, declaration, action, resolved, why_run };
            let done = self.providers.commit(&wanted, plan);
            let failure = match done {
                Ok(changes) => {
                    self.changed(id, without_secrets(changes))?;
                    None
                }
                Err(raised) => Some(secrets.hide_in(why(self.run, raised))),
            };
            self.report_parts(id).await?;
            if let Some(failure) = failure {
                return Err(failure);
            }
            if let Some(facts) = self.providers.gathered() {
                self.run.take_facts(facts)?;
            }
        }
        self.run.known_mut(id)?.mark(true);
        self.claim(id, action, claims, true)?;
        Ok(ActionOutcome::Updated)
    }

    /// Ends an action that found nothing to do. A dry run sees the machine without the changes of earlier policies and
    /// resources.
    pub(super) fn up_to_date(
        &mut self,
        id: ResourceId,
        action: &str,
        claims: Vec<Claim>,
    ) -> Result<ActionOutcome, Failure> {
        let changed_by = self.claim(id, action, claims, false)?.filter(|_| self.run.why_run());
        let Some(other) = changed_by else { return Ok(ActionOutcome::UpToDate) };
        self.uncertain(id, &format!("{other} would change it before"));
        self.cannot_foresee(id, action)?;
        let change = self.only_assumed(id, action)?;
        self.changed(id, vec![change])?;
        self.run.known_mut(id)?.mark(true);
        Ok(ActionOutcome::Updated)
    }

    /// Returns the sentence for an action that a dry run assumes without a plan.
    fn only_assumed(&self, id: ResourceId, action: &str) -> Result<Change, Failure> {
        Ok(Change::new(format!("{action} {}", self.run.known(id)?.key)))
    }

    /// Tells whether claims are compared: if there are several policies or this is a dry run, but not in a trial run for
    /// `:before`.
    pub(super) fn claims_count(&self) -> bool {
        self.claims.is_some() && self.trial == 0
    }

    /// Compares the claims of a successful action with earlier ones. Returns the source of an earlier change to another
    /// state.
    pub(super) fn claim(
        &mut self,
        id: ResourceId,
        action: &str,
        claims: Vec<Claim>,
        changes: bool,
    ) -> Result<Option<ChangedBy>, Failure> {
        let mut changed_by = None;
        for claim in claims {
            // The claim outlives the policy's run, so its memory is charged.
            self.run.pay(claim_bytes(&claim))?;
            let Some(all) = self.claims.as_deref_mut() else { return Ok(None) };
            let resource = self.run.known(id)?;
            let claimant = Claimant {
                policy: self.run.policy().to_owned(),
                resource: resource.key.to_string(),
                action: action.to_owned(),
                origin: Arc::clone(&resource.declaration.origin),
            };
            let changed = all.claim(claim, claimant, Ended { changes, dry: self.run.why_run() });
            changed_by = changed_by.or(changed);
        }
        Ok(changed_by)
    }

    /// Resolves and validates lazy values right before the action, then the texts that the guest renders. Also returns the
    /// blocks of `verify`.
    pub(super) async fn resolve_properties(
        &mut self,
        id: ResourceId,
        action: &str,
    ) -> Result<(Vec<(String, ClosureValue)>, Vec<Callback>), Failure> {
        let mut resolved = Vec::new();
        let mut checks = Vec::new();
        let mut at = 0;
        let mut are_others_known = false;
        // The loop uses an index, because an evaluation may change the declaration.
        loop {
            let properties = &self.run.known(id)?.declaration.properties;
            let Some((name, property)) = properties.get(at) else {
                let is_any_rendered = properties.iter().any(|(_, it)| matches!(it, Property::Rendered(_)));
                if are_others_known || !is_any_rendered {
                    break;
                }
                (at, are_others_known) = (0, true);
                continue;
            };
            at += 1;
            let (name, callback) = match property {
                Property::Lazy(callback) if !are_others_known => (name.clone(), *callback),
                Property::Rendered(callback) if are_others_known => (name.clone(), *callback),
                Property::Verify(callback) if !are_others_known => {
                    checks.push(*callback);
                    continue;
                }
                _ => continue,
            };
            let kind = self.run.known(id)?.declaration.kind.clone();
            if !self.run.uses(&kind, action, &name) || !self.needs(id, action, &mut resolved, &name)? {
                continue;
            }
            match self.evaluate_of(id, callback, None).await? {
                ClosureValue::Json(value) => {
                    let checked = self.run.check_property(&kind, &name, Property::Plain(value));
                    let checked = checked.map_err(|failure| self.hidden(id, failure))?;
                    if let Property::Plain(value) = checked {
                        resolved.push((name, ClosureValue::Json(value)));
                    }
                }
                bytes @ ClosureValue::Bytes(_) => resolved.push((name, bytes)),
            }
        }
        Ok((resolved, checks))
    }

    /// Tells whether a lazy value is needed, judging by the known values.
    fn needs(
        &mut self,
        id: ResourceId,
        action: &str,
        known: &mut Vec<(String, ClosureValue)>,
        name: &str,
    ) -> Result<bool, Failure> {
        let (declaration, why_run) = (&self.run.known(id)?.declaration, self.run.why_run());
        let wanted = Wanted { resource: id, declaration, action, resolved: std::mem::take(known), why_run };
        let answer = self.providers.needs(&wanted, name);
        *known = wanted.resolved;
        answer.map_err(|raised| why(self.run, raised))
    }

    /// Runs the guest's `verify` blocks on the staged content. Returns the plan if they accept it.
    async fn verify(&mut self, id: ResourceId, mut plan: P::Plan, checks: Vec<Callback>) -> Result<P::Plan, Failure> {
        if checks.is_empty() {
            return Ok(plan);
        }
        let staged = self.providers.stage(&mut plan).map_err(|raised| why(self.run, raised))?;
        if staged == Value::Null {
            return Ok(plan);
        }
        for callback in checks {
            if !is_true(&self.evaluate_of(id, callback, Some(staged.clone())).await?) {
                let kept = self.providers.reject(plan)?;
                let kept = kept.map(|place| format!("\n\nTemporary file moved to {place}")).unwrap_or_default();
                let declaration = &self.run.known(id)?.declaration;
                let path = match declaration.property("path") {
                    Some(Property::Plain(Value::String(path))) => path,
                    _ => &declaration.name,
                };
                return Err(Failure::raised(
                    ErrorKind::InvalidValue,
                    format!("Proposed content for {path} failed verification <Proc>{kept}"),
                ));
            }
        }
        Ok(plan)
    }

    pub(super) fn changed(&mut self, id: ResourceId, changes: Vec<Change>) -> Outcome {
        changes.into_iter().try_for_each(|change| self.run.changed(id, change))
    }
}

/// Returns why a provider failed: the policy's limit or a signal, if one of them ended its step, otherwise its own error.
pub(super) fn why(run: &Run, raised: Raised) -> Failure {
    match run.account().interruption() {
        Some(ended) => ended.or_at(|| run.here()).into(),
        None => raised.into(),
    }
}
