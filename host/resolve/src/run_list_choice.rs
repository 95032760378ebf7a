//! Chooses the run list of a policy: an override, the one in the JSON attributes, a stored one, a named one, or the policy's
//! own, in this order. It also checks that its cookbooks are in the policy.

use std::collections::BTreeMap;

use thiserror::Error;

use node::run_list::{RunList, RunListItemKind, split_recipe};

/// The most names of cookbooks that an error lists.
const MAX_LISTED: usize = 10;

/// The source of the run list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunListSource {
    /// `--override-runlist`: for this run only; may be empty.
    Override,
    /// The `run_list` of the JSON attributes.
    JsonAttributes,
    /// The run list that an earlier run stored with the node.
    Node,
    /// `--named-run-list`: one of the policy's further run lists.
    Named,
    /// The policy's own run list, if no other source gives one.
    Policy,
}

/// The possible run lists of one policy.
#[derive(Debug, Clone, Default)]
pub struct RunListChoice<'list> {
    /// Name of the policy, for messages.
    pub policy: &'list str,
    /// Revision of the policy, for messages.
    pub revision: &'list str,
    /// Digest of the policy's artifact, for messages.
    pub artifact: &'list str,
    /// The override run list, if one is given. It may be empty.
    pub override_run_list: Option<&'list RunList>,
    /// The `run_list` of the JSON attributes.
    pub json_run_list: Option<&'list RunList>,
    /// The run list that is stored with the node, if it has one.
    pub node_run_list: Option<&'list RunList>,
    /// The name of the requested run list.
    pub named: Option<&'list str>,
    /// The named run lists that the policy has.
    pub named_run_lists: BTreeMap<String, RunList>,
    /// The policy's own run list.
    pub policy_run_list: RunList,
}

/// The reasons why no run list can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RunListChoiceError {
    /// The named run list does not exist.
    #[error(
        "policy {policy:?} ({}) does not have a named run list {name:?} (it has: {})",
        text::versions(revision, artifact),
        if available.is_empty() { "none".to_owned() } else { available.join(", ") }
    )]
    NoSuchNamedRunList {
        /// The name of the policy that was asked.
        policy: String,
        /// The revision of that policy, as Chef computes it.
        revision: String,
        /// The digest of its artifact.
        artifact: String,
        /// The name asked for.
        name: String,
        /// The names that are available.
        available: Vec<String>,
    },
    /// An item's cookbook is not part of the policy.
    #[error(
        "run list item {item:?} names a cookbook that policy {policy:?} does not have{}",
        candidates(missing, cookbooks)
    )]
    NotInPolicy {
        /// The name of the policy without the cookbook.
        policy: String,
        /// The item, as the run list has it.
        item: String,
        /// The cookbook that the item names.
        missing: String,
        /// The cookbooks that the policy has.
        cookbooks: Vec<String>,
    },
    /// The run list has a role, which a policy cannot have.
    #[error("run list item {item:?} is a role; policy {policy:?} has recipes only")]
    RoleInPolicy {
        /// The name of the policy that has no roles.
        policy: String,
        /// The item, as the run list has it.
        item: String,
    },
}

/// Returns the end of a sentence about a missing cookbook: a near name, or the names that there are if they are few.
fn candidates(missing: &str, known: &[String]) -> String {
    match text::did_you_mean(missing, known.iter().map(String::as_str)) {
        Some(near) => format!("; {near}"),
        None if known.len() <= MAX_LISTED => {
            let mut known = known.to_vec();
            known.sort_unstable();
            format!(" (it has: {})", known.join(", "))
        }
        None => String::new(),
    }
}

/// Chooses the run list and checks that the policy has its cookbooks.
///
/// # Errors
/// A named run list that does not exist, a cookbook that the policy does not have, a role.
pub fn choose_run_list(
    choice: &RunListChoice<'_>,
    cookbooks: &[&str],
) -> Result<(RunList, RunListSource), RunListChoiceError> {
    let (list, source) = if let Some(list) = choice.override_run_list {
        (list, RunListSource::Override)
    } else if let Some(list) = choice.json_run_list {
        (list, RunListSource::JsonAttributes)
    } else if let Some(list) = choice.node_run_list {
        (list, RunListSource::Node)
    } else if let Some(name) = choice.named {
        let named = choice.named_run_lists.get(name).ok_or_else(|| RunListChoiceError::NoSuchNamedRunList {
            policy: choice.policy.to_owned(),
            revision: choice.revision.to_owned(),
            artifact: choice.artifact.to_owned(),
            name: name.to_owned(),
            available: choice.named_run_lists.keys().cloned().collect(),
        })?;
        (named, RunListSource::Named)
    } else {
        (&choice.policy_run_list, RunListSource::Policy)
    };
    for item in list.items() {
        let (policy, item_text) = (choice.policy.to_owned(), item.to_string());
        if item.kind == RunListItemKind::Role {
            return Err(RunListChoiceError::RoleInPolicy { policy, item: item_text });
        }
        let cookbook = split_recipe(&item.name).0;
        if !cookbooks.contains(&cookbook) {
            let missing = cookbook.to_owned();
            let cookbooks = cookbooks.iter().map(|name| (*name).to_owned()).collect();
            return Err(RunListChoiceError::NotInPolicy { policy, item: item_text, missing, cookbooks });
        }
    }
    Ok((list.clone(), source))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(items: &[&str]) -> RunList {
        RunList::parse(items).unwrap()
    }

    fn choice() -> RunListChoice<'static> {
        RunListChoice {
            policy: "core",
            revision: "r1",
            artifact: "a1",
            named_run_lists: BTreeMap::from([("rescue".to_owned(), list(&["recipe[rescue]"]))]),
            policy_run_list: list(&["recipe[base]"]),
            ..RunListChoice::default()
        }
    }

    #[track_caller]
    fn check(choice: &RunListChoice<'_>, expect: Result<(&[&str], RunListSource), &str>) {
        let found = choose_run_list(choice, &["base", "json", "node", "rescue"]);
        let expect = expect.map(|(items, source)| (list(items), source)).map_err(str::to_owned);
        assert_eq!(found.map_err(|error| error.to_string()), expect);
    }

    #[test]
    fn the_order_is_override_json_node_named_policy() {
        let (override_list, json_list, node_list) = (list(&[]), list(&["recipe[json]"]), list(&["recipe[node]"]));
        check(&choice(), Ok((&["recipe[base]"], RunListSource::Policy)));
        let named = RunListChoice { named: Some("rescue"), ..choice() };
        check(&named, Ok((&["recipe[rescue]"], RunListSource::Named)));
        let node = RunListChoice { node_run_list: Some(&node_list), ..named };
        check(&node, Ok((&["recipe[node]"], RunListSource::Node)));
        let json = RunListChoice { json_run_list: Some(&json_list), ..node };
        check(&json, Ok((&["recipe[json]"], RunListSource::JsonAttributes)));
        let overridden = RunListChoice { override_run_list: Some(&override_list), ..json };
        check(&overridden, Ok((&[], RunListSource::Override)));
    }

    #[test]
    fn a_policy_runs_only_what_it_has() {
        check(
            &RunListChoice { named: Some("x"), ..choice() },
            Err("policy \"core\" (revision r1, artifact a1) does not have a named run list \"x\" (it has: rescue)"),
        );
        check(
            &RunListChoice { named: Some("x"), named_run_lists: BTreeMap::new(), ..choice() },
            Err("policy \"core\" (revision r1, artifact a1) does not have a named run list \"x\" (it has: none)"),
        );
        check(
            &RunListChoice { policy_run_list: list(&["recipe[stranger::x]"]), ..choice() },
            Err("run list item \"recipe[stranger::x]\" names a cookbook that policy \"core\" does not have \
                 (it has: base, json, node, rescue)"),
        );
        check(
            &RunListChoice { policy_run_list: list(&["recipe[bsae]"]), ..choice() },
            Err("run list item \"recipe[bsae]\" names a cookbook that policy \"core\" does not have; \
                 did you mean `base`?"),
        );
        check(
            &RunListChoice { policy_run_list: list(&["role[web]"]), ..choice() },
            Err("run list item \"role[web]\" is a role; policy \"core\" has recipes only"),
        );
    }
}
