//! One policy in a run: load, compile, converge, commit; and later its handlers.

use super::report;
use super::{NodeState, RunHost, WholeRun};
use crate::Runner;
use contract::{
    Ended, Event, Failure, Guest, GuestLost, Load, Memory, Outcome, Phase, Providers, Run, RunStart, StartPhase, Stop,
    Tally,
};
use node::object::{NodeObject, NormalAccess, ObjectError, PolicyStart, ReadFilter};
use node::run_list::RunList;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// The data of a policy before it runs.
#[derive(Default)]
pub struct PolicyInput {
    /// The policy's name; for a run list without a policy, the node's name.
    pub name: String,
    /// Its revision, as Chef computes it.
    pub revision: String,
    /// The digest of its artifact, hexadecimal; empty where cookbooks run from folders. Two policies are identical exactly if
    /// their digests are equal.
    pub artifact: String,
    /// Its cookbooks with their versions, in load order.
    pub cookbooks: Vec<(String, String)>,
    /// The recipes to compile, in order, as `cookbook::recipe`.
    pub recipes: Vec<String>,
    /// Group, run list and attributes.
    pub start: PolicyStart,
    /// The download folder of its cookbooks in Ruby. `None`: Chef's.
    pub file_cache: Option<String>,
    /// The folders of cookbooks that are read from folders, by name.
    pub places: BTreeMap<String, String>,
    /// A known reason why it cannot run, such as a missing role or a constraint that cannot be met.
    pub refused: Option<Failure>,
}

/// A policy's instance, with its providers.
pub trait Instance: Send {
    /// One session with the guest.
    type Session<'a>: Guest
    where
        Self: 'a;
    /// The providers that inspect and change the machine for this policy.
    type Providers: Providers;

    /// Starts a session, and returns the providers for it.
    fn conversation(&mut self) -> (Self::Session<'_>, &mut Self::Providers);

    /// Ends a session: the guest returns from its loop.
    fn end<'a>(session: Self::Session<'a>) -> impl Future<Output = Result<(), GuestLost>> + Send
    where
        Self: 'a;
}

/// A policy that has run, or tried to.
pub(super) struct FinishedPolicy<I> {
    pub(super) run: Run,
    pub(super) revision: String,
    pub(super) artifact: String,
    /// The node data that would be saved.
    node: NodeState,
    /// True if only compiling was requested, and it succeeded.
    compiled_only: bool,
    lists_declared: bool,
    /// The instance. `None`: the policy was refused, or could not be started.
    instance: Option<I>,
    /// Duration of the policy's turn, in seconds.
    seconds: f64,
}

/// The outcome of the whole run, for the handlers of all policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunEnd {
    Succeeded,
    Failed,
}

impl RunEnd {
    fn handler(self) -> &'static str {
        match self {
            Self::Succeeded => "report",
            Self::Failed => "exception",
        }
    }

    fn event(self) -> &'static str {
        match self {
            Self::Succeeded => "run_completed",
            Self::Failed => "run_failed",
        }
    }

    fn phase(self, status: Value) -> Phase {
        match self {
            Self::Succeeded => Phase::Report(status),
            Self::Failed => Phase::Exception(status),
        }
    }
}

impl<I: Instance> FinishedPolicy<I> {
    /// Tells whether it has handlers for the end of the run.
    pub(super) fn listens(&self, end: RunEnd) -> bool {
        self.run.listens_to(end.handler()) || self.run.listens_to(end.event())
    }

    /// Runs the handlers for the end of the run, in a new session.
    pub(super) async fn handle(&mut self, end: RunEnd, mut status: Value, memory: &mut dyn Memory, stop: &Stop) {
        let Some(instance) = &mut self.instance else { return };
        let (mut session, providers) = instance.conversation();
        // The handlers belong to the end of the run, which a first signal does not cut off. They have their own time limit.
        let stop = stop.only_at_once();
        let account = self.run.account().clone();
        account.begin_turn(stop.clone());
        // There may be a million records, so the memory for the handlers' data is charged before it is allocated.
        let paid = match report::resources(&self.run, &account) {
            Ok((resources, paid)) => {
                if let Some(object) = status.as_object_mut() {
                    object.insert("resources".into(), resources);
                }
                paid
            }
            Err(ended) => {
                let (policy, failure) = (self.run.policy().to_owned(), Failure::from(ended));
                self.run.notice(&Event::HandlerFailed { policy: &policy, handler: end.handler(), failure: &failure });
                account.end_turn();
                return;
            }
        };
        let mut runner = Runner::new(&mut self.run, &mut session, providers, memory, stop);
        let succeeded = matches!(end, RunEnd::Succeeded);
        let heard = runner.run.happened(|_| Some(Event::PolicyStatus { succeeded, status: &status }));
        runner.hand_over(heard).await;
        runner.handler(end.phase(status)).await;
        let _ = I::end(session).await;
        drop(paid);
        account.end_turn();
    }

    /// Returns the policy's data for the report.
    pub(super) fn ended(self) -> report::EndedPolicy {
        let Self { run, revision, artifact, node, compiled_only, lists_declared, seconds, .. } = self;
        report::EndedPolicy { run, revision, artifact, node, compiled_only, lists_declared, seconds }
    }
}

impl<H: RunHost> WholeRun<'_, H> {
    /// Runs one policy. If it fails, its attribute writes are dropped.
    pub(super) async fn run_policy(&mut self, node: &mut NodeObject, mut policy: PolicyInput) -> Outcome {
        let began = Instant::now();
        policy.start.cookbooks.clone_from(&policy.cookbooks);
        let mut run = self.begin(node, &policy)?;
        // The start code of an instance belongs to the policy's turn, so its time counts, too.
        run.account().begin_turn(self.stop.clone());
        let opened = match policy.refused.take() {
            Some(failure) => Err(failure),
            None => self.run_host.open(&policy, run.account()),
        };
        let (instance, outcome) = match opened {
            Ok(mut instance) => {
                run.set_observer(self.observer.take());
                let outcome = self.live_in(&mut instance, node, &policy, &mut run).await;
                self.observer = run.take_observer();
                (Some(instance), outcome)
            }
            Err(failure) => (None, Err(failure)),
        };
        run.account().end_turn();
        let outcome = outcome.map_err(|failure| {
            let advice = self.run_host.advice(&policy, &failure);
            let hint = run.reads().hint(&policy.name, &format!("{failure} {}", failure.hint().unwrap_or_default()));
            advice.into_iter().chain(hint).fold(failure, Failure::and_hint)
        });
        let compiled_only = self.options.compile_only && outcome.is_ok();
        let state = NodeState::new(&run, &policy.start, node.chef_environment());
        let PolicyInput { revision, artifact, .. } = policy;
        let seconds = began.elapsed().as_secs_f64();
        let lists_declared = self.options.lists_declared;
        self.finished.push(FinishedPolicy {
            run,
            revision,
            artifact,
            node: state,
            compiled_only,
            lists_declared,
            instance,
            seconds,
        });
        outcome
    }

    /// Runs the policy in its instance, and commits its attributes.
    async fn live_in(
        &mut self,
        instance: &mut H::Instance,
        node: &mut NodeObject,
        policy: &PolicyInput,
        run: &mut Run,
    ) -> Outcome {
        let PolicyInput { name, revision, artifact, cookbooks, recipes, .. } = policy;
        run.notice(&Event::PolicyStarted { policy: name, revision, artifact, recipes, cookbooks });
        let load = self.load_input(policy, node);
        let began = StartPhase { run_id: self.options.run_id.clone(), start_time: self.options.started.seconds };
        let (mut session, providers) = instance.conversation();
        let memory = self.run_host.memory();
        let mut runner =
            Runner::new(run, &mut session, providers, memory, self.stop.clone()).with_claims(self.claims.as_mut());
        let outcome = live(&mut runner, load, began, recipes, self.options.compile_only).await;
        if outcome.is_err() {
            // A value that could not be computed is missing in the report. Only the first failure is reported.
            let _ = runner.freeze_attributes().await;
        }
        let ended = H::Instance::end(session).await.map_err(Failure::from);
        let outcome = outcome.and(ended);
        // No later check follows the last action, so the limits are checked here.
        let outcome = outcome.and_then(|()| within_limits(run));
        // If a dry run continued to its end, later policies see the data that they would see after its failures are fixed.
        let outcome = outcome.and_then(|()| self.commit(node, policy, run));
        let outcome = match run.take_kept() {
            Some(first) if !outcome.as_ref().is_err_and(Failure::is_final) => Err(first),
            _ => outcome,
        };
        if outcome.is_ok() {
            let tally = Tally::of(run.records());
            run.notice(&Event::PolicyFinished { policy: name, tally });
        }
        outcome
    }

    /// Returns the input of the first phase.
    fn load_input(&self, policy: &PolicyInput, node: &NodeObject) -> Load {
        let start = &policy.start;
        let environment = start.group.as_deref().filter(|_| start.name.is_some());
        // The node's own run list, if this run uses another one.
        let primary = Some(node.run_list()).filter(|kept| start.name.is_none() && **kept != start.run_list);
        Load {
            policy: policy.name.clone(),
            cookbooks: policy.cookbooks.iter().map(|(cookbook, _)| cookbook.clone()).collect(),
            why_run: self.options.is_dry(),
            survey: self.options.survey,
            all_frames: self.options.all_frames,
            places: policy.places.clone(),
            file_cache: policy.file_cache.clone(),
            run_list: start.run_list.to_strings(),
            primary_run_list: primary.map(RunList::to_strings),
            environment: environment.unwrap_or(node.chef_environment()).to_owned(),
        }
    }

    /// Creates the run of a policy, with the node data that this policy may see.
    fn begin(&mut self, node: &NodeObject, policy: &PolicyInput) -> Result<Run, Failure> {
        let run_host = &*self.run_host;
        let sight = ReadFilter {
            inherited: &|inherited| run_host.visible(policy, inherited),
            normal: NormalAccess {
                given: &|given| run_host.visible_given(policy, given),
                others: &|left| run_host.visible(policy, left),
                overwrites: &|path| run_host.overwrites(policy, path),
            },
            facts: &|facts| run_host.visible_facts(policy, facts),
        };
        let attributes = node.begin_policy_seeing(&policy.start, &mut self.facts, &sight).map_err(refused)?;
        let run = Run::new(&policy.name, self.options.is_dry(), attributes, Arc::clone(&self.builtin));
        let mut run = run.starting_with(RunStart {
            node_name: node.name().to_owned(),
            recipes: policy.recipes.clone(),
            survey: self.options.survey,
            places: policy.places.clone(),
            own_names: policy.cookbooks.iter().map(|(cookbook, _)| cookbook.clone()).collect(),
            owns_run_list: policy.start.name.is_none(),
        });
        run.charge_to(run_host.account(policy));
        Ok(run)
    }

    /// Makes the policy's results visible to later policies and runs.
    fn commit(&mut self, node: &mut NodeObject, policy: &PolicyInput, run: &mut Run) -> Outcome {
        let run_host = &*self.run_host;
        let sight = NormalAccess {
            given: &|given| run_host.visible_given(policy, given),
            others: &|left| run_host.visible(policy, left),
            overwrites: &|path| run_host.overwrites(policy, path),
        };
        let saves = !(self.options.why_run || self.options.without_saving || self.options.compile_only);
        if saves {
            run.pay_for_saved_node()?;
        }
        let replaced = node.commit(&policy.start, run.attributes().clone(), &sight).map_err(refused)?;
        if let Some(list) = run.changed_run_list().cloned() {
            node.set_run_list(list);
        }
        if saves && node.has_unsaved_changes() {
            if let Err(failure) = self.run_host.save(node) {
                // The node must not keep attributes that cannot be saved: all later policies would fail.
                node.take_back(replaced);
                return Err(failure);
            }
            node.mark_saved();
        }
        Ok(())
    }
}

/// Fails if the policy has exceeded a limit. A signal at this point has no effect, because nothing is left to end.
fn within_limits(run: &Run) -> Outcome {
    match run.account().check() {
        Err(exceeded @ Ended::Exceeded(_)) => Err(exceeded.into()),
        Ok(()) | Err(Ended::Stopped(_)) => Ok(()),
    }
}

fn refused(error: ObjectError) -> Failure {
    Failure::raised(error.kind(), error.to_string())
}

/// Loads the cookbooks, compiles the recipes and converges the resources.
async fn live<G: Guest, P: Providers>(
    runner: &mut Runner<'_, G, P>,
    load: Load,
    began: StartPhase,
    recipes: &[String],
    compile_only: bool,
) -> Outcome {
    let loaded = runner.phase(Phase::Load(Box::new(load))).await;
    if let Err(failure) = &loaded {
        runner.note_unseen(recipes, failure)?;
    }
    loaded?;
    if !compile_only {
        let (run_id, start_time) = (began.run_id.clone(), began.start_time);
        runner.handler(Phase::Start(began)).await;
        let heard = runner.run.happened(|_| Some(Event::PolicyLoaded { run_id: &run_id, start_time }));
        runner.hand_over(heard).await;
    }
    for recipe in recipes {
        let compiled = runner.compile(recipe).await;
        if compile_only {
            compiled?;
        } else {
            runner.kept_if_denied(recipe, compiled)?;
            let heard = runner.run.happened(|_| Some(Event::RecipeCompiled { recipe }));
            runner.hand_over(heard).await;
        }
    }
    if compile_only {
        return runner.freeze_attributes().await;
    }
    let converged = runner.converge().await;
    let failure = converged.as_ref().err().or(runner.run.kept()).cloned();
    let heard = runner.run.happened(|_| Some(Event::ConvergeFinished { failure: failure.as_ref() }));
    runner.hand_over(heard).await;
    converged?;
    runner.freeze_attributes().await
}
