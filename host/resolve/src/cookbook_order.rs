//! Computes the loading order of cookbooks: each after those that it depends on.
//!
//! Chef's order: the run list's cookbooks in turn, each preceded by its dependencies in the order of their names, depth
//! first. A cookbook that is met again while its own dependencies are being added is skipped, so loops end.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use errors::ErrorKind;
use thiserror::Error;

use node::run_list::split_recipe;

/// For each cookbook, the names of the cookbooks that it depends on.
pub type Dependencies = BTreeMap<String, BTreeSet<String>>;

/// A needed cookbook that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cookbook {cookbook:?} is not available{}", needed_by.as_ref().map(|name| format!("; cookbook {name:?} depends on it")).unwrap_or_default())]
pub struct MissingCookbook {
    /// The name of the missing cookbook.
    pub cookbook: String,
    /// The cookbook that depends on it; `None` if the run list names it.
    pub needed_by: Option<String>,
}

impl MissingCookbook {
    /// Returns what went wrong, as the kind of the failure that it becomes.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::NoSuchCookbook
    }
}

/// The cookbooks that recipes need, in loading order.
///
/// # Errors
/// A cookbook without an entry in `dependencies`.
pub fn cookbook_order<Recipe: AsRef<str>>(
    recipes: impl IntoIterator<Item = Recipe>,
    dependencies: &Dependencies,
) -> Result<Vec<String>, MissingCookbook> {
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    for recipe in recipes {
        add_with_dependencies(split_recipe(recipe.as_ref()).0, dependencies, &mut seen, &mut order)?;
    }
    Ok(order)
}

/// A cookbook whose dependencies are being added.
struct Waiting<'names> {
    cookbook: &'names str,
    dependencies: std::collections::btree_set::Iter<'names, String>,
}

/// Adds a cookbook after its dependencies. It uses a stack on the heap, because a chain of dependencies may be too long for
/// recursion.
fn add_with_dependencies(
    cookbook: &str,
    dependencies: &Dependencies,
    seen: &mut HashSet<String>,
    order: &mut Vec<String>,
) -> Result<(), MissingCookbook> {
    let missing = |cookbook: &str, needed_by: Option<&str>| MissingCookbook {
        cookbook: cookbook.to_owned(),
        needed_by: needed_by.map(str::to_owned),
    };
    if !seen.insert(cookbook.to_owned()) {
        return Ok(());
    }
    let first = dependencies.get(cookbook).ok_or_else(|| missing(cookbook, None))?;
    let mut stack = vec![Waiting { cookbook, dependencies: first.iter() }];
    while let Some(waiting) = stack.last_mut() {
        match waiting.dependencies.next() {
            Some(next) if seen.contains(next) => {}
            Some(next) => {
                let of_next = dependencies.get(next).ok_or_else(|| missing(next, Some(waiting.cookbook)))?;
                seen.insert(next.clone());
                stack.push(Waiting { cookbook: next, dependencies: of_next.iter() });
            }
            None => {
                order.push(waiting.cookbook.to_owned());
                stack.pop();
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependencies(rows: &[(&str, &[&str])]) -> Dependencies {
        rows.iter()
            .map(|(name, needs)| ((*name).to_owned(), needs.iter().map(|need| (*need).to_owned()).collect()))
            .collect()
    }

    #[test]
    fn a_missing_cookbook_is_named_with_who_needs_it() {
        let rows = dependencies(&[("a", &["b"])]);
        assert_eq!(
            cookbook_order(["a"], &rows).unwrap_err().to_string(),
            "cookbook \"b\" is not available; cookbook \"a\" depends on it"
        );
        assert_eq!(cookbook_order(["x::y"], &rows).unwrap_err().to_string(), "cookbook \"x\" is not available");
    }

    #[test]
    fn a_chain_of_any_length_is_walked() {
        let mut rows = Dependencies::new();
        for number in 0..100_000 {
            rows.insert(format!("c{number}"), BTreeSet::from([format!("c{}", number + 1)]));
        }
        rows.insert("c100000".to_owned(), BTreeSet::new());
        let order = cookbook_order(["c0"], &rows).unwrap();
        assert_eq!((order.len(), order[0].as_str()), (100_001, "c100000"));
    }
}
