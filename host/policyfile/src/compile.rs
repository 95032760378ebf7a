//! Compiles a policy to its lock.
//!
//! It works like chef-cli, with these differences: all conflicts are reported at once, each with both origins; a value that
//! is an object in one policy and not in another is a conflict; a role in a run list is refused; a cookbook has only one
//! source.

use std::collections::{BTreeMap, BTreeSet};

use artifact::lock::{AttributeValue, InvalidAttribute};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::attributes::{Attributes, conflicts, merged};
use crate::constraint::{Constraint, version};
use crate::include::{self, CookbookConflict, Included, RunLists};
use crate::lock::{CookbookLock, IncludedLock, Lock, SolutionDependencies};
use crate::model::{Level, Policy};
use crate::solver::{Demand, Demander, SolveError, Universe, solve};

/// The inputs for compiling a policy.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The content of its file.
    pub policy: &'a Policy,
    /// The name of the file, for messages.
    pub file: &'a str,
    /// The policies that it includes, in order.
    pub includes: &'a [Included],
    /// The cookbooks with a source of their own, by name.
    pub own: &'a BTreeMap<String, OwnCookbook>,
    /// The default sources, in order.
    pub sources: &'a [Source],
}

/// A cookbook with a source of its own. It has only one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCookbook {
    /// The version in its metadata, as `x.y.z`.
    pub version: String,
    /// Its dependencies: names and constraints.
    pub dependencies: Vec<(String, String)>,
}

/// A default source, with the cookbooks that it offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its name for messages, such as `chef_repo(PATH)`.
    pub name: String,
    /// All versions that it offers, with their dependencies.
    pub universe: Universe,
    /// The cookbooks that it is preferred for.
    pub preferred: Vec<String>,
}

/// The source of a chosen cookbook.
#[derive(Debug, Clone, PartialEq)]
pub enum From {
    /// It has a source of its own.
    Own,
    /// An included policy has locked it, with these source options.
    Include(Map<String, Value>),
    /// A default source, by its index.
    Source(usize),
}

/// A cookbook that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// The version that was chosen, as `x.y.z`.
    pub version: String,
    /// The source of the cookbook.
    pub from: From,
    /// Its dependencies: names and constraints.
    pub dependencies: Vec<(String, String)>,
}

/// The reasons why a policy cannot be locked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompileError {
    /// Included policies lock a cookbook differently.
    #[error("the included policies do not agree:\n{}", list(.0))]
    Includes(Vec<CookbookConflict>),
    /// A default source is preferred for cookbooks of an included policy.
    #[error(
        "You may not override the cookbook sources for any cookbooks required by included policies: {source_name} is the \
         preferred source of {}", .cookbooks.join(", ")
    )]
    Preferred {
        /// The source's name for messages, as in `chef_repo(PATH)`.
        source_name: String,
        /// The names of the cookbooks that included policies lock.
        cookbooks: Vec<String>,
    },
    /// Several default sources have a cookbook, and none is preferred for it.
    #[error(
        "several sources have the same cookbooks:\n{}\nName the preferred one with a block, as in \
         default_source(..) {{ |s| s.preferred_for \"{}\" }}", list(.0), .1
    )]
    Sources(Vec<String>, String),
    /// No choice of versions satisfies all demands.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A recipe of a run list does not exist.
    #[error("the cookbooks do not contain all recipes of the run lists:\n{}", list(.0))]
    Recipes(Vec<MissingRecipe>),
    /// Policies set the same attribute differently.
    #[error("policies set attributes to different values:\n{}", list(.0))]
    Attributes(Vec<String>),
    /// An attribute is not allowed in a lock.
    #[error(transparent)]
    Attribute(#[from] InvalidAttribute),
}

/// A recipe that a run list names and its cookbook does not have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cookbook {cookbook} {version} ({place}) has no recipe {recipe}")]
pub struct MissingRecipe {
    /// The cookbook's name, as the run list has it.
    pub cookbook: String,
    /// The version that was chosen for it.
    pub version: String,
    /// Its folder or address.
    pub place: String,
    /// The recipe's name, without its cookbook.
    pub recipe: String,
}

fn list(items: &[impl ToString]) -> String {
    items.iter().map(|item| format!("- {}", item.to_string())).collect::<Vec<_>>().join("\n")
}

/// Chooses a version and a source of each cookbook that the policy needs.
///
/// # Errors
/// Includes or sources do not agree, or no versions fit.
pub fn choose(input: &Input<'_>) -> Result<BTreeMap<String, Chosen>, CompileError> {
    let included = include::universe(input.includes).map_err(CompileError::Includes)?;
    preferred_conflicts(input, &included)?;
    let lists = RunLists::of(input.policy, input.includes);
    let wanted = wanted(input, &lists);
    let mut universe = merged_universe(input, &included, &wanted)?;
    for (name, cookbook) in input.own {
        let versions = BTreeMap::from([(cookbook.version.clone(), cookbook.dependencies.clone())]);
        universe.insert(name.clone(), versions);
    }
    let solution = solve(&universe, &demands(input, &wanted))?;
    let mut included_sources = None;
    let mut chosen = BTreeMap::new();
    for (name, version) in solution {
        let dependencies = universe.get(&name).and_then(|versions| versions.get(&version)).cloned().unwrap_or_default();
        let from = if input.own.contains_key(&name) {
            From::Own
        } else if included.contains_key(&name) {
            let sources = match &mut included_sources {
                Some(sources) => sources,
                none => none.insert(include::sources(input.includes).map_err(CompileError::Includes)?),
            };
            From::Include(sources.get(&name).cloned().unwrap_or_default())
        } else {
            From::Source(source_of(input.sources, &name).unwrap_or_default())
        };
        chosen.insert(name, Chosen { version, from, dependencies });
    }
    Ok(chosen)
}

/// The source that a cookbook is taken from: the preferred one, else the first that has it.
fn source_of(sources: &[Source], name: &str) -> Option<usize> {
    let preferred = sources.iter().position(|source| source.preferred.iter().any(|preferred| preferred == name));
    preferred.or_else(|| sources.iter().position(|source| source.universe.contains_key(name)))
}

/// The cookbooks of the run lists, then those that the policy names.
fn wanted(input: &Input<'_>, lists: &RunLists) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let named = input.policy.cookbooks.iter().map(|cookbook| cookbook.name.as_str());
    let all = lists.recipes().into_iter().map(|(cookbook, _)| cookbook).chain(named);
    all.filter(|name| seen.insert((*name).to_owned())).map(str::to_owned).collect()
}

/// Returns the cookbooks from which all needed ones are reached: those in run lists, those that the policy names, and those
/// that its own cookbooks and its included policies demand. Only these and their dependencies are chosen.
#[must_use]
pub fn starting_points(
    policy: &Policy,
    includes: &[Included],
    own: &BTreeMap<String, OwnCookbook>,
) -> BTreeSet<String> {
    let lists = RunLists::of(policy, includes);
    let recipes = lists.recipes().into_iter().map(|(cookbook, _)| cookbook.to_owned());
    let named = policy.cookbooks.iter().map(|spec| spec.name.clone());
    let of_own = own.values().flat_map(|own| own.dependencies.iter().map(|(name, _)| name.clone()));
    let dependencies = includes.iter().map(|include| &include.lock.dependencies);
    let of_includes = dependencies.flat_map(|of| {
        let demanded = of.policyfile.iter().chain(of.cookbooks.values().flatten());
        demanded.map(|(name, _)| name.clone())
    });
    recipes.chain(named).chain(of_own).chain(of_includes).collect()
}

fn demands(input: &Input<'_>, wanted: &[String]) -> Vec<Demand> {
    let mut demands = vec![];
    for name in wanted {
        let spec = input.policy.cookbooks.iter().find(|spec| spec.name == *name);
        let own = input.own.get(name).and_then(|own| version(&own.version).ok());
        let constraint = match (own, spec) {
            (Some(version), _) => Constraint::exactly(version),
            (None, Some(spec)) => spec.constraint.clone(),
            (None, None) => Constraint::any(),
        };
        demands.push(Demand { by: Demander::Policyfile, cookbook: name.clone(), constraint });
    }
    for include in input.includes {
        for (cookbook, constraint) in &include.lock.dependencies.policyfile {
            let by = Demander::Include(include.name.clone());
            demands.push(Demand { by, cookbook: cookbook.clone(), constraint: constraint.clone() });
        }
    }
    demands
}

fn preferred_conflicts(input: &Input<'_>, included: &Universe) -> Result<(), CompileError> {
    for source in input.sources {
        let both = source.preferred.iter().filter(|name| included.contains_key(*name)).cloned().collect::<Vec<_>>();
        if !both.is_empty() {
            return Err(CompileError::Preferred { source_name: source.name.clone(), cookbooks: both });
        }
    }
    Ok(())
}

/// The cookbooks of all sources. Included policies come before default sources.
fn merged_universe(input: &Input<'_>, included: &Universe, wanted: &[String]) -> Result<Universe, CompileError> {
    let mut all = included.clone();
    let mut in_doubt: BTreeSet<&str> = BTreeSet::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for source in input.sources {
        for (name, versions) in &source.universe {
            if included.contains_key(name) {
                continue;
            }
            if seen.insert(name) {
                all.insert(name.clone(), versions.clone());
                continue;
            }
            let preferred = input.sources.iter().find(|source| source.preferred.contains(name));
            let versions = preferred.and_then(|source| source.universe.get(name)).cloned().unwrap_or_default();
            all.insert(name.clone(), versions);
            if preferred.is_none() && !input.own.contains_key(name) {
                in_doubt.insert(name);
            }
        }
    }
    if in_doubt.is_empty() {
        return Ok(all);
    }
    let universes: Vec<&Universe> = [included].into_iter().chain(input.sources.iter().map(|it| &it.universe)).collect();
    let reachable = reachable(&universes, wanted);
    let in_doubt: Vec<&str> = in_doubt.into_iter().filter(|name| reachable.contains(*name)).collect();
    let Some(first) = in_doubt.first() else { return Ok(all) };
    let of = |name: &str| {
        let sources = input.sources.iter().filter(|source| source.universe.contains_key(name));
        let sources: Vec<_> = sources.map(|source| source.name.as_str()).collect();
        format!("cookbook {name}: {}", sources.join(", "))
    };
    Err(CompileError::Sources(in_doubt.iter().map(|name| of(name)).collect(), (*first).to_owned()))
}

/// Returns the cookbooks that could be chosen: the wanted ones with their dependencies within one source.
fn reachable<'a>(universes: &[&'a Universe], wanted: &'a [String]) -> BTreeSet<&'a str> {
    let mut all = BTreeSet::new();
    for universe in universes {
        let mut found: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = wanted.iter().map(String::as_str).collect();
        while let Some(name) = open.pop() {
            let Some(versions) = universe.get(name) else { continue };
            if found.insert(name) {
                open.extend(versions.values().flatten().map(|(dependency, _)| dependency.as_str()));
            }
        }
        all.extend(found);
    }
    all
}

/// The recipes of the run lists that a chosen cookbook does not have. `has`: whether a cookbook has a recipe; `place`: the
/// place of a cookbook.
///
/// # Errors
/// All of them.
pub fn check_recipes(
    input: &Input<'_>,
    chosen: &BTreeMap<String, Chosen>,
    has: impl Fn(&str, &str) -> bool,
    place: impl Fn(&str) -> String,
) -> Result<(), CompileError> {
    let lists = RunLists::of(input.policy, input.includes);
    let missing = lists.recipes().into_iter().filter_map(|(cookbook, recipe)| {
        let version = chosen.get(cookbook)?.version.clone();
        (!has(cookbook, recipe)).then(|| MissingRecipe {
            cookbook: cookbook.to_owned(),
            version,
            place: place(cookbook),
            recipe: recipe.to_owned(),
        })
    });
    let missing: Vec<_> = missing.collect();
    if missing.is_empty() { Ok(()) } else { Err(CompileError::Recipes(missing)) }
}

/// The policy's lock. `cookbooks`: the chosen ones, including those with a source of their own.
///
/// # Errors
/// Attributes conflict, or cannot be in a lock.
pub fn lock(
    input: &Input<'_>,
    chosen: &BTreeMap<String, Chosen>,
    cookbooks: BTreeMap<String, CookbookLock>,
) -> Result<Lock, CompileError> {
    let lists = RunLists::of(input.policy, input.includes);
    let (default_attributes, override_attributes) = attributes(input)?;
    let named = lists.named.iter();
    let included = input.includes.iter().map(|include| IncludedLock {
        name: include.name.clone(),
        revision_id: include.revision_id.clone(),
        source_options: Value::Object(include.source_options.clone()),
    });
    Ok(Lock {
        name: input.policy.name.clone(),
        run_list: RunLists::full(&lists.main),
        named_run_lists: named.map(|(name, items)| (name.name.clone(), RunLists::full(items))).collect(),
        included: included.collect(),
        cookbooks,
        default_attributes,
        override_attributes,
        dependencies: dependencies(input, chosen),
    })
}

/// Attributes of the level `default`, then those of `override`.
pub type Levels = (Map<String, Value>, Map<String, Value>);

/// The attributes of both levels, with those of the includes.
///
/// # Errors
/// All attributes that conflict, or one that cannot be in a lock.
pub fn attributes(input: &Input<'_>) -> Result<Levels, CompileError> {
    let default = json(&input.policy.default_attributes)?;
    let r#override = json(&input.policy.override_attributes)?;
    let of_level = |own, get: fn(&Lock) -> &Map<String, Value>| {
        let own = Attributes { source: input.file, values: own };
        let included = input.includes.iter();
        let included = included.map(|include| Attributes { source: &include.name, values: get(&include.lock) });
        [own].into_iter().chain(included).collect::<Vec<_>>()
    };
    let default = of_level(&default, |lock| &lock.default_attributes);
    let r#override = of_level(&r#override, |lock| &lock.override_attributes);
    let mut found = vec![];
    for (level, sources) in [(Level::Default, &default), (Level::Override, &r#override)] {
        found.extend(conflicts(sources).into_iter().map(|conflict| {
            let (first, second) = conflict.sources;
            let side = |index: usize| side(input, level, &conflict.path, index, sources);
            format!("{level}{}: {}, {}", conflict.shown_path(), side(first), side(second))
        }));
    }
    if !found.is_empty() {
        return Err(CompileError::Attributes(found));
    }
    Ok((merged(&default), merged(&r#override)))
}

/// Describes one side of a conflict: its value and its place.
fn side(input: &Input<'_>, level: Level, path: &[String], index: usize, sources: &[Attributes<'_>]) -> String {
    const MAX_SHOWN: usize = 80;
    let Some(source) = sources.get(index) else { return String::new() };
    let mut keys = path.iter();
    let first = keys.next().and_then(|key| source.values.get(key));
    let value = keys.fold(first, |value, key| value?.get(key)).unwrap_or(&Value::Null).to_string();
    let value: String = value.chars().take(MAX_SHOWN).collect();
    match index.checked_sub(1).and_then(|index| input.includes.get(index)) {
        Some(include) => format!("{value} in the included policy {:?} ({})", include.name, include.place),
        None => match input.policy.attribute_line(level, path) {
            Some(line) => format!("{value} in {}:{line}", input.file),
            None => format!("{value} in {}", input.file),
        },
    }
}

fn json(value: &AttributeValue) -> Result<Map<String, Value>, InvalidAttribute> {
    Ok(match value.to_json()? {
        Value::Object(map) => map,
        _ => Map::new(),
    })
}

fn dependencies(input: &Input<'_>, chosen: &BTreeMap<String, Chosen>) -> SolutionDependencies {
    let parsed = |(name, constraint): &(String, String)| {
        (name.clone(), Constraint::parse(constraint).unwrap_or_else(|_| Constraint::any()))
    };
    let mut policyfile: BTreeMap<String, Constraint> =
        input.policy.cookbooks.iter().map(|spec| (spec.name.clone(), spec.constraint.clone())).collect();
    for (name, chosen) in chosen.iter().filter(|(_, chosen)| chosen.from != From::Own) {
        let constraint = version(&chosen.version).map_or_else(|_| Constraint::any(), Constraint::exactly);
        policyfile.insert(name.clone(), constraint);
    }
    let cookbooks = chosen.iter().map(|(name, chosen)| {
        ((name.clone(), chosen.version.clone()), chosen.dependencies.iter().map(parsed).collect())
    });
    SolutionDependencies { policyfile: policyfile.into_iter().collect(), cookbooks: cookbooks.collect() }
}
