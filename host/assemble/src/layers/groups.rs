//! Finds the policy groups of a node's next run, for commands that show layers without a run.

use crate::settings::Settings;
use node::object::NodeObject;
use node::policy_in_group::PolicyInGroup;
use std::collections::BTreeMap;

/// The policies of a node's next run with their groups, as the settings and the node name them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextGroups {
    policies: Vec<PolicyInGroup>,
    /// The group of policies that have no group of their own.
    common: Option<String>,
}

impl NextGroups {
    /// Takes the policies that the settings name, with their `groups`, else those that are assigned to the node.
    pub fn of(named: &[String], groups: &BTreeMap<String, String>, node: &NodeObject, settings: &Settings) -> Self {
        let common = settings.policy_group.clone();
        let named = named.iter().map(|name| PolicyInGroup { name: name.clone(), group: groups.get(name).cloned() });
        let mut policies: Vec<_> = named.collect();
        if policies.is_empty() {
            policies = node.assigned_policies().to_vec();
        }
        for policy in &mut policies {
            policy.group = policy.group.take().or_else(|| common.clone());
        }
        Self { policies, common }
    }

    /// Returns the group of a policy, or `None` if it does not have one.
    pub fn of_policy(&self, name: &str) -> Option<&str> {
        let known = self.policies.iter().find(|policy| policy.name == name);
        known.map_or(self.common.as_deref(), |policy| policy.group.as_deref())
    }

    /// Returns the groups in the order of the policies, each once.
    pub fn all(&self) -> Vec<&str> {
        let mut groups: Vec<&str> = vec![];
        for group in self.policies.iter().filter_map(|policy| policy.group.as_deref()) {
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        if self.policies.is_empty() {
            groups.extend(self.common.as_deref());
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(named: &[(&str, Option<&str>)], assigned: &str, common: Option<&str>, all: &[&str], of_web: Option<&str>) {
        let mut node = NodeObject::new("n").unwrap();
        if !assigned.is_empty() {
            node.set_assigned_policies(PolicyInGroup::parse_list(&[assigned]).unwrap());
        }
        let names: Vec<_> = named.iter().map(|(name, _)| (*name).to_owned()).collect();
        let groups =
            named.iter().filter_map(|(name, group)| Some(((*name).to_owned(), (*group)?.to_owned()))).collect();
        let settings = Settings { policy_group: common.map(str::to_owned), ..Settings::default() };
        let next = NextGroups::of(&names, &groups, &node, &settings);
        assert_eq!((next.all(), next.of_policy("web")), (all.to_vec(), of_web));
    }

    #[test]
    fn the_groups_are_those_of_the_policies_that_the_next_run_has() {
        check(&[], "", None, &[], None);
        check(&[], "", Some("prod"), &["prod"], Some("prod"));
        check(&[], "web@test,db", Some("prod"), &["test", "prod"], Some("test"));
        check(&[], "web,db@prod", None, &["prod"], None);
        check(&[("web", None), ("db", Some("stage"))], "web@test", Some("prod"), &["prod", "stage"], Some("prod"));
        check(&[("db", Some("stage"))], "", Some("prod"), &["stage"], Some("prod"));
    }
}
