//! Reads the metadata of cookbooks: `metadata.json` directly, and `metadata.rb` by a guest that evaluates it.

use author::CookbookFolders;
use author::folders::Selected;
use author::gems::{WantedGem, wanted_gems};
use contract::{CookbookFiles as _, ErrorKind, Failure, FileError, Question};
use resolve::cookbook_choice::KnownCookbook;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The version of a cookbook whose metadata does not have one.
const NO_VERSION: &str = "0.0.0";

/// A cookbook's metadata, as far as the host needs it.
pub(super) struct Metadata {
    folder: String,
    version: String,
    dependencies: BTreeMap<String, String>,
    /// The gems that it names.
    pub(super) gems: Vec<WantedGem>,
    /// The failure, if the cookbook cannot be used.
    pub(super) broken: Option<Failure>,
}

impl Metadata {
    pub(super) fn known(&self) -> KnownCookbook {
        KnownCookbook { version: self.version.clone(), dependencies: self.dependencies.clone() }
    }

    /// Removes some dependencies, and returns their names.
    pub(super) fn drop_dependencies(&mut self, drops: impl Fn(&str) -> bool) -> Vec<String> {
        let dropped = self.dependencies.keys().filter(|name| drops(name)).cloned().collect();
        self.dependencies.retain(|name, _| !drops(name));
        dropped
    }

    pub(super) fn selected(&self, name: &str) -> Selected {
        Selected { name: name.to_owned(), version: self.version.clone(), folder: self.folder.clone() }
    }

    fn broken(folder: &str, failure: Failure) -> Self {
        Self {
            folder: folder.to_owned(),
            version: NO_VERSION.to_owned(),
            dependencies: BTreeMap::new(),
            gems: vec![],
            broken: Some(failure),
        }
    }
}

/// Reads the metadata of all cookbooks, by name. Without a name in the metadata, the folder's name counts.
pub(super) fn all(
    cookbooks: &CookbookFolders,
    ask: &mut dyn FnMut(Question) -> Result<Value, Failure>,
) -> BTreeMap<String, Metadata> {
    let mut known = BTreeMap::new();
    for folder in cookbooks.names() {
        let (name, metadata) = match read(cookbooks, folder, ask) {
            Ok((name, metadata)) => (name, metadata),
            Err(failure) => (folder.to_owned(), Metadata::broken(folder, failure)),
        };
        // A folder with the same name as its cookbook wins over one with another name.
        if name == folder || !known.contains_key(&name) {
            known.insert(name, metadata);
        }
    }
    known
}

/// Adds the place that raised it to a failure of metadata, because its message often lacks the place.
fn with_place(failure: Failure, folder: &str, place: &str) -> Failure {
    let is_own = |frame: &&String| frame.contains("metadata.rb:");
    let frame = failure.backtrace().iter().find(is_own).and_then(|frame| frame.split(": in ").next());
    let at = match frame {
        Some(frame) if frame.starts_with('/') => frame.to_owned(),
        Some(frame) => format!("{place}/{}", frame.rsplit('/').next().unwrap_or(frame)),
        None => place.to_owned(),
    };
    failure.and_hint(format!("in the metadata of cookbook {folder}: {at}"))
}

fn read(
    cookbooks: &CookbookFolders,
    folder: &str,
    ask: &mut dyn FnMut(Question) -> Result<Value, Failure>,
) -> Result<(String, Metadata), Failure> {
    let place = cookbooks.place(folder).map(|path| path.display().to_string()).unwrap_or_default();
    let nameless = || {
        let what = "The `name' attribute is required in cookbook metadata";
        let message = format!("Cookbook loaded at path [{place}] has invalid metadata: {what}");
        Failure::raised(ErrorKind::InvalidMetadata, message)
    };
    // If the files cannot be listed, a guest would see a cookbook without files: so this is an error here.
    cookbooks.paths(folder, "").map_err(|(FileError::NoSuchFile(why) | FileError::NoSuchCookbook(why))| {
        Failure::raised(ErrorKind::InputOutput, format!("{place}: {why}"))
    })?;
    let json = match cookbooks.read(folder, "metadata.json") {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
            let message = format!("{place}/metadata.json:{}: {error}", error.line());
            with_place(Failure::raised(ErrorKind::InvalidJson, message), folder, &place)
        })?,
        Err(FileError::NoSuchFile(_) | FileError::NoSuchCookbook(_)) => match cookbooks.read(folder, "metadata.rb") {
            Ok(_) => ask(Question::Metadata { cookbook: folder.to_owned(), place: place.clone() })
                .map_err(|failure| with_place(failure, folder, &place))?,
            Err(_) => return Err(nameless().and_hint(format!("write {place}/metadata.rb with `name '{folder}'`"))),
        },
    };
    let text = |key: &str| json.get(key).and_then(Value::as_str).map(str::to_owned);
    let name = text("name").filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| nameless().and_hint(format!("add `name '{folder}'` to the metadata of {place}")))?;
    let metadata = Metadata {
        folder: folder.to_owned(),
        version: text("version").unwrap_or_else(|| NO_VERSION.to_owned()),
        dependencies: json.get("dependencies").and_then(Value::as_object).map(texts).unwrap_or_default(),
        gems: wanted_gems(&name, &json),
        broken: None,
    };
    Ok((name, metadata))
}

/// The entries of an object that are texts.
fn texts(object: &Map<String, Value>) -> BTreeMap<String, String> {
    object.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cookbook_is_called_as_its_metadata_says() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("a/metadata.json", r#"{"name": "a", "version": "1.2.0", "dependencies": {"b": "~> 1.0"}}"#);
        write("a/metadata.rb", "raise 'not read'");
        write("b-cookbook/metadata.rb", "name 'b'");
        write("nameless/metadata.json", "{}");
        write("none/recipes/default.rb", "");
        write("wrong/metadata.rb", "name");
        let cookbooks = CookbookFolders::open(&[folder.path().to_owned()]).unwrap();
        let mut asked = vec![];
        let known = all(&cookbooks, &mut |question| {
            let Question::Metadata { cookbook, .. } = question else { panic!("{question:?}") };
            asked.push(cookbook.clone());
            match cookbook.as_str() {
                "b-cookbook" => Ok(json!({"name": "b", "version": "1.0.1"})),
                _ => Err(Failure::raised(ErrorKind::InvalidArgument, "wrong number of arguments")),
            }
        });
        assert_eq!(asked, ["b-cookbook", "wrong"]);
        assert_eq!(known.keys().collect::<Vec<_>>(), ["a", "b", "nameless", "none", "wrong"]);
        assert_eq!(known["a"].known().dependencies["b"], "~> 1.0");
        let selected = Selected { name: "b".into(), version: "1.0.1".into(), folder: "b-cookbook".into() };
        assert_eq!(known["b"].selected("b"), selected);
        for (name, class) in [
            ("nameless", "Chef::Exceptions::MetadataNotValid"),
            ("none", "Chef::Exceptions::MetadataNotValid"),
            ("wrong", "ArgumentError"),
        ] {
            assert_eq!(known[name].broken.as_ref().unwrap().class(), class);
        }
        let hint = |name: &str| known[name].broken.as_ref().unwrap().hint().unwrap().to_owned();
        assert!(hint("none").contains("none/metadata.rb with `name 'none'`"), "{}", hint("none"));
        assert!(hint("nameless").starts_with("add `name 'nameless'` to the metadata of "), "{}", hint("nameless"));
    }
}
