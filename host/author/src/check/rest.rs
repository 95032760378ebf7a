//! Reads the rest of recipes that ended early, so that a dry run can list the literal needs that it did not reach.
//!
//! No code is evaluated: these are the needs in the text after a line, even if a run would not reach them. Recipes that the
//! rest includes by a literal name are also read, from their first line.

use super::facts::{Fact, What};
use super::gather::{self, Gathered};
use super::{Ask, needs, suggest};
use contract::{CookbookFiles, FileCheck, Question};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The most files that are read for the rest of a policy's recipes.
pub const MAX_REST_FILES: usize = 100;

/// Largest number of needs of one recipe.
const MAX_ENTRIES: usize = 500;

/// The most names of custom resource types that are kept of one recipe, and the most bytes of such a name.
const MAX_TYPES: usize = 100;
const MAX_TYPE: usize = 200;

/// A line of a recipe's file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// The cookbook, by the name of its folder.
    pub cookbook: String,
    /// The file below the cookbook: `recipes/default.rb`.
    pub file: String,
    /// The line, from 1; 0 means the whole file.
    pub line: u32,
}

/// The needs of the rest of a recipe.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// Entries of a policy's table that would meet the literal needs.
    pub entries: Vec<Entry>,
    /// The number of places whose need is computed when they run.
    pub computed: usize,
    /// Custom resource types that the rest declares: the needs of their actions are not read.
    pub types: BTreeSet<String>,
    /// Whether needs may be missing: a file could not be read or parsed, or a limit was reached.
    pub incomplete: bool,
}

/// An entry of a policy's table, and the first line that needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key of the policy's table, as in `packages`.
    pub key: &'static str,
    /// The entry as TOML.
    pub value: String,
    /// The place as `COOKBOOK/FILE:LINE`.
    pub place: String,
}

/// Reads the rest of a policy's recipes. All of them share the budget of [`MAX_REST_FILES`] files.
pub struct RestReader<'a> {
    files: &'a dyn CookbookFiles,
    compiled: &'a BTreeSet<String>,
    automatic: &'a BTreeSet<String>,
    /// Each cookbook that a recipe was included from, with the paths of its files.
    cookbooks: BTreeMap<String, Gathered>,
    /// The number of files that may still be read.
    left: usize,
}

impl<'a> RestReader<'a> {
    /// Begins with a whole budget. `compiled` are the recipes that were begun, as `cookbook::recipe`: they are not included
    /// a second time. `automatic` are the names of the facts that a node has.
    pub fn new(files: &'a dyn CookbookFiles, compiled: &'a BTreeSet<String>, automatic: &'a BTreeSet<String>) -> Self {
        Self { files, compiled, automatic, cookbooks: BTreeMap::new(), left: MAX_REST_FILES }
    }

    /// Reads the text of one recipe from some lines on. Entries are in the order of the files that were read, and of lines.
    pub fn read(&mut self, lines: &[Line], ask: &mut Ask<'_>) -> Rest {
        let mut rest = Rest::default();
        let mut facts = Vec::new();
        // The order in which the files are read.
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut next: VecDeque<Line> = lines.iter().cloned().collect();
        while let Some(line) = next.pop_front() {
            let name = format!("{}/{}", line.cookbook, line.file);
            if known.contains_key(&name) {
                continue;
            }
            if self.left == 0 {
                rest.incomplete = true;
                break;
            }
            self.left -= 1;
            known.insert(name.clone(), known.len());
            let mut included = BTreeSet::new();
            for fact in file(&line, ask).into_iter().filter(|fact| is_after(fact, line.line)) {
                match &fact.what {
                    What::Error { .. } | What::TooMuch {} => rest.incomplete = true,
                    What::Recipe { values: Some(names), .. } if fact.platform.is_none() => {
                        let new = names.iter().filter(|name| included.insert((*name).clone()));
                        next.extend(new.filter_map(|name| self.recipe(name, &line.cookbook)));
                    }
                    What::Resource(resource) if resource.sure && !resource.known && fact.platform.is_none() => {
                        rest.add_type(&resource.kind);
                    }
                    _ => {}
                }
                facts.push((name.clone(), fact));
            }
        }
        let name = lines.first().map(|line| line.cookbook.clone()).unwrap_or_default();
        let depends = self.files.cookbooks().into_iter().map(|(name, _)| (name, String::new())).collect();
        let needs = needs::needs(&Gathered { name, facts, depends, ..Gathered::default() }, self.automatic);
        rest.computed = needs.computed.values().map(BTreeSet::len).sum();
        let entries = suggest::entries(&needs).into_iter().filter_map(|entry| {
            let place = |(file, line): &(String, u32)| (known.get(file).copied(), *line, file.clone());
            let (rank, line, file) = entry.need.places.iter().map(place).min()?;
            let place = format!("{file}:{line}");
            Some((rank, line, Entry { key: entry.key, value: entry.value, place }))
        });
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by_key(|(rank, line, _)| (*rank, *line));
        rest.incomplete |= entries.len() > MAX_ENTRIES;
        rest.entries = entries.into_iter().map(|(_, _, entry)| entry).take(MAX_ENTRIES).collect();
        rest
    }

    /// Returns the start of a recipe's file, or `None` if the policy does not have the recipe.
    pub fn begin(&mut self, recipe: &str) -> Option<Line> {
        let (cookbook, name) = recipe.split_once("::").unwrap_or((recipe, "default"));
        self.first_line(cookbook, &format!("{cookbook}::{name}"))
    }

    /// Returns the file of a recipe that is included by name, or `None` if the recipe has run or been read already, or does
    /// not exist.
    fn recipe(&mut self, name: &str, from: &str) -> Option<Line> {
        let (cookbook, recipe) = name.split_once("::").unwrap_or((name, "default"));
        let cookbook = if cookbook.is_empty() { from } else { cookbook };
        let name = format!("{cookbook}::{recipe}");
        if self.compiled.contains(&name) {
            return None;
        }
        self.first_line(cookbook, &name)
    }

    fn first_line(&mut self, cookbook: &str, name: &str) -> Option<Line> {
        if !self.cookbooks.contains_key(cookbook) {
            let files = self.files.paths(cookbook, "").unwrap_or_default();
            let own = Gathered { name: cookbook.to_owned(), files, ..Gathered::default() };
            self.cookbooks.insert(cookbook.to_owned(), own);
        }
        let file = self.cookbooks.get(cookbook)?.recipe_file(name)?.to_owned();
        Some(Line { cookbook: cookbook.to_owned(), file, line: 0 })
    }
}

impl Rest {
    fn add_type(&mut self, name: &str) {
        if name.len() > MAX_TYPE || (self.types.len() >= MAX_TYPES && !self.types.contains(name)) {
            self.incomplete = true;
        } else if !self.types.contains(name) {
            self.types.insert(name.to_owned());
        }
    }
}

fn file(line: &Line, ask: &mut Ask<'_>) -> Vec<Fact> {
    let Line { cookbook, file, .. } = line;
    // Attributes may have other values in this run than their defaults, so values made of them count as computed.
    let question = Question::Check(Box::new(FileCheck {
        cookbook: cookbook.clone(),
        name: cookbook.clone(),
        place: None,
        file: file.clone(),
        attributes: json!({}),
        properties: json!({}),
    }));
    gather::facts(ask(question))
}

/// Tells whether the recipe had not reached a fact when it ended in this line. The resource that it was just declaring counts
/// as not reached.
fn is_after(fact: &Fact, line: u32) -> bool {
    let reaches = |properties: &[super::facts::Property]| properties.iter().any(|property| property.line >= line);
    match &fact.what {
        What::Error { .. } | What::TooMuch {} => true,
        What::Resource(resource) => fact.line >= line || reaches(&resource.properties),
        _ => fact.line >= line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Failure, FileError};
    use serde_json::Value;

    struct Files;

    impl CookbookFiles for Files {
        fn cookbooks(&self) -> Vec<(String, String)> {
            vec![("a".into(), "1.0.0".into())]
        }

        fn paths(&self, cookbook: &str, _folder: &str) -> Result<Vec<String>, FileError> {
            let known = ["recipes/default.rb", "recipes/more.rb", "recipes/old.rb"];
            Ok(if cookbook == "a" { known.map(str::to_owned).to_vec() } else { vec![] })
        }

        fn read(&self, _cookbook: &str, path: &str) -> Result<Vec<u8>, FileError> {
            Err(FileError::NoSuchFile(path.to_owned()))
        }
    }

    /// What the guest would find in the recipes.
    fn guest(question: Question) -> Result<Value, Failure> {
        let Question::Check(input) = question else { panic!("{question:?}") };
        let package = |line: u32, name: &str| json!({ "fact": "resource", "line": line, "type": "package", "names": [name], "sure": true, "known": true });
        let file = json!({
            "fact": "resource", "line": 4, "type": "file", "names": ["/etc/motd"], "sure": true, "known": true,
            "properties": [{ "name": "content", "line": 6, "values": null }],
        });
        Ok(match input.file.as_str() {
            "recipes/default.rb" => json!([
                package(1, "before"),
                file,
                { "fact": "path", "line": 6, "access": "read", "values": ["/srv/a"] },
                { "fact": "path", "line": 7, "access": "read", "values": null },
                { "fact": "recipe", "line": 8, "values": ["a::more", "::old", "other::x"] },
                { "fact": "resource", "line": 9, "type": "a_site", "names": ["x"], "sure": true },
                package(10, "late"),
            ]),
            "recipes/more.rb" => json!([package(1, "more"), { "fact": "recipe", "line": 2, "values": ["a"] }]),
            other => panic!("{other} is not to be read"),
        })
    }

    #[test]
    fn needs_after_a_line_are_told_with_those_of_included_recipes() {
        let begun = BTreeSet::from(["a::default".to_owned(), "a::old".to_owned()]);
        let line = Line { cookbook: "a".into(), file: "recipes/default.rb".into(), line: 6 };
        let none = BTreeSet::new();
        let rest = RestReader::new(&Files, &begun, &none).read(&[line], &mut guest);
        let entries: Vec<_> =
            rest.entries.iter().map(|one| format!("{} {} {}", one.key, one.value, one.place)).collect();
        let expect = [
            "paths \"/etc/motd\" a/recipes/default.rb:4",
            "read_paths \"/srv/a\" a/recipes/default.rb:6",
            "packages \"late\" a/recipes/default.rb:10",
            "packages \"more\" a/recipes/more.rb:1",
        ];
        assert_eq!(entries, expect, "in the order of files and lines");
        assert_eq!((rest.computed, rest.types, rest.incomplete), (1, BTreeSet::from(["a_site".to_owned()]), false));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told() {
        let line = Line { cookbook: "a".into(), file: "recipes/default.rb".into(), line: 6 };
        let none = BTreeSet::new();
        let rest = RestReader::new(&Files, &none, &none).read(&[line], &mut |_| Err(Failure::of_class("X", "gone")));
        assert_eq!(rest, Rest { incomplete: true, ..Rest::default() });
    }

    /// A cookbook of 300 recipes, each of which includes the next one and declares 300 types of its own.
    struct Chain;

    impl CookbookFiles for Chain {
        fn cookbooks(&self) -> Vec<(String, String)> {
            vec![("a".into(), "1.0.0".into())]
        }

        fn paths(&self, _cookbook: &str, _folder: &str) -> Result<Vec<String>, FileError> {
            Ok((0..300).map(|number| format!("recipes/r{number}.rb")).collect())
        }

        fn read(&self, _cookbook: &str, path: &str) -> Result<Vec<u8>, FileError> {
            Err(FileError::NoSuchFile(path.to_owned()))
        }
    }

    #[test]
    fn all_recipes_of_a_policy_share_one_budget_of_files_and_few_types_are_kept() {
        let mut read = 0;
        let mut guest = |question: Question| {
            read += 1;
            let Question::Check(check) = question else { panic!("{question:?}") };
            let number: usize = check.file.trim_matches(|letter: char| !letter.is_ascii_digit()).parse().unwrap();
            let kind = |at: usize| json!({ "fact": "resource", "line": 1, "type": format!("t{number}_{at}"), "names": ["x"], "sure": true });
            let mut facts: Vec<_> = (0..300).map(kind).collect();
            facts.push(json!({ "fact": "recipe", "line": 2, "values": [format!("a::r{}", number + 1)] }));
            Ok(json!(facts))
        };
        let none = BTreeSet::new();
        let mut reader = RestReader::new(&Chain, &none, &none);
        let line = |number: usize| Line { cookbook: "a".into(), file: format!("recipes/r{number}.rb"), line: 0 };
        let rests = [reader.read(&[line(260)], &mut guest), reader.read(&[line(0)], &mut guest)];
        let last = reader.read(&[line(5)], &mut guest);
        assert_eq!(rests.map(|rest| (rest.types.len(), rest.incomplete)), [(MAX_TYPES, true), (MAX_TYPES, true)]);
        assert_eq!((read, last), (MAX_REST_FILES, Rest { incomplete: true, ..Rest::default() }));
    }
}
