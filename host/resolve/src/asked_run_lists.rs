//! Parses the run lists of the command line, each for one policy of the run: `POLICY=LIST`, or only `LIST` if there is one
//! policy.

use node::run_list::{RunList, RunListError};
use std::collections::BTreeMap;
use thiserror::Error;

/// The option with which run lists are replaced, as errors call it.
pub const OVERRIDE_OPTION: &str = "--override-runlist";

/// The option with which named run lists are chosen, as errors call it.
pub const NAMED_OPTION: &str = "--named-run-list";

/// The run lists that were asked for, by policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AskedRunLists {
    overriding: BTreeMap<String, RunList>,
    named: BTreeMap<String, String>,
}

/// The reasons why a run list on the command line is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AskedRunListError {
    /// The text names a policy that is not in the run.
    #[error("{option} {text}: there is no policy {policy} in this run ({})", policies.join(", "))]
    NoSuchPolicy {
        /// The option, such as `--named-run-list`.
        option: &'static str,
        /// The text after the option.
        text: String,
        /// The policy that it names.
        policy: String,
        /// The policies of the run.
        policies: Vec<String>,
    },
    /// The text names no policy, and the run has several.
    #[error("{option} {text}: say for which of the policies, as in {option} POLICY={text}")]
    WhichPolicy {
        /// The option, such as `--named-run-list`.
        option: &'static str,
        /// The text after the option.
        text: String,
    },
    /// The list has an invalid item.
    #[error("{option} {text}")]
    Item {
        /// The option, such as `--override-runlist`.
        option: &'static str,
        /// The text after the option.
        text: String,
        /// The reason why the item is invalid.
        source: RunListError,
    },
}

impl AskedRunLists {
    /// Reads the texts of both options for a run of these policies.
    ///
    /// # Errors
    /// A text names another policy or none of several, or has an item that is invalid.
    pub fn parse(overriding: &[String], named: &[String], policies: &[String]) -> Result<Self, AskedRunListError> {
        let mut lists = Self::default();
        for text in overriding {
            let (policy, list) = for_policy(text, policies, OVERRIDE_OPTION)?;
            lists.overriding.insert(policy, parse_items(&list, OVERRIDE_OPTION, text)?);
        }
        for text in named {
            let (policy, name) = for_policy(text, policies, NAMED_OPTION)?;
            lists.named.insert(policy, name);
        }
        Ok(lists)
    }

    /// Returns the run list that replaces a policy's own.
    pub fn overriding(&self, policy: &str) -> Option<&RunList> {
        self.overriding.get(policy)
    }

    /// Returns the name of the policy's run list that was chosen.
    pub fn named(&self, policy: &str) -> Option<&str> {
        self.named.get(policy).map(String::as_str)
    }
}

/// Parses items between commas.
fn parse_items(list: &str, option: &'static str, text: &str) -> Result<RunList, AskedRunListError> {
    let items = list.split(',').map(str::trim).filter(|item| !item.is_empty());
    RunList::parse(items).map_err(|source| AskedRunListError::Item { option, text: text.to_owned(), source })
}

fn for_policy(text: &str, policies: &[String], option: &'static str) -> Result<(String, String), AskedRunListError> {
    match (text.split_once('='), policies) {
        (Some((policy, rest)), _) if policies.iter().any(|name| name == policy) => Ok((policy.into(), rest.into())),
        (Some((policy, _)), _) => Err(AskedRunListError::NoSuchPolicy {
            option,
            text: text.to_owned(),
            policy: policy.to_owned(),
            policies: policies.to_vec(),
        }),
        (None, [only]) => Ok((only.clone(), text.into())),
        (None, _) => Err(AskedRunListError::WhichPolicy { option, text: text.to_owned() }),
    }
}
