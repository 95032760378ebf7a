//! Expands a run list with roles to recipes.
//!
//! The expansion is depth first and takes each role once, so loops end. A role's attributes are merged after those of the
//! roles in its own run list. So a role wins over the roles that it includes, and a later role over an earlier one. A missing
//! role is noted and the rest is expanded; the caller makes the run fail.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use crate::roles::RoleSource;
use node::deep_merge;
use node::object::{RolePlace, attribute_key};
use node::run_list::{RunList, RunListError, RunListItem, RunListItemKind};
use node::version_constraint::{Version, VersionStyle};

/// The name of the includer for items of the run list itself.
pub const TOP_LEVEL: &str = "top level";

/// Largest depth of roles inside roles. Each role is expanded only once, so only long chains reach it.
const MAX_ROLE_DEPTH: usize = 200;

/// A recipe to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpandedRecipe {
    /// The name as the run list writes it, such as `nginx` or `nginx::source`.
    pub name: String,
    /// The version that a run-list item asked for.
    pub version: Option<String>,
}

impl ExpandedRecipe {
    /// Returns the full name for `automatic.expanded_run_list`: `nginx` becomes `nginx::default`, and a version is added as
    /// `@1.2.3`.
    pub fn fully_qualified(&self) -> String {
        let mut name = self.name.clone();
        if !name.contains("::") {
            name.push_str("::default");
        }
        if let Some(version) = &self.version {
            name.push('@');
            name.push_str(version);
        }
        name
    }
}

/// The result of expanding a run list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expansion {
    /// The environment it was expanded in.
    pub environment: String,
    /// Recipes in order, each once.
    pub recipes: Vec<ExpandedRecipe>,
    /// Roles in the order in which they were first met, missing ones included.
    pub roles: Vec<String>,
    /// Attributes of all roles for the `role_default` level.
    pub default_attributes: Map<String, Value>,
    /// Attributes of all roles for the `role_override` level.
    pub override_attributes: Map<String, Value>,
    /// The role that set each of these attributes last, by [`attribute_key`].
    pub attribute_roles: BTreeMap<String, RolePlace>,
    /// Missing roles, each with its includer: [`TOP_LEVEL`] or `role[NAME]`.
    pub missing_roles: Vec<(String, String)>,
}

impl Expansion {
    /// Returns the recipes for `automatic.recipes`, default recipes under both of their names.
    pub fn recipes_with_duplicate_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for recipe in &self.recipes {
            match recipe.name.strip_suffix("::default") {
                Some(cookbook) => names.extend([cookbook.to_owned(), recipe.name.clone()]),
                None if recipe.name.contains("::") => names.push(recipe.name.clone()),
                None => names.extend([recipe.name.clone(), format!("{}::default", recipe.name)]),
            }
        }
        names
    }

    /// Returns the recipes for `automatic.expanded_run_list`, such as `nginx::default`.
    pub fn fully_qualified_recipes(&self) -> Vec<String> {
        self.recipes.iter().map(ExpandedRecipe::fully_qualified).collect()
    }
}

/// Expands a run list in an environment.
///
/// # Errors
/// The same recipe in two versions; roles nested too deeply. Missing roles are not an error here: see
/// [`Expansion::missing_roles`].
pub fn expand(list: &RunList, environment: &str, roles: &dyn RoleSource) -> Result<Expansion, RunListError> {
    let mut walk = Walk {
        environment,
        source: roles,
        expansion: Expansion { environment: environment.to_owned(), ..Expansion::default() },
        versions: HashMap::new(),
        met_recipes: HashSet::new(),
        met_roles: HashSet::new(),
    };
    walk.items(list.items(), TOP_LEVEL, 0)?;
    let mut expansion = walk.expansion;
    for recipe in &mut expansion.recipes {
        recipe.version = walk.versions.get(&recipe.name).cloned();
    }
    Ok(expansion)
}

struct Walk<'source> {
    environment: &'source str,
    source: &'source dyn RoleSource,
    expansion: Expansion,
    versions: HashMap<String, String>,
    met_recipes: HashSet<String>,
    met_roles: HashSet<String>,
}

impl Walk<'_> {
    fn items(&mut self, items: &[RunListItem], included_by: &str, depth: usize) -> Result<(), RunListError> {
        items.iter().try_for_each(|item| match item.kind {
            RunListItemKind::Recipe => self.recipe(item),
            RunListItemKind::Role => self.role(&item.name, included_by, depth),
        })
    }

    fn recipe(&mut self, item: &RunListItem) -> Result<(), RunListError> {
        if let Some(version) = &item.version {
            match self.versions.get(&item.name) {
                Some(first) if !is_same_version(first, version) => {
                    return Err(RunListError::VersionConflict {
                        recipe: item.name.clone(),
                        first: first.clone(),
                        second: version.clone(),
                    });
                }
                _ => {
                    self.versions.insert(item.name.clone(), version.clone());
                }
            }
        }
        if self.met_recipes.insert(item.name.clone()) {
            self.expansion.recipes.push(ExpandedRecipe { name: item.name.clone(), version: None });
        }
        Ok(())
    }

    fn role(&mut self, name: &str, included_by: &str, depth: usize) -> Result<(), RunListError> {
        if !self.met_roles.insert(name.to_owned()) {
            return Ok(());
        }
        if depth >= MAX_ROLE_DEPTH {
            return Err(RunListError::RolesTooDeep { role: name.to_owned(), limit: MAX_ROLE_DEPTH });
        }
        self.expansion.roles.push(name.to_owned());
        let Some(role) = self.source.role(name).cloned() else {
            self.expansion.missing_roles.push((name.to_owned(), included_by.to_owned()));
            return Ok(());
        };
        self.items(role.run_list_for(self.environment).items(), &format!("role[{name}]"), depth + 1)?;
        let expansion = &mut self.expansion;
        let place = RolePlace { name: name.to_owned(), file: role.file };
        for (table, attributes) in [("default", &role.default_attributes), ("override", &role.override_attributes)] {
            note_leaves(&mut vec![], attributes, &mut |path| {
                expansion.attribute_roles.insert(attribute_key(table, path), place.clone());
            });
        }
        expansion.default_attributes =
            deep_merge::merge(std::mem::take(&mut expansion.default_attributes), role.default_attributes);
        expansion.override_attributes =
            deep_merge::merge(std::mem::take(&mut expansion.override_attributes), role.override_attributes);
        Ok(())
    }
}

/// Calls `note` with the path of each attribute that is not a non-empty object.
fn note_leaves<'a>(path: &mut Vec<&'a str>, attributes: &'a Map<String, Value>, note: &mut dyn FnMut(&[&str])) {
    for (key, value) in attributes {
        path.push(key);
        match value.as_object().filter(|below| !below.is_empty()) {
            Some(below) => note_leaves(path, below, note),
            None => note(path),
        }
        path.pop();
    }
}

fn is_same_version(first: &str, second: &str) -> bool {
    let version = |text| Version::parse(text, VersionStyle::Cookbook).ok();
    version(first) == version(second)
}
