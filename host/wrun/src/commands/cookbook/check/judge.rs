//! What of a cookbook would not work, and what may not.
//!
//! A *problem* is said of what fails whenever it is reached on a Linux node. What the cookbook does only on another system, or is
//! prepared to go without, and what cannot be told from here, are notes.

use super::facts::{Fact, Property, Resource, What};
use super::gather::Gathered;
use schema::suggest::nearest;
use std::collections::BTreeSet;

/// How the names of recipes' files end.
const RECIPES: [&str; 4] = ["rb", "yml", "yaml", "json"];

/// Something to say about a place in a cookbook.
pub(super) struct Finding {
    pub(super) is_problem: bool,
    /// What it is about: `resource`, `library`, ..
    pub(super) kind: &'static str,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    pub(super) file: String,
    pub(super) line: u32,
    /// The other system that this part of the cookbook is for.
    pub(super) platform: Option<String>,
}

/// What the cookbook and those that it depends on bring themselves.
struct Brought<'a> {
    types: BTreeSet<&'a str>,
    methods: BTreeSet<&'a str>,
    constants: BTreeSet<&'a str>,
}

impl<'a> Brought<'a> {
    fn of(gathered: &'a Gathered) -> Self {
        let mut brought = Self { types: BTreeSet::new(), methods: BTreeSet::new(), constants: BTreeSet::new() };
        for fact in gathered.facts.iter().map(|(_, fact)| fact).chain(&gathered.brought) {
            match &fact.what {
                What::Type { name } => {
                    brought.types.insert(name);
                }
                What::Method { name } => {
                    brought.methods.insert(name);
                }
                What::Defined { name } => {
                    brought.constants.insert(name);
                }
                _ => {}
            }
        }
        brought
    }

    /// Whether a constant, or one that it lies in, is defined by a cookbook.
    fn constant(&self, name: &str) -> bool {
        let inside = |defined: &&str| *defined == name || defined.starts_with(&format!("{name}::"));
        self.constants.iter().any(inside)
    }
}

/// One judgement, not yet weighed.
struct Verdict {
    kind: &'static str,
    message: String,
    hint: Option<String>,
    is_problem: bool,
}

impl Verdict {
    fn problem(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, is_problem: true }
    }

    fn note(kind: &'static str, message: impl Into<String>) -> Self {
        Self { is_problem: false, ..Self::problem(kind, message) }
    }

    fn hint(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }
}

/// Everything that there is to say, problems first, by file and line.
pub(super) fn findings(gathered: &Gathered) -> Vec<Finding> {
    let judge = Judge { gathered, brought: Brought::of(gathered) };
    let mut findings = judge.folders();
    for (file, fact) in &gathered.facts {
        for (line, verdict) in judge.fact(file, fact) {
            // Errors of a whole file are errors on every system.
            let excused = (fact.platform.is_some() || fact.optional) && !matches!(fact.what, What::Error { .. });
            findings.push(Finding {
                is_problem: verdict.is_problem && !excused,
                kind: verdict.kind,
                message: verdict.message,
                hint: verdict.hint,
                file: file.clone(),
                line,
                platform: fact.platform.clone(),
            });
        }
    }
    let key = |one: &Finding| (!one.is_problem, one.file.clone(), one.line, one.kind, one.message.clone());
    findings.sort_by_cached_key(key);
    findings.dedup_by_key(|one| key(one));
    findings
}

struct Judge<'a> {
    gathered: &'a Gathered,
    brought: Brought<'a>,
}

impl Judge<'_> {
    /// What is said of files by where they lie.
    fn folders(&self) -> Vec<Finding> {
        let mut findings = vec![];
        for (folder, kind, message) in [
            ("ohai/", "ohai", "Ohai plugins that travel in cookbooks are not run"),
            ("compliance/", "compliance", "compliance profiles, inputs and waivers are not run"),
        ] {
            let first = self.gathered.files.iter().find(|file| file.starts_with(folder) && !file.ends_with(".md"));
            findings.extend(first.map(|file| Finding {
                is_problem: true,
                kind,
                message: message.to_owned(),
                hint: None,
                file: file.clone(),
                line: 1,
                platform: None,
            }));
        }
        findings
    }

    fn fact(&self, file: &str, fact: &Fact) -> Vec<(u32, Verdict)> {
        let verdict = match &fact.what {
            What::Resource(resource) => return self.resource(resource, fact.line),
            What::Library { name, why: Some(why) } => self.library(name, why),
            What::Absent { name, what } => {
                Some(Verdict::problem("sandbox", format!("`{name}`: the sandbox has no {what}")))
            }
            What::Constant { name } => self.constant(name),
            What::Recipe { values: Some(names) } => {
                return names.iter().filter_map(|name| Some((fact.line, self.recipe(name)?))).collect();
            }
            What::Gem { name, why } => gem(name, why.as_deref()),
            What::Depends { name, .. } if self.gathered.missing.contains(name) => {
                let message = format!("the cookbook {name} is not here: what it brings is not known");
                Some(Verdict::note("cookbook", message))
            }
            What::Error { class, message } => Some(error(file, class, message)),
            What::TooMuch {} => {
                Some(Verdict::note("file", "the file asks for so much that the rest was not looked at"))
            }
            _ => None,
        };
        verdict.map(|verdict| (fact.line, verdict)).into_iter().collect()
    }

    fn resource(&self, resource: &Resource, line: u32) -> Vec<(u32, Verdict)> {
        let kind = resource.kind.as_str();
        if self.brought.types.contains(kind) {
            return vec![];
        }
        if !resource.known {
            return self.unknown_type(resource).map(|verdict| (line, verdict)).into_iter().collect();
        }
        let verdict = match (resource.idle.as_deref(), kind) {
            (Some("nobody"), _) => {
                Verdict::problem("resource", format!("resources of the type `{kind}` are not carried out"))
            }
            (Some(platform), _) => {
                Verdict::problem("resource", format!("resource type `{kind}` is for {platform} only"))
            }
            (None, "chef_gem") if self.travels(resource) => {
                Verdict::note("gem", "`chef_gem`: the gem must travel with the policy, in a version that is wanted")
            }
            (None, "gem_package" | "chef_gem") => {
                let hint = "gems of plain Ruby can travel in the policy, others as packages of the distribution";
                Verdict::problem("gem", format!("`{kind}`: no gems are installed")).hint(Some(hint.to_owned()))
            }
            (None, _) => return self.properties(resource).collect(),
        };
        vec![(line, verdict)]
    }

    /// Whether the gems that a resource names are among those that the metadata name, which can travel.
    fn travels(&self, resource: &Resource) -> bool {
        let names = resource.named_by("package_name").unwrap_or_default();
        !names.is_empty() && names.iter().all(|name| self.gems().any(|gem| gem == name))
    }

    fn gems(&self) -> impl Iterator<Item = &str> {
        self.gathered.facts.iter().filter_map(|(_, fact)| match &fact.what {
            What::Gem { name, .. } => Some(name.as_str()),
            _ => None,
        })
    }

    fn unknown_type(&self, resource: &Resource) -> Option<Verdict> {
        let kind = resource.kind.as_str();
        if !resource.sure || self.brought.methods.contains(kind) {
            return None;
        }
        let message = format!("unknown resource type or method `{kind}`");
        if !self.gathered.missing.is_empty() {
            return Some(Verdict::note("resource", format!("{message}: perhaps of a cookbook that is not here")));
        }
        let types = schema::types::WITHOUT_PROVIDER.iter().chain(schema::builtin()).map(|found| found.name);
        let near = nearest(kind, types.chain(self.brought.types.iter().copied()));
        Some(Verdict::problem("resource", message).hint(near.map(|near| format!("did you mean `{near}`?"))))
    }

    fn properties<'a>(&'a self, resource: &'a Resource) -> impl Iterator<Item = (u32, Verdict)> + 'a {
        let kind = resource.kind.as_str();
        let judge = move |property: &'a Property| {
            let name = property.name.as_str();
            let verdict = match &property.bad {
                Some(action) => Verdict::problem("action", format!("resource type `{kind}` has no action `{action}`")),
                None if property.unknown && !self.brought.methods.contains(name) => {
                    let message = format!("resource type `{kind}` has no property `{name}`");
                    // What a cookbook that is not here adds to the type nobody knows.
                    if self.gathered.missing.is_empty() {
                        Verdict::problem("property", message)
                    } else {
                        Verdict::note("property", message)
                    }
                }
                None => return None,
            };
            let near = property.near.as_ref().map(|near| format!("did you mean `{near}`?"));
            Some((property.line, verdict.hint(near)))
        };
        resource.properties.iter().filter_map(judge)
    }

    fn library(&self, name: &str, why: &str) -> Option<Verdict> {
        let file = format!("libraries/{}.rb", name.trim_end_matches(".rb"));
        if self.gathered.files.contains(&file) {
            return None;
        }
        let gem = name.split('/').next().unwrap_or(name);
        let travels = self.gems().any(|name| name == gem || name.replace('-', "_") == gem);
        if travels {
            return None;
        }
        Some(Verdict::problem("library", format!("`{name}` cannot be required: {why}")))
    }

    fn constant(&self, name: &str) -> Option<Verdict> {
        if self.brought.constant(name) {
            return None;
        }
        let message = format!("`{name}` is not known here");
        Some(match self.gathered.missing.is_empty() {
            true => Verdict::problem("constant", message),
            false => Verdict::note("constant", format!("{message}: perhaps of a cookbook that is not here")),
        })
    }

    fn recipe(&self, name: &str) -> Option<Verdict> {
        let (cookbook, recipe) = name.split_once("::").unwrap_or((name, "default"));
        let cookbook = if cookbook.is_empty() { self.gathered.name.as_str() } else { cookbook };
        if cookbook != self.gathered.name {
            if self.gathered.depends.contains_key(cookbook) {
                return None;
            }
            let message =
                format!("recipe {name} is included, and the metadata do not depend on the cookbook {cookbook}");
            // Chef warns of it: another cookbook of the run may bring it.
            return Some(Verdict::note("cookbook", message));
        }
        // Recipes in folders of the folder have the name of their file.
        let is_recipe = |path: &String| {
            let inside = path.strip_prefix("recipes/");
            let file = inside.and_then(|inside| inside.rsplit('/').next());
            let stem = file.and_then(|file| file.rsplit_once('.')).filter(|(_, ending)| RECIPES.contains(ending));
            stem.is_some_and(|(stem, _)| stem == recipe) || (recipe == "default" && path.starts_with("recipe."))
        };
        let is_there = self.gathered.files.iter().any(is_recipe);
        (!is_there).then(|| Verdict::problem("cookbook", format!("there is no recipe {cookbook}::{recipe}")))
    }
}

fn gem(name: &str, why: Option<&str>) -> Option<Verdict> {
    let why = why?;
    Some(Verdict::note("gem", format!("the gem {name} must travel in the policy, and be plain Ruby: {why}")))
}

fn error(file: &str, class: &str, message: &str) -> Verdict {
    let kind = match class {
        "SyntaxError" => "syntax",
        _ if file.starts_with("metadata.") => "metadata",
        _ => "file",
    };
    Verdict::problem(kind, format!("{class}: {message}"))
}
