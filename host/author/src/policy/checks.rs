//! Finds mistakes that would otherwise show only on the node: recipes, cookbooks, resource types and templates that do not
//! exist.
//!
//! Some can be found in the files. For the others, `wrun policy build` loads the component once, in a sandbox without any
//! grants, and asks it to describe its cookbooks.

use std::collections::BTreeMap;

use node::run_list::split_recipe;
use serde::Deserialize;
use text::nearest;

use super::sources::{Kind, custom_types, references, silent_calls};
use super::toml_file::MAX_FILE;
use super::{AuthorError, PolicyFolder};
use artifact::Language;

/// The description that a component gives of itself.
#[derive(Debug, Deserialize)]
pub struct Described {
    cookbooks: Vec<DescribedCookbook>,
}

#[derive(Debug, Deserialize)]
struct DescribedCookbook {
    name: String,
    recipes: Vec<String>,
    types: Vec<String>,
}

/// Endings of files that hold a recipe of a cookbook in Ruby.
const RECIPE_ENDINGS: [&str; 4] = ["rb", "yml", "yaml", "json"];

/// Endings of templates of cookbooks in Rust, which the SDK renders.
const TEMPLATE_ENDINGS: [&str; 3] = ["j2", "jinja", "jinja2"];

/// Most names that an error lists.
const MAX_LISTED: usize = 10;

impl PolicyFolder {
    /// Checks the files: recipes of cookbooks in Ruby, and templates and files of cookbooks in Rust.
    ///
    /// The returned error counts only if the code compiles: a template with the default name is missing. If the code
    /// misspells `source`, the compiler explains it better.
    pub(super) fn check_files(&self) -> Result<Option<AuthorError>, AuthorError> {
        let mut later = None;
        for (item, line) in &self.items {
            let Some((cookbook, recipe)) = recipe_of(item) else { continue };
            if self.language(cookbook) == Some(Language::Ruby) {
                let recipes = self.ruby_recipes(cookbook);
                self.check_recipe(cookbook, recipe, &recipes, *line)?;
            }
        }
        for member in &self.workspace.crates {
            let below = format!("{}/", member.name);
            let own = self.files.iter().filter_map(|(path, content)| Some((path.strip_prefix(&below)?, content)));
            let own: Vec<(&str, &[u8])> = own.map(|(path, content)| (path, content.as_slice())).collect();
            for (path, content) in own.iter().filter(|(path, _)| is_template(path)) {
                if let Some((line, what)) = template_fault(path, content) {
                    return Err(AuthorError::Wrong { path: member.path.join(path), line, what });
                }
            }
            for (path, content) in own.iter().filter(|(path, _)| path.starts_with("src/") && path.ends_with(".rs")) {
                for reference in references(&String::from_utf8_lossy(content)) {
                    let (folder, word) = match reference.kind {
                        Kind::Template => ("templates/", "template"),
                        Kind::File => ("files/", "file"),
                    };
                    let names: Vec<&str> = own.iter().filter_map(|(path, _)| path.strip_prefix(folder)).collect();
                    // The file may be in the folder itself, or in a folder for a platform or host.
                    let is_there = |name: &&str| {
                        let below = name.split_once('/').map(|(_, below)| below);
                        *name == reference.name || below == Some(&*reference.name)
                    };
                    if !names.iter().any(is_there) {
                        let names = names.iter().map(|name| name.strip_prefix("default/").unwrap_or(name));
                        let rest = near_or_all(&reference.name, names);
                        let what =
                            format!("cookbook {} does not have the {word} `{}`{rest}", member.name, reference.name);
                        let wrong = AuthorError::Wrong { path: member.path.join(path), line: reference.line, what };
                        if !reference.is_usual {
                            return Err(wrong);
                        }
                        later.get_or_insert(wrong);
                    }
                }
            }
        }
        Ok(later)
    }

    /// Returns a sentence for each call in the policy's own code that is always false in a sandbox, such as `Path::exists`.
    pub fn silent_calls(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for member in &self.workspace.crates {
            let below = format!("{}/", member.name);
            let own = self.files.iter().filter_map(|(path, content)| Some((path.strip_prefix(&below)?, content)));
            for (path, content) in own.filter(|(path, _)| path.starts_with("src/") && path.ends_with(".rs")) {
                let file = member.path.join(path);
                let calls = silent_calls(&String::from_utf8_lossy(content)).into_iter();
                sentences.extend(calls.map(|(method, line)| {
                    format!(
                        "{}:{line}: `{method}()` of a path is always false in a policy, which has no files of its own; \
                         `wrun_sdk::machine::exists` looks at the machine",
                        file.display()
                    )
                }));
            }
        }
        sentences
    }

    /// Checks what the component says about itself.
    ///
    /// # Errors
    /// It lacks a cookbook or a recipe of the run lists, or two cookbooks have one resource type.
    pub fn check_component(&self, described: &Described) -> Result<(), AuthorError> {
        let there: BTreeMap<&str, &DescribedCookbook> =
            described.cookbooks.iter().map(|cookbook| (cookbook.name.as_str(), cookbook)).collect();
        let crates = self.manifest.cookbooks.iter().filter(|cookbook| cookbook.language == Language::Rust);
        if let Some(missing) = crates.map(|cookbook| &cookbook.name).find(|name| !there.contains_key(name.as_str())) {
            let names = there.keys().copied().chain([missing.as_str()]);
            let crates = names.map(|name| name.replace('-', "_")).collect::<Vec<_>>().join(", ");
            return Err(self.in_library(format!(
                "`policy!` does not name the cookbook {missing}, so the component is built without it; \
                 write `wrun_sdk::policy!({crates});`"
            )));
        }
        if let Some(stranger) = there.keys().find(|name| self.language(name).is_none()) {
            return Err(self.in_library(format!(
                "`policy!` names the cookbook {stranger}, which is not among the policy's cookbooks; \
                 put it into cookbooks/, or name it in `cookbooks` of policy.toml"
            )));
        }
        for (item, line) in &self.items {
            let Some((cookbook, recipe)) = recipe_of(item) else { continue };
            if let Some(found) = there.get(cookbook) {
                self.check_recipe(cookbook, recipe, &found.recipes, *line)?;
            }
        }
        let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
        for cookbook in &described.cookbooks {
            for name in &cookbook.types {
                if let Some(other) = owners.insert(name, &cookbook.name) {
                    let owner = &cookbook.name;
                    let both = if other == owner {
                        format!("twice in cookbook {owner}")
                    } else {
                        format!("in the cookbooks {other} and {owner}")
                    };
                    return Err(self.in_library(format!("the resource type `{name}` is {both}; rename one of them")));
                }
            }
        }
        self.check_types(&owners.keys().copied().collect::<Vec<_>>())
    }

    /// Checks the resource types that cookbooks in Rust declare by their names. Types of cookbooks in Ruby are known only in
    /// a run.
    fn check_types(&self, own: &[&str]) -> Result<(), AuthorError> {
        if self.manifest.cookbooks.iter().any(|cookbook| cookbook.language == Language::Ruby) {
            return Ok(());
        }
        for member in &self.workspace.crates {
            let below = format!("{}/", member.name);
            let sources = self.files.iter().filter_map(|(path, content)| Some((path.strip_prefix(&below)?, content)));
            for (path, content) in sources.filter(|(path, _)| path.starts_with("src/") && path.ends_with(".rs")) {
                let types = custom_types(&String::from_utf8_lossy(content));
                let unknown = |name: &str| !own.contains(&name) && schema::find(name).is_none();
                if let Some((name, line)) = types.into_iter().find(|(name, _)| unknown(name)) {
                    let rest = near_or_all(&name, own.iter().copied());
                    let rest = rest.replace("; it has ", "; the policy has ");
                    let rest = rest.replace("; it does not have any", "; the policy does not have types of its own");
                    let what = format!("resource type `{name}` does not exist{rest}");
                    return Err(AuthorError::Wrong { path: member.path.join(path), line, what });
                }
            }
        }
        Ok(())
    }

    fn language(&self, cookbook: &str) -> Option<Language> {
        self.manifest.cookbook(cookbook).map(|found| found.language)
    }

    fn check_recipe(&self, cookbook: &str, recipe: &str, known: &[String], line: usize) -> Result<(), AuthorError> {
        if known.iter().any(|name| name == recipe) {
            return Ok(());
        }
        let rest = near_or_all(recipe, known.iter().map(String::as_str));
        let what = format!("cookbook {cookbook} does not have the recipe `{recipe}`{rest}");
        Err(AuthorError::Wrong { path: self.path().join("policy.toml"), line, what })
    }

    /// The recipes of a cookbook in Ruby, by its files.
    fn ruby_recipes(&self, cookbook: &str) -> Vec<String> {
        let below = format!("{cookbook}/");
        let own = self.files.iter().filter_map(|(path, _)| path.strip_prefix(&below));
        let name = |path: &str| {
            let (name, ending) = path.rsplit_once('.')?;
            let name = if name == "recipe" { "default" } else { name.strip_prefix("recipes/")? };
            RECIPE_ENDINGS.contains(&ending).then(|| name.to_owned())
        };
        own.filter_map(name).collect()
    }

    /// An error about the crate of the component.
    fn in_library(&self, what: String) -> AuthorError {
        let path = self.path().join("src/lib.rs");
        let text = plain_files::read_text(&path, MAX_FILE).unwrap_or_default();
        let line = text.lines().position(|line| line.contains("policy!(")).map_or(1, |at| at + 1);
        AuthorError::Wrong { path, line, what }
    }
}

/// Returns the end of a sentence about an unknown name: the near name, or all known names.
fn near_or_all<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if known.is_empty() => "; it does not have any".to_owned(),
        None if known.len() <= MAX_LISTED => format!("; it has {}", known.join(", ")),
        None => String::new(),
    }
}

/// The cookbook and the recipe of an item such as `recipe[web::default]`.
fn recipe_of(item: &str) -> Option<(&str, &str)> {
    Some(split_recipe(item.strip_prefix("recipe[")?.strip_suffix(']')?))
}

/// Whether a file of a cookbook in Rust is a template.
fn is_template(path: &str) -> bool {
    path.starts_with("templates/")
        && path.rsplit_once('.').is_some_and(|(_, ending)| TEMPLATE_ENDINGS.contains(&ending))
}

/// Returns the line and the error of a template that cannot be rendered with any variables.
fn template_fault(path: &str, content: &[u8]) -> Option<(usize, String)> {
    let Ok(text) = std::str::from_utf8(content) else { return Some((1, "the template is not UTF-8".to_owned())) };
    let error = minijinja::Environment::new().template_from_named_str(path, text).err()?;
    let what = error.detail().map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind()));
    Some((error.line().unwrap_or(1), what))
}
