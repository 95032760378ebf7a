//! A cookbook: its attributes, recipes and resource types, by name.

use crate::bindings::wrun::turns::turns::{Load, Task};
use crate::conversation::complete;
use crate::custom::derive::Definition;
use crate::custom::{self, Resource};
use crate::error::{Error, Here as _, Result};
use crate::near::did_you_mean;
use crate::table::{Scope, scope, table, within};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::panic::Location;
use std::rc::Rc;

/// The parts of a cookbook. Create it with [`cookbook!`](crate::cookbook!).
pub struct Cookbook {
    name: &'static str,
    version: &'static str,
    attributes: Vec<fn() -> Result>,
    recipes: BTreeMap<&'static str, fn() -> Result>,
    types: Vec<Rc<Definition>>,
    /// The source place of the list of its parts.
    place: &'static Location<'static>,
}

impl Cookbook {
    /// Creates an empty cookbook.
    #[track_caller]
    pub fn new(name: &'static str, version: &'static str) -> Self {
        let place = Location::caller();
        Self { name, version, attributes: vec![], recipes: BTreeMap::new(), types: vec![], place }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Adds a function that sets attributes. The functions of all cookbooks run before any recipe.
    #[must_use]
    pub fn attributes(mut self, attributes: fn() -> Result) -> Self {
        self.attributes.push(attributes);
        self
    }

    /// Adds a recipe. A run list with only the cookbook's name means the recipe `default`.
    #[must_use]
    pub fn recipe(mut self, name: &'static str, recipe: fn() -> Result) -> Self {
        self.recipes.insert(name, recipe);
        self
    }

    /// Adds a resource type of the cookbook's own: `.resource::<WebSite>()`. See [`custom`](crate::custom).
    #[must_use]
    pub fn resource<T: Resource>(mut self) -> Self {
        self.types.push(Rc::new(T::definition()));
        self
    }

    /// Returns the version in its Cargo.toml, as `x.y.z`.
    pub fn version(&self) -> &'static str {
        self.version
    }
}

/// Compiles another recipe here, once per run: `include_recipe("ntp::server")`, or `"::server"` for a recipe of this
/// cookbook.
///
/// # Errors
/// The recipe does not exist, or it failed.
#[track_caller]
pub fn include_recipe(name: &str) -> Result {
    let here = scope();
    let full = match name.strip_prefix("::") {
        Some(recipe) => format!("{}::{recipe}", here.cookbook),
        None if name.contains("::") => name.to_owned(),
        None => format!("{name}::default"),
    };
    complete(Task::IncludeRecipe(full)).here()
}

/// Runs the phase `load`: attributes and types of all cookbooks, in the host's order.
pub(crate) fn load(input: &Load) -> Result {
    table(|table| table.survey = input.survey);
    let cookbooks: Vec<_> = input.cookbooks.iter().filter_map(|name| find(name)).collect();
    for cookbook in &cookbooks {
        let here = Scope { cookbook: cookbook.name.into(), ..Scope::default() };
        for attributes in &cookbook.attributes {
            within(here.clone(), attributes)?;
        }
    }
    for cookbook in &cookbooks {
        for definition in &cookbook.types {
            custom::define(cookbook.name, definition)?;
        }
    }
    Ok(())
}

/// Runs the phase `compile` for one recipe.
pub(crate) fn compile(recipe: &str) -> Result {
    let (cookbook, name) = recipe.split_once("::").unwrap_or((recipe, "default"));
    let Some(found) = find(cookbook) else {
        let known = table(|table| table.cookbooks.iter().map(|cookbook| cookbook.name).collect::<Vec<_>>());
        let message = format!("cookbook {cookbook} is not in this policy's component, which has: {}", known.join(", "));
        let error = Error::new("Chef::Exceptions::CookbookNotFound", message);
        let hint = did_you_mean(cookbook, known);
        return Err(error.with_hint(hint.unwrap_or_else(|| {
            format!("a cookbook in Rust is named in `policy!(..)` in src/lib.rs: add {cookbook} there")
        })));
    };
    let Some(code) = found.recipes.get(name).copied() else {
        let known: Vec<_> = found.recipes.keys().copied().collect();
        let message = format!("cookbook {cookbook} does not have a recipe `{name}`; it has: {}", known.join(", "));
        let error = Error::new("Chef::Exceptions::RecipeNotFound", message);
        // An `include_recipe` adds its own line. An item of the run list has no line, so the error gets the place of the
        // cookbook's parts.
        let error = match scope().recipe.is_empty() {
            true => within(Scope { cookbook: cookbook.into(), ..Scope::default() }, || error.at(found.place)),
            false => error,
        };
        return Err(match did_you_mean(name, known) {
            Some(hint) => error.with_hint(hint),
            None => error,
        });
    };
    within(Scope { cookbook: cookbook.into(), recipe: name.into(), ..Scope::default() }, code)
}

/// Answers the question `describe`: the policy's cookbooks with their recipes and resource types.
pub(crate) fn describe() -> Value {
    let cookbooks = table(|table| table.cookbooks.clone());
    let of = |cookbook: &Rc<Cookbook>| {
        let recipes: Vec<_> = cookbook.recipes.keys().copied().collect();
        let types: Vec<_> = cookbook.types.iter().map(|definition| definition.name()).collect();
        json!({ "name": cookbook.name, "version": cookbook.version, "recipes": recipes, "types": types })
    };
    json!({ "cookbooks": cookbooks.iter().map(of).collect::<Vec<_>>() })
}

fn find(name: &str) -> Option<Rc<Cookbook>> {
    table(|table| table.cookbooks.iter().find(|cookbook| cookbook.name == name).cloned())
}
