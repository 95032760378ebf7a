//! Data in folders, laid out as in a Chef repository: `data_bags/BAG/ITEM.json`, `nodes/NAME.json`. Roles and environments
//! arrive already evaluated, since some are Ruby code that only a guest can run.

use super::refused;
use super::secrets::BagSecrets;
use crate::pace::BYTES_PER_UNIT;
use contract::{Account, Data, DataError, value_bytes};
use grants::{Capability, Denied, PolicyGrants};
use node::object::DEFAULT_ENVIRONMENT;
use node::search::Query;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Maximum number of entries in a folder.
const MAX_ENTRIES: usize = 100_000;

/// The extension of the files.
const EXTENSION: &str = ".json";

/// The data in the folders.
#[derive(Debug, Default)]
pub struct DataFolders {
    /// The folder of the data bags.
    pub data_bags: Option<PathBuf>,
    /// The folder of the saved objects of other nodes.
    pub nodes: Option<PathBuf>,
    /// This node's object as it was last saved.
    pub own_node: Option<Value>,
    /// Roles by name, or the reason why a role could not be read.
    pub roles: BTreeMap<String, Result<Value, String>>,
    /// Environments by name, or the reason why an environment could not be read.
    pub environments: BTreeMap<String, Result<Value, String>>,
    /// The secrets for encrypted items.
    pub secrets: BagSecrets,
}

/// The data of one policy: the content of the folders, within its grants.
pub struct FolderData {
    grants: Arc<PolicyGrants>,
    folders: Arc<DataFolders>,
    /// The account that pays for searches.
    account: Account,
}

impl FolderData {
    /// Creates the data of one policy, within its grants.
    pub fn new(grants: Arc<PolicyGrants>, folders: Arc<DataFolders>, account: Account) -> Self {
        Self { grants, folders, account }
    }

    /// Returns the folder of a bag. Only a name that the folder really contains becomes part of a path.
    fn bag_folder(&self, bag: &str) -> Result<PathBuf, DataError> {
        let folder = self.folders.data_bags.as_deref();
        let bags = folder.map_or_else(|| Ok(vec![]), folders_in)?;
        let found = bags.into_iter().find(|name| name == bag);
        match (folder, found) {
            (Some(folder), Some(name)) => Ok(folder.join(name)),
            (Some(folder), None) => {
                Err(not_found(&format!("there is no data bag `{}` in {}", short(bag), folder.display())))
            }
            (None, _) => Err(not_found(&format!(
                "there is no data bag `{}`: no directory of data bags was given (--data-bags DIR)",
                short(bag)
            ))),
        }
    }

    fn item(&self, bag: &str, id: &str) -> Result<Value, DataError> {
        let folder = self.bag_folder(bag)?;
        if !names_in(&folder)?.iter().any(|name| name == id) {
            return Err(not_found(&format!("the data bag `{}` has no item `{}`", short(bag), short(id))));
        }
        object_of(&folder, id, "id")
    }

    /// Passes each object of an index, with its name, to `look`. It reads them one at a time, so that only one is in memory.
    fn each(&self, index: &str, mut look: impl FnMut(&str, Value) -> Result<(), DataError>) -> Result<(), DataError> {
        match index {
            "node" => self.each_node(look),
            "role" => all(&self.folders.roles, look),
            // As in Chef's local mode: `_default` can be requested, but a search does not find it.
            "environment" => all(&self.folders.environments, look),
            "client" => Ok(()),
            bag => {
                let folder = self.bag_folder(bag)?;
                names_in(&folder)?.iter().try_for_each(|id| look(id, object_of(&folder, id, "id")?))
            }
        }
    }

    fn each_node(&self, mut look: impl FnMut(&str, Value) -> Result<(), DataError>) -> Result<(), DataError> {
        let mut names = BTreeMap::new();
        if let Some(own) = &self.folders.own_node
            && let Some(name) = own.get("name").and_then(Value::as_str)
        {
            names.insert(name.to_owned(), Some(own));
        }
        // The saved object of this node takes precedence over the node in memory.
        if let Some(folder) = &self.folders.nodes {
            names.extend(names_in(folder)?.into_iter().map(|name| (name, None)));
        }
        names.into_iter().try_for_each(|(name, own)| match (own, &self.folders.nodes) {
            (Some(own), _) => look(&name, own.clone()),
            (None, Some(folder)) => look(&name, object_of(folder, &name, "name")?),
            (None, None) => Ok(()),
        })
    }
}

impl Data for FolderData {
    fn bags(&mut self) -> Result<Vec<String>, DataError> {
        let names = self.folders.data_bags.as_deref().map_or_else(|| Ok(vec![]), folders_in)?;
        Ok(names.into_iter().filter(|name| self.grants.data_bag(name, None).is_ok()).collect())
    }

    fn bag(&mut self, name: &str) -> Result<Vec<String>, DataError> {
        allowed(self.grants.data_bag(name, None))?;
        names_in(&self.bag_folder(name)?)
    }

    fn bag_item(&mut self, bag: &str, id: &str) -> Result<Value, DataError> {
        allowed(self.grants.data_bag(bag, Some(id)))?;
        self.item(bag, id)
    }

    fn bag_secret(&mut self) -> Result<Option<Vec<u8>>, DataError> {
        // A policy that may not read any data bag has nothing to decrypt.
        let secret = self.folders.secrets.of(self.grants.policy());
        Ok(secret.filter(|_| self.grants.has_any(Capability::DataBags)).map(|secret| secret.reveal().to_vec()))
    }

    fn role(&mut self, name: &str) -> Result<Value, DataError> {
        allowed(self.grants.role(name))?;
        one(&self.folders.roles, "role", name)
    }

    fn environment(&mut self, name: &str) -> Result<Value, DataError> {
        allowed(self.grants.chef_environment(name))?;
        match self.folders.environments.get(name) {
            None if name == DEFAULT_ENVIRONMENT => Ok(default_environment()),
            _ => one(&self.folders.environments, "environment", name),
        }
    }

    fn search(&mut self, index: &str, query: &str) -> Result<Vec<Value>, DataError> {
        allowed(self.grants.search(index))?;
        let query = Query::parse(query).map_err(|error| DataError::BadQuery(error.to_string()))?;
        let mut found = Vec::new();
        let account = &self.account;
        let mut pay = |units| {
            let paid = account.work(units);
            paid.map_err(|ended| DataError::Invalid(format!("the search did not end: the policy {ended}")))
        };
        self.each(index, |name, object| {
            pay(value_bytes(&object) / BYTES_PER_UNIT + 1)?;
            if query.finds(index, name, &object, &mut pay)? {
                found.push(object);
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// Turns the result of a check into `Ok` or an error, and drops the proof, because reading data needs no proof.
fn allowed<Proof>(checked: Result<Proof, Denied>) -> Result<(), DataError> {
    checked.map(drop).map_err(refused)
}

fn default_environment() -> Value {
    json!({
        "name": DEFAULT_ENVIRONMENT, "description": "The default Chef environment", "cookbook_versions": {},
        "default_attributes": {}, "override_attributes": {},
    })
}

fn one(all: &BTreeMap<String, Result<Value, String>>, what: &str, name: &str) -> Result<Value, DataError> {
    match all.get(name) {
        Some(Ok(value)) => Ok(value.clone()),
        Some(Err(why)) => Err(DataError::Invalid(why.clone())),
        None => Err(not_found(&format!("there is no {what} `{}`", short(name)))),
    }
}

fn all(
    all: &BTreeMap<String, Result<Value, String>>,
    mut look: impl FnMut(&str, Value) -> Result<(), DataError>,
) -> Result<(), DataError> {
    all.iter().try_for_each(|(name, value)| match value {
        Ok(value) => look(name, value.clone()),
        Err(why) => Err(DataError::Invalid(why.clone())),
    })
}

/// Reads an object of an existing name from a folder. Adds the name under `key` if the file does not contain it.
fn object_of(folder: &Path, name: &str, key: &str) -> Result<Value, DataError> {
    let mut value = read(&folder.join(format!("{name}{EXTENSION}")))?;
    if let Some(object) = value.as_object_mut() {
        object.entry(key).or_insert_with(|| name.into());
    }
    Ok(value)
}

fn not_found(text: &str) -> DataError {
    DataError::NotFound(text.to_owned())
}

fn short(text: &str) -> String {
    text.chars().take(200).collect()
}

/// Returns the sorted names that the function `name` gives for a folder's entries.
fn entries(folder: &Path, name: impl Fn(&std::fs::DirEntry) -> Option<String>) -> Result<Vec<String>, DataError> {
    let failed = |error: std::io::Error| DataError::Invalid(format!("{} cannot be read: {error}", folder.display()));
    let mut names = vec![];
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        names.extend(name(&entry.map_err(failed)?));
        if names.len() > MAX_ENTRIES {
            return Err(DataError::Invalid(format!("{} has more than {MAX_ENTRIES} entries", folder.display())));
        }
    }
    names.sort();
    Ok(names)
}

fn folders_in(folder: &Path) -> Result<Vec<String>, DataError> {
    entries(folder, |entry| {
        let name = entry.file_name().into_string().ok().filter(|name| !name.starts_with('.'))?;
        entry.path().is_dir().then_some(name)
    })
}

/// Returns the names of the JSON files in a folder, without the extension.
fn names_in(folder: &Path) -> Result<Vec<String>, DataError> {
    entries(folder, |entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_suffix(EXTENSION).filter(|name| !name.is_empty() && !name.starts_with('.')).map(str::to_owned)
    })
}

fn read(path: &Path) -> Result<Value, DataError> {
    let failed = |why: String| DataError::Invalid(format!("{}: {why}", path.display()));
    let text = plain_files::read_text(path, MAX_BYTES).map_err(|error| failed(error.to_string()))?;
    super::parse_written_json(&text).map_err(|error| failed(format!("it is not valid JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Secret;
    use contract::{Stop, StopReason};
    use grants::Grants;
    use std::fs;

    fn folders(top: &Path) -> Arc<DataFolders> {
        for (path, text) in [
            ("data_bags/apps/one.json", r#"{"id": "one", "kind": "web"}"#),
            ("data_bags/apps/two.json", r#"{"kind": "db"}"#),
            ("data_bags/broken/x.json", "{"),
            ("nodes/n1.json", r#"{"normal": {"app": {"role": "db"}}}"#),
            ("secret.json", "{}"),
        ] {
            let path = top.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let role = json!({"name": "web", "run_list": []});
        Arc::new(DataFolders {
            data_bags: Some(top.join("data_bags")),
            nodes: Some(top.join("nodes")),
            own_node: Some(json!({"name": "me", "normal": {}})),
            roles: BTreeMap::from([("web".to_owned(), Ok(role)), ("bad".to_owned(), Err("bad.rb:1: no".to_owned()))]),
            environments: BTreeMap::new(),
            secrets: BagSecrets::Shared(Secret::new(b"s".to_vec())),
        })
    }

    #[test]
    fn what_the_folders_hold_is_handed_over() {
        let top = tempfile::tempdir().unwrap();
        let mut data =
            FolderData::new(Grants::allow_all().policy("solo", &[]), folders(top.path()), Account::unmetered("solo"));
        assert_eq!(data.bags().unwrap(), ["apps", "broken"]);
        assert_eq!(data.bag("apps").unwrap(), ["one", "two"]);
        assert_eq!(data.bag_item("apps", "two").unwrap(), json!({"kind": "db", "id": "two"}));
        assert_eq!(data.bag_secret().unwrap().as_deref(), Some(&b"s"[..]));
        for (bag, id) in [("apps", "three"), ("apps", "../../secret"), ("..", "secret"), ("", "secret"), (".", "x")] {
            assert!(matches!(data.bag_item(bag, id), Err(DataError::NotFound(_))), "{bag} {id}");
        }
        assert!(matches!(data.bag_item("broken", "x"), Err(DataError::Invalid(text)) if text.contains("x.json")));
        let found = data.search("apps", "kind:db").unwrap();
        assert_eq!(found, [json!({"kind": "db", "id": "two"})]);
        let nodes = data.search("node", "*:*").unwrap();
        assert_eq!(nodes.iter().map(|node| node["name"].as_str().unwrap()).collect::<Vec<_>>(), ["me", "n1"]);
        assert!(matches!(data.search("apps", "kind:"), Err(DataError::BadQuery(_))));
        assert!(matches!(data.search("nope", "*:*"), Err(DataError::NotFound(_))));
        assert_eq!(data.role("web").unwrap()["name"], "web");
        assert!(matches!(data.role("bad"), Err(DataError::Invalid(_))));
        assert_eq!(data.environment("_default").unwrap()["name"], "_default");
        assert!(matches!(data.environment("prod"), Err(DataError::NotFound(_))));
    }

    #[test]
    fn a_search_is_counted_and_ends_with_a_signal() {
        let top = tempfile::tempdir().unwrap();
        let (folders, account, stop) = (folders(top.path()), Account::unmetered("solo"), Stop::default());
        let large = json!({ "id": "large", "text": "x".repeat(1 << 20) });
        fs::write(top.path().join("data_bags/apps/large.json"), large.to_string()).unwrap();
        let mut data = FolderData::new(Grants::allow_all().policy("solo", &[]), folders, account.clone());
        account.begin_turn(stop.clone());
        assert_eq!(data.search("apps", "id:large").unwrap().len(), 1);
        assert!(account.usage().work > 10_000, "{}", account.usage().work);
        stop.request(StopReason::Signal(15));
        let Err(DataError::Invalid(text)) = data.search("apps", "id:large") else { panic!("it ends") };
        assert!(text.contains("was stopped by SIGTERM"), "{text}");
    }

    #[test]
    fn grants_are_asked_first() {
        let top = tempfile::tempdir().unwrap();
        let grants = Grants::parse("[policy.solo]\ndata_bags = [\"apps/one\"]\n", "grants.toml").unwrap();
        let mut data = FolderData::new(grants.policy("solo", &[]), folders(top.path()), Account::unmetered("solo"));
        assert!(data.bags().unwrap().is_empty());
        assert!(data.bag_item("apps", "one").is_ok());
        for denied in
            [data.bag_item("apps", "two").map(drop), data.role("web").map(drop), data.search("node", "*:*").map(drop)]
        {
            assert!(matches!(denied, Err(DataError::Denied(_))));
        }
    }
}
