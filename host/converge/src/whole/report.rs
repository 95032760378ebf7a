//! The report of a run: one part per policy, with all its actions.

use super::PolicyInput;
use contract::{
    Account, ActionRecord, Conflict, Ended, EndedRecipe, ErrorKind, Failure, GuestCommand, GuestWrite, Moment, ROOT,
    Reads, Receipt, Run, RunResults, StopReason, Tally,
};
use errors::chef;
use node::attributes::Level;
use node::object::PolicyStart;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The outcome of a policy.
#[derive(Debug)]
pub enum PolicyOutcome {
    /// The policy was converged without a failure, except ignored ones.
    Succeeded,
    /// The policy failed with this error.
    Failed(Failure),
    /// The policy did not run, because an earlier one failed or the run was stopped.
    NotRun,
}

/// The outcome of a run, or of a policy, that a signal ended before its time.
const INTERRUPTED: &str = "interrupted";

impl PolicyOutcome {
    /// Returns why the policy ended early, if it did: because of a signal, or because the node reboots.
    pub fn stopped(&self) -> Option<StopReason> {
        let Self::Failed(failure) = self else { return None };
        let reason = |failure: &Failure| match failure {
            Failure::Stopped(reason) => Some(*reason),
            _ => None,
        };
        match failure {
            Failure::Many(all) => all.iter().find_map(|(_, failure)| reason(failure)),
            failure => reason(failure),
        }
    }

    /// Returns the outcome as one word, for reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Succeeded => "success",
            Self::Failed(_) => "failure",
            Self::NotRun => "not-run",
        }
    }
}

/// The report of one policy.
#[derive(Debug)]
pub struct PolicyReport {
    /// The policy's name, as the operator gave it.
    pub name: String,
    /// Its revision, as Chef computes it; empty if it never began.
    pub revision: String,
    /// The digest of its artifact; empty if it never began, or has none.
    pub artifact: String,
    /// Whether the policy was converged, failed or was not run.
    pub outcome: PolicyOutcome,
    /// All actions, in the order in which they began.
    pub records: Vec<ActionRecord>,
    /// The changes that its own code made on the machine, in order.
    pub writes: Vec<GuestWrite>,
    /// The commands that its own code ran, in order.
    pub commands: Vec<GuestCommand>,
    /// The recipes that ended early while a dry run compiled them, in order. The rest of each recipe was not seen.
    pub ended_recipes: Vec<EndedRecipe>,
    /// The recipes that were compiled, in the order of the run list.
    pub recipes: Vec<String>,
    /// True if all recipes were compiled, so that all resources of the policy are known.
    pub converged: bool,
    /// The compiled resources of the root context, if only compiling was requested: type, name, actions, origin.
    pub collection: Vec<Value>,
    /// True if only compiling was requested, and it succeeded.
    pub compiled_only: bool,
    /// The resources as the recipes declared them, if a test requests them.
    pub declared: Vec<Value>,
    /// The facts and attributes that the policy read and wrote, and hidden ones that it tried to read.
    pub reads: Reads,
    /// The policy's costs for the host, and their limits.
    pub account: Account,
    /// The node data after this policy; `None` if it never began.
    pub node: Option<NodeState>,
    /// Duration in seconds, without the handlers; 0 if it never began.
    pub seconds: f64,
}

/// The node data that would be saved; after a failure, the data at that time.
#[derive(Debug, Clone, Default)]
pub struct NodeState {
    /// `normal`, and `default` and `override` combined.
    pub levels: Map<String, Value>,
    /// The name of its Chef environment.
    pub chef_environment: String,
    /// The run list as written, or as the run changed it.
    pub run_list: Vec<String>,
    /// All recipes that were compiled or started, including those that other recipes included: `automatic.recipes`.
    pub recipes: Value,
    /// The roles in the expanded run list.
    pub roles: Vec<String>,
}

impl NodeState {
    pub(super) fn new(run: &Run, start: &PolicyStart, chef_environment: &str) -> Self {
        let automatic = |key: &str| run.attributes().read_level(Level::Automatic, &[key]);
        let environment = automatic("chef_environment");
        Self {
            levels: run.levels(),
            chef_environment: environment.as_deref().and_then(Value::as_str).unwrap_or(chef_environment).to_owned(),
            run_list: run.changed_run_list().unwrap_or(&start.run_list).to_strings(),
            recipes: automatic("recipes").map_or_else(|| json!([]), Cow::into_owned),
            roles: start.roles.clone(),
        }
    }
}

/// The report of one run, policy by policy.
#[derive(Debug)]
pub struct RunReport {
    /// The reason why the run ended early, if it did. The interrupted action may also report its own failure.
    pub stopped: Option<StopReason>,
    /// Identifies the run in its record and in the log.
    pub run_id: String,
    /// True for a dry run, which changed nothing.
    pub why_run: bool,
    /// The moment at which the run began.
    pub started: Moment,
    /// Duration of the run, in seconds.
    pub seconds: f64,
    /// One report for each policy, in the order of the run.
    pub policies: Vec<PolicyReport>,
    /// The conflicts between policies, in the order of their detection.
    pub conflicts: Vec<Conflict>,
    /// The number of conflicts and comparisons that were dropped because of limits.
    pub conflicts_left_out: usize,
    /// Cookbooks that several policies contain, by name.
    pub shared_cookbooks: Vec<SharedCookbook>,
}

/// A cookbook that several policies contain. Each policy has its own copy, so this is not a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedCookbook {
    /// The cookbook's name, the same in all the policies.
    pub cookbook: String,
    /// The policies, in the order of the run.
    pub policies: Vec<String>,
}

impl SharedCookbook {
    /// Finds the shared cookbooks of a run's policies.
    pub(super) fn of(policies: &[PolicyInput]) -> Vec<Self> {
        let mut by_name: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for policy in policies {
            for (cookbook, _) in &policy.cookbooks {
                by_name.entry(cookbook).or_default().push(policy.name.clone());
            }
        }
        let shared = by_name.into_iter().filter(|(_, policies)| policies.len() > 1);
        shared.map(|(cookbook, policies)| Self { cookbook: cookbook.to_owned(), policies }).collect()
    }
}

/// The data of a policy after its run, for the report.
pub(super) struct EndedPolicy {
    pub(super) run: Run,
    pub(super) revision: String,
    pub(super) artifact: String,
    pub(super) node: NodeState,
    pub(super) compiled_only: bool,
    pub(super) lists_declared: bool,
    pub(super) seconds: f64,
}

impl PolicyReport {
    /// Creates the report of a policy that never began.
    pub fn not_run(name: String) -> Self {
        Self {
            name,
            revision: String::new(),
            artifact: String::new(),
            outcome: PolicyOutcome::NotRun,
            records: vec![],
            writes: vec![],
            commands: vec![],
            ended_recipes: vec![],
            recipes: vec![],
            converged: false,
            collection: vec![],
            compiled_only: false,
            declared: vec![],
            reads: Reads::default(),
            account: Account::default(),
            node: None,
            seconds: 0.0,
        }
    }

    pub(super) fn new(name: String, outcome: PolicyOutcome, finished: Option<EndedPolicy>) -> Self {
        let Some(EndedPolicy { run, revision, artifact, node, compiled_only, lists_declared, seconds }) = finished
        else {
            return Self { outcome, ..Self::not_run(name) };
        };
        let collection = if compiled_only { collection(&run) } else { vec![] };
        let declared = if lists_declared { super::declared::declared(&run) } else { vec![] };
        let account = run.account().clone();
        let RunResults { records, writes, commands, ended_recipes, recipes, reads, converged } = run.into_results();
        Self {
            name,
            revision,
            artifact,
            outcome,
            records,
            writes,
            commands,
            ended_recipes,
            recipes,
            converged,
            collection,
            compiled_only,
            declared,
            reads,
            account,
            node: Some(node),
            seconds,
        }
    }
}

impl PolicyReport {
    /// Returns how many commands the policy's own code ran outside of actions; in a dry run, those with unknown effects.
    pub fn own_commands(&self) -> usize {
        self.commands.iter().filter(|command| command.is_own_effect()).count()
    }
}

impl RunReport {
    /// Tells whether a signal such as Ctrl-C ended the run early.
    pub fn is_interrupted(&self) -> bool {
        matches!(self.ended_early(), Some(StopReason::Signal(_)))
    }

    /// Returns why the run ended early, if it did.
    pub fn ended_early(&self) -> Option<StopReason> {
        self.stopped.or_else(|| self.policies.iter().find_map(|policy| policy.outcome.stopped()))
    }

    /// Returns the failure of the first failed policy.
    pub fn failure(&self) -> Option<(&str, &Failure)> {
        self.policies.iter().find_map(|policy| match &policy.outcome {
            PolicyOutcome::Failed(failure) => Some((policy.name.as_str(), failure)),
            _ => None,
        })
    }

    /// Returns `success`, `failure`, or `interrupted` if a signal ended the run before its time.
    pub fn outcome(&self) -> &'static str {
        match (self.is_interrupted(), self.failure()) {
            (true, _) => INTERRUPTED,
            (false, Some(_)) => "failure",
            (false, None) => "success",
        }
    }

    /// Tells whether a signal ended a policy before its time.
    pub fn has_interrupted(&self, policy: &PolicyReport) -> bool {
        let is_cut_off = |failure: &Failure| *failure.kind() == ErrorKind::Signalled;
        self.is_interrupted() && matches!(&policy.outcome, PolicyOutcome::Failed(failure) if is_cut_off(failure))
    }

    /// Returns `success`, `failure`, `interrupted` or `not-run`.
    pub fn outcome_of(&self, policy: &PolicyReport) -> &'static str {
        if self.has_interrupted(policy) { INTERRUPTED } else { policy.outcome.name() }
    }

    /// Returns how many changes the own code of all policies made.
    pub fn writes(&self) -> usize {
        self.policies.iter().map(|policy| policy.writes.len()).sum()
    }

    /// Returns how many commands the own code of all policies ran outside of actions; in a dry run, those with unknown
    /// effects.
    pub fn commands(&self) -> usize {
        self.policies.iter().map(PolicyReport::own_commands).sum()
    }

    /// Counts the outcomes of all policies' actions.
    pub fn tally(&self) -> Tally {
        Tally::of(self.policies.iter().flat_map(|policy| &policy.records))
    }
}

/// Returns the resources of the root context, as `--compile-only` prints them.
fn collection(run: &Run) -> Vec<Value> {
    let resources = run.all(ROOT).into_iter().filter_map(|id| run.known(id).ok());
    resources
        .map(|resource| {
            let declaration = &resource.declaration;
            let origin = &declaration.origin;
            let place = origin.place();
            json!([&*resource.kind, declaration.name, declaration.actions, origin.cookbook, origin.recipe, place])
        })
        .collect()
}

/// Returns why the run failed, for the handlers of the policy `listener`. Of another policy's failure they hear its name alone.
pub(super) fn exception(listener: &str, outcomes: &[(String, PolicyOutcome)]) -> Value {
    let own = outcomes.iter().find(|(name, _)| name == listener);
    let mut failed = own.into_iter().chain(outcomes).filter_map(|(name, outcome)| match outcome {
        PolicyOutcome::Failed(failure) => Some((name, failure)),
        _ => None,
    });
    match failed.next() {
        None => Value::Null,
        Some((name, failure)) if name == listener => {
            json!({ "class": failure.class(), "message": failure.to_string(), "backtrace": failure.backtrace() })
        }
        Some((name, _)) => {
            let class = chef::class(&ErrorKind::PolicyFailed);
            json!({ "class": class, "message": format!("policy {name} failed"), "backtrace": [] })
        }
    }
}

/// The size of a record as JSON without its texts, in bytes.
const RECORD: u64 = 1024;

/// The number of copies that exist at the same time: the original, a copy for the event, and the text for the guest.
const COPIES: u64 = 3;

/// Returns the actions of a policy in the format for its handlers, with the receipt for their memory.
///
/// # Errors
/// They need more of the host's memory than the policy may use.
pub(super) fn resources(run: &Run, account: &Account) -> Result<(Value, Receipt), Ended> {
    let records = || run.records().iter().filter(|record| !record.forced_why_run);
    let length = |text: Option<&str>| text.map_or(0, |text| text.len() as u64);
    let of_record = |record: &ActionRecord| {
        let origin = [record.origin.cookbook.as_deref(), record.origin.recipe.as_deref()].map(length);
        let texts = record.kind.len() + record.name.len() + record.action.len();
        COPIES * (RECORD + texts as u64 + origin.iter().sum::<u64>())
    };
    let mut paid = account.keep(0, || run.here())?;
    for record in records() {
        paid.grow(of_record(record), || run.here())?;
    }
    let resources = records()
        .map(|record| {
            json!({
                "type": &*record.kind,
                "name": record.name,
                "action": record.action,
                "status": record.status.chef_name(),
                "cookbook": record.origin.cookbook,
                "recipe": record.origin.recipe,
                "nesting": record.nesting,
            })
        })
        .collect();
    Ok((resources, paid))
}
