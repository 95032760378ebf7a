//! Reads the rest of recipes that ended early, so that a dry run can say which literal needs it did not come to.
//!
//! Nothing is evaluated: these are the needs that the text after a line names, whether a run would come to them or not.
//! Recipes that the rest includes by a literal name are read too, from their first line.

use super::facts::{Fact, What};
use super::gather::{self, Gathered};
use super::{Ask, needs, suggest};
use contract::CookbookFiles;
use serde_json::json;
use std::collections::{BTreeSet, VecDeque};

/// The most files that are read for the rest of one recipe.
const MAX_FILES: usize = 100;

/// The most needs that are kept of one recipe.
const MAX_ENTRIES: usize = 500;

/// A line of a recipe's file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// The cookbook's folder.
    pub cookbook: String,
    /// The file below the cookbook: `recipes/default.rb`.
    pub file: String,
    /// From 1; 0 stands for the whole file.
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
    /// A file could not be read or parsed, or there was too much to read.
    pub incomplete: bool,
}

/// An entry of a policy's table, and the first line that needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key: `packages`.
    pub key: &'static str,
    /// The entry as TOML.
    pub value: String,
    /// The place as `COOKBOOK/FILE:LINE`.
    pub place: String,
}

/// Reads the text from some lines on. `compiled` are the recipes that were begun, as `cookbook::recipe`: they are not
/// included a second time. `automatic` are the names of the facts that a node has.
pub fn read(
    lines: &[Line],
    files: &dyn CookbookFiles,
    compiled: &BTreeSet<String>,
    automatic: &BTreeSet<String>,
    ask: &mut Ask<'_>,
) -> Rest {
    let mut rest = Rest::default();
    let (mut facts, mut known) = (Vec::new(), BTreeSet::new());
    let mut next: VecDeque<Line> = lines.iter().cloned().collect();
    while let Some(line) = next.pop_front() {
        if !known.insert((line.cookbook.clone(), line.file.clone())) {
            continue;
        }
        if known.len() > MAX_FILES {
            rest.incomplete = true;
            break;
        }
        for fact in file(&line, ask).into_iter().filter(|fact| is_after(fact, line.line)) {
            match &fact.what {
                What::Error { .. } | What::TooMuch {} => rest.incomplete = true,
                What::Recipe { values: Some(names), .. } if fact.platform.is_none() => {
                    next.extend(names.iter().filter_map(|name| recipe(name, &line.cookbook, files, compiled)));
                }
                What::Resource(resource) if resource.sure && !resource.known && fact.platform.is_none() => {
                    rest.types.insert(resource.kind.clone());
                }
                _ => {}
            }
            facts.push((format!("{}/{}", line.cookbook, line.file), fact));
        }
    }
    let name = lines.first().map(|line| line.cookbook.clone()).unwrap_or_default();
    let depends = files.cookbooks().into_iter().map(|(name, _)| (name, String::new())).collect();
    let needs = needs::needs(&Gathered { name, facts, depends, ..Gathered::default() }, automatic);
    rest.computed = needs.computed.values().map(BTreeSet::len).sum();
    let entries = suggest::entries(&needs).into_iter().filter_map(|entry| {
        let (file, line) = entry.need.places.first()?;
        Some(Entry { key: entry.key, value: entry.value, place: format!("{file}:{line}") })
    });
    rest.entries = entries.collect();
    rest.incomplete |= rest.entries.len() > MAX_ENTRIES;
    rest.entries.truncate(MAX_ENTRIES);
    rest
}

fn file(line: &Line, ask: &mut Ask<'_>) -> Vec<Fact> {
    let Line { cookbook, file, .. } = line;
    // Attributes may have other values in this run than their defaults: what is made of them counts as computed.
    let input = json!({ "cookbook": cookbook, "name": cookbook, "file": file, "attributes": {}, "properties": {} });
    gather::facts(ask("check", input))
}

/// Whether the recipe had not come to a fact when it ended in this line. A resource counts that was being declared.
fn is_after(fact: &Fact, line: u32) -> bool {
    let reaches = |properties: &[super::facts::Property]| properties.iter().any(|property| property.line >= line);
    match &fact.what {
        What::Error { .. } | What::TooMuch {} => true,
        What::Resource(resource) => fact.line >= line || reaches(&resource.properties),
        _ => fact.line >= line,
    }
}

/// The file of a recipe that is included by name. `None`: it was begun already, or the policy does not have it.
fn recipe(name: &str, from: &str, files: &dyn CookbookFiles, compiled: &BTreeSet<String>) -> Option<Line> {
    let (cookbook, recipe) = name.split_once("::").unwrap_or((name, "default"));
    let cookbook = if cookbook.is_empty() { from } else { cookbook };
    if compiled.contains(&format!("{cookbook}::{recipe}")) {
        return None;
    }
    let own = Gathered {
        name: cookbook.to_owned(),
        files: files.paths(cookbook, "").unwrap_or_default(),
        ..Gathered::default()
    };
    let file = own.recipe_file(&format!("{cookbook}::{recipe}"))?.to_owned();
    Some(Line { cookbook: cookbook.to_owned(), file, line: 0 })
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
    fn guest(question: &str, input: Value) -> Result<Value, Failure> {
        assert_eq!(question, "check");
        let package = |line: u32, name: &str| json!({ "fact": "resource", "line": line, "type": "package", "names": [name], "sure": true, "known": true });
        let file = json!({
            "fact": "resource", "line": 4, "type": "file", "names": ["/etc/motd"], "sure": true, "known": true,
            "properties": [{ "name": "content", "line": 6, "values": null }],
        });
        Ok(match input["file"].as_str() {
            Some("recipes/default.rb") => json!([
                package(1, "before"),
                file,
                { "fact": "path", "line": 6, "access": "read", "values": ["/srv/a"] },
                { "fact": "path", "line": 7, "access": "read", "values": null },
                { "fact": "recipe", "line": 8, "values": ["a::more", "::old", "other::x"] },
                { "fact": "resource", "line": 9, "type": "a_site", "names": ["x"], "sure": true },
            ]),
            Some("recipes/more.rb") => json!([package(1, "more"), { "fact": "recipe", "line": 2, "values": ["a"] }]),
            other => panic!("{other:?} is not to be read"),
        })
    }

    #[test]
    fn needs_after_a_line_are_told_with_those_of_included_recipes() {
        let begun = BTreeSet::from(["a::default".to_owned(), "a::old".to_owned()]);
        let line = Line { cookbook: "a".into(), file: "recipes/default.rb".into(), line: 6 };
        let rest = read(&[line], &Files, &begun, &BTreeSet::new(), &mut guest);
        let entries: Vec<_> =
            rest.entries.iter().map(|one| format!("{} {} {}", one.key, one.value, one.place)).collect();
        let expect = [
            "paths \"/etc/motd\" a/recipes/default.rb:4",
            "read_paths \"/srv/a\" a/recipes/default.rb:6",
            "packages \"more\" a/recipes/more.rb:1",
        ];
        assert_eq!(entries, expect);
        assert_eq!((rest.computed, rest.types, rest.incomplete), (1, BTreeSet::from(["a_site".to_owned()]), false));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told() {
        let line = Line { cookbook: "a".into(), file: "recipes/default.rb".into(), line: 6 };
        let rest =
            read(&[line], &Files, &BTreeSet::new(), &BTreeSet::new(), &mut |_, _| Err(Failure::raised("X", "gone")));
        assert_eq!(rest, Rest { incomplete: true, ..Rest::default() });
    }
}
