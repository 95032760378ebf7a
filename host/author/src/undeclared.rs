//! Cookbooks that others use without depending on them.
//!
//! Nothing is evaluated: which cookbook brings a name, and on which it depends, is read from the text of the files. That costs
//! little, so that the check of cookbooks and an error of a run can both ask.

use crate::CookbookFolders;
use crate::folders::Selected;
use contract::{CookbookFiles, Failure, Raised};
use errors::{ErrorKind, chef};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The folders of a cookbook that bring something to others.
const FOLDERS: [&str; 3] = ["resources", "libraries", "definitions"];

/// Words before the name of a resource type or of a method.
const NAMING: [&str; 4] = ["provides", "resource_name", "define", "def"];

/// The word of metadata that names a dependency.
const DEPENDS: &str = "depends";

pub(crate) const METADATA_JSON: &str = "metadata.json";
pub(crate) const METADATA_RB: &str = "metadata.rb";

/// The most characters of a message in which the name of a cookbook is looked for.
const LONGEST_MESSAGE: usize = 300;

/// The resource types, methods and constants that cookbooks bring to others, with the cookbooks.
pub struct Brought(BTreeMap<String, BTreeSet<String>>);

impl Brought {
    /// Reads the files of some cookbooks.
    pub fn of<'c>(files: &dyn CookbookFiles, cookbooks: impl IntoIterator<Item = &'c str>) -> Self {
        let mut brought = Self(BTreeMap::new());
        for cookbook in cookbooks {
            let paths = FOLDERS.iter().flat_map(|folder| files.paths(cookbook, folder).unwrap_or_default());
            for path in paths.filter(|path| path.ends_with(".rb")) {
                if let Some(file) = path.strip_prefix("resources/") {
                    brought.add(type_of(cookbook, file), cookbook);
                }
                let text = files.read(cookbook, &path).unwrap_or_default();
                for line in String::from_utf8_lossy(&text).lines() {
                    declared(line).into_iter().for_each(|name| brought.add(name.to_owned(), cookbook));
                }
            }
        }
        brought
    }

    fn add(&mut self, name: String, cookbook: &str) {
        self.0.entry(name).or_default().insert(cookbook.to_owned());
    }

    /// Returns the cookbooks that bring a name.
    pub fn by(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.get(name).into_iter().flatten().map(String::as_str)
    }
}

/// Returns what a person could do about a failure of a recipe that uses a cookbook which its own does not depend on. `files` are
/// those of all cookbooks that could be depended on.
pub fn hint(files: &dyn CookbookFiles, failure: &Failure) -> Option<String> {
    let Failure::Raised(raised) = failure else { return None };
    let all: Vec<String> = files.cookbooks().into_iter().map(|(name, _)| name).collect();
    let in_cookbook = |frame: &String| all.iter().find(|one| frame.strip_prefix(*one).is_some_and(is_path)).cloned();
    let user = raised.backtrace.iter().find_map(in_cookbook)?;
    let depends = dependencies(files, &user)?;
    let others: Vec<&str> =
        all.iter().filter(|one| **one != user && !depends.contains(one)).map(String::as_str).collect();
    let (used, what) = used(files, raised, &others)?;
    let metadata = if files.read(&user, METADATA_JSON).is_ok() { METADATA_JSON } else { METADATA_RB };
    let line = line_for(used, &format!("{user}/{metadata}"));
    Some(format!("cookbook {user} does not depend on cookbook {used}{what}: {line}"))
}

/// Returns how a file of metadata is made to name a cookbook.
pub(crate) fn line_for(cookbook: &str, file: &str) -> String {
    if file.ends_with(METADATA_JSON) {
        format!("add `\"{cookbook}\": \">= 0.0.0\"` to \"dependencies\" in {file}")
    } else {
        format!("add the line `{DEPENDS} '{cookbook}'` to {file}")
    }
}

/// Returns the one of `others` that a failure is about, and what it brings.
fn used<'c>(files: &dyn CookbookFiles, raised: &Raised, others: &[&'c str]) -> Option<(&'c str, String)> {
    if raised.kind == ErrorKind::NoSuchCookbook {
        // The message begins with the name.
        let beginning: String = raised.message.chars().take(LONGEST_MESSAGE).collect();
        let missing = others.iter().find(|one| tokens(&beginning).any(|token| token == **one))?;
        return Some((missing, String::new()));
    }
    let unknown = chef::unknown_name(&raised.kind, &raised.message);
    if let Some(name) = unknown {
        let brought = Brought::of(files, others.iter().copied());
        if let Some(used) = others.iter().find(|one| brought.by(name).any(|by| by == **one)) {
            return Some((used, format!(", which brings `{name}`")));
        }
    }
    let read = first_attribute(raised.hint.as_deref()?)?;
    let has_attributes = |one: &&&str| files.paths(one, "attributes").is_ok_and(|paths| !paths.is_empty());
    let used = others.iter().filter(|one| **one == read).find(has_attributes)?;
    Some((used, format!(", which sets `node['{read}']`")))
}

/// Returns whether the rest of a frame goes on as the path of a file.
fn is_path(rest: &str) -> bool {
    rest.starts_with('/')
}

/// Returns all cookbooks of some folders under the names that their metadata say, else under those of the folders.
pub(crate) fn by_name(folders: &CookbookFolders) -> CookbookFolders {
    let selected = |folder: &str| {
        let name = name(folders, folder)?;
        Some(Selected { name, version: String::new(), folder: folder.to_owned() })
    };
    folders.select(&folders.names().filter_map(selected).collect::<Vec<_>>())
}

/// Returns the name of the cookbook in a folder. `None`: it has no metadata.
fn name(folders: &CookbookFolders, folder: &str) -> Option<String> {
    if let Ok(json) = folders.read(folder, METADATA_JSON) {
        let json: Value = serde_json::from_slice(&json).unwrap_or_default();
        return Some(json.get("name").and_then(Value::as_str).unwrap_or(folder).to_owned());
    }
    let metadata = folders.read(folder, METADATA_RB).ok()?;
    let metadata = String::from_utf8_lossy(&metadata);
    let named = metadata.lines().find_map(|line| second_word(line, "name"));
    Some(named.unwrap_or(folder).to_owned())
}

/// Returns the word after the first one of a line, if that is `first`.
fn second_word<'l>(line: &'l str, first: &str) -> Option<&'l str> {
    let mut words = tokens(line);
    words.next().filter(|word| *word == first).and(words.next())
}

/// Returns the cookbooks that the metadata of a cookbook name. `None`: it has no metadata, as cookbooks in Rust.
pub(crate) fn dependencies(files: &dyn CookbookFiles, cookbook: &str) -> Option<Vec<String>> {
    let text = |path: &str| files.read(cookbook, path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if let Some(json) = text(METADATA_JSON) {
        let json: Value = serde_json::from_str(&json).ok()?;
        return Some(
            json.get("dependencies")
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(|all| all.keys().cloned())
                .collect(),
        );
    }
    let metadata = text(METADATA_RB)?;
    Some(metadata.lines().filter_map(|line| second_word(line, DEPENDS).map(str::to_owned)).collect())
}

/// Returns the name of the resource type that a file declares without naming it.
fn type_of(cookbook: &str, file: &str) -> String {
    let name = file.rsplit('/').next().and_then(|file| file.strip_suffix(".rb")).unwrap_or_default();
    let full = if name == "default" { cookbook.to_owned() } else { format!("{cookbook}_{name}") };
    full.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_")
}

/// Returns the names of the resource type, the method, the class or the constant that a line declares.
fn declared(line: &str) -> Vec<&str> {
    let mut words = tokens(line);
    match words.next() {
        Some(word) if NAMING.contains(&word) => words.find(|word| *word != "self").into_iter().collect(),
        Some("class" | "module") => {
            // Of `class A::B < C` the parts of the name alone.
            let own = line.split(['<', ';', '#']).next().unwrap_or_default();
            tokens(own).skip(1).collect()
        }
        Some(word) if word.starts_with(|first: char| first.is_ascii_uppercase()) => {
            let is_set = line.trim_start().get(word.len()..).is_some_and(is_assignment);
            is_set.then_some(word).into_iter().collect()
        }
        _ => vec![],
    }
}

fn is_assignment(rest: &str) -> bool {
    rest.trim_start().strip_prefix('=').is_some_and(|rest| !rest.starts_with(['=', '~', '>']))
}

/// Returns the first key of an attribute in a text: `nginx` of `node['nginx']['port']`.
fn first_attribute(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("node[")?;
    tokens(rest.split(']').next()?).next()
}

/// Returns the names in a text, of cookbooks and of Ruby.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '?' | '!');
    text.split(move |letter: char| !is_part(letter)).filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::FileError;

    /// Paths that begin with the cookbook, and texts.
    struct Files(Vec<(&'static str, &'static str)>);

    impl CookbookFiles for Files {
        fn cookbooks(&self) -> Vec<(String, String)> {
            ["a", "b", "my-c"].map(|name| (name.to_owned(), "1.0.0".to_owned())).to_vec()
        }

        fn paths(&self, cookbook: &str, folder: &str) -> Result<Vec<String>, FileError> {
            let own = self.0.iter().filter_map(|(path, _)| path.strip_prefix(cookbook)?.strip_prefix('/'));
            Ok(own.filter(|path| path.starts_with(&format!("{folder}/"))).map(str::to_owned).collect())
        }

        fn read(&self, cookbook: &str, path: &str) -> Result<Vec<u8>, FileError> {
            let found = self.0.iter().find(|(known, _)| *known == format!("{cookbook}/{path}"));
            found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| FileError::NoSuchFile(path.to_owned()))
        }
    }

    fn files() -> Files {
        Files(vec![
            ("a/metadata.rb", "name 'a'\ndepends \"other\", '~> 1.0'\n"),
            ("a/recipes/default.rb", ""),
            ("b/metadata.rb", "name 'b'\n"),
            ("b/attributes/default.rb", "default['b']['port'] = 1\n"),
            ("b/resources/site.rb", "provides :old_site\nproperty :port, Integer\n"),
            (
                "b/libraries/help.rb",
                "module Tools\n  LIST = %w(x)\n  class Big::Thing < Base\n  def self.go?(x)\n  x == 1\n",
            ),
            ("my-c/resources/default.rb", ""),
        ])
    }

    #[test]
    fn a_name_is_found_with_the_cookbook_that_brings_it() {
        let brought = Brought::of(&files(), ["b", "my-c"]);
        let found = |name: &str| brought.by(name).next().map(str::to_owned);
        for name in ["b_site", "old_site", "Tools", "LIST", "Big", "Thing", "go?"] {
            assert_eq!(found(name).as_deref(), Some("b"), "{name}");
        }
        assert_eq!(found("my_c").as_deref(), Some("my-c"));
        for name in ["site", "port", "Base", "x", "b"] {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn a_failure_is_answered_with_the_line_for_the_metadata() {
        let raised = |class: &str, message: &str, hint: Option<&str>| {
            let backtrace = vec!["a/recipes/default.rb:3: in block".to_owned()];
            let hint = hint.map(str::to_owned);
            super::hint(&files(), &Raised { backtrace, hint, ..Raised::of_class(class, message) }.into())
        };
        let line = "add the line `depends 'b'` to a/metadata.rb";
        let expect = |what: &str| Some(format!("cookbook a does not depend on cookbook b{what}: {line}"));
        assert_eq!(raised("Chef::Exceptions::CookbookNotFound", "Cookbook b not found. If ..", None), expect(""));
        let unknown = "undefined method `b_site' for cookbook: a, recipe: default :Chef::Recipe";
        assert_eq!(raised("NoMethodError", unknown, None), expect(", which brings `b_site`"));
        let constant = "uninitialized constant Chef::Recipe::Tools";
        assert_eq!(raised("NameError", constant, None), expect(", which brings `Tools`"));
        let nil = raised("NoMethodError", "undefined method '[]' for nil", Some("`node['b']` is nil (a/..:3)"));
        assert_eq!(nil, expect(", which sets `node['b']`"));
        // Nobody brings these, and the last cookbook is depended on.
        assert_eq!(raised("NoMethodError", "undefined method `b_sites' for x", None), None);
        assert_eq!(raised("NoMethodError", "undefined method '[]' for nil", Some("`node['a']` is nil")), None);
        assert_eq!(raised("Chef::Exceptions::CookbookNotFound", "Cookbook other not found", None), None);
        let mut json = files();
        json.0.push(("a/metadata.json", "{\"dependencies\": {\"other\": \"~> 1.0\"}}"));
        let backtrace = vec!["a/recipes/default.rb:3".to_owned()];
        let missing = Raised { backtrace, ..Raised::new(ErrorKind::NoSuchCookbook, "Cookbook b not found") };
        let said = hint(&json, &missing.into()).unwrap();
        assert!(said.ends_with("add `\"b\": \">= 0.0.0\"` to \"dependencies\" in a/metadata.json"), "{said}");
    }
}
