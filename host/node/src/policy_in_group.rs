//! A policy that a node is to run, with the group whose revision it takes: `NAME@GROUP`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Largest length of a name, in bytes.
const MAX_NAME: usize = 255;

/// A policy by its name, in one of its groups.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyInGroup {
    /// The name of the policy.
    pub name: String,
    /// The policy group. `None`: the one that the settings name.
    pub group: Option<String>,
}

/// The reasons why a list of policy names is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PolicyInGroupError {
    /// The name of the policy is invalid.
    #[error(
        "{text:?} does not name a policy: write NAME or NAME@GROUP; a name has letters, digits and - _ . and begins with no dot"
    )]
    Name {
        /// The text as it was given, shortened.
        text: String,
    },
    /// The name of the group is invalid.
    #[error("{text:?} does not name a policy group behind the @: a group has letters, digits and - _ . :")]
    Group {
        /// The text as it was given, shortened.
        text: String,
    },
    /// A policy is named twice.
    #[error("policy {name} is named twice: a node runs each policy once, in one group")]
    Repeated {
        /// The name of the policy.
        name: String,
    },
}

impl PolicyInGroup {
    /// Reads a list of policies, with commas between them.
    ///
    /// # Errors
    /// A part is not a policy, or a policy is named twice.
    pub fn parse_list<Text: AsRef<str>>(texts: &[Text]) -> Result<Vec<Self>, PolicyInGroupError> {
        let mut all: Vec<Self> = vec![];
        for text in texts.iter().flat_map(|texts| texts.as_ref().split(',')) {
            let policy: Self = text.trim().parse()?;
            if all.iter().any(|other| other.name == policy.name) {
                return Err(PolicyInGroupError::Repeated { name: policy.name });
            }
            all.push(policy);
        }
        Ok(all)
    }
}

impl FromStr for PolicyInGroup {
    type Err = PolicyInGroupError;

    fn from_str(text: &str) -> Result<Self, PolicyInGroupError> {
        let shortened = || text.chars().take(MAX_NAME).collect();
        let (name, group) = text.split_once('@').map_or((text, None), |(name, group)| (name, Some(group)));
        let fits = |name: &str, signs: &str| {
            let is_known = |one: char| one.is_ascii_alphanumeric() || signs.contains(one);
            !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_known)
        };
        if !fits(name, "-_.") || name.starts_with('.') {
            return Err(PolicyInGroupError::Name { text: shortened() });
        }
        if group.is_some_and(|group| !fits(group, "-_.:")) {
            return Err(PolicyInGroupError::Group { text: shortened() });
        }
        Ok(Self { name: name.to_owned(), group: group.map(str::to_owned) })
    }
}

impl fmt::Display for PolicyInGroup {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)?;
        self.group.as_ref().map_or(Ok(()), |group| write!(out, "@{group}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_named_with_their_groups() {
        let check = |texts: &[&str], expect: Result<&str, &str>| {
            let all = PolicyInGroup::parse_list(texts).map_err(|error| error.to_string());
            let all = all.map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
            match (all, expect) {
                (Ok(all), Ok(expect)) => assert_eq!(all, expect),
                (Err(error), Err(expect)) => assert!(error.contains(expect), "{error}"),
                other => panic!("{other:?}"),
            }
        };
        check(&["a@prod,b@staging", "c"], Ok("a@prod b@staging c"));
        check(&["a@prod, b"], Ok("a@prod b"));
        check(&["a@prod", "a@staging"], Err("policy a is named twice"));
        check(&["a@"], Err("policy group behind the @"));
        check(&["a@b@c"], Err("policy group behind the @"));
        check(&["a,"], Err("\"\" does not name a policy"));
        check(&[".a"], Err("does not name a policy"));
        check(&["a/b@c"], Err("does not name a policy"));
        check(&["@c"], Err("does not name a policy"));
    }
}
