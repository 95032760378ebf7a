//! A cookbook: its attributes, recipes and resource types, by name.

use crate::bindings::wrun::cookbook::turns::Errand;
use crate::conversation::errand;
use crate::custom::{self, CustomResource};
use crate::error::{Error, Result};
use crate::table::{Scope, scope, table, within};
use serde_json::Value;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a cookbook's crate offers. Made by [`cookbook!`](crate::cookbook!).
pub struct Cookbook {
    name: &'static str,
    version: &'static str,
    attributes: Vec<fn() -> Result>,
    recipes: BTreeMap<&'static str, fn() -> Result>,
    types: Vec<Rc<CustomResource>>,
}

impl Cookbook {
    /// A cookbook with nothing in it.
    pub fn new(name: &'static str, version: &'static str) -> Self {
        Self { name, version, attributes: vec![], recipes: BTreeMap::new(), types: vec![] }
    }

    /// Adds a function that sets attributes. Those of all cookbooks run before any recipe.
    #[must_use]
    pub fn attributes(mut self, attributes: fn() -> Result) -> Self {
        self.attributes.push(attributes);
        self
    }

    /// Adds a recipe; `default` is the one that a run list means by the cookbook's bare name.
    #[must_use]
    pub fn recipe(mut self, name: &'static str, recipe: fn() -> Result) -> Self {
        self.recipes.insert(name, recipe);
        self
    }

    /// Adds a resource type of the cookbook's own.
    #[must_use]
    pub fn resource(mut self, custom: CustomResource) -> Self {
        self.types.push(Rc::new(custom));
        self
    }

    /// Its version.
    pub fn version(&self) -> &'static str {
        self.version
    }
}

/// Has another recipe compiled here, once per run: `include_recipe("ntp::server")`, or `"::server"` of this cookbook.
///
/// # Errors
/// There is no such recipe, or it failed.
pub fn include_recipe(name: &str) -> Result {
    let here = scope();
    let full = match name.strip_prefix("::") {
        Some(recipe) => format!("{}::{recipe}", here.cookbook),
        None if name.contains("::") => name.to_owned(),
        None => format!("{name}::default"),
    };
    errand(Errand::IncludeRecipe(full))
}

/// The phase `load`: attributes and types of all cookbooks, in the host's order.
pub(crate) fn load(input: &Value) -> Result {
    let order: Vec<String> = serde_json::from_value(input["cookbooks"].clone())?;
    let cookbooks: Vec<_> = order.iter().filter_map(|name| find(name)).collect();
    for cookbook in &cookbooks {
        let here = Scope { cookbook: cookbook.name.into(), ..Scope::default() };
        for attributes in &cookbook.attributes {
            within(here.clone(), attributes)?;
        }
    }
    for cookbook in &cookbooks {
        for custom in &cookbook.types {
            custom::define(cookbook.name, custom)?;
        }
    }
    Ok(())
}

/// The phase `compile`: one recipe.
pub(crate) fn compile(recipe: &str) -> Result {
    let (cookbook, name) = recipe.split_once("::").unwrap_or((recipe, "default"));
    let Some(found) = find(cookbook) else {
        let message = format!(
            "Cookbook {cookbook} not found. If you're loading {cookbook} from another cookbook, make sure you configure the dependency in your metadata"
        );
        return Err(Error::new("Chef::Exceptions::CookbookNotFound", message));
    };
    let Some(code) = found.recipes.get(name).copied() else {
        let there = found.recipes.keys().copied().collect::<Vec<_>>().join(", ");
        let message = format!("could not find recipe {name} for cookbook {cookbook}; it has: {there}");
        return Err(Error::new("Chef::Exceptions::RecipeNotFound", message));
    };
    within(Scope { cookbook: cookbook.into(), recipe: name.into(), ..Scope::default() }, code)
}

fn find(name: &str) -> Option<Rc<Cookbook>> {
    table(|table| table.cookbooks.iter().find(|cookbook| cookbook.name == name).cloned())
}
