//! The checked content of a Policyfile or a policy.toml, in one common model.

use std::fmt;

use artifact::lock::AttributeValue;
use node::run_list::{RunListItem, RunListItemKind};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::constraint::{Constraint, InvalidConstraint};

pub use crate::cookbook_source::{
    ArchiveSource, CookbookSource, GitSource, ServerObject, ServerSource, cookbook_source, is_cookbook_name,
    shown_options,
};

/// The content of a policy's file.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The policy's name; a Policyfile may leave it out.
    pub name: Option<String>,
    /// Items as they were written.
    pub run_list: Vec<String>,
    /// Further run lists by name, in the order in which they were written.
    pub named_run_lists: Vec<(ListName, Vec<String>)>,
    /// The sources of cookbooks without a source of their own, in order.
    pub default_sources: Vec<DefaultSource>,
    /// Cookbooks that are named, each once.
    pub cookbooks: Vec<CookbookSpec>,
    /// Policies to include, each once.
    pub includes: Vec<IncludeSpec>,
    /// Attributes of the level `default`.
    pub default_attributes: AttributeValue,
    /// Attributes of the level `override`.
    pub override_attributes: AttributeValue,
    /// The line on which an attribute was written, by level and path.
    pub attribute_lines: Vec<(Level, Vec<String>, u32)>,
}

/// A level of attributes that a policy has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// `default`: the lower level, over which `override` wins.
    Default,
    /// `override`: the higher level, which wins over `default`.
    Override,
}

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Default => "default",
            Self::Override => "override",
        })
    }
}

impl Policy {
    /// The line on which an attribute was written, or the one of the nearest attribute around it.
    #[must_use]
    pub fn attribute_line(&self, level: Level, path: &[String]) -> Option<u32> {
        let lines = self.attribute_lines.iter().filter(|(of, written, _)| *of == level && path.starts_with(written));
        lines.max_by_key(|(_, written, _)| written.len()).map(|(_, _, line)| *line)
    }
}

/// The name of a named run list. chef-cli distinguishes a list named by a Ruby symbol from a list with the same name in an
/// included policy, and its lock has the name twice. wrun makes the same locks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListName {
    /// The name under which `--named-run-list` finds it.
    pub name: String,
    /// Whether it was written as a symbol: `named_run_list :update, ..`.
    pub is_symbol: bool,
}

/// A source of cookbooks without a source of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultSource {
    /// The kind of the source, with its path or address.
    pub place: DefaultPlace,
    /// The cookbooks that it is preferred for.
    pub preferred: Vec<String>,
    /// The line that names it, from 1.
    pub line: u32,
}

/// The kinds of default sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultPlace {
    /// A folder of cookbooks, or one with a folder `cookbooks`.
    ChefRepo(String),
    /// A Supermarket, by its address.
    Supermarket(String),
    /// A Chef server, by its address.
    ChefServer(String),
}

/// The public Supermarket, which is the default.
const PUBLIC_SUPERMARKET: &str = "https://supermarket.chef.io";

/// A cookbook that a policy names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CookbookSpec {
    /// The cookbook's name, as its metadata has it.
    pub name: String,
    /// The versions that may be taken.
    pub constraint: Constraint,
    /// Its source, as written: the keys of `source_options`.
    pub options: Map<String, Value>,
    /// Its own source, if it has one.
    pub source: Option<CookbookSource>,
    /// Its line, or 0 if it comes from a lock.
    pub line: u32,
}

/// A policy to include.
#[derive(Debug, Clone, PartialEq)]
pub struct IncludeSpec {
    /// The name by which it is included.
    pub name: String,
    /// Its source, as written.
    pub options: Map<String, Value>,
    /// The line that includes it, from 1.
    pub line: u32,
}

/// The keys for the source of an include, which needs one of them.
const INCLUDE_SOURCES: [&str; 4] = ["path", "remote", "server", "git"];

/// An error in a line of a policy's file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct Problem {
    /// The line, or 0 where the problem is with the whole file.
    pub line: u32,
    /// The message, as a sentence without its place.
    pub what: String,
}

/// A default source as written, unchecked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WrittenSource {
    /// The kind, as the file's language shows it: `:supermarket`.
    pub kind: String,
    /// The address or path.
    pub argument: Option<String>,
    /// The cookbooks that it is preferred for.
    pub preferred: Vec<String>,
    /// The line that names it, from 1.
    pub line: u32,
}

impl WrittenSource {
    /// Checks the source.
    ///
    /// # Errors
    /// There is no source of this kind, or its address is missing.
    pub fn check(self) -> Result<DefaultSource, Problem> {
        let Self { kind, argument, preferred, line } = self;
        let problem = |what: String| Problem { line, what };
        let needed =
            |what: &str| argument.clone().ok_or_else(|| problem(format!("default_source {kind} needs {what}")));
        let place = match kind.trim_start_matches(':') {
            "chef_repo" => DefaultPlace::ChefRepo(needed("the path of the folder")?),
            "supermarket" | "community" => {
                DefaultPlace::Supermarket(argument.unwrap_or_else(|| PUBLIC_SUPERMARKET.to_owned()))
            }
            "chef_server" => DefaultPlace::ChefServer(needed("the server's URI")?),
            "delivery_supermarket" | "artifactory" => {
                needed("the server's URI")?;
                return Err(problem(format!("default_source {kind} is not supported; use :supermarket or :chef_repo")));
            }
            _ => {
                return Err(problem(format!(
                    "Invalid default_source type '{kind}'; known are :chef_repo, :supermarket and :chef_server"
                )));
            }
        };
        Ok(DefaultSource { place, preferred, line })
    }
}

impl fmt::Display for DefaultPlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ChefRepo(path) => write!(out, "chef_repo({path})"),
            Self::Supermarket(uri) => write!(out, "supermarket({uri})"),
            Self::ChefServer(uri) => write!(out, "chef_server({uri})"),
        }
    }
}

/// Sources that are preferred for one cookbook.
#[must_use]
pub fn preferred_twice(sources: &[DefaultSource]) -> Vec<Problem> {
    let mut problems = vec![];
    for (index, second) in sources.iter().enumerate() {
        for first in sources.iter().take(index) {
            let both: Vec<_> = first.preferred.iter().filter(|name| second.preferred.contains(name)).cloned().collect();
            if !both.is_empty() {
                problems.push(Problem {
                    line: second.line,
                    what: format!(
                        "{} and {} are both set as the preferred source for cookbook(s) '{}'; only one source can be \
                         preferred for a cookbook",
                        first.place,
                        second.place,
                        both.join(", ")
                    ),
                });
            }
        }
    }
    problems
}

impl IncludeSpec {
    /// Returns the errors of the include's options.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let problem = |what: String| vec![Problem { line: self.line, what }];
        let has = |key: &str| self.options.get(key).is_some_and(|value| !value.is_null());
        if !INCLUDE_SOURCES.into_iter().any(has) {
            return problem(format!(
                "include_policy \"{}\" must use one of the following sources: {}",
                self.name,
                INCLUDE_SOURCES.join(", ")
            ));
        }
        let is_server = has("server") && (!has("path") || has("git")) && !has("remote");
        if is_server && !has("policy_revision_id") && !has("policy_group") {
            return problem(format!(
                "include_policy for {} must specify policy_revision_id or policy_group",
                self.name
            ));
        }
        let wrong = self.options.iter().find(|(_, value)| !value.is_string() && !value.is_null());
        wrong.map_or_else(Vec::new, |(key, value)| {
            problem(format!("`{key}` of include_policy \"{}\" must be a string, not {value}", self.name))
        })
    }
}

/// Reads a constraint, with the line on which it is wrong.
///
/// # Errors
/// The text is not a constraint.
pub fn constraint_on(line: u32, text: Option<&str>) -> Result<Constraint, Problem> {
    let parsed = text.map_or_else(|| Ok(Constraint::any()), Constraint::parse);
    parsed.map_err(|error: InvalidConstraint| Problem { line, what: error.to_string() })
}

/// Returns the errors of the items of a run list. `list`: its name, if it has one.
#[must_use]
pub fn run_list_problems(items: &[String], list: Option<&str>, line: u32) -> Vec<Problem> {
    let mut problems = vec![];
    for text in items {
        let described = match list {
            None => format!("Run List Item '{text}'"),
            Some(name) => format!("Named Run List '{name}' Item '{text}'"),
        };
        let mut add = |what: String| problems.push(Problem { line, what: format!("{described} {what}") });
        let item = match RunListItem::parse(text) {
            Ok(item) => item,
            Err(error) => {
                add(format!("is not a run list item: {error}"));
                continue;
            }
        };
        if item.kind == RunListItemKind::Role {
            add("is a role; a policy's run list has recipes only".to_owned());
            continue;
        }
        let (cookbook, recipe) = match item.name.split_once("::") {
            Some((cookbook, recipe)) => (cookbook, Some(recipe)),
            None => (item.name.as_str(), None),
        };
        let rule = "can only contain letters, digits, hyphens, underscores and dots";
        if !is_component(cookbook) {
            let meant = match cookbook.split_once(':') {
                Some((before, after)) if !before.is_empty() && !after.is_empty() => {
                    format!(". Did you mean '{}'?", text.replacen(':', "::", 1))
                }
                _ => String::new(),
            };
            add(format!("has invalid cookbook name '{cookbook}'. Cookbook names {rule}{meant}"));
        }
        if let Some(recipe) = recipe.filter(|recipe| !is_component(recipe)) {
            add(format!("has invalid recipe name '{recipe}'. Recipe names {rule}"));
        }
    }
    problems
}

fn is_component(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|character| character.is_alphanumeric() || matches!(character, '.' | '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_checked_part_by_part() {
        #[track_caller]
        fn check(item: &str, expect: &[&str]) {
            let found = run_list_problems(&[item.to_owned()], None, 3);
            assert_eq!(found.len(), expect.len(), "{found:?}");
            assert!(found.iter().zip(expect).all(|(found, part)| found.what.contains(part)), "{found:?}");
        }
        check("web", &[]);
        check("recipe[web::a.b-c_d]", &[]);
        check("web:extra", &["Did you mean 'web::extra'?"]);
        check("we b", &["invalid cookbook name 'we b'"]);
        check("web::a b", &["invalid recipe name 'a b'"]);
        check("a b::c d", &["invalid cookbook name 'a b'", "invalid recipe name 'c d'"]);
        check("web::", &["invalid recipe name ''"]);
        check("role[web]", &["is a role"]);
    }
}
