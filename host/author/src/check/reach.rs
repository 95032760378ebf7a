//! Follows a run list: its recipes, the recipes that these include, and the resource types that they use.
//!
//! The attributes, libraries and definitions of a reached cookbook, and of its dependencies, are always loaded, so they count
//! as reached. Included recipes with a computed name are not followed, and neither are parts for other systems.

use super::CheckError;
use super::facts::{Fact, What};
use super::gather::Gathered;
use node::run_list::{RunList, RunListItemKind};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the recipes of a typed run list.
///
/// # Errors
/// An item that is not a recipe: roles are not read here.
pub(super) fn recipes(texts: &[String]) -> Result<Vec<String>, CheckError> {
    let items = texts.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|item| !item.is_empty());
    let list = RunList::parse(items)?;
    let recipes = list.items().iter().map(|item| match item.kind {
        RunListItemKind::Recipe => Ok(item.name.clone()),
        RunListItemKind::Role => Err(CheckError::Role(item.name.clone())),
    });
    recipes.collect()
}

/// Removes the cookbooks and files that the recipes do not reach.
///
/// # Errors
/// A recipe or its cookbook is missing. `names` are the cookbooks that there are.
pub(super) fn follow(all: Vec<Gathered>, recipes: &[String], names: &[String]) -> Result<Vec<Gathered>, CheckError> {
    let files = {
        let mut following = Following::new(&all);
        for recipe in recipes {
            let name = recipe.split("::").next().unwrap_or_default();
            let Some(at) = following.by_name.get(name).copied() else {
                let advice = advice(name, names.iter().map(String::as_str));
                return Err(CheckError::NoCookbook { name: name.to_owned(), advice });
            };
            if !following.include(at, recipe) {
                let known = all.get(at).into_iter().flat_map(Gathered::recipes).map(|found| format!("{name}::{found}"));
                let known: Vec<String> = known.collect();
                let advice = advice(recipe, known.iter().map(String::as_str));
                return Err(CheckError::NoRecipe { cookbook: name.to_owned(), recipe: recipe.clone(), advice });
            }
        }
        following.run();
        following.files
    };
    let keep = |(at, mut gathered): (usize, Gathered)| {
        let reached = files.get(&at)?;
        gathered.facts.retain(|(file, _)| !is_optional(file) || reached.contains(file));
        gathered.files.retain(|file| !is_optional(file) || reached.contains(file) || file.starts_with("recipes/"));
        gathered.is_followed = true;
        Some(gathered)
    };
    Ok(all.into_iter().enumerate().filter_map(keep).collect())
}

/// Returns the end of a sentence that suggests a near name, or nothing.
fn advice<'n>(missing: &str, known: impl Iterator<Item = &'n str>) -> String {
    text::did_you_mean(missing, known).map(|near| format!("; {near}")).unwrap_or_default()
}

/// Whether a file is only read if something names it.
fn is_optional(file: &str) -> bool {
    ["recipes/", "resources/", "providers/"].iter().any(|folder| file.starts_with(folder))
}

struct Following<'a> {
    all: &'a [Gathered],
    by_name: BTreeMap<&'a str, usize>,
    /// The cookbooks and files that declare a type.
    types: BTreeMap<&'a str, Vec<(usize, &'a str)>>,
    facts: BTreeMap<(usize, &'a str), Vec<&'a Fact>>,
    /// Reached cookbooks, and those of their files that something names.
    files: BTreeMap<usize, BTreeSet<String>>,
    next: Vec<(usize, &'a str)>,
}

impl<'a> Following<'a> {
    fn new(all: &'a [Gathered]) -> Self {
        let (mut types, mut facts): (BTreeMap<_, Vec<_>>, BTreeMap<_, Vec<_>>) = Default::default();
        for (at, gathered) in all.iter().enumerate() {
            for (file, fact) in &gathered.facts {
                facts.entry((at, file.as_str())).or_default().push(fact);
                if let What::Type { name, .. } = &fact.what {
                    types.entry(name.as_str()).or_default().push((at, file.as_str()));
                }
            }
        }
        let by_name = all.iter().enumerate().map(|(at, gathered)| (gathered.name.as_str(), at)).collect();
        Self { all, by_name, types, facts, files: BTreeMap::new(), next: vec![] }
    }

    /// Marks a recipe and its cookbook as reached. Returns false if the recipe is missing.
    fn include(&mut self, from: usize, recipe: &str) -> bool {
        let all = self.all;
        let Some(gathered) = all.get(from) else { return false };
        let (cookbook, _) = gathered.recipe_name(recipe);
        let Some(at) = self.by_name.get(cookbook).copied() else { return false };
        self.load(at);
        // `::inner` names a recipe of the including cookbook itself.
        match all.get(at).and_then(|gathered| gathered.recipe_file(recipe)) {
            Some(file) => {
                self.reach(at, file);
                true
            }
            None => false,
        }
    }

    /// Marks the files of a cookbook and its dependencies that are always loaded as reached.
    fn load(&mut self, at: usize) {
        let all = self.all;
        let mut cookbooks = vec![at];
        while let Some(at) = cookbooks.pop() {
            let Some(gathered) = all.get(at).filter(|_| !self.files.contains_key(&at)) else { continue };
            self.files.insert(at, BTreeSet::new());
            self.next.extend(gathered.files.iter().filter(|file| !is_optional(file)).map(|file| (at, file.as_str())));
            cookbooks.extend(gathered.depends.keys().filter_map(|name| self.by_name.get(name.as_str()).copied()));
        }
    }

    fn reach(&mut self, at: usize, file: &'a str) {
        self.load(at);
        if self.files.entry(at).or_default().insert(file.to_owned()) {
            self.next.push((at, file));
        }
    }

    fn run(&mut self) {
        while let Some((at, file)) = self.next.pop() {
            for fact in self.facts.get(&(at, file)).cloned().unwrap_or_default() {
                self.take(at, file, fact);
            }
        }
    }

    fn take(&mut self, at: usize, file: &'a str, fact: &'a Fact) {
        if fact.platform.is_some() {
            return;
        }
        match &fact.what {
            What::Recipe { values: Some(names), .. } => {
                for name in names {
                    self.include(at, name);
                }
            }
            What::Resource(resource) => {
                for (at, file) in self.types.get(resource.kind.as_str()).cloned().unwrap_or_default() {
                    self.reach(at, file);
                    self.reach_provider(at, file);
                }
            }
            What::TakesIn { name } => {
                let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
                self.reach_named(at, &format!("{folder}/{name}"));
            }
            _ => {}
        }
    }

    /// Older types have their actions in a file of the same name.
    fn reach_provider(&mut self, at: usize, file: &str) {
        if let Some(name) = file.strip_prefix("resources/") {
            self.reach_named(at, &format!("providers/{name}"));
        }
    }

    fn reach_named(&mut self, at: usize, name: &str) {
        let all = self.all;
        if let Some(file) = all.get(at).and_then(|gathered| gathered.files.iter().find(|file| *file == name)) {
            self.reach(at, file);
        }
    }
}
