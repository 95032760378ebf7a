//! The converge algorithm of one policy. While the runner awaits the guest, the guest may change the run. So no reference
//! into the run is held across an await.

mod actions;
mod after_failure;
mod asking;
mod composite;
mod contexts;
mod conversation;
mod depth;
mod guards;
mod notifying;
mod parts;
mod performing;
mod sensitive;
mod survey;

pub use survey::UNSEEN;

use crate::claims::Claims;
use contract::{
    ClosureValue, Due, Ended, ErrorKind, Event, Failure, Guest, GuestEvent, GuestLost, LogLevel, LostRecipe, MAX_DEPTH,
    Memory, Outcome, Phase, Providers, ROOT, Request, ResourceId, ResourceRef, Run, Stop,
};
use depth::{Depth, Nested};
use serde_json::Value;

/// Runs one policy, with its state, its guest, its providers, and its due notifications.
pub struct Runner<'a, G, P> {
    /// The policy's resources, records and node, which the guest changes during its turns.
    pub run: &'a mut Run,
    guest: &'a mut G,
    providers: &'a mut P,
    memory: &'a mut dyn Memory,
    stop: Stop,
    depth: Depth,
    /// The depth of trial runs for `:before` in a real run. In a trial run, guards' commands still run for real.
    trial: u32,
    /// True while the guest handles an event: actions of the handler then create no further events.
    in_event: bool,
    /// The claims of this run's policies; `None` in a real run of one policy.
    claims: Option<&'a mut Claims>,
}

impl<'a, G: Guest, P: Providers> Runner<'a, G, P> {
    /// Creates a runner for a new run.
    pub fn new(
        run: &'a mut Run,
        guest: &'a mut G,
        providers: &'a mut P,
        memory: &'a mut dyn Memory,
        stop: Stop,
    ) -> Self {
        Self { run, guest, providers, memory, stop, depth: Depth::default(), trial: 0, in_event: false, claims: None }
    }

    /// Makes the runner compare the claims of its actions with earlier ones of this run.
    #[must_use]
    pub(crate) fn with_claims(mut self, claims: Option<&'a mut Claims>) -> Self {
        self.claims = claims;
        self
    }

    /// Makes the guest run a phase: load, compile, or a handler.
    ///
    /// # Errors
    /// Guest code raised an exception, or the guest is lost.
    pub async fn phase(&mut self, phase: Phase) -> Outcome {
        let compiles = matches!(phase, Phase::Load(_) | Phase::Compile(_));
        let before = self.run.set_compiling(compiles);
        if compiles {
            self.providers.begin_compile();
        }
        let outcome = self.ask(Request::Phase(phase)).await.map(drop);
        self.run.set_compiling(before);
        match (outcome, self.stop.requested()) {
            (Err(Failure::GuestLost(_)), Some(reason)) if compiles => Err(Failure::Stopped(reason)),
            (outcome, _) => outcome,
        }
    }

    /// Compiles a recipe (`cookbook::recipe`), once per run.
    ///
    /// # Errors
    /// Guest code raised an exception, or the guest is lost.
    pub async fn compile(&mut self, recipe: &str) -> Outcome {
        if !self.run.begin_recipe(recipe)? {
            return Ok(());
        }
        self.go_on()?;
        let compiled = self.phase(Phase::Compile(recipe.to_owned())).await;
        compiled.map_err(|failure| failure.in_recipe(|| self.lost_in(recipe)))
    }

    /// Returns how far a recipe came before the guest was lost.
    fn lost_in(&self, recipe: &str) -> LostRecipe {
        let last = self.run.all(ROOT).pop().and_then(|last| self.run.known(last).ok());
        let after = last.and_then(|last| {
            let origin = &last.declaration.origin;
            let is_of_it = recipe.split_once("::") == origin.cookbook.as_deref().zip(origin.recipe.as_deref());
            origin.place().filter(|_| is_of_it).map(|place| format!("{} ({place})", last.key))
        });
        LostRecipe { name: recipe.to_owned(), after }
    }

    /// Converges the root context: due notifications of earlier runs, the resources in order, the delayed notifications.
    ///
    /// # Errors
    /// The failure, or all of them if delayed notifications failed too.
    pub async fn converge(&mut self) -> Outcome {
        self.run.begin_converge();
        self.providers.begin_converge();
        let heard = self.run.happened(|parts| Some(Event::CompileFinished { resources: parts.resources.len() }));
        self.hand_over(heard).await;
        let heard = self.run.happened(|_| Some(Event::ConvergeStarted));
        self.hand_over(heard).await;
        self.take_over_what_is_left()?;
        let outcome = self.converge_context(ROOT).await;
        // After a successful run, nothing is reported as unprocessed: Chef omits resources that delayed notifications
        // declared last.
        if outcome.is_err() {
            self.report_unprocessed();
        }
        outcome
    }

    /// Replaces each lazy attribute by its value from the guest, because nobody can ask for it later.
    ///
    /// # Errors
    /// Guest code raised an exception, or the guest is lost.
    pub async fn freeze_attributes(&mut self) -> Outcome {
        for marker in self.run.attributes().guest_values() {
            let callback = u32::try_from(marker.number).unwrap_or(u32::MAX);
            let value = match self.evaluate(callback, None).await? {
                ClosureValue::Json(value) => value,
                ClosureValue::Bytes(_) => Value::Null,
            };
            self.run.freeze_attribute(&marker, value)?;
        }
        Ok(())
    }

    /// Runs the guest's handlers of a phase, if it has any. Their exceptions are shown, but have no other effect.
    pub async fn handler(&mut self, phase: Phase) {
        let Some(name) = phase.listened().filter(|name| self.run.listens_to(name)) else { return };
        if let Err(failure) = self.phase(phase).await {
            let policy = self.run.policy().to_owned();
            self.run.notice(&Event::HandlerFailed { policy: &policy, handler: name, failure: &failure });
        }
    }

    /// Passes an event to a guest that listens to it. Actions of its handler create no further events for it.
    pub(crate) async fn hand_over(&mut self, event: Option<GuestEvent>) {
        let Some(GuestEvent { name, details }) = event.filter(|_| !self.in_event) else { return };
        self.in_event = true;
        self.handler(Phase::Event { name, details }).await;
        self.in_event = false;
    }

    fn take_over_what_is_left(&mut self) -> Outcome {
        for (receiver, action) in self.memory.left(self.run.policy()) {
            match self.run.find(ROOT, &receiver) {
                Some(id) => {
                    let since = self.memory.since(self.run.policy(), &receiver, &action);
                    let run = since.as_ref().map_or_else(|| "the last run".to_owned(), |run| format!("run {run}"));
                    let does = if self.run.why_run() { "would" } else { "will" };
                    let line =
                        format!("{receiver} {action} was due when {run} ended; it {does} run at the end of this one");
                    self.run.log(LogLevel::Info, &line);
                    let target = ResourceRef::Resource(id);
                    self.run.queue(ROOT, Due { target, action, sender: String::new(), unsure: false, since })?;
                }
                None => {
                    let line = format!(
                        "{receiver} {action} was due when the last run ended, but {receiver} is no longer declared"
                    );
                    self.run.log(LogLevel::Warn, &line);
                    self.memory.done(self.run.policy(), &receiver, &action);
                }
            }
        }
        // They are already recorded as due.
        self.run.take_newly_due();
        Ok(())
    }

    fn go_on(&self) -> Outcome {
        if let Err(exceeded @ Ended::Exceeded(_)) = self.run.account().check() {
            return Err(exceeded.or_at(|| self.run.here()).into());
        }
        self.stop.requested().map_or(Ok(()), |reason| Err(Failure::Stopped(reason)))
    }

    /// Opens an action of a resource within the open ones.
    fn deeper(&self, resource: ResourceId) -> Result<Nested, Failure> {
        if let Some(nested) = self.depth.enter(MAX_DEPTH) {
            return Ok(nested);
        }
        let key = self.run.known(resource)?.key.clone();
        Err(Failure::raised(
            ErrorKind::NestedTooDeep,
            format!("{key}: notifications and child resources nest more than {MAX_DEPTH} deep"),
        ))
    }

    fn lost(&self, why: String) -> Failure {
        GuestLost { policy: self.run.policy().to_owned(), why, ..GuestLost::default() }.into()
    }
}
