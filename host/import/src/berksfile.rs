//! Reads the sources of cookbooks from a Berksfile and its lock.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::ruby;

/// Largest number of cookbooks that are read from a Berksfile.
const MAX_COOKBOOKS: usize = 10_000;

/// A cookbook that a Berksfile names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Wanted {
    /// The constraint on its version, as written. Empty: any version.
    pub(crate) constraint: String,
    /// Where the cookbook comes from.
    pub(crate) source: Source,
    /// The line number in the Berksfile.
    pub(crate) line: u64,
}

/// The source of a cookbook.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Source {
    /// A Supermarket or a server. The import does not download from it.
    #[default]
    Elsewhere,
    /// A folder, relative to the Berksfile.
    Path(String),
    /// A git repository, as options of a Policyfile's `cookbook`.
    Git(Vec<(String, String)>),
}

/// The cookbooks of a Berksfile by name, and the locked versions and dependencies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Berksfile {
    pub(crate) wanted: BTreeMap<String, Wanted>,
    pub(crate) locked: BTreeMap<String, Locked>,
    /// The addresses of the Supermarkets that it names.
    pub(crate) supermarkets: Vec<String>,
}

/// A cookbook in a Berksfile.lock.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Locked {
    pub(crate) version: String,
    pub(crate) depends: Vec<String>,
}

/// The Supermarket that a Policyfile uses if it gives no address.
const PUBLIC: &str = "https://supermarket.chef.io";

/// Options of git sources that Policyfiles also support.
const GIT: [&str; 6] = ["git", "github", "branch", "tag", "ref", "rel"];

impl Berksfile {
    /// Parses the runtime's answer about a Berksfile, and the text of its lock.
    pub(crate) fn read(answer: &Value, lock: &str) -> Self {
        let cookbooks = answer.get("cookbooks").and_then(Value::as_array).into_iter().flatten().take(MAX_COOKBOOKS);
        let wanted = cookbooks.filter_map(|cookbook| {
            // An entry without a name is the cookbook in the Berksfile's folder.
            let name = cookbook.get("name")?.as_str()?.to_owned();
            let constraint = cookbook.get("constraint").and_then(Value::as_str).unwrap_or_default().trim();
            // The constraint `>= 0.0.0` allows any version.
            let constraint = if constraint.trim_start_matches(">=").trim().trim_matches(['0', '.']).is_empty() {
                ""
            } else {
                constraint
            };
            let line = cookbook.get("line").and_then(Value::as_u64).unwrap_or_default();
            Some((name, Wanted { constraint: constraint.to_owned(), source: source(cookbook), line }))
        });
        let sources = answer.get("default_sources").and_then(Value::as_array).into_iter().flatten();
        let supermarkets = sources.filter(|source| source.get("kind").and_then(Value::as_str) == Some(":supermarket"));
        let supermarkets = supermarkets.filter_map(|source| Some(source.get("argument")?.as_str()?.to_owned()));
        Self { wanted: wanted.collect(), locked: locked(lock), supermarkets: supermarkets.collect() }
    }

    /// Returns the Policyfile's line for the Supermarket.
    fn default_source(&self) -> String {
        match self.supermarkets.first().filter(|address| address.trim_end_matches('/') != PUBLIC) {
            None => "default_source :supermarket".to_owned(),
            Some(address) => format!("default_source :supermarket, {}", ruby::text(address)),
        }
    }

    /// Returns why a cookbook is missing in the repository, with advice, as the rest of a sentence.
    pub(crate) fn absence(&self, name: &str) -> String {
        let version = self.locked.get(name).map(|locked| &locked.version);
        let locked = version.map(|version| format!(" (locked: {version})")).unwrap_or_default();
        match self.wanted.get(name).map(|wanted| &wanted.source) {
            Some(Source::Path(path)) => format!("the Berksfile takes it from {path}, which is not a cookbook"),
            None if locked.is_empty() => "nothing here says where it comes from: put it into cookbooks/".to_owned(),
            _ => {
                let pinned = version.map(|version| {
                    format!(
                        ", and `cookbook {}, {}` keeps its version",
                        ruby::text(name),
                        ruby::text(&format!("= {version}"))
                    )
                });
                format!(
                    "it comes from a Supermarket or a server{locked}: `{}` in the Policyfile takes it from there{}",
                    self.default_source(),
                    pinned.unwrap_or_default()
                )
            }
        }
    }
}

fn source(cookbook: &Value) -> Source {
    let pairs = cookbook.get("options").and_then(Value::as_array).into_iter().flatten();
    let options: BTreeMap<&str, &str> =
        pairs.filter_map(|pair| Some((pair.get(0)?.as_str()?, pair.get(1)?.as_str()?))).collect();
    if let Some(path) = options.get("path") {
        return Source::Path((*path).to_owned());
    }
    if !options.contains_key("git") && !options.contains_key("github") {
        return Source::Elsewhere;
    }
    let known = GIT.iter().filter_map(|key| Some(((*key).to_owned(), (*options.get(key)?).to_owned())));
    // Berkshelf calls the commit `revision`.
    let revision = options.get("revision").map(|revision| ("ref".to_owned(), (*revision).to_owned()));
    Source::Git(known.chain(revision).collect())
}

/// Parses the lock. After `GRAPH` it lists cookbooks with their versions, and below each its dependencies, indented further.
fn locked(lock: &str) -> BTreeMap<String, Locked> {
    let mut found: BTreeMap<String, Locked> = BTreeMap::new();
    let mut last = None;
    for line in lock.lines().skip_while(|line| line.trim() != "GRAPH").skip(1).take(MAX_COOKBOOKS * 10) {
        let indent = line.len() - line.trim_start().len();
        let (name, version) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match (indent, &last) {
            (0, _) => {}
            (1..=2, _) => {
                let version = version.trim_matches(['(', ')']).to_owned();
                found.insert(name.to_owned(), Locked { version, depends: vec![] });
                last = Some(name.to_owned());
            }
            (_, Some(last)) => {
                if let Some(locked) = found.get_mut(last) {
                    locked.depends.push(name.to_owned());
                }
            }
            (_, None) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn places_and_locked_versions_are_read() {
        let answer = json!({ "cookbooks": [
            { "name": "nginx", "constraint": "~> 2.7", "options": [], "line": 3 },
            { "name": "apt", "constraint": ">= 0.0.0", "options": [["path", "site/apt"], ["group", "test"]], "line": 4 },
            { "name": "app", "constraint": null, "options": [["git", "https://git/app"], ["branch", "main"], ["revision", "ab"], ["protocol", "ssh"]], "line": 5 },
            { "name": null, "options": [["path", "."]], "line": 6 },
        ]});
        let lock = "DEPENDENCIES\n  nginx (~> 2.7)\n\nGRAPH\n  nginx (2.7.6)\n    ohai (~> 4.0)\n    yum (>= 0.0.0)\n  ohai (4.2.3)\n";
        let berksfile = Berksfile::read(&answer, lock);
        assert_eq!(berksfile.wanted.keys().collect::<Vec<_>>(), ["app", "apt", "nginx"]);
        assert_eq!(
            berksfile.wanted["nginx"],
            Wanted { constraint: "~> 2.7".into(), source: Source::Elsewhere, line: 3 }
        );
        assert_eq!(
            (berksfile.wanted["apt"].constraint.as_str(), &berksfile.wanted["apt"].source),
            ("", &Source::Path("site/apt".into()))
        );
        let pairs = [("git", "https://git/app"), ("branch", "main"), ("ref", "ab")];
        let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        assert_eq!(berksfile.wanted["app"].source, Source::Git(pairs));
        assert_eq!(
            berksfile.locked["nginx"],
            Locked { version: "2.7.6".into(), depends: vec!["ohai".into(), "yum".into()] }
        );
        let absence = |berksfile: &Berksfile, part: &str| assert!(berksfile.absence("ohai").contains(part), "{part}");
        absence(&berksfile, "(locked: 4.2.3): `default_source :supermarket` in the Policyfile takes it from there");
        absence(&berksfile, "and `cookbook 'ohai', '= 4.2.3'` keeps its version");
        let own = json!({ "default_sources": [
            { "kind": ":chef_repo", "argument": "x" }, { "kind": ":supermarket", "argument": "https://own.example/" },
        ]});
        absence(
            &Berksfile::read(&own, lock),
            "`default_source :supermarket, 'https://own.example/'` in the Policyfile",
        );
        assert!(berksfile.absence("other").contains("nothing here says"));
    }
}
