//! Reads the list of a server's cookbooks from its document `/universe`.
//!
//! The document is untrusted. Cookbooks that a policy cannot reach are ignored. A version with an invalid entry is left out
//! with a note, so that one bad upload does not stop all users of the server.

use std::collections::{BTreeMap, BTreeSet};

use node::version_constraint::{Version, VersionStyle};
use serde_json::{Map, Value};
use text::check_json_values;
use thiserror::Error;

use crate::constraint::Constraint;
use crate::model::is_cookbook_name;
use crate::solver::Universe;

/// The most values of a document: the largest public Supermarket has some hundred thousand.
const MAX_VALUES: usize = 1_000_000;

/// The most notes about entries that cannot be used.
const MAX_NOTES: usize = 10;

/// The most characters of a name or an address that a note shows.
const MAX_SHOWN: usize = 200;

/// The cookbooks that a server offers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Offered {
    /// All versions with their dependencies.
    pub universe: Universe,
    /// The addresses of the archives, by name and version. A Chef server's are not used.
    pub archives: BTreeMap<(String, String), String>,
    /// Entries that cannot be used: name, version and reason.
    refused: Vec<(String, String, String)>,
}

/// The document is not a universe.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("it is not a list of cookbooks: {0}")]
pub struct InvalidUniverse(String);

impl Offered {
    /// Reads the document. `needs_archives`: an entry without the address of an archive cannot be used.
    ///
    /// # Errors
    /// It is not JSON, has too many values, or is not an object of cookbooks.
    pub fn parse(text: &[u8], needs_archives: bool) -> Result<Self, InvalidUniverse> {
        check_json_values(text, MAX_VALUES).map_err(InvalidUniverse)?;
        let document: Map<String, Value> =
            serde_json::from_slice(text).map_err(|error| InvalidUniverse(error.to_string()))?;
        let mut all = Self::default();
        for (name, versions) in document {
            let Value::Object(versions) = versions else {
                all.refused.push((name, String::new(), "its versions are not an object".into()));
                continue;
            };
            for (version, entry) in versions {
                match read_entry(&name, &version, &entry, needs_archives) {
                    Ok((dependencies, archive)) => {
                        let key = (name.clone(), version.clone());
                        all.archives.extend(archive.map(|archive| (key, archive)));
                        all.universe.entry(name.clone()).or_default().insert(version, dependencies);
                    }
                    Err(reason) => all.refused.push((name.clone(), version, reason)),
                }
            }
        }
        Ok(all)
    }

    /// Removes cookbooks that a policy cannot reach. Returns sentences about reachable entries that are invalid.
    pub fn keep(&mut self, wanted: &BTreeSet<String>) -> Vec<String> {
        self.universe.retain(|name, _| wanted.contains(name));
        self.archives.retain(|(name, _), _| wanted.contains(name));
        let reached = self.refused.drain(..).filter(|(name, _, _)| wanted.contains(name));
        let mut notes: Vec<String> = reached
            .map(|(name, version, reason)| {
                let which = format!("{} {}", shown(&name), shown(&version));
                format!("cookbook {} is left out: {reason}", which.trim_end())
            })
            .collect();
        if notes.len() > MAX_NOTES {
            let more = notes.len() - MAX_NOTES;
            notes.truncate(MAX_NOTES);
            notes.push(format!("and {more} more are left out"));
        }
        notes
    }
}

/// The dependencies and the archive's address of one version.
type Entry = (Vec<(String, String)>, Option<String>);

fn read_entry(name: &str, version: &str, entry: &Value, needs_archive: bool) -> Result<Entry, String> {
    if !is_cookbook_name(name) {
        return Err("its name cannot be a cookbook's".into());
    }
    Version::parse(version, VersionStyle::Cookbook).map_err(|error| error.to_string())?;
    let none = Map::new();
    let written = match entry.get("dependencies") {
        None | Some(Value::Null) => &none,
        Some(Value::Object(written)) => written,
        Some(_) => return Err("its dependencies are not an object".into()),
    };
    let mut dependencies = vec![];
    for (name, constraint) in written {
        if !is_cookbook_name(name) {
            return Err(format!("it depends on {:?}, which cannot be the name of a cookbook", shown(name)));
        }
        let constraint = constraint.as_str().ok_or("a constraint of its dependencies is not a text")?;
        Constraint::parse(constraint).map_err(|error| error.to_string())?;
        dependencies.push((name.clone(), constraint.to_owned()));
    }
    let archive = entry.get("download_url").and_then(Value::as_str).map(str::to_owned);
    if needs_archive && archive.is_none() {
        return Err("it has no download_url".into());
    }
    Ok((dependencies, archive))
}

fn shown(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}

/// Returns the cookbooks that could be chosen: the wanted ones with all dependencies of any version in any source.
#[must_use]
pub fn reachable<'a>(universes: &[&'a Universe], wanted: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = wanted.into_iter().collect();
    while let Some(name) = open.pop() {
        if found.insert(name.to_owned()) {
            let versions = universes.iter().filter_map(|universe| universe.get(name));
            open.extend(versions.flat_map(BTreeMap::values).flatten().map(|(dependency, _)| dependency.as_str()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document() -> Value {
        let of = |name: &str, version: &str| {
            format!("https://supermarket.example/api/v1/cookbooks/{name}/versions/{version}/download")
        };
        json!({
            "app": {"1.0.0": {"dependencies": {"lib": "~> 1.0"}, "download_url": of("app", "1.0.0")}},
            "lib": {
                "1.0.0": {"download_url": of("lib", "1.0.0"), "dependencies": {}},
                "1.1.0": {"download_url": of("lib", "1.1.0"), "dependencies": {"app": "about 2"}},
                "1.2.0": {"dependencies": {}},
                "2": {"download_url": of("lib", "2"), "dependencies": {}},
            },
            "other": {"0.1.0": {"download_url": of("other", "0.1.0"), "dependencies": [1]}},
            "broken": 3,
        })
    }

    #[test]
    fn a_document_of_more_values_than_any_server_has_is_refused_before_it_is_parsed() {
        let zeros = format!("{{\"a\":[{}0]}}", "0,".repeat(MAX_VALUES));
        let error = Offered::parse(zeros.as_bytes(), true).unwrap_err().to_string();
        assert!(error.ends_with("it has more than 1000000 values"), "{error}");
    }

    #[test]
    fn what_cannot_be_used_is_left_out_and_told_only_where_it_is_reached() {
        let mut offered = Offered::parse(document().to_string().as_bytes(), true).unwrap();
        assert_eq!(offered.archives.len(), 2);
        let wanted = reachable(&[&offered.universe], ["app"]);
        let notes = offered.keep(&wanted);
        let versions: Vec<_> = offered.universe.iter().map(|(name, all)| (name.as_str(), all.len())).collect();
        assert_eq!(versions, [("app", 1), ("lib", 1)]);
        assert_eq!(notes.len(), 3, "{notes:?}");
        assert!(notes.iter().any(|note| note.starts_with("cookbook lib 1.1.0 is left out: \"about 2\"")), "{notes:?}");
        assert!(notes.contains(&"cookbook lib 1.2.0 is left out: it has no download_url".to_owned()), "{notes:?}");
        let mut broken = Offered::parse(document().to_string().as_bytes(), true).unwrap();
        let wanted = ["broken".to_owned(), "other".to_owned()].into();
        assert_eq!(
            broken.keep(&wanted),
            [
                "cookbook other 0.1.0 is left out: its dependencies are not an object",
                "cookbook broken is left out: its versions are not an object"
            ]
        );
        let server = Offered::parse(document().to_string().as_bytes(), false).unwrap();
        assert!(server.universe["lib"].contains_key("1.2.0"));
    }

    #[test]
    fn other_documents_are_refused() {
        for text in ["", "[]", "\"x\"", "{\"a\": {\"1.0.0\""] {
            assert!(Offered::parse(text.as_bytes(), true).is_err(), "{text}");
        }
    }
}
