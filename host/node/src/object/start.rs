//! The data that a policy starts with: its run list, revision and attributes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::DEFAULT_ENVIRONMENT;
use crate::attributes::Level;
use crate::deep_merge::hash_only_merge;
use crate::layers::LayerLevels;
use crate::origin::Origin;
use crate::run_list::{RunList, split_recipe};

/// The data that a policy starts with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PolicyStart {
    /// The policy's name; absent for a run list without a policy.
    pub name: Option<String>,
    /// The policy group it runs in; `None` if it runs without one.
    pub group: Option<String>,
    /// Its revision, as Chef computes it.
    pub revision: Option<String>,
    /// The digest of its artifact.
    pub artifact: Option<String>,
    /// The run list that is run.
    pub run_list: RunList,
    /// For `automatic.recipes`: the recipes of the run list, with roles expanded.
    pub recipes: Vec<String>,
    /// For `automatic.expanded_run_list`; absent where there is a policy, as in Chef.
    pub expanded_run_list: Option<Vec<String>>,
    /// For `automatic.roles`: the roles met while the run list was expanded.
    pub roles: Vec<String>,
    /// For `automatic.cookbooks`: names and versions.
    pub cookbooks: Vec<(String, String)>,
    /// The `role_default` level: the policy's default attributes, or those of the roles.
    pub role_default: Map<String, Value>,
    /// The `role_override` level: the policy's override attributes, or those of the roles.
    pub role_override: Map<String, Value>,
    /// The `env_default` and `env_override` levels: the merged layers of environment files.
    pub layers: LayerLevels,
    /// The lines of the policy's file that set attributes, from 1. Keys as in the file, `default.ntp.servers`, made by
    /// [`attribute_key`].
    pub attribute_lines: BTreeMap<String, u32>,
    /// The role that set each attribute last, where there are roles. Keys as those of `attribute_lines`.
    pub attribute_roles: BTreeMap<String, RolePlace>,
}

/// A role as the place that an attribute comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RolePlace {
    /// The role's name, without brackets.
    pub name: String,
    /// The role's file, as it was read; `None` if it does not come from one.
    pub file: Option<String>,
}

/// The file in which a policy's author writes attributes.
const POLICY_FILE: &str = "policy.toml";

/// Returns the path of an attribute in a policy's file as one text: the table (`default` or `override`) and the keys,
/// separated by dots. Dots within keys are escaped.
pub fn attribute_key<Step: AsRef<str>>(table: &str, path: &[Step]) -> String {
    let keys = path.iter().map(|key| key.as_ref().replace('\\', "\\\\").replace('.', "\\."));
    std::iter::once(table.to_owned()).chain(keys).collect::<Vec<_>>().join(".")
}

impl PolicyStart {
    /// Creates the start of a policy from its lock. The lock's attributes go to the role levels. Those under the group's name
    /// are merged over the rest (RFC105 calls it hoisting).
    pub fn of_policy(
        name: &str,
        group: Option<&str>,
        revision: Option<&str>,
        run_list: RunList,
        default_attributes: Map<String, Value>,
        override_attributes: Map<String, Value>,
    ) -> Self {
        let recipes = run_list.items().iter().map(|item| {
            let (cookbook, recipe) = split_recipe(&item.name);
            format!("{cookbook}::{recipe}")
        });
        Self {
            name: Some(name.to_owned()),
            group: group.map(str::to_owned),
            revision: revision.map(str::to_owned),
            recipes: recipes.collect(),
            run_list,
            role_default: hoist(default_attributes, group),
            role_override: hoist(override_attributes, group),
            ..Self::default()
        }
    }

    /// Returns the origin of an attribute that was set before the policy began: `said_by`, with the line of the policy's
    /// file.
    pub(super) fn origin(&self, level: Level, path: &[&str], said_by: &str) -> Origin {
        let table = match level {
            Level::RoleDefault => "default",
            Level::RoleOverride => "override",
            _ => return Origin::policy(said_by),
        };
        if let Some(RolePlace { name, file }) = self.attribute_roles.get(&attribute_key(table, path)) {
            return Origin { file: file.clone(), ..Origin::policy(format!("role[{name}]")) };
        }
        // Attributes under the group's name are merged over the rest.
        let in_group = self.group.as_deref().map(|group| [&[group], path].concat());
        let line = in_group.and_then(|path| self.attribute_lines.get(&attribute_key(table, &path)));
        let line = line.or_else(|| self.attribute_lines.get(&attribute_key(table, path))).copied();
        Origin { file: line.map(|_| POLICY_FILE.to_owned()), line, ..Origin::policy(said_by) }
    }

    /// Returns the part of the `automatic` level that describes the node and the policy. `given` are members with such keys
    /// among the facts.
    pub(super) fn automatic(
        &self,
        given: &Map<String, Value>,
        node_name: &str,
        chef_environment: &str,
    ) -> Map<String, Value> {
        let mut automatic = given.clone();
        let mut set = |key: &str, value: Value| {
            automatic.insert(key.to_owned(), value);
        };
        set("name", json!(node_name));
        set("roles", json!(self.roles));
        set("recipes", json!(self.recipes));
        if !self.cookbooks.is_empty() {
            let version = |(name, version): &(String, String)| (name.clone(), json!({ "version": version }));
            set("cookbooks", self.cookbooks.iter().map(version).collect());
        }
        if let Some(expanded) = &self.expanded_run_list {
            set("expanded_run_list", json!(expanded));
        }
        if let Some(name) = &self.name {
            set("policy_name", json!(name));
            set("policy_group", json!(self.group));
            set("policy_revision", json!(self.revision));
            set("chef_environment", json!(self.group.as_deref().unwrap_or(DEFAULT_ENVIRONMENT)));
        } else {
            set("chef_environment", json!(chef_environment));
        }
        automatic
    }
}

/// Merges the attributes under the group's name over the others.
fn hoist(attributes: Map<String, Value>, group: Option<&str>) -> Map<String, Value> {
    match group.and_then(|group| attributes.get(group)).and_then(Value::as_object).cloned() {
        Some(of_group) => hash_only_merge(attributes, of_group),
        None => attributes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_attributes_are_hoisted_and_stay_where_they_are() {
        #[track_caller]
        fn check(attributes: Value, expect: Value) {
            let object = attributes.as_object().cloned().unwrap_or_default();
            assert_eq!(Value::Object(hoist(object, Some("production"))), expect);
        }
        check(
            json!({"a": {"b": 1, "c": [1]}, "production": {"a": {"c": [2]}, "d": 4}}),
            json!({"a": {"b": 1, "c": [2]}, "production": {"a": {"c": [2]}, "d": 4}, "d": 4}),
        );
        check(json!({"a": 1, "staging": {"a": 2}}), json!({"a": 1, "staging": {"a": 2}}));
        check(json!({"a": 1, "production": "text"}), json!({"a": 1, "production": "text"}));
    }
}
