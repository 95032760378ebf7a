//! The findings of `wrun cookbook check`: problems and notes.
//!
//! A *problem* always fails, or has no effect, when a Linux node runs the code. A *note* may fail: code for other systems,
//! code that handles its own failure, and code whose behaviour the text does not show.

use super::beside::Beside;
use super::brought::Brought;
use super::facts::{Fact, Property, RefusedKind, Resource, What};
use super::gather::Gathered;
use super::left_out::{self, LeftOut};
use super::required::LookedUp;
use super::unset::{Attributes, Variables};
use super::verdict::{Verdict, Weight};
use super::{Scope, files, modes, notifications};
use errors::{ErrorKind, chef};
use std::collections::BTreeSet;
use text::nearest;

/// A problem or a note about a place in a cookbook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Whether this is a problem, which always fails or has no effect on Linux; otherwise it is a note.
    pub is_problem: bool,
    /// The subject: `resource`, `library`, ..
    pub kind: &'static str,
    /// The message, a sentence. It contains text of the cookbook, so escape it before showing it.
    pub message: String,
    /// A remedy, such as a near name.
    pub hint: Option<String>,
    /// The file below the cookbook: `recipes/default.rb`.
    pub file: String,
    /// The line, from 1; 0 if it is not known.
    pub line: u32,
    /// The other system that this part of the cookbook is for.
    pub platform: Option<String>,
    /// Whether every run of the checked run list fails here, in Chef too. It is false without a run list.
    pub is_certain: bool,
}

/// Everything that there is to say about a cookbook.
#[derive(Debug, Default)]
pub(super) struct Judgement {
    /// Problems first, by file and line.
    pub(super) findings: Vec<Finding>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Judges one of the cookbooks that are checked together, with those beside it.
pub(super) fn judge(gathered: &Gathered, all: &[Gathered], beside: Beside<'_>, scope: &Scope) -> Judgement {
    let is_part = !scope.is_whole && !gathered.is_followed && beside.is_depended_on();
    let judge = Judge {
        gathered,
        brought: Brought::of(gathered),
        declared: notifications::Declared::of(gathered, all, is_part),
        attributes: Attributes::of(gathered, all, beside.automatic(), scope),
        variables: Variables::of(gathered, all),
        looked_up: LookedUp::of(all),
        beside,
        expects_dependencies: scope.expects_dependencies,
    };
    let mut findings = judge.folders();
    let mut left_out = left_out::Counter::default();
    for (file, fact) in &gathered.facts {
        for (line, verdict) in judge.fact(file, fact) {
            // An error of a whole file is an error on every system.
            let excused = (fact.platform.is_some() || fact.optional) && !matches!(fact.what, What::Error { .. });
            if verdict.weight == Weight::LeftOut {
                left_out.add(verdict.kind, verdict.message);
                continue;
            }
            // The cookbook itself says that the place is for another system.
            if verdict.platform.is_some() && fact.platform.is_some() {
                continue;
            }
            let is_problem = verdict.weight == Weight::Problem && !excused;
            let is_reached = gathered.is_followed && file.starts_with("recipes/") && !fact.conditional;
            findings.push(Finding {
                is_problem,
                is_certain: is_problem && is_reached && verdict.always_fails,
                kind: verdict.kind,
                message: verdict.message,
                hint: verdict.hint,
                file: file.clone(),
                line,
                platform: fact.platform.clone().or(verdict.platform),
            });
        }
    }
    let key = |one: &Finding| (!one.is_problem, one.file.clone(), one.line, one.kind, one.message.clone());
    findings.sort_by_cached_key(key);
    findings.dedup_by_key(|one| key(one));
    Judgement { findings, left_out: left_out.into_list() }
}

pub(super) struct Judge<'a> {
    pub(super) gathered: &'a Gathered,
    pub(super) brought: Brought<'a>,
    declared: notifications::Declared<'a>,
    attributes: Attributes<'a>,
    variables: Variables<'a>,
    pub(super) looked_up: LookedUp<'a>,
    beside: Beside<'a>,
    expects_dependencies: bool,
}

impl Judge<'_> {
    /// Returns findings about the places of files.
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
                is_certain: false,
            }));
        }
        findings
    }

    fn fact(&self, file: &str, fact: &Fact) -> Vec<(u32, Verdict)> {
        let verdict = match &fact.what {
            What::Resource(resource) => {
                let found = self.resource(resource, fact.line);
                return found.into_iter().chain(files::missing(self.gathered, file, resource, fact.line)).collect();
            }
            What::Library { name, why: Some(why), hint } => self.library(name, why, hint.clone()),
            What::Absent { name, what } => {
                Some(Verdict::problem("sandbox", format!("`{name}`: the sandbox has no {what}")))
            }
            What::Constant { name, near } => self.constant(name).map(|verdict| verdict.near(near.as_deref())),
            What::Foreign { name } if !self.brought.constant(name) => self.beside.constant(name),
            What::Word { name, near } => self.word(name, near.as_deref()),
            What::NodeWord { name, removed, near } => self.node_word(name, removed.as_ref(), near.as_deref()),
            What::Attribute { name, below, asked } => {
                let beside = self.beside.attribute(name, below).filter(|_| !self.attributes.has(name));
                beside.or_else(|| self.unset_attribute(name, below).filter(|_| !asked))
            }
            What::Variable { name, asked: false, set: false } => self.variables.misspelt(file, name).map(|near| {
                let message = format!("`@{name}` has no value: the template is not given a variable of this name");
                Verdict::problem("variable", message).near(Some(&format!("@{near}")))
            }),
            What::Asked { name } => self.asked(file, name),
            What::Reference { values, actions, unknown } => {
                let missing = if file.starts_with("recipes/") { self.declared.missing(values) } else { vec![] };
                let unknown = unknown.iter().filter_map(|kind| self.unknown_receiver(kind));
                let all = missing.into_iter().chain(unknown).chain(self.wrong_actions(values, actions));
                return all.map(|verdict| (fact.line, verdict)).collect();
            }
            What::WrongTiming { name, near } => {
                let message = format!("`{name}` does not say when a notification is sent");
                let near = near.as_ref().map(|near| format!(":{near}"));
                Some(Verdict::problem("notification", message).near(near.as_deref()))
            }
            What::Refused { kind, message } => {
                let kind = match kind {
                    RefusedKind::Action => "action",
                    RefusedKind::Notification => "notification",
                };
                Some(Verdict::problem(kind, message))
            }
            What::UnknownPlatform { name, near } => {
                let message = format!("`{name}` is not the name of a platform");
                Some(Verdict::problem("metadata", message).near(Some(near)))
            }
            What::WrongAction { kind, name, near } => Some(no_action(kind, name, near.as_deref())),
            What::Type { name, first: true, .. } if !self.has_block(name) => {
                let message = format!("Chef's own `{name}` goes before this class, which is declared without a block");
                Some(Verdict::note("resource", message))
            }
            What::MetadataWord { name, near } => {
                let message = format!("`{name}` is not a word of metadata: nothing comes of it");
                Some(match near {
                    Some(near) => Verdict::problem("metadata", message).near(Some(near)),
                    None => Verdict::note("metadata", message),
                })
            }
            What::Recipe { values: None, .. } if self.gathered.is_followed => {
                Some(Verdict::note("cookbook", "the name of the included recipe is computed: it was not followed"))
            }
            // Only literal names are judged: parts of a composed name may have other values in a run.
            What::Recipe { values: Some(names), literal: true } => {
                return names.iter().flat_map(|name| self.recipe(name)).map(|verdict| (fact.line, verdict)).collect();
            }
            What::Gem { name, why } => gem(name, why.as_deref()),
            What::Depends { name, .. } if self.gathered.missing.contains(name) => {
                let what = format!("the cookbook {name} is not here");
                Some(match self.expects_dependencies {
                    true => {
                        let hint = "name its directory with --cookbooks too, or remove the dependency";
                        Verdict::problem("cookbook", format!("{what}: a run of this cookbook fails"))
                            .hint(Some(hint.to_owned()))
                    }
                    false => Verdict::note("cookbook", format!("{what}: what it brings is not known")),
                })
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
        if let Some(platform) = self.brought.elsewhere.get(kind) {
            let message = format!("the cookbook's resource type `{kind}` is for {platform} only");
            return vec![(line, Verdict::problem("resource", message))];
        }
        if self.brought.types.contains(kind) {
            let shape = self.brought.shapes.of_type(kind);
            return shape.map(|shape| self.of_own_type(resource, shape, line)).unwrap_or_default();
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
            (None, _) => {
                let missing = self.missing_properties(resource).into_iter().map(|verdict| (line, verdict));
                return self.properties(resource).chain(missing).collect();
            }
        };
        vec![(line, verdict)]
    }

    /// Whether one of a type's declarations has a block.
    fn has_block(&self, name: &str) -> bool {
        let is_one = |fact: &Fact| matches!(&fact.what, What::Type { name: of, block: true, .. } if of == name);
        self.gathered.facts.iter().any(|(_, fact)| is_one(fact))
    }

    /// Tells whether a resource's gems are in the cookbook's metadata. Such gems can be put into the artifact.
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
        Some(self.unknown_kind("resource", kind, &message, resource.near.as_deref()))
    }

    /// A type in a notification that neither the library nor a cookbook has.
    fn unknown_receiver(&self, kind: &str) -> Option<Verdict> {
        let Brought { types, methods, .. } = &self.brought;
        if types.contains(kind) || methods.contains(kind) || self.declared.has(kind) {
            return None;
        }
        Some(self.unknown_kind("notification", kind, &format!("unknown resource type `{kind}`"), None))
    }

    /// Judges a type that neither the library nor a cookbook has. `word`: a word of recipes that is nearly the same.
    fn unknown_kind(&self, subject: &'static str, kind: &str, message: &str, word: Option<&str>) -> Verdict {
        if !self.gathered.missing.is_empty() {
            return Verdict::note(subject, format!("{message}: perhaps of a cookbook that is not here"));
        }
        self.beside.word(kind).unwrap_or_else(|| {
            let types = schema::reference::all().map(|found| found.name);
            let near = nearest(kind, types.chain(self.brought.types.iter().copied()));
            Verdict::problem(subject, message).near(near.or(word))
        })
    }

    /// A part of an attribute that nothing sets, with a near name among those that are set.
    fn unset_attribute(&self, name: &str, below: &[String]) -> Option<Verdict> {
        let path: Vec<&str> = std::iter::once(name).chain(below.iter().map(String::as_str)).collect();
        let (read, near) = self.attributes.misspelt(&path)?;
        let (key, above) = read.split_last()?;
        if self.beside.may_set(key) {
            return None;
        }
        if !self.gathered.missing.is_empty() {
            return Some(Verdict::left_out("attribute", left_out::missing(self.gathered)));
        }
        let shown = |key: &str| {
            let keys = above.iter().chain([&key]).map(|key| format!("['{key}']"));
            format!("node{}", keys.collect::<String>())
        };
        let message = format!("`{}` has no value: nothing here sets it", shown(key));
        Some(Verdict::problem("attribute", message).near(Some(&shown(near))))
    }

    /// A word of a recipe or an attributes file that the library does not know.
    fn word(&self, name: &str, near: Option<&str>) -> Option<Verdict> {
        let Brought { types, methods, members, .. } = &self.brought;
        if types.contains(name) || methods.contains(name) || members.contains(name) {
            return None;
        }
        let message = format!("unknown method or variable `{name}`");
        if !self.gathered.missing.is_empty() {
            return Some(Verdict::note("method", format!("{message}: perhaps of a cookbook that is not here")));
        }
        self.beside.word(name).or_else(|| {
            Some(match near {
                Some(_) => Verdict::problem("method", message).near(near),
                // A gem may bring it.
                None => Verdict::note("method", message),
            })
        })
    }

    /// A method that nodes do not have. Attributes are not methods of nodes since Chef 13.
    fn node_word(&self, name: &str, removed: Option<&String>, near: Option<&str>) -> Option<Verdict> {
        if self.brought.methods.contains(name) {
            return None;
        }
        let message = format!("a node has no method `{name}`");
        if !self.gathered.missing.is_empty() && removed.is_none() {
            return Some(Verdict::note("method", format!("{message}: perhaps of a cookbook that is not here")));
        }
        let is_attribute = self.beside.is_fact(name) || self.attributes.has(name);
        let hint = match removed {
            Some(hint) => Some(hint.clone()),
            None if is_attribute => Some(format!("an attribute is read as `node['{name}']`")),
            None => near.map(|near| format!("did you mean `node.{near}`?")),
        };
        Some(match hint {
            Some(_) => Verdict::problem("method", message).hint(hint),
            // A gem may bring it.
            None => Verdict::note("method", message),
        })
    }

    fn properties<'a>(&'a self, resource: &'a Resource) -> impl Iterator<Item = (u32, Verdict)> + 'a {
        let kind = resource.kind.as_str();
        let judge = move |property: &'a Property| {
            let name = property.name.as_str();
            let verdict = match &property.bad {
                Some(action) => no_action(kind, action, None),
                None if property.unknown && !self.brought.methods.contains(name) => {
                    let message = format!("resource type `{kind}` has no property `{name}`");
                    // A missing cookbook may add actions to the type, so this counts only if none is missing.
                    if self.gathered.missing.is_empty() {
                        Verdict::problem("property", message)
                    } else {
                        Verdict::note("property", message)
                    }
                }
                None if let Some(platform) = &property.elsewhere => {
                    let message =
                        format!("resource type `{kind}` has no property `{name}` on Linux: such nodes fail here");
                    Verdict::note("property", message).only_on(platform)
                }
                None if let Some(message) = &property.refused => Verdict::problem("property", message),
                None => return modes::decimal(property).map(|verdict| (property.line, verdict)),
            };
            let near = property.near.as_ref().map(|near| format!("did you mean `{near}`?"));
            Some((property.line, verdict.hint(near)))
        };
        resource.properties.iter().filter_map(judge)
    }

    fn library(&self, name: &str, why: &str, hint: Option<String>) -> Option<Verdict> {
        let file = format!("libraries/{}.rb", name.trim_end_matches(".rb"));
        if self.gathered.files.contains(&file) {
            return None;
        }
        let gem = name.split('/').next().unwrap_or(name);
        let travels = self.gems().any(|name| name == gem || name.replace('-', "_") == gem);
        if travels {
            return None;
        }
        Some(Verdict::problem("library", format!("`{name}` cannot be required: {why}")).hint(hint))
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

    /// Returns findings about a recipe that is included by a literal name: the recipe may not exist, or the metadata may lack
    /// its cookbook.
    fn recipe(&self, name: &str) -> Vec<Verdict> {
        let (cookbook, recipe) = self.gathered.recipe_name(name);
        let mut found = vec![];
        let recipes = match self.gathered.included.get(cookbook) {
            Some(recipes) => Some(recipes.iter().map(String::as_str).collect()),
            None => (cookbook == self.gathered.name).then(|| self.gathered.recipes().collect::<BTreeSet<_>>()),
        };
        if let Some(recipes) = recipes.filter(|recipes| !recipes.contains(recipe)) {
            let near = nearest(recipe, recipes).map(|near| format!("{cookbook}::{near}"));
            let verdict = Verdict::problem("cookbook", format!("there is no recipe {cookbook}::{recipe}"));
            found.push(verdict.near(near.as_deref()));
        }
        if let Some(verdict) = self.beside.recipe(name, cookbook) {
            found.push(verdict);
        } else if cookbook != self.gathered.name && !self.gathered.depends.contains_key(cookbook) {
            let message =
                format!("recipe {name} is included, and the metadata do not depend on the cookbook {cookbook}");
            // Chef only warns about this, because another cookbook of the run may depend on it.
            found.push(Verdict::note("cookbook", message));
        }
        found
    }
}

fn gem(name: &str, why: Option<&str>) -> Option<Verdict> {
    let why = why?;
    Some(Verdict::note("gem", format!("the gem {name} must travel in the policy, and be plain Ruby: {why}")))
}

fn error(file: &str, class: &str, message: &str) -> Verdict {
    let kind = match chef::kind(class) {
        ErrorKind::InvalidSyntax => "syntax",
        _ if file.starts_with("metadata.") => "metadata",
        _ => "file",
    };
    Verdict::problem(kind, format!("{class}: {message}"))
}

/// Returns the finding about an action that a type does not have.
pub(super) fn no_action(kind: &str, action: &str, near: Option<&str>) -> Verdict {
    Verdict::problem("action", format!("resource type `{kind}` has no action `{action}`")).near(near)
}
