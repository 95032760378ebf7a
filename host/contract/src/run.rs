//! One policy's run: contexts, resources, notifications, and what has happened. Every function here returns at once and asks
//! nobody. All numbers, names and lists come from a guest: each is held against what there is.

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
    Amendment, BUILTIN_PREFIX, Declaration, FailureMode, Guard, GuestId, GuestType, HOST_AS_GUEST, Property, Resource,
    ResourceId, ResourceRef, Test, Timing, Wish,
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

/// One policy's run. Whoever has the turn has it, by `&mut`: no lock, nothing shared.
#[derive(Default)]
pub struct Run {
    /// The policy that runs, by its name.
    policy: String,
    /// Nothing may be changed.
    why_run: bool,
    /// The node as this policy sees it: see [`Run::attributes`].
    node: Attributes,
    /// The node's name, for the run's own messages.
    node_name: String,
    /// The names of the policy's own cookbooks: looking for what is its own is not a read of others' attributes.
    own_names: HashSet<String>,
    /// What it read and wrote of the node beyond that.
    reads: Reads,
    /// A dry run that asks for the grants of everything that a real run could come to.
    survey: bool,
    /// The guest loads its code or compiles a recipe: a signal ends that at once.
    compiling: bool,
    /// The actions of resources that have had their turn in a survey.
    surveyed: HashSet<(ResourceId, String)>,
    /// What the guest listens to.
    listens: HashSet<String>,
    /// The resources, by number.
    resources: Vec<Resource>,
    /// What happened, in order.
    records: Vec<ActionRecord>,
    /// What the guest's own code changed on the machine, in order.
    writes: Vec<GuestWrite>,
    /// The commands that the guest's own code ran, in order.
    commands: Vec<GuestCommand>,
    /// The recipes of the expanded run list, `cookbook::recipe`.
    recipes: Vec<String>,
    /// Recipes that have been compiled or are being compiled.
    included: HashSet<String>,
    /// The run list that the node is to be saved with, if the guest has changed it. None while it may not: of a released
    /// policy it is its release's.
    run_list: Option<OwnRunList>,
    /// Where cookbooks lie that are read from folders, by name.
    places: BTreeMap<String, String>,
    types: BTreeMap<GuestId, HashMap<String, GuestType>>,
    /// The contexts, by number.
    contexts: Vec<Context>,
    /// How many actions were begun, retries included.
    actions: u32,
    /// How many actions notifications started at once, `:before` and `:immediately`.
    notified_at_once: u32,
    /// What has become due in the root context and is not in the journal yet: receiver and action.
    newly_due: Vec<(String, String)>,
    /// Records of the actions that are open, innermost last.
    open_records: Vec<usize>,
    /// What failed in a dry run, which goes on: the first failure inside each open action, or outside of all.
    kept: Vec<(Option<usize>, Failure)>,
    /// The recipes that ended early while a dry run compiled them, in order.
    ended_recipes: Vec<EndedRecipe>,
    /// Open contexts but the root, by number.
    open_contexts: Vec<ContextId>,
    account: Account,
    /// Pays for what stays until the end of the run.
    purse: Receipt,
    /// Pays for the attributes.
    attributes_paid: Receipt,
    /// How many delayed actions were queued.
    delayed: usize,
    /// What sensitive resources raised.
    unshown: sensitive_messages::Known,
    builtin: Table,
    observer: Option<Box<dyn Observer>>,
}

/// A run list that belongs to the node and to nobody's release.
#[derive(Debug, Clone, Default)]
struct OwnRunList {
    /// The run list that the guest made; `None`: it did not change it.
    changed: Option<RunList>,
}

/// What is known of a policy when its run begins.
#[derive(Debug, Default)]
pub struct RunStart {
    /// The name of the node that is converged.
    pub node_name: String,
    /// The recipes of the expanded run list, `cookbook::recipe`.
    pub recipes: Vec<String>,
    /// Whether this is a dry run that asks for the grants of everything that a real run could come to.
    pub survey: bool,
    /// Where cookbooks lie that are read from folders, by name.
    pub places: BTreeMap<String, String>,
    /// The names of the policy's own cookbooks: looking for what is its own is not a read of others' attributes.
    pub own_names: HashSet<String>,
    /// Whether the run list belongs to the node, so that the guest may change it, and not to a release.
    pub owns_run_list: bool,
}

/// What a run left for the report.
#[derive(Debug)]
pub struct RunResults {
    /// The actions, in order.
    pub records: Vec<ActionRecord>,
    /// What the guest's own code changed on the machine, in order.
    pub writes: Vec<GuestWrite>,
    /// The commands that the guest's own code ran, in order.
    pub commands: Vec<GuestCommand>,
    /// The recipes that ended early while a dry run compiled them, in order.
    pub ended_recipes: Vec<EndedRecipe>,
    /// The recipes of the expanded run list, `cookbook::recipe`.
    pub recipes: Vec<String>,
    /// What the policy read of the node beyond its own.
    pub reads: Reads,
}

impl Run {
    /// An empty run of a policy; nobody watches it yet.
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

    /// The same run with what is known of its policy.
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

    /// Tells whether nothing may be changed: the run is a dry one, or a real one tries out an action.
    pub fn why_run(&self) -> bool {
        self.why_run
    }

    /// From now on the guest loads its code or compiles a recipe, or, with `false`, does so no longer. Returns what was so
    /// before: a recipe may include another one.
    pub fn set_compiling(&mut self, compiling: bool) -> bool {
        std::mem::replace(&mut self.compiling, compiling)
    }

    /// Tells whether a signal may end the guest's code in the middle: the second one always, the first one while code is
    /// loaded or compiled and no action is under way that would stay half done.
    pub fn may_be_interrupted(&self) -> bool {
        (self.compiling && self.open_record().is_none()) || self.account.ends_at_once()
    }

    /// Tells whether this is a dry run that asks for the grants of everything that a real run could come to.
    pub fn is_survey(&self) -> bool {
        self.survey
    }

    /// Tells whether a name is that of one of the policy's own cookbooks.
    pub fn is_own_cookbook(&self, name: &str) -> bool {
        self.own_names.contains(name)
    }

    /// Returns the declared resources, by number.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// Returns the records of the actions that were begun, in order.
    pub fn records(&self) -> &[ActionRecord] {
        &self.records
    }

    /// Returns the recipes of the expanded run list, `cookbook::recipe`.
    pub fn recipes(&self) -> &[String] {
        &self.recipes
    }

    /// Tells whether the run list belongs to the node, so that the guest may change it. A released policy has its release's.
    pub fn owns_run_list(&self) -> bool {
        self.run_list.is_some()
    }

    /// Changes the run list that the node is to be saved with, where it belongs to the node.
    pub fn change_run_list(&mut self, list: RunList) {
        if let Some(own) = &mut self.run_list {
            own.changed = Some(list);
        }
    }

    /// Returns the run list that the guest made; `None` if it did not change the node's.
    pub fn changed_run_list(&self) -> Option<&RunList> {
        self.run_list.as_ref()?.changed.as_ref()
    }

    /// Lets the guest hear of events.
    pub fn listen(&mut self, events: impl IntoIterator<Item = String>) {
        self.listens.extend(events);
    }

    /// Tells whether the guest hears of an event.
    pub fn listens_to(&self, event: &str) -> bool {
        self.listens.contains(event)
    }

    /// Ends the run and returns what it left for the report.
    pub fn into_results(self) -> RunResults {
        let Self { records, writes, commands, ended_recipes, recipes, reads, .. } = self;
        RunResults { records, writes, commands, ended_recipes, recipes, reads }
    }
}
