//! Included policies: their cookbooks and run lists, and the conflicts between them.

use std::collections::BTreeMap;

use node::run_list::{RunListItem, split_recipe};
use serde_json::{Map, Value};

use crate::lock::Lock;
use crate::model::{ListName, Policy};
use crate::solver::Universe;

/// An included policy's lock, read and with its paths made relative to the policy that includes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Included {
    /// The name by which it is included.
    pub name: String,
    /// Its lock, whose versions the including policy keeps.
    pub lock: Lock,
    /// The revision that its lock states.
    pub revision_id: Value,
    /// Its source, as the including lock keeps it.
    pub source_options: Map<String, Value>,
    /// The place of its lock, for messages.
    pub place: String,
}

/// A conflict between included locks about a cookbook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CookbookConflict {
    /// The name of the cookbook they lock differently.
    pub cookbook: String,
    /// The property that they disagree about.
    pub about: Disagreement,
    /// The two policies, each with its value.
    pub sides: [(String, String); 2],
}

/// The property of a cookbook that two included locks disagree about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disagreement {
    /// They lock different versions of it.
    Version,
    /// Its dependencies, in one version.
    Dependencies,
    /// Its source, in one version.
    Source,
}

impl std::fmt::Display for CookbookConflict {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let about = match self.about {
            Disagreement::Version => "versions",
            Disagreement::Dependencies => "dependencies",
            Disagreement::Source => "sources",
        };
        let [(first, one), (second, other)] = &self.sides;
        let cookbook = &self.cookbook;
        write!(out, "conflicting {about} for cookbook {cookbook}: {one} in the included policy {first:?}, ")?;
        write!(out, "{other} in {second:?}")
    }
}

/// The cookbooks of all included policies: one version each.
///
/// # Errors
/// All conflicts between them.
pub fn universe(includes: &[Included]) -> Result<Universe, Vec<CookbookConflict>> {
    let mut all = Universe::new();
    let mut from: BTreeMap<String, &str> = BTreeMap::new();
    let mut conflicts = vec![];
    for include in includes {
        for ((name, version), demands) in &include.lock.dependencies.cookbooks {
            let demands: Vec<(String, String)> =
                demands.iter().map(|(name, constraint)| (name.clone(), constraint.to_string())).collect();
            let Some(known) = all.get(name) else {
                all.insert(name.clone(), BTreeMap::from([(version.clone(), demands)]));
                from.insert(name.clone(), &include.name);
                continue;
            };
            let first = (*from.get(name).unwrap_or(&"")).to_owned();
            let conflict = |about, one: String, other: String| CookbookConflict {
                cookbook: name.clone(),
                about,
                sides: [(first.clone(), one), (include.name.clone(), other)],
            };
            match known.get(version) {
                Some(same) if *same == demands => {}
                Some(other) => conflicts.push(conflict(Disagreement::Dependencies, listed(other), listed(&demands))),
                None => {
                    let there = known.keys().next().cloned().unwrap_or_default();
                    conflicts.push(conflict(Disagreement::Version, there, version.clone()));
                }
            }
        }
    }
    if conflicts.is_empty() { Ok(all) } else { Err(conflicts) }
}

fn listed(demands: &[(String, String)]) -> String {
    let demands: Vec<_> = demands.iter().map(|(name, constraint)| format!("{name} {constraint}")).collect();
    if demands.is_empty() { "none".to_owned() } else { demands.join(", ") }
}

/// The source of each included cookbook.
///
/// # Errors
/// All conflicts between the included policies.
pub fn sources(includes: &[Included]) -> Result<BTreeMap<String, Map<String, Value>>, Vec<CookbookConflict>> {
    let mut all: BTreeMap<String, (&str, &str, &Map<String, Value>)> = BTreeMap::new();
    let mut conflicts = vec![];
    for include in includes {
        for (name, cookbook) in &include.lock.cookbooks {
            let (version, options) = (cookbook.version.as_str(), &cookbook.source_options);
            let Some((first, known, source)) = all.get(name) else {
                all.insert(name.clone(), (&include.name, version, options));
                continue;
            };
            let (about, sides) = match (*known == version, *source == options) {
                (true, true) => continue,
                (true, false) => {
                    let shown = |options: &Map<String, Value>| Value::Object(options.clone()).to_string();
                    (Disagreement::Source, [shown(source), shown(options)])
                }
                (false, _) => (Disagreement::Version, [(*known).to_owned(), version.to_owned()]),
            };
            let [one, other] = sides;
            let sides = [((*first).to_owned(), one), (include.name.clone(), other)];
            conflicts.push(CookbookConflict { cookbook: name.clone(), about, sides });
        }
    }
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    Ok(all.into_iter().map(|(name, (_, _, options))| (name, options.clone())).collect())
}

/// Run lists of a policy with those of its includes before them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLists {
    /// The run list: `COOKBOOK` or `COOKBOOK::RECIPE`.
    pub main: Vec<String>,
    /// The named run lists, in the order in which they were written.
    pub named: Vec<(ListName, Vec<String>)>,
}

impl RunLists {
    /// The lists of a policy and its includes. As in Chef, an item is repeated only if it is written differently: `web` and
    /// `web::default`.
    #[must_use]
    pub fn of(policy: &Policy, includes: &[Included]) -> Self {
        let mut main = vec![];
        let mut named: Vec<(ListName, Vec<String>)> = vec![];
        for include in includes {
            add(&mut main, &include.lock.run_list);
            for (name, items) in &include.lock.named_run_lists {
                let name = ListName { name: name.clone(), is_symbol: false };
                add_named(&mut named, &name, items);
            }
        }
        add(&mut main, &policy.run_list);
        for (name, items) in &policy.named_run_lists {
            add_named(&mut named, name, items);
        }
        Self { main, named }
    }

    /// Returns items in the form of a lock.
    #[must_use]
    pub fn full(items: &[String]) -> Vec<String> {
        let full = |name: &String| {
            let (cookbook, recipe) = split_recipe(name);
            format!("recipe[{cookbook}::{recipe}]")
        };
        items.iter().map(full).collect()
    }

    /// Every recipe of every list once: cookbook and recipe.
    #[must_use]
    pub fn recipes(&self) -> Vec<(&str, &str)> {
        let mut all = vec![];
        for item in self.main.iter().chain(self.named.iter().flat_map(|(_, items)| items)) {
            let recipe = split_recipe(item);
            if !all.contains(&recipe) {
                all.push(recipe);
            }
        }
        all
    }
}

fn add_named(named: &mut Vec<(ListName, Vec<String>)>, name: &ListName, items: &[String]) {
    if let Some((_, list)) = named.iter_mut().find(|(known, _)| known == name) {
        add(list, items);
        return;
    }
    let mut list = vec![];
    add(&mut list, items);
    named.push((name.clone(), list));
}

fn add(list: &mut Vec<String>, items: &[String]) {
    for item in items {
        let name = RunListItem::parse(item).map_or_else(|_| item.clone(), |item| item.name);
        if !list.contains(&name) {
            list.push(name);
        }
    }
}
