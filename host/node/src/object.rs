//! The node object, and how attributes pass from policy to policy.
//!
//! A run goes through the policies in order: [`NodeObject::begin_run`] once, then for each policy
//! [`NodeObject::begin_policy_seeing`], the policy itself, and [`NodeObject::commit`] if it succeeded.
//!
//! What goes on from one policy to the next:
//! * `normal` belongs to the node and is kept after the run. Each policy's writes to it are kept apart ([`normal`]);
//! * all other attributes that a policy left become the *inherited* level of the next one, the lowest, so that they inform
//!   and never overrule;
//! * `automatic` belongs to the host, which sets it anew for each policy.
//!
//! Each policy works on its own copy of the attributes. If a policy fails, the host drops the copy: nothing has to be undone,
//! and nothing can be left over. Rejected: one set of attributes with an undo log, which would have to handle every kind of
//! write correctly.

mod commit;
mod edit;
mod edit_json;
mod error;
mod explain;
mod hidden_names;
mod histories;
mod json_attributes;
mod normal;
mod normal_record;
mod records;
mod replacement;
mod saved;
mod size;
mod start;
mod unseen_edits;
mod verdict;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

pub use commit::ReplacedParts;
pub use edit::{EditError, NodeEdit};
pub use error::ObjectError;
pub use explain::{NodeExplanation, PolicyPart};
pub use hidden_names::HiddenNames;
pub use json_attributes::JsonAttributes;
pub use normal::NormalAccess;
pub use records::PolicyRecord;
pub use size::{MAX_NORMAL_BYTES, MAX_SAVED_BYTES, written_bytes};
pub use start::{PolicyStart, RolePlace, attribute_key};
pub use verdict::{JudgedWrite, Verdict};

use histories::Histories;
use normal::Normal;

pub use crate::attributes::is_policys_own;
use crate::attributes::{ADDED_UP_KEYS, Attributes, History, Level, OWN_POLICY_KEYS, SharedFacts};
use crate::layers::Layers;
use crate::origin::Origin;
use crate::policy_in_group::PolicyInGroup;
use crate::run_list::RunList;

/// Characters in a node's name.
pub const MAX_NAME_CHARACTERS: usize = 255;

/// The environment of a node whose environment nobody has set.
pub const DEFAULT_ENVIRONMENT: &str = "_default";

/// The name of the origin of JSON attributes, in explanations.
pub const COMMAND_LINE: &str = "command line";

/// The node as it is saved between runs, with the attributes that the policies of the current run have left so far.
#[derive(Debug, Clone)]
pub struct NodeObject {
    name: String,
    chef_environment: String,
    run_list: RunList,
    automatic: Map<String, Value>,
    normal: Normal,
    records: Vec<Arc<PolicyRecord>>,
    histories: Histories,
    layers: Layers,
    /// The policies that an operator assigned.
    assigned_policies: Vec<PolicyInGroup>,
    /// The run list and environment that the node had before its last run ran policies.
    without_policies: Option<WithoutPolicies>,
    /// The number of the last deferred change that has been applied. An operator's change is deferred while a run is under
    /// way.
    applied_changes: u64,
    run: CurrentRun,
    /// Whether the saved parts are unchanged since [`NodeObject::mark_saved`].
    is_saved: bool,
}

/// The run list and environment of a node without policies. They are kept while the node runs policies, for a later run
/// without policies.
#[derive(Debug, Clone, PartialEq)]
pub struct WithoutPolicies {
    /// The node's own run list.
    pub run_list: RunList,
    /// The node's own environment.
    pub chef_environment: String,
}

/// The parts of the attributes that a policy may read, as functions that return the readable part.
#[derive(Clone, Copy)]
pub struct ReadFilter<'rule> {
    /// The readable part of the attributes that earlier policies left.
    pub inherited: &'rule Visible<'rule>,
    /// The readable and writable parts of `normal`.
    pub normal: NormalAccess<'rule>,
    /// The readable part of the facts.
    pub facts: &'rule Visible<'rule>,
}

/// Returns the part of a tree that a policy may read; borrowed if it is the whole tree, which is then not copied.
pub type Visible<'rule> = dyn for<'all> Fn(&'all Value) -> Cow<'all, Value> + 'rule;

/// The state of the current run, which is not saved.
#[derive(Debug, Clone, Default)]
struct CurrentRun {
    json_attributes: Map<String, Value>,
    /// The lists of [`ADDED_UP_KEYS`] as they were saved before this run.
    earlier: Map<String, Value>,
    /// The name of the last policy of the run.
    last: Option<String>,
    progress: RunProgress,
}

/// What the policies of this run that have succeeded left.
#[derive(Debug, Clone, Default)]
struct RunProgress {
    inherited: Map<String, Value>,
    histories: Vec<Arc<History>>,
    json_attributes_are_in: bool,
    /// The lists of [`ADDED_UP_KEYS`] of all these policies.
    added_up: Map<String, Value>,
    /// The facts that were last compared with the saved ones, and are equal to them now.
    saved_facts: Option<Arc<Value>>,
}

impl NodeObject {
    /// A node that has never been saved.
    ///
    /// # Errors
    /// A name with characters other than letters, digits, `-`, `_`, `:` and `.`, or none at all.
    pub fn new(name: &str) -> Result<Self, ObjectError> {
        Ok(Self {
            name: checked_name(name)?,
            chef_environment: DEFAULT_ENVIRONMENT.to_owned(),
            run_list: RunList::default(),
            automatic: Map::new(),
            normal: Normal::default(),
            records: Vec::new(),
            histories: Histories::default(),
            layers: Layers::default(),
            assigned_policies: Vec::new(),
            without_policies: None,
            applied_changes: 0,
            run: CurrentRun::default(),
            is_saved: false,
        })
    }

    /// Tells whether the node has to be saved: it has changed since the last save, or this run has not saved it yet. Most
    /// policies do not change what is saved, and saving the whole node for each of them would take longer than the policies.
    pub fn has_unsaved_changes(&self) -> bool {
        !self.is_saved
    }

    /// Notes that the node is now saved.
    pub fn mark_saved(&mut self) {
        self.is_saved = true;
    }

    /// Returns the name under which the node is saved.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The environment, or the policy group that all policies have in common.
    pub fn chef_environment(&self) -> &str {
        &self.chef_environment
    }

    /// Sets the environment, for nodes without policies.
    ///
    /// # Errors
    /// Characters other than letters, digits, `-` and `_`.
    pub fn set_chef_environment(&mut self, environment: &str) -> Result<(), ObjectError> {
        let is_fine = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_');
        if environment.is_empty() || !environment.chars().all(is_fine) {
            return Err(ObjectError::InvalidEnvironment { environment: environment.to_owned() });
        }
        self.is_saved &= self.chef_environment == environment;
        self.chef_environment = environment.to_owned();
        Ok(())
    }

    /// The node's own run list, for nodes without policies.
    pub fn run_list(&self) -> &RunList {
        &self.run_list
    }

    /// Sets the node's own run list; repeated items are dropped.
    pub fn set_run_list(&mut self, run_list: RunList) {
        self.is_saved = false;
        self.run_list = run_list.without_repeats();
    }

    /// Returns the run list and environment of a run without policies, if the last run ran policies.
    pub fn without_policies(&self) -> Option<&WithoutPolicies> {
        self.without_policies.as_ref()
    }

    /// Sets the run list and environment of a run without policies.
    pub fn set_without_policies(&mut self, kept: Option<WithoutPolicies>) {
        self.without_policies = kept;
    }

    /// Gives the node the run list and environment that it had before its last run ran policies, for a run without policies.
    pub fn recall_without_policies(&mut self) {
        if let Some(kept) = self.without_policies.take() {
            self.is_saved = false;
            self.run_list = kept.run_list;
            self.chef_environment = kept.chef_environment;
        }
    }

    /// The node's layers of environment files, in order.
    pub fn layers(&self) -> &Layers {
        &self.layers
    }

    /// Sets the node's layers.
    pub fn set_layers(&mut self, layers: Layers) {
        self.is_saved &= self.layers == layers;
        self.layers = layers;
    }

    /// Returns the number of the last deferred change that has been applied.
    pub fn applied_changes(&self) -> u64 {
        self.applied_changes
    }

    /// Sets the number of the last deferred change that has been applied.
    pub fn set_applied_changes(&mut self, number: u64) {
        self.is_saved &= self.applied_changes == number;
        self.applied_changes = number;
    }

    /// Returns the facts (`automatic`) as the last run saved them.
    pub fn automatic(&self) -> &Map<String, Value> {
        &self.automatic
    }

    /// The `normal` attributes, which outlive runs.
    pub fn normal(&self) -> &Map<String, Value> {
        self.normal.merged()
    }

    /// Returns each policy's part from its last successful run, in the order of the policies.
    pub fn records(&self) -> &[Arc<PolicyRecord>] {
        &self.records
    }

    /// Returns the attributes that the policies of this run have left so far: the inherited level of the next policy.
    pub fn inherited(&self) -> &Map<String, Value> {
        &self.run.progress.inherited
    }

    /// The writes of the policies that succeeded in this run, in their order.
    pub fn histories(&self) -> &[Arc<History>] {
        &self.run.progress.histories
    }

    /// Starts a run. The inherited level of its first policy is empty.
    ///
    /// `policies` are the names of the policies to run, in order; records of others stay. `json_attributes` are those
    /// given for this run; they enter `normal` with the first policy that succeeds.
    pub fn begin_run<Name: AsRef<str>>(&mut self, policies: &[Name], json_attributes: Map<String, Value>) {
        let kept = |key: &&str| Some(((*key).to_owned(), self.automatic.get(*key)?.clone()));
        let earlier = ADDED_UP_KEYS.iter().filter_map(kept).collect();
        let last = policies.last().map(|name| name.as_ref().to_owned());
        self.run = CurrentRun { json_attributes, earlier, last, ..CurrentRun::default() };
        records::put_in_order(&mut self.records, policies);
    }

    /// Makes the attributes for a policy.
    ///
    /// `facts` become `automatic`, with the policy's own name, group and revision. `json_attributes` are merged into
    /// `normal`, and `normal.tags` is made a list. The result does not contain attributes that the policy may not read. A
    /// policy may always read the keys of `automatic` that describe the node and the policy itself.
    ///
    /// # Errors
    /// Data that is nested too deeply or holds what only a running guest may hold.
    pub fn begin_policy_seeing(
        &self,
        start: &PolicyStart,
        facts: &mut SharedFacts,
        filter: &ReadFilter<'_>,
    ) -> Result<Attributes, ObjectError> {
        let mut attributes = Attributes::new();
        let mut set = |level: Level, data: Map<String, Value>, said_by: &str| {
            if data.is_empty() {
                return Ok(());
            }
            let set = attributes.set_level_from(level, data, &|path| start.origin(level, path, said_by));
            set.map_err(|reason| ObjectError::Attributes { level, reason })
        };
        let policy = start.name.as_deref().unwrap_or("node");
        set(Level::Inherited, self.run.progress.inherited.clone(), "earlier policies")?;
        set(Level::RoleDefault, start.role_default.clone(), policy)?;
        let normal = self.normal_of_run();
        set(Level::Normal, normal.as_written_by(policy_key(start)), "node")?;
        set(Level::RoleOverride, start.role_override.clone(), policy)?;
        attributes
            .set_facts(facts.part(filter.facts), start.automatic(facts.own(), &self.name, &self.chef_environment));
        let layered = attributes.set_layers(&start.layers, filter.normal.given);
        layered.map_err(|(level, reason)| ObjectError::Attributes { level, reason })?;
        if !self.run.progress.json_attributes_are_in {
            attributes.record_given_normal(&self.run.json_attributes, &Origin::policy(COMMAND_LINE));
        }
        attributes.show_inherited(filter.inherited);
        attributes.show_normal(|_| Cow::Owned(Value::Object(normal.seen_by(policy_key(start), &filter.normal))));
        attributes.set_given(normal.given.clone(), filter.normal.given);
        attributes.set_earlier_history(self.run.progress.histories.clone());
        Ok(attributes)
    }
}

/// Returns the name under which a policy's own part is stored. A run list without a policy has the empty name.
fn policy_key(start: &PolicyStart) -> &str {
    start.name.as_deref().unwrap_or_default()
}

fn checked_name(name: &str) -> Result<String, ObjectError> {
    let is_fine = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_' | ':' | '.');
    if name.is_empty() || name.chars().count() > MAX_NAME_CHARACTERS || !name.chars().all(is_fine) {
        return Err(ObjectError::InvalidName { name: name.to_owned() });
    }
    Ok(name.to_owned())
}
