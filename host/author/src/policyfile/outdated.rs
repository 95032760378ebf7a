//! Compares a lock with the current files, and makes the lock of a folder with a policy.toml.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use artifact::lock::CookbookIdentifier;
use policyfile::constraint::Constraint;
use policyfile::lock::{CookbookLock, CookbookPlace, Lock, SolutionDependencies, line_of};
use serde_json::{Map, Value};

use super::error::PolicyfileError;
use super::paths::{expanded, relative};
use super::{FOLDER_LOCK, MAX_TEXT, own_lock, read_inside, read_own_text};
use crate::policy::PolicyFolder;

/// The state of a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockState {
    /// The lock did not exist and was made.
    Made {
        /// The text of the lock.
        text: String,
        /// The path of the lock file.
        path: PathBuf,
    },
    /// The lock exists and matches the folder.
    Fits {
        /// The text of the lock.
        text: String,
    },
}

impl LockState {
    /// Returns the text of the lock.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Made { text, .. } | Self::Fits { text } => text,
        }
    }
}

/// Reads the lock of a policy.toml's folder, and makes it if it does not exist. `renew`: replaces an outdated one.
///
/// # Errors
/// The lock is not sound, or what it locks has changed since: all changes are named.
pub fn lock_of_folder(policy: &PolicyFolder, renew: bool) -> Result<LockState, PolicyfileError> {
    let home = policy.home();
    let path = home.path().join(FOLDER_LOCK);
    let now = policy.resolved().cloned().unwrap_or_else(|| of_folder(policy, home.path()));
    if path.exists() && !renew {
        let text = read_inside(home, FOLDER_LOCK, MAX_TEXT)?;
        let locked = own_lock(&path, &text)?;
        let differences = differences(&locked, &text, &now);
        return match differences.is_empty() {
            true => Ok(LockState::Fits { text }),
            false => Err(PolicyfileError::Outdated { lock: path, differences }),
        };
    }
    let text = now.to_text()?;
    home.write(FOLDER_LOCK, text.as_bytes()).map_err(PolicyfileError::write(&path))?;
    Ok(LockState::Made { text, path })
}

/// Returns the name of the policy in a lock.
///
/// # Errors
/// The lock cannot be read, or is not sound.
pub fn locked_name(path: &Path) -> Result<String, PolicyfileError> {
    Ok(own_lock(path, &read_own_text(path)?)?.name.unwrap_or_default())
}

/// Returns the lock of a folder that has all of its cookbooks itself, so that nothing has to be resolved.
fn of_folder(policy: &PolicyFolder, folder: &Path) -> Lock {
    let manifest = policy.manifest();
    let folder = expanded(folder, &std::path::absolute(folder).unwrap_or_default());
    let parsed = |(name, constraint): (&String, &String)| {
        (name.clone(), Constraint::parse(constraint).unwrap_or_else(|_| Constraint::any()))
    };
    let (mut cookbooks, mut dependencies) = (BTreeMap::new(), SolutionDependencies::default());
    for entry in &manifest.cookbooks {
        let place = policy.cookbook_place(&entry.name).map(|place| std::path::absolute(place).unwrap_or_default());
        let source = place.map_or_else(String::new, |place| relative(&folder, &expanded(place, &folder)));
        let identifier = CookbookIdentifier::parse(&entry.identifier);
        let options = Map::from_iter([("path".to_owned(), Value::from(source.clone()))]);
        cookbooks.insert(
            entry.name.clone(),
            CookbookLock {
                version: entry.version.clone(),
                identifier: entry.identifier.clone(),
                dotted_decimal_identifier: identifier.map(|it| it.dotted_decimal()).into(),
                place: CookbookPlace::Local { source, scm_info: Value::Null },
                source_options: options,
            },
        );
        dependencies.policyfile.push((entry.name.clone(), Constraint::any()));
        let key = (entry.name.clone(), entry.version.clone());
        dependencies.cookbooks.insert(key, entry.dependencies.iter().map(parsed).collect());
    }
    Lock {
        name: Some(manifest.name.clone()),
        run_list: manifest.run_list.clone(),
        named_run_lists: manifest.named_run_lists.to_vec(),
        included: vec![],
        cookbooks,
        default_attributes: manifest.default_attributes.clone(),
        override_attributes: manifest.override_attributes.clone(),
        dependencies,
    }
}

/// The line of a lock's text that has a cookbook's identifier, as the end of a sentence: ` (line 12)`.
pub(super) fn line_of_identifier(text: &str, cookbook: &str) -> String {
    let line = line_of(text, &["cookbook_locks", cookbook, "identifier"]);
    line.map(|line| format!(" (line {line})")).unwrap_or_default()
}

/// Returns all differences that change the revision, each as a sentence without a period. `text`: the lock's text.
pub(super) fn differences(locked: &Lock, text: &str, now: &Lock) -> Vec<String> {
    let mut found = list_differences(locked, &now.run_list, &now.named_run_lists);
    if locked.name != now.name {
        found.push("the policy has another name".to_owned());
    }
    found.extend(attribute_differences(locked, &now.default_attributes, &now.override_attributes));
    for (name, cookbook) in &now.cookbooks {
        match locked.cookbooks.get(name) {
            None => found.push(format!("cookbook {name} is new")),
            Some(before) if before.identifier != cookbook.identifier => found.push(format!(
                "cookbook {name} has the identifier {}, the lock has {}{}",
                cookbook.identifier,
                before.identifier,
                line_of_identifier(text, name)
            )),
            Some(_) => {}
        }
    }
    let gone = locked.cookbooks.keys().filter(|name| !now.cookbooks.contains_key(*name));
    found.extend(gone.map(|name| format!("cookbook {name} is gone")));
    found
}

/// The run lists that differ.
pub(super) fn list_differences(locked: &Lock, main: &[String], named: &[(String, Vec<String>)]) -> Vec<String> {
    let mut found = vec![];
    if locked.run_list != main {
        found.push(format!("the run list is {}, the lock has {}", main.join(", "), locked.run_list.join(", ")));
    }
    if locked.named_run_lists != named {
        found.push("the named run lists are others".to_owned());
    }
    found
}

/// The attributes that differ, by their first keys.
pub(super) fn attribute_differences(
    locked: &Lock,
    default: &Map<String, Value>,
    r#override: &Map<String, Value>,
) -> Vec<String> {
    let mut found = vec![];
    for (level, before, now) in
        [("default", &locked.default_attributes, default), ("override", &locked.override_attributes, r#override)]
    {
        let mut keys: Vec<_> = before.keys().chain(now.keys()).collect();
        keys.sort();
        keys.dedup();
        let differs = keys.into_iter().filter(|key| before.get(*key) != now.get(*key));
        found.extend(differs.map(|key| format!("{level}[{key:?}] has another value than in the lock")));
    }
    found
}
