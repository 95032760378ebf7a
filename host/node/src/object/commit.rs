//! Takes over the attributes of a policy that succeeded.
//!
//! The new parts of the node are computed first and then exchanged for the old ones. So a refused commit changes nothing, and
//! the node gets its old parts back if it cannot be saved with the new ones. Rejected: a copy of the node before each commit,
//! which costs as much as the whole node for each policy of a run.

use std::borrow::Cow;
use std::mem::swap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::histories::Histories;
use super::normal::{Normal, NormalAccess};
use super::records::{self, PolicyRecord};
use super::{DEFAULT_ENVIRONMENT, NodeObject, ObjectError, PolicyStart, RunProgress, WithoutPolicies, policy_key};
use crate::attributes::{ADDED_UP_KEYS, Attributes, OWN_POLICY_KEYS, are_equal};
use crate::deep_merge;
use crate::run_list::RunList;

/// The parts of a node that a commit has replaced.
#[derive(Debug)]
pub struct ReplacedParts(Parts);

/// The parts of a node that a policy changes if it succeeds.
#[derive(Debug)]
struct Parts {
    chef_environment: String,
    run_list: RunList,
    /// The facts to save; `None` if the commit does not change them.
    automatic: Option<Map<String, Value>>,
    normal: Normal,
    records: Vec<Arc<PolicyRecord>>,
    histories: Histories,
    without_policies: Option<WithoutPolicies>,
    progress: RunProgress,
    is_saved: bool,
}

/// The facts after a commit.
struct CommittedFacts {
    /// The facts to save; `None` if they equal the saved ones.
    changed: Option<Map<String, Value>>,
    /// The lists of all policies of this run that have succeeded.
    added_up: Map<String, Value>,
    /// The facts that were compared with the saved ones.
    compared: Arc<Value>,
}

impl NodeObject {
    /// Takes over the attributes of a policy that succeeded. Returns the parts of the node that they replaced, for
    /// [`NodeObject::take_back`].
    ///
    /// # Errors
    /// Values that only the guest can compute and that were not frozen; levels above
    /// [`MAX_SAVED_BYTES`](super::MAX_SAVED_BYTES), or more added to `normal` than
    /// [`MAX_NORMAL_BYTES`](super::MAX_NORMAL_BYTES). The node object has not changed then: the policy is to be treated as
    /// failed.
    pub fn commit(
        &mut self,
        start: &PolicyStart,
        attributes: Attributes,
        access: &NormalAccess<'_>,
    ) -> Result<ReplacedParts, ObjectError> {
        let mut parts = self.parts_after(start, attributes, access)?;
        self.exchange(&mut parts);
        Ok(ReplacedParts(parts))
    }

    /// Undoes the last commit, with a run list that was set after it.
    pub fn take_back(&mut self, replaced: ReplacedParts) {
        let ReplacedParts(mut parts) = replaced;
        self.exchange(&mut parts);
    }

    fn exchange(&mut self, parts: &mut Parts) {
        let Parts { chef_environment, run_list, automatic, normal, records, histories, .. } = parts;
        swap(&mut self.chef_environment, chef_environment);
        swap(&mut self.run_list, run_list);
        automatic.iter_mut().for_each(|automatic| swap(&mut self.automatic, automatic));
        swap(&mut self.normal, normal);
        swap(&mut self.records, records);
        swap(&mut self.histories, histories);
        swap(&mut self.without_policies, &mut parts.without_policies);
        swap(&mut self.run.progress, &mut parts.progress);
        swap(&mut self.is_saved, &mut parts.is_saved);
    }

    /// Returns the parts of the node as they are after a policy that left these attributes.
    fn parts_after(
        &self,
        start: &PolicyStart,
        mut attributes: Attributes,
        access: &NormalAccess<'_>,
    ) -> Result<Parts, ObjectError> {
        if let Some(left) = attributes.guest_values().first() {
            return Err(ObjectError::GuestValueLeft { level: left.level, path: left.path.join(".") });
        }
        let [hidden_inherited, hidden_normal] = attributes.hidden_names();
        let mut normal = self.normal_of_run().into_owned();
        normal.take(policy_key(start), access, attributes.take_normal());
        let mut record = PolicyRecord { hidden_inherited, hidden_normal, ..PolicyRecord::new(start, &attributes) };
        record.normal_bytes = self.check_size(&record, normal.own(policy_key(start)))?;
        let facts = self.committed_facts(start, &attributes);
        let inherited = attributes.left_behind();
        let mut history = attributes.into_history();
        let earlier = self.histories.of(start.name.as_deref());
        if let Some(earlier) = earlier {
            history.keep_normal_of(earlier, normal.merged());
        }
        let is_same = self.normal == normal
            && facts.changed.is_none()
            && earlier == Some(&history)
            && !self.histories.unseen_edits.has_any_for(policy_key(start))
            && self.records.iter().any(|known| **known == record);
        let history = Arc::new(history);
        let mut parts = Parts {
            chef_environment: self.chef_environment.clone(),
            run_list: self.run_list.clone(),
            automatic: facts.changed,
            normal,
            records: self.records.clone(),
            histories: self.histories.clone(),
            without_policies: self.without_policies.clone(),
            progress: RunProgress {
                inherited,
                histories: self.run.progress.histories.iter().chain([&history]).cloned().collect(),
                json_attributes_are_in: true,
                added_up: facts.added_up,
                saved_facts: Some(facts.compared),
            },
            is_saved: self.is_saved && is_same,
        };
        parts.histories.put(start.name.as_deref(), history);
        records::put(&mut parts.records, record);
        if start.name.is_some() {
            self.leave_own_run_list(&mut parts);
        }
        Ok(parts)
    }

    /// Removes the run list and environment that a node without policies has, and keeps them for a later run without policies.
    fn leave_own_run_list(&self, parts: &mut Parts) {
        let had_own = self.records.iter().all(|known| known.name.is_none());
        if had_own && (!self.run_list.is_empty() || self.chef_environment != DEFAULT_ENVIRONMENT) {
            let (run_list, chef_environment) = (self.run_list.clone(), self.chef_environment.clone());
            parts.without_policies = Some(WithoutPolicies { run_list, chef_environment });
            parts.is_saved = false;
        }
        let environment = records::common_group(&parts.records).unwrap_or(DEFAULT_ENVIRONMENT).to_owned();
        parts.is_saved &= self.run_list.is_empty() && self.chef_environment == environment;
        parts.run_list = RunList::default();
        parts.chef_environment = environment;
    }

    /// The `normal` attributes with those that were given for this run.
    pub(super) fn normal_of_run(&self) -> Cow<'_, Normal> {
        if self.run.progress.json_attributes_are_in {
            Cow::Borrowed(&self.normal)
        } else {
            Cow::Owned(self.normal.with_given(&self.run.json_attributes))
        }
    }

    /// Returns the facts to save, if they differ from the saved ones. They leave out the keys that describe one policy, and
    /// have the recipes and roles of all policies. Until the last policy of the run has succeeded, these lists also keep the
    /// items of the previous run. So a run without news saves the node once, and not after each policy.
    fn committed_facts(&self, start: &PolicyStart, attributes: &Attributes) -> CommittedFacts {
        let is_policy = start.name.is_some();
        let compared = attributes.all_facts();
        let mut added_up = self.run.progress.added_up.clone();
        let mut changed = None;
        if let (Value::Object(facts), Value::Object(own)) = (&*compared, attributes.own_automatic()) {
            let lists = if is_policy { self.added_up_lists(start, own, &mut added_up) } else { Map::new() };
            let is_saved = |key: &str| !(is_policy && OWN_POLICY_KEYS.contains(&key));
            let own = own.iter().filter(|(key, _)| is_saved(key));
            let own = own.map(|(key, value)| (key, lists.get(key).unwrap_or(value)));
            let known = self.run.progress.saved_facts.as_ref();
            let is_same = if known.is_some_and(|known| Arc::ptr_eq(known, &compared)) {
                are_equal(self.automatic.iter().skip(facts.len()), own.clone())
            } else {
                are_equal(self.automatic.iter(), facts.iter().chain(own.clone()))
            };
            let members = facts.iter().chain(own).map(|(key, value)| (key.clone(), value.clone()));
            changed = (!is_same).then(|| members.collect());
        }
        CommittedFacts { changed, added_up, compared }
    }

    /// Adds a policy's recipes and roles to those of the policies before it. Returns these lists as they are saved.
    fn added_up_lists(
        &self,
        start: &PolicyStart,
        automatic: &Map<String, Value>,
        added_up: &mut Map<String, Value>,
    ) -> Map<String, Value> {
        let is_last = start.name == self.run.last;
        let mut lists = Map::new();
        for key in ADDED_UP_KEYS {
            let Some(Value::Array(own)) = automatic.get(key) else { continue };
            let earlier = added_up.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
            let mut all = deep_merge::union([&earlier, own]);
            added_up.insert(key.to_owned(), Value::Array(all.clone()));
            if let Some(Value::Array(before)) = self.run.earlier.get(key).filter(|_| !is_last) {
                all = deep_merge::union([&all, before]);
            }
            lists.insert(key.to_owned(), Value::Array(all));
        }
        lists
    }
}
