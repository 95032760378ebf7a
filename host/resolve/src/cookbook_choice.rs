//! Chooses the cookbooks that a run list needs. Each cookbook exists in only one version, which must satisfy all constraints.
//!
//! Constraints come from the run list (`recipe[a@1.2.0]`), from the environment, and from the `depends` of needed cookbooks.
//! Those of other cookbooks do not count.

use std::collections::BTreeMap;

use errors::ErrorKind;
use thiserror::Error;

use crate::cookbook_order::{Dependencies, MissingCookbook, cookbook_order};
use crate::expansion::ExpandedRecipe;
use node::run_list::split_recipe;
use node::version_constraint::{Version, VersionConstraint, VersionError, VersionStyle};

/// A cookbook that is available.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownCookbook {
    /// The existing version, as `x.y.z`.
    pub version: String,
    /// Constraints on the cookbooks that it depends on.
    pub dependencies: BTreeMap<String, String>,
}

/// The reasons why a run list's cookbooks are not available.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ChoiceError {
    /// A cookbook does not exist.
    #[error(transparent)]
    Missing(#[from] MissingCookbook),
    /// The existing version does not satisfy a constraint.
    #[error("cookbook {cookbook:?} is there in version {version}, but {wanted_by} asks for {constraint:?}")]
    Unsatisfied {
        /// The name of the cookbook in the wrong version.
        cookbook: String,
        /// The existing version, as `x.y.z`.
        version: String,
        /// The constraint that it does not satisfy.
        constraint: String,
        /// The origin of the constraint, for messages.
        wanted_by: String,
    },
    /// A version or constraint is invalid.
    #[error("{wanted_by}: {reason}")]
    Malformed {
        /// The origin of the version or constraint, for messages.
        wanted_by: String,
        /// What is wrong with it. Part of the message, hence no `source`.
        reason: VersionError,
    },
}

impl ChoiceError {
    /// Returns what went wrong, as the kind of the failure that it becomes.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Missing(missing) => missing.kind(),
            Self::Unsatisfied { .. } => ErrorKind::UnsatisfiableRunList,
            Self::Malformed { reason, .. } => reason.kind(),
        }
    }
}

/// The cookbooks that recipes need, in loading order.
///
/// # Errors
/// One is missing, or a constraint does not hold.
pub fn choose_cookbooks(
    recipes: &[ExpandedRecipe],
    known: &BTreeMap<String, KnownCookbook>,
    environment: (&str, &BTreeMap<String, String>),
) -> Result<Vec<String>, ChoiceError> {
    let dependencies: Dependencies =
        known.iter().map(|(name, cookbook)| (name.clone(), cookbook.dependencies.keys().cloned().collect())).collect();
    let order = cookbook_order(recipes.iter().map(|recipe| recipe.name.as_str()), &dependencies)?;
    for recipe in recipes {
        let Some(version) = &recipe.version else { continue };
        check_text(known, split_recipe(&recipe.name).0, version)?;
    }
    let (name, constraints) = environment;
    for needed in &order {
        if let Some(constraint) = constraints.get(needed) {
            check(known, needed, constraint, &format!("the environment {name}"))?;
        }
        let Some(cookbook) = known.get(needed) else { continue };
        for (dependency, constraint) in &cookbook.dependencies {
            check(known, dependency, constraint, &format!("the cookbook {needed}"))?;
        }
    }
    Ok(order)
}

/// Checks the version in the run list. As in Chef's local mode, it is compared as text: `1.0` differs from an existing
/// `1.0.0`.
fn check_text(known: &BTreeMap<String, KnownCookbook>, name: &str, wanted: &str) -> Result<(), ChoiceError> {
    let Some(cookbook) = known.get(name) else { return Ok(()) };
    if cookbook.version == wanted {
        return Ok(());
    }
    Err(ChoiceError::Unsatisfied {
        cookbook: name.to_owned(),
        version: cookbook.version.clone(),
        constraint: wanted.to_owned(),
        wanted_by: "the run list".to_owned(),
    })
}

fn check(
    known: &BTreeMap<String, KnownCookbook>,
    name: &str,
    constraint: &str,
    wanted_by: &str,
) -> Result<(), ChoiceError> {
    let Some(cookbook) = known.get(name) else { return Ok(()) };
    let malformed = |reason| ChoiceError::Malformed { wanted_by: wanted_by.to_owned(), reason };
    let wanted = VersionConstraint::parse(constraint, VersionStyle::Cookbook).map_err(malformed)?;
    let version = Version::parse(&cookbook.version, VersionStyle::Cookbook)
        .map_err(|reason| ChoiceError::Malformed { wanted_by: format!("the cookbook {name}"), reason })?;
    if wanted.includes(version) {
        return Ok(());
    }
    Err(ChoiceError::Unsatisfied {
        cookbook: name.to_owned(),
        version: cookbook.version.clone(),
        constraint: constraint.to_owned(),
        wanted_by: wanted_by.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[track_caller]
    fn check(recipes: &[(&str, Option<&str>)], constraints: &[(&str, &str)], expect: Result<&[&str], &str>) {
        let known = [
            ("a", "1.0.0", &[("b", "~> 2.0")][..]),
            ("b", "2.1.0", &[]),
            ("c", "1.0.0", &[("b", "< 2.0")]),
            ("d", "1.0.0", &[("gone", ">= 0.0.0")]),
            ("e", "1.0.0", &[("b", "around 2")]),
        ];
        let known = known.map(|(name, version, dependencies)| {
            (name.to_owned(), KnownCookbook { version: version.to_owned(), dependencies: map(dependencies) })
        });
        let recipes: Vec<_> = recipes
            .iter()
            .map(|(name, version)| ExpandedRecipe { name: (*name).to_owned(), version: version.map(str::to_owned) })
            .collect();
        let chosen = choose_cookbooks(&recipes, &BTreeMap::from(known), ("prod", &map(constraints)));
        let expect = expect.map(|names| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(chosen.map_err(|error| error.to_string()), expect.map_err(str::to_owned));
    }

    #[test]
    fn constraints_of_what_is_needed_have_to_hold() {
        check(&[("a::x", None)], &[("c", "= 9.0.0")], Ok(&["b", "a"]));
        check(&[("b", Some("2.1.0"))], &[], Ok(&["b"]));
        let message = "cookbook \"b\" is there in version 2.1.0, but the run list asks for \"9.0.0\"";
        check(&[("b", Some("9.0.0"))], &[], Err(message));
        let message = "cookbook \"b\" is there in version 2.1.0, but the run list asks for \"2.1\"";
        check(&[("b", Some("2.1"))], &[], Err(message));
        let message = "cookbook \"b\" is there in version 2.1.0, but the environment prod asks for \"= 1.0.0\"";
        check(&[("a", None)], &[("b", "= 1.0.0")], Err(message));
        let message = "cookbook \"b\" is there in version 2.1.0, but the cookbook c asks for \"< 2.0\"";
        check(&[("c", None)], &[], Err(message));
        check(&[("d", None)], &[], Err("cookbook \"gone\" is not available; cookbook \"d\" depends on it"));
        check(&[("x", None)], &[], Err("cookbook \"x\" is not available"));
    }

    #[test]
    fn a_constraint_that_is_none_is_refused() {
        let known = KnownCookbook { version: "1.0.0".to_owned(), dependencies: map(&[("a", "around 2")]) };
        let recipes = [ExpandedRecipe { name: "a".to_owned(), version: None }];
        let refused = choose_cookbooks(&recipes, &BTreeMap::from([("a".to_owned(), known)]), ("_default", &map(&[])));
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidVersionConstraint);
    }
}
