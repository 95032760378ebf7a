//! The state of one policy's run: contexts, resources, notifications and records. All functions return at once, without I/O.
//! All numbers, names and lists come from a guest, so each is checked.

mod amending;
mod attributes;
mod bounds;
mod collection;
mod commands;
mod context;
mod declaration;
mod nesting;
mod notifications;
mod paying;
mod progress;
mod reads;
mod record;
mod remarks;
mod reporting;
mod sensitive_messages;
mod table;
mod unseen;
mod writes;

pub use attributes::AttributeChange;
pub(crate) use bounds::{MAX_ACTION_BYTES, MAX_PER_RESOURCE, MAX_RETRY_DELAY};
pub use bounds::{
    MAX_ACTIONS, MAX_DELAYED, MAX_DEPTH, MAX_NOTIFIED_AT_ONCE, MAX_OPEN_CONTEXTS, MAX_RECORDS, MAX_RESOURCES,
};
pub use commands::{CommandEffect, GuestCommand};
pub use context::{Context, ContextId, Due, ROOT};
pub use declaration::{
    Amendment, BUILTIN_PREFIX, Chosen, Declaration, FailureMode, Guard, GuestId, GuestType, HOST_AS_GUEST, OwnPart,
    Property, Resource, ResourceId, ResourceRef, Test, Timing, Wish,
};
pub use notifications::Notification;
pub use reads::{HiddenRead, MAX_HIDDEN_READS, MAX_READ_PATHS, ReadKind, Reads, dotted_path, grant_entries};
pub use record::{ActionRecord, Notified, Tally};
pub use reporting::Parts;
pub use sensitive_messages::SensitiveMessage;
pub use unseen::EndedRecipe;
pub use writes::GuestWrite;

use crate::{Account, Failure, Observer, Receipt, Types};
use node::attributes::Attributes;
use node::run_list::RunList;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use table::Table;

/// One policy's run. Only the side with the turn has access, by `&mut`, so it needs no lock.
#[derive(Default)]
pub struct Run {
    /// The policy that runs, by its name.
    policy: String,
    /// True if nothing may be changed (dry run).
    why_run: bool,
    /// The node as this policy sees it: see [`Run::attributes`].
    node: Attributes,
    /// The node's name, for the run's own messages.
    node_name: String,
    /// The names of the policy's own cookbooks. A read below them does not count as a read of other policies' attributes.
    own_names: HashSet<String>,
    /// The policy's other reads and writes of the node.
    reads: Reads,
    /// True if the run only collects the grants that a real run could need.
    survey: bool,
    /// True while the guest loads its code or compiles a recipe, which a signal ends at once.
    compiling: bool,
    /// True once all recipes are compiled and the resources converge.
    converges: bool,
    /// The actions of resources that a survey has already run.
    surveyed: HashSet<(ResourceId, String)>,
    /// The events to which the guest has subscribed.
    listens: HashSet<String>,
    /// The resources, by number.
    resources: Vec<Resource>,
    /// The records of actions, in order.
    records: Vec<ActionRecord>,
    /// The changes that the guest's own code made on the machine, in order.
    writes: Vec<GuestWrite>,
    /// The commands that the guest's own code ran, in order.
    commands: Vec<GuestCommand>,
    /// The recipes of the expanded run list, `cookbook::recipe`.
    recipes: Vec<String>,
    /// Recipes that have been compiled or are being compiled.
    included: HashSet<String>,
    /// The node's own run list, which the guest may change. `None` for a released policy, whose run list comes from the
    /// release.
    run_list: Option<OwnRunList>,
    /// The folders of cookbooks that are read from folders, by name.
    places: BTreeMap<String, String>,
    types: BTreeMap<GuestId, HashMap<String, GuestType>>,
    /// The contexts, by number.
    contexts: Vec<Context>,
    /// The number of started actions, including retries.
    actions: u32,
    /// The number of actions that `:before` and `:immediately` notifications started.
    notified_at_once: u32,
    /// New due notifications of the root context that are not in the journal yet: receiver and action.
    newly_due: Vec<(String, String)>,
    /// Records of the actions that are open, innermost last.
    open_records: Vec<usize>,
    /// Failures in a dry run, which continues after them: the first one inside each open action, and the first one outside of
    /// all actions.
    kept: Vec<(Option<usize>, Failure)>,
    /// The recipes that ended early while a dry run compiled them, in order.
    ended_recipes: Vec<EndedRecipe>,
    /// The numbers of the open contexts, except the root.
    open_contexts: Vec<ContextId>,
    account: Account,
    /// The receipt for memory that is used until the end of the run.
    purse: Receipt,
    /// The receipt for the attributes.
    attributes_paid: Receipt,
    /// The number of queued delayed actions.
    delayed: usize,
    /// The messages that sensitive resources raised.
    unshown: sensitive_messages::Known,
    builtin: Table,
    observer: Option<Box<dyn Observer>>,
}

/// A run list that belongs to the node instead of a release.
#[derive(Debug, Clone, Default)]
struct OwnRunList {
    /// The run list that the guest has set, or `None`.
    changed: Option<RunList>,
}

/// The data of a policy at the start of its run.
#[derive(Debug, Default)]
pub struct RunStart {
    /// The name of the node that is converged.
    pub node_name: String,
    /// The recipes of the expanded run list, `cookbook::recipe`.
    pub recipes: Vec<String>,
    /// True if the run only collects the grants that a real run could need.
    pub survey: bool,
    /// The folders of cookbooks that are read from folders, by name.
    pub places: BTreeMap<String, String>,
    /// The names of the policy's own cookbooks. A read below them does not count as a read of other policies' attributes.
    pub own_names: HashSet<String>,
    /// True if the run list belongs to the node instead of a release, so that the guest may change it.
    pub owns_run_list: bool,
}

/// The results of a run, for the report.
#[derive(Debug)]
pub struct RunResults {
    /// The actions, in order.
    pub records: Vec<ActionRecord>,
    /// The changes that the guest's own code made on the machine, in order.
    pub writes: Vec<GuestWrite>,
    /// The commands that the guest's own code ran, in order.
    pub commands: Vec<GuestCommand>,
    /// The recipes that ended early while a dry run compiled them, in order.
    pub ended_recipes: Vec<EndedRecipe>,
    /// The recipes of the expanded run list, `cookbook::recipe`.
    pub recipes: Vec<String>,
    /// The policy's reads of values that are not its own.
    pub reads: Reads,
    /// True if all recipes were compiled and the resources began to converge.
    pub converged: bool,
}

impl Run {
    /// Creates an empty run of a policy, without an observer.
    pub fn new(policy: &str, why_run: bool, node: Attributes, builtin: Arc<dyn Types>) -> Self {
        let mut run = Self {
            policy: policy.into(),
            why_run,
            node,
            contexts: vec![Context::default()],
            builtin: Table(builtin),
            ..Self::default()
        };
        run.charge_to(Account::unmetered(policy));
        run
    }

    /// Adds the data of the policy.
    #[must_use]
    pub fn starting_with(self, start: RunStart) -> Self {
        let RunStart { node_name, recipes, survey, places, own_names, owns_run_list } = start;
        let run_list = owns_run_list.then(OwnRunList::default);
        Self { node_name, recipes, survey, places, own_names, run_list, ..self }
    }

    /// Returns the policy's name.
    pub fn policy(&self) -> &str {
        &self.policy
    }

    /// Returns the node's name.
    pub fn node_name(&self) -> &str {
        &self.node_name
    }

    /// Returns true if nothing may be changed, in a dry run or during the trial of an action in a real run.
    pub fn why_run(&self) -> bool {
        self.why_run
    }

    /// Sets whether the guest loads its code or compiles a recipe. Returns the previous value, because a recipe may include
    /// another one.
    pub fn set_compiling(&mut self, compiling: bool) -> bool {
        std::mem::replace(&mut self.compiling, compiling)
    }

    /// Returns true if a signal may interrupt the guest's code. A second signal always may. A first signal may only while
    /// code is loaded or compiled, and while no action runs that would remain incomplete.
    pub fn may_be_interrupted(&self) -> bool {
        (self.compiling && self.open_record().is_none()) || self.account.ends_at_once()
    }

    /// Returns true if the run only collects the grants that a real run could need.
    pub fn is_survey(&self) -> bool {
        self.survey
    }

    /// Returns true for the name of one of the policy's own cookbooks.
    pub fn is_own_cookbook(&self, name: &str) -> bool {
        self.own_names.contains(name)
    }

    /// Returns the declared resources, by number.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// Returns the records of the started actions, in order.
    pub fn records(&self) -> &[ActionRecord] {
        &self.records
    }

    /// Returns the recipes of the expanded run list, `cookbook::recipe`.
    pub fn recipes(&self) -> &[String] {
        &self.recipes
    }

    /// Returns true if the run list belongs to the node, so that the guest may change it. A released policy uses its
    /// release's run list.
    pub fn owns_run_list(&self) -> bool {
        self.run_list.is_some()
    }

    /// Changes the node's saved run list, if it belongs to the node.
    pub fn change_run_list(&mut self, list: RunList) {
        if let Some(own) = &mut self.run_list {
            own.changed = Some(list);
        }
    }

    /// Returns the run list that the guest has set, or `None`.
    pub fn changed_run_list(&self) -> Option<&RunList> {
        self.run_list.as_ref()?.changed.as_ref()
    }

    /// Subscribes the guest to events.
    pub fn listen(&mut self, events: impl IntoIterator<Item = String>) {
        self.listens.extend(events);
    }

    /// Returns true if the guest has subscribed to an event.
    pub fn listens_to(&self, event: &str) -> bool {
        self.listens.contains(event)
    }

    /// Ends the run and returns its results for the report.
    pub fn into_results(self) -> RunResults {
        let Self { records, writes, commands, ended_recipes, recipes, reads, converges, .. } = self;
        RunResults { records, writes, commands, ended_recipes, recipes, reads, converged: converges }
    }
}
