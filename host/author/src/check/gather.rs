//! Lets the guest read all files of a cookbook, and the shared files (types and methods) of the cookbooks that it depends on.

use super::facts::{Fact, What};
use super::{Ask, CheckError, Readers, elsewhere};
use crate::CookbookFolders;
use contract::{CookbookFiles as _, Failure, FileCheck, Question};
use errors::{ErrorKind, chef};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most facts that are taken from one cookbook.
const MAX_FACTS: usize = 100_000;

/// Largest number of stored defaults, and of values of one default.
const MAX_DEFAULTS: usize = 10_000;
const MAX_VALUES: usize = 20;

/// Largest number of files that may crash the Ruby instance. It is replaced each time.
const MAX_LOST: usize = 10;

/// Folders with files that other cookbooks use.
const SHARED: [&str; 4] = ["libraries/", "resources/", "providers/", "definitions/"];

/// What was found in a cookbook and in those that it depends on.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) folder: String,
    pub(super) name: String,
    pub(super) version: String,
    /// The paths of all its files, below its folder.
    pub(super) files: Vec<String>,
    /// Facts and the files that they are from.
    pub(super) facts: Vec<(String, Fact)>,
    /// Facts of the cookbooks that it depends on, with their files as `COOKBOOK/FILE`.
    pub(super) brought: Vec<(String, Fact)>,
    /// Attributes that the cookbooks set that it depends on, with their files.
    pub(super) brought_attributes: Vec<(String, Fact)>,
    /// The cookbooks that it depends on, with their constraints.
    pub(super) depends: BTreeMap<String, String>,
    /// The dependencies that do not exist, also those of dependencies.
    pub(super) missing: BTreeSet<String>,
    /// All cookbooks that it depends on, theirs too.
    pub(super) reached: BTreeSet<String>,
    /// The recipes of each existing cookbook from which its files include a recipe by a literal name.
    pub(super) included: BTreeMap<String, BTreeSet<String>>,
    /// Resources, and look-ups of some, of the recipes that its own include from other cookbooks, and those of theirs, with their
    /// files.
    pub(super) included_resources: Vec<(String, Fact)>,
    /// A recipe is included that is not here, or whose name is computed.
    pub(super) includes_unknown: bool,
    /// The other system that all of the cookbook is for (`elsewhere.rs`).
    pub(super) only_on: Option<String>,
    /// Whether only the parts that a run list reaches are checked (`reach.rs`).
    pub(super) is_followed: bool,
}

/// How the names of recipes' files end.
const RECIPES: [&str; 4] = ["rb", "yml", "yaml", "json"];

impl Gathered {
    /// The cookbook and the recipe that a name means: `cookbook::recipe`, `cookbook` or `::recipe`.
    pub(super) fn recipe_name<'a>(&'a self, name: &'a str) -> (&'a str, &'a str) {
        let (cookbook, recipe) = name.split_once("::").unwrap_or((name, "default"));
        (if cookbook.is_empty() { &self.name } else { cookbook }, recipe)
    }

    /// The file of one of the cookbook's own recipes; `None` for another cookbook's and for one that is missing.
    pub(super) fn recipe_file(&self, name: &str) -> Option<&str> {
        let (cookbook, recipe) = self.recipe_name(name);
        let is_wanted = |path: &&String| recipe_of(path) == Some(recipe);
        (cookbook == self.name).then(|| self.files.iter().find(is_wanted)).flatten().map(String::as_str)
    }

    /// Whether it writes a top-level attribute itself.
    pub(super) fn writes(&self, attribute: &str) -> bool {
        self.facts.iter().any(|(_, fact)| matches!(&fact.what, What::Written { path, .. } if path.first().is_some_and(|name| name == attribute)))
    }

    /// The names of the cookbook's own recipes.
    pub(super) fn recipes(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter_map(|path| recipe_of(path))
    }
}

/// Returns the name of the recipe in a file. A recipe in a folder below `recipes/` has the name of its file.
fn recipe_of(path: &str) -> Option<&str> {
    if path.starts_with("recipe.") {
        return Some("default");
    }
    let file = path.strip_prefix("recipes/")?.rsplit('/').next()?;
    let (stem, ending) = file.rsplit_once('.')?;
    RECIPES.contains(&ending).then_some(stem)
}

/// The cookbooks that are asked about.
pub(super) enum Wanted<'a> {
    /// The cookbooks in some folders, in their order.
    Folders(&'a [String]),
    /// The cookbooks with some names, and all that they depend on, in the order in which they are found.
    Named(&'a [String]),
}

/// Reads cookbooks, and the shared files of those that they depend on.
///
/// # Errors
/// There is no sandbox to read them in.
pub(super) fn gather(
    cookbooks: &Arc<CookbookFolders>,
    wanted: &Wanted<'_>,
    readers: &impl Readers,
) -> Result<Vec<Gathered>, CheckError> {
    let mut read = BTreeMap::new();
    loop {
        let mut gathered: Result<Vec<_>, Lost> = Ok(vec![]);
        let opened = readers.open(Arc::clone(cookbooks) as _, &mut |ask| {
            let mut gathering = Gathering {
                cookbooks,
                ask,
                read: &mut read,
                written: BTreeMap::new(),
                defaults: Defaults::default(),
                by_name: None,
            };
            gathered = match wanted {
                Wanted::Folders(folders) => folders.iter().map(|folder| gathering.cookbook(folder)).collect(),
                Wanted::Named(names) => gathering.closure(names),
            };
        });
        opened.map_err(CheckError::Reader)?;
        // An instance that crashed over a file is replaced. Its earlier results are kept, and the file is not tried again.
        if let Ok(gathered) = gathered {
            return Ok(gathered);
        }
        let lost = read.values().filter(|read| read.is_none()).count();
        if lost > MAX_LOST {
            return Err(CheckError::Lost(lost));
        }
    }
}

fn is_shared(file: &str) -> bool {
    SHARED.iter().any(|folder| file.starts_with(folder))
}

/// The instance has crashed.
struct Lost;

/// The facts of files, by folder and path; `None` if the instance crashed over the file.
type Read = BTreeMap<(String, String), Option<Vec<Fact>>>;

/// What is known of the cookbooks that one depends on.
struct Shared {
    /// Facts with their files.
    brought: Vec<(String, Fact)>,
    /// Facts about the attributes that they set, with their files.
    attributes: Vec<(String, Fact)>,
    /// The names of those that are not there.
    missing: BTreeSet<String>,
    reached: BTreeSet<String>,
}

struct Gathering<'a> {
    cookbooks: &'a CookbookFolders,
    ask: &'a mut Ask<'a>,
    read: &'a mut Read,
    /// What each cookbook's attributes files set, by its folder.
    written: BTreeMap<String, Vec<(String, Fact)>>,
    defaults: Defaults,
    /// The folders by the names in the cookbooks' metadata; read at the first use.
    by_name: Option<BTreeMap<String, String>>,
}

impl Gathering<'_> {
    /// Cookbooks with these names and those that they depend on, as far as they are there.
    fn closure(&mut self, names: &[String]) -> Result<Vec<Gathered>, Lost> {
        let (mut found, mut known) = (vec![], BTreeSet::new());
        let mut next: Vec<String> = names.iter().rev().cloned().collect();
        while let Some(name) = next.pop() {
            if known.insert(name.clone())
                && let Some(folder) = self.folder_of(&name)?
            {
                let gathered = self.cookbook(&folder)?;
                next.extend(gathered.depends.keys().cloned());
                found.push(gathered);
            }
        }
        Ok(found)
    }

    fn cookbook(&mut self, folder: &str) -> Result<Gathered, Lost> {
        let files = self.files(folder);
        let (file, metadata) = self.metadata(folder)?;
        let (name, version) = named(&metadata).unwrap_or_else(|| (folder.to_owned(), String::new()));
        let depends = dependencies(&metadata);
        let Shared { brought, attributes, missing, reached } = self.dependencies(&name, &depends)?;
        let mut facts: Vec<_> = metadata.into_iter().map(|fact| (file.clone(), fact)).collect();
        let mut code: Vec<_> = files.iter().filter(|file| !file.starts_with("metadata.")).collect();
        code.sort_by_key(|file| reading_order(file));
        self.defaults = Defaults::default();
        for file in code {
            let room = MAX_FACTS.saturating_sub(facts.len());
            let found = self.file(folder, &name, file)?;
            self.defaults.take(file, &found);
            facts.extend(found.into_iter().take(room).map(|fact| (file.clone(), fact)));
        }
        let included = self.included(&name, &facts)?;
        let mut gathered = Gathered {
            folder: folder.to_owned(),
            name,
            version,
            files,
            facts,
            brought,
            brought_attributes: attributes,
            depends,
            missing,
            reached,
            included,
            included_resources: vec![],
            includes_unknown: false,
            only_on: None,
            is_followed: false,
        };
        elsewhere::mark(&mut gathered);
        self.include_resources(&mut gathered)?;
        Ok(gathered)
    }

    /// Reads the resources of the recipes that a cookbook includes from others, and that these include.
    fn include_resources(&mut self, gathered: &mut Gathered) -> Result<(), Lost> {
        let mut known = BTreeSet::new();
        let mut next = vec![];
        gathered.includes_unknown = !names_of_included(&gathered.name, &gathered.facts, &mut next);
        while let Some((cookbook, recipe)) = next.pop() {
            // Its own recipes are among its facts.
            if cookbook == gathered.name || !known.insert((cookbook.clone(), recipe.clone())) {
                continue;
            }
            let folder = self.folder_of(&cookbook)?;
            let files = folder.as_deref().map(|folder| self.files(folder)).unwrap_or_default();
            let file = files.iter().find(|path| recipe_of(path) == Some(recipe.as_str()));
            let place = folder.zip(file.cloned()).filter(|place| !matches!(self.read.get(place), Some(None)));
            let Some((folder, file)) = place else {
                gathered.includes_unknown = true;
                continue;
            };
            let facts = self.ask_alone(&folder, &cookbook, &file)?.into_iter();
            let facts: Vec<_> = facts.map(|fact| (format!("{cookbook}/{file}"), fact)).collect();
            gathered.includes_unknown |= !names_of_included(&cookbook, &facts, &mut next);
            let room = MAX_FACTS.saturating_sub(gathered.included_resources.len());
            let is_kept = |fact: &Fact| matches!(fact.what, What::Resource(_) | What::LookedUp { .. });
            let resources = facts.into_iter().filter(|(_, fact)| is_kept(fact));
            gathered.included_resources.extend(resources.take(room));
        }
        Ok(())
    }

    /// The names of the recipes of the cookbooks that are here and that facts include from by a literal name.
    fn included(&mut self, own: &str, facts: &[(String, Fact)]) -> Result<BTreeMap<String, BTreeSet<String>>, Lost> {
        let literal = facts.iter().filter_map(|(_, fact)| match &fact.what {
            What::Recipe { values: Some(names), literal: true } => Some(names),
            _ => None,
        });
        let cookbook = |name: &String| name.split("::").next().map(str::to_owned);
        let named: BTreeSet<String> = literal.flatten().filter_map(cookbook).collect();
        let mut included = BTreeMap::new();
        for name in named.into_iter().filter(|name| !name.is_empty() && name != own) {
            if let Some(folder) = self.folder_of(&name)? {
                let files = self.files(&folder);
                let recipes = files.iter().filter_map(|path| recipe_of(path)).map(str::to_owned).collect();
                included.insert(name, recipes);
            }
        }
        Ok(included)
    }

    fn files(&self, folder: &str) -> Vec<String> {
        self.cookbooks.paths(folder, "").unwrap_or_default()
    }

    fn has_metadata(&self, folder: &str) -> bool {
        self.files(folder).iter().any(|file| file == "metadata.rb" || file == "metadata.json")
    }

    /// Returns the facts in the metadata, and the file's path.
    fn metadata(&mut self, folder: &str) -> Result<(String, Vec<Fact>), Lost> {
        let json = self.files(folder).iter().any(|file| file == "metadata.json");
        let file = if json { "metadata.json" } else { "metadata.rb" };
        Ok((file.to_owned(), self.file(folder, folder, file)?))
    }

    /// Facts of the cookbooks that one depends on, and the names of those that are not there.
    fn dependencies(&mut self, name: &str, depends: &BTreeMap<String, String>) -> Result<Shared, Lost> {
        let (mut brought, mut attributes, mut missing) = (vec![], vec![], BTreeSet::new());
        let mut reached = BTreeSet::from([name.to_owned()]);
        let mut next: Vec<String> = depends.keys().cloned().collect();
        while let Some(dependency) = next.pop() {
            if !reached.insert(dependency.clone()) {
                continue;
            }
            let Some(folder) = self.folder_of(&dependency)? else {
                missing.insert(dependency);
                continue;
            };
            let (_, metadata) = self.metadata(&folder)?;
            next.extend(dependencies(&metadata).into_keys());
            for file in self.files(&folder).iter().filter(|file| is_shared(file)) {
                let room = MAX_FACTS.saturating_sub(brought.len());
                let facts = self.file(&folder, &dependency, file)?.into_iter().take(room);
                brought.extend(facts.map(|fact| (format!("{dependency}/{file}"), fact)));
            }
            let room = MAX_FACTS.saturating_sub(attributes.len());
            attributes.extend(self.attributes(&folder, &dependency)?.into_iter().take(room));
        }
        Ok(Shared { brought, attributes, missing, reached })
    }

    /// Facts about the attributes that a cookbook's attributes files set, with their files.
    fn attributes(&mut self, folder: &str, name: &str) -> Result<Vec<(String, Fact)>, Lost> {
        if let Some(known) = self.written.get(folder) {
            return Ok(known.clone());
        }
        let mut written = vec![];
        for file in self.files(folder).iter().filter(|file| is_attributes(file)) {
            let facts = self.ask_alone(folder, name, file)?.into_iter();
            let facts = facts.filter(|fact| matches!(fact.what, What::Written { .. }));
            written.extend(facts.map(|fact| (format!("{name}/{file}"), fact)));
        }
        self.written.insert(folder.to_owned(), written.clone());
        Ok(written)
    }

    /// The facts of a file of another cookbook, without the defaults of this one: what is made of them counts as computed.
    fn ask_alone(&mut self, folder: &str, name: &str, file: &str) -> Result<Vec<Fact>, Lost> {
        if matches!(self.read.get(&(folder.to_owned(), file.to_owned())), Some(None)) {
            return Ok(vec![]);
        }
        let defaults = std::mem::take(&mut self.defaults);
        let facts = self.ask(folder, name, file).map(facts);
        self.defaults = defaults;
        facts
    }

    /// Returns the folder of a cookbook: the one with its name, or one whose metadata have the name.
    fn folder_of(&mut self, name: &str) -> Result<Option<String>, Lost> {
        if self.cookbooks.names().any(|folder| folder == name) && self.has_metadata(name) {
            return Ok(Some(name.to_owned()));
        }
        if self.by_name.is_none() {
            let mut found = BTreeMap::new();
            let cookbooks = self.cookbooks;
            for folder in cookbooks.names().filter(|folder| self.has_metadata(folder)).collect::<Vec<_>>() {
                if let Some((name, _)) = named(&self.metadata(folder)?.1) {
                    found.insert(name, folder.to_owned());
                }
            }
            self.by_name = Some(found);
        }
        Ok(self.by_name.as_ref().and_then(|found| found.get(name).cloned()))
    }

    /// The facts of one file.
    fn file(&mut self, folder: &str, name: &str, file: &str) -> Result<Vec<Fact>, Lost> {
        let key = (folder.to_owned(), file.to_owned());
        match self.read.get(&key) {
            Some(Some(facts)) => return Ok(facts.clone()),
            Some(None) => {
                return Ok(vec![error("the sandbox was lost over this file: it is too large or too deep".into())]);
            }
            None => {}
        }
        let answer = self.ask(folder, name, file)?;
        Ok(self.read.entry(key).or_insert_with(|| Some(facts(answer))).clone().unwrap_or_default())
    }

    /// What the instance says of a file.
    fn ask(&mut self, folder: &str, name: &str, file: &str) -> Result<Result<Value, Failure>, Lost> {
        let place = self.cookbooks.place(folder).map(|place| place.display().to_string());
        let answer = (self.ask)(Question::Check(Box::new(FileCheck {
            cookbook: folder.to_owned(),
            name: name.to_owned(),
            place,
            file: file.to_owned(),
            attributes: json!(self.defaults.attributes),
            properties: json!(self.defaults.properties),
        })));
        if answer.as_ref().is_err_and(Failure::is_final) {
            self.read.insert((folder.to_owned(), file.to_owned()), None);
            return Err(Lost);
        }
        Ok(answer)
    }
}

/// Adds the cookbooks and recipes that facts include. False: the name of one is computed.
fn names_of_included(own: &str, facts: &[(String, Fact)], found: &mut Vec<(String, String)>) -> bool {
    let mut all_known = true;
    for (_, fact) in facts {
        match &fact.what {
            What::Recipe { values: Some(names), .. } => found.extend(names.iter().map(|name| {
                let (cookbook, recipe) = name.split_once("::").unwrap_or((name, "default"));
                (if cookbook.is_empty() { own } else { cookbook }.to_owned(), recipe.to_owned())
            })),
            What::Recipe { values: None, .. } => all_known = false,
            _ => {}
        }
    }
    all_known
}

/// Default values of attributes and properties, as far as they have been read.
#[derive(Default)]
struct Defaults {
    /// By path, its keys separated by a zero character.
    attributes: BTreeMap<String, Vec<Value>>,
    properties: BTreeMap<String, Vec<Value>>,
}

impl Defaults {
    /// Stores a file's defaults for the files that are read later. Defaults of properties count only in shared files.
    fn take(&mut self, file: &str, facts: &[Fact]) {
        for fact in facts.iter().filter(|fact| fact.platform.is_none()) {
            match &fact.what {
                What::Default { path, values } => add(&mut self.attributes, path.join("\0"), values),
                What::Property { name, values } if is_partial(file) => {
                    add(&mut self.properties, name.clone(), values);
                }
                _ => {}
            }
        }
    }
}

fn add(table: &mut BTreeMap<String, Vec<Value>>, key: String, values: &[Value]) {
    if table.len() >= MAX_DEFAULTS && !table.contains_key(&key) {
        return;
    }
    let known = table.entry(key).or_default();
    for value in values {
        if known.len() < MAX_VALUES && !known.contains(value) {
            known.push(value.clone());
        }
    }
}

/// Returns the sort key for reading files: attributes first, then shared files, because values in other files are made of
/// their defaults.
fn reading_order(file: &str) -> (u8, String) {
    let rank = match file {
        "attributes/default.rb" | "attributes.rb" => 0,
        _ if is_attributes(file) => 1,
        _ if is_partial(file) => 2,
        _ => 3,
    };
    (rank, file.to_owned())
}

fn is_attributes(file: &str) -> bool {
    file == "attributes.rb" || file.starts_with("attributes/")
}

fn is_partial(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    file.starts_with("resources/") && name.starts_with('_')
}

/// Reads the facts in a guest's answer. An invalid answer becomes a fact that describes the error.
pub(super) fn facts(answer: Result<Value, Failure>) -> Vec<Fact> {
    match answer {
        Ok(Value::Array(all)) => {
            let read = |fact| serde_json::from_value(fact).unwrap_or_else(|why| error(format!("no fact: {why}")));
            all.into_iter().map(read).collect()
        }
        Ok(_) => vec![error("the answer is not a list of facts".to_owned())],
        Err(failure) => vec![error(format!("the sandbox could not read it: {failure}"))],
    }
}

fn error(message: String) -> Fact {
    let what = What::Error { class: chef::class(&ErrorKind::CheckFailed).to_owned(), message };
    Fact { line: 0, platform: None, families: vec![], optional: false, conditional: false, what }
}

fn named(facts: &[Fact]) -> Option<(String, String)> {
    facts.iter().find_map(|fact| match &fact.what {
        What::Metadata { name, version, .. } => Some((name.clone(), version.clone())),
        _ => None,
    })
}

fn dependencies(facts: &[Fact]) -> BTreeMap<String, String> {
    let depends = facts.iter().filter_map(|fact| match &fact.what {
        What::Depends { name, constraint } => Some((name.clone(), constraint.clone())),
        _ => None,
    });
    depends.collect()
}
