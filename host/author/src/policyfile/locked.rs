//! Builds a locked policy for a release. Its cookbooks and its Policyfile must still match the lock.

use std::collections::BTreeMap;

use artifact::gems::Gems;
use artifact::lock::{CookbookIdentifier, FileChecksum};
use artifact::{Artifact, CookbookEntry, EMPTY_COMPONENT, Language, Manifest, ManifestParts, Runtime};
use policyfile::compile::{Input, attributes};
use policyfile::constraint::version;
use policyfile::include::RunLists;
use policyfile::lock::Lock;
use policyfile::model::CookbookSpec;
use resolve::cookbook_order::cookbook_order;

use super::cookbook::{LocalCookbook, contents};
use super::error::PolicyfileError;
use super::includes::Pins;
use super::install::compile_error;
use super::outdated::{attribute_differences, line_of_identifier, list_differences};
use super::{Place, Session, Tools, own_lock};
use crate::gems::WantedGem;
use crate::policy::{AuthorError, Ruby, gem_entry, gem_files, gems_beside};
use grants::Needs;

/// Largest total size of an artifact's files, in bytes.
pub(super) const MAX_BYTES: u64 = 128 << 20;

/// The table of a policy's needs.
const NEEDS: &str = "needs";

/// A policy that is ready to be released.
#[derive(Debug)]
pub struct LockedPolicy {
    /// The artifact that was built from the lock.
    pub artifact: Artifact,
    /// The content of the lock's file.
    pub lock: Vec<u8>,
}

/// Builds the artifact of a locked policy. Neither the lock nor anything else is written.
///
/// # Errors
/// There is no sound lock, or what it locks has changed since: all changes are named.
pub fn locked(place: &Place, tools: &Tools<'_>, ruby: &mut dyn Ruby) -> Result<LockedPolicy, PolicyfileError> {
    if !place.lock.exists() {
        return Err(PolicyfileError::NoLock { path: place.lock.clone() });
    }
    let text = place.read_text(&place.lock)?;
    let lock = own_lock(&place.lock, &text)?;
    let cookbooks = Session::new(tools, false).unchanged(place, &lock, &text)?;
    let artifact = build(place, &lock, cookbooks, None, ruby)?;
    Ok(LockedPolicy { artifact, lock: text.into_bytes() })
}

/// A cookbook with the content of its files.
pub(super) struct Read {
    pub(super) cookbook: LocalCookbook,
    pub(super) identifier: String,
    pub(super) files: Vec<(String, Vec<u8>)>,
}

impl Session<'_> {
    /// Reads the cookbooks of a lock. They, and the Policyfile, must not have changed since they were locked. `text`: the
    /// lock's text.
    fn unchanged(&mut self, place: &Place, lock: &Lock, text: &str) -> Result<BTreeMap<String, Read>, PolicyfileError> {
        let mut differences = vec![];
        if place.policyfile.exists() {
            let policy = self.evaluate(place)?;
            let includes =
                self.includes(place, &policy, Pins { lock: Some(lock), renewed: &[], keeps_fetched: false })?;
            let (file, own) = (place.file_name(), BTreeMap::new());
            let input = Input { policy: &policy, file: &file, includes: &includes, own: &own, sources: &[] };
            let lists = RunLists::of(&policy, &includes);
            let named: Vec<_> =
                lists.named.iter().map(|(name, items)| (name.name.clone(), RunLists::full(items))).collect();
            differences.extend(list_differences(lock, &RunLists::full(&lists.main), &named));
            let (default, r#override) = attributes(&input).map_err(|error| compile_error(place, error))?;
            differences.extend(attribute_differences(lock, &default, &r#override));
            differences.extend(policy.cookbooks.iter().filter_map(|spec| unsatisfied(place, spec, lock)));
            if policy.name.is_some() && policy.name != lock.name {
                differences.push("the policy has another name".to_owned());
            }
        }
        let (mut found, mut room) = (BTreeMap::new(), MAX_BYTES);
        for (name, locked) in &lock.cookbooks {
            let located = match self.locate_locked(place, name, locked)? {
                Ok(located) => located,
                // A version other than the locked one is reported like other changes.
                Err(what) => {
                    differences.push(what);
                    continue;
                }
            };
            let files = contents(&located.cookbook.path, &mut room, MAX_BYTES)?;
            let sums: Vec<_> = files.iter().map(|(path, content)| FileChecksum::of(path, content)).collect();
            let identifier = CookbookIdentifier::of(&sums).to_string();
            let read = Read { cookbook: located.cookbook, identifier, files };
            if read.identifier != locked.identifier {
                differences.push(other_identifier(name, &read, &locked.identifier, text));
            }
            found.insert(name.clone(), read);
        }
        if differences.is_empty() {
            return Ok(found);
        }
        Err(PolicyfileError::Outdated { lock: place.lock.clone(), differences })
    }
}

/// Returns the sentence, without a period, that a cookbook's files differ from the lock. `text`: the lock's text.
pub(super) fn other_identifier(name: &str, read: &Read, locked: &str, text: &str) -> String {
    let (path, identifier) = (read.cookbook.path.display(), &read.identifier);
    format!(
        "cookbook {name} in {path} has the identifier {identifier}, the lock has {locked}{}",
        line_of_identifier(text, name)
    )
}

/// The demand of a Policyfile that the version in the lock does not satisfy, as a sentence without a period.
fn unsatisfied(place: &Place, spec: &CookbookSpec, lock: &Lock) -> Option<String> {
    let locked = &lock.cookbooks.get(&spec.name)?.version;
    let fits = version(locked).is_ok_and(|version| spec.constraint.includes(version));
    let (name, file, line) = (&spec.name, place.file_name(), spec.line);
    (!fits).then(|| format!("{file}:{line} demands {name} {}, the lock has {name} {locked}", spec.constraint))
}

/// The artifact of a lock with its cookbooks.
pub(super) fn build(
    place: &Place,
    lock: &Lock,
    cookbooks: BTreeMap<String, Read>,
    archive: Option<String>,
    ruby: &mut dyn Ruby,
) -> Result<Artifact, PolicyfileError> {
    let name = lock.name.clone().unwrap_or_default();
    let runtime = match cookbooks.is_empty() {
        true => Runtime::Rust,
        false => ruby.runtime().map_err(PolicyfileError::Cookbook)?,
    };
    let gems = gems(place, &cookbooks, ruby)?;
    let parts = ManifestParts {
        name,
        run_list: lock.run_list.clone(),
        named_run_lists: lock.named_run_lists.clone(),
        cookbooks: entries(lock, &cookbooks)?,
        default_attributes: lock.default_attributes.clone(),
        override_attributes: lock.override_attributes.clone(),
        attribute_lines: BTreeMap::new(),
        needs: needs(place)?,
        runtime,
        gems: gem_entry(&gems),
    };
    let of_lock = |what: String| PolicyfileError::Cookbook(format!("{}: {what}", place.lock.display()));
    let manifest = Manifest::new(parts).map_err(|error| of_lock(error.to_string()))?;
    let manifest = Manifest { archive, ..manifest };
    // With gems the revision differs from the lock's, because Chef's policies do not have gems.
    if gems.is_empty() && manifest.revision_id != lock.revision_id()? {
        return Err(of_lock("its revision is not the one of its content".into()));
    }
    let of_cookbooks = cookbooks.into_iter().flat_map(|(name, read)| {
        read.files.into_iter().map(move |(path, content)| (format!("{name}/{path}"), content))
    });
    let files: Vec<_> = of_cookbooks.chain(gem_files(gems)).collect();
    let written = artifact::write(EMPTY_COMPONENT, &manifest, &files);
    let opened = written.and_then(|bytes| Artifact::from_bytes(&place.lock, bytes));
    opened.map_err(|error| of_lock(text::error_chain(&error)))
}

/// Reads the policy's needs from the file beside the Policyfile. A Policyfile cannot contain them, because chef-cli would
/// refuse it.
fn needs(place: &Place) -> Result<Needs, PolicyfileError> {
    let path = place.needs();
    let text = match place.read_text(&path) {
        Err(PolicyfileError::Read { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Needs::default());
        }
        text => text?,
    };
    let needs = Needs::parse(&text, &path.display().to_string()).map_err(AuthorError::from)?;
    let others = text.parse::<toml::Table>().unwrap_or_default();
    match others.keys().find(|key| *key != NEEDS) {
        None => Ok(needs),
        Some(key) => {
            let what =
                format!("{}: `{key}` is not known here; the file has the table `[{NEEDS}]` alone", path.display());
            Err(PolicyfileError::Cookbook(what))
        }
    }
}

/// The cookbooks, each after those that it depends on.
fn entries(lock: &Lock, cookbooks: &BTreeMap<String, Read>) -> Result<Vec<CookbookEntry>, PolicyfileError> {
    let depends = |read: &Read| read.cookbook.dependencies.iter().map(|(name, _)| name.clone()).collect();
    let dependencies = cookbooks.iter().map(|(name, read)| (name.clone(), depends(read))).collect();
    let named = lock.named_run_lists.iter().flat_map(|(_, list)| list);
    let recipes = lock.run_list.iter().chain(named);
    let names = recipes.filter_map(|item| item.strip_prefix("recipe[")?.strip_suffix(']'));
    let order = cookbook_order(names.chain(cookbooks.keys().map(String::as_str)), &dependencies);
    let order = order.map_err(|missing| PolicyfileError::Cookbook(missing.to_string()))?;
    let entry = |name: &String| {
        let read = cookbooks.get(name)?;
        Some(CookbookEntry {
            name: name.clone(),
            version: read.cookbook.version.clone(),
            identifier: read.identifier.clone(),
            dependencies: read.cookbook.dependencies.iter().cloned().collect(),
            language: Language::Ruby,
        })
    };
    Ok(order.iter().filter_map(entry).collect())
}

/// The gems that the cookbooks' metadata name, from the folder beside the Policyfile.
fn gems(place: &Place, cookbooks: &BTreeMap<String, Read>, ruby: &mut dyn Ruby) -> Result<Gems, PolicyfileError> {
    let wanted: Vec<WantedGem> = cookbooks.values().flat_map(|read| read.cookbook.gems.iter().cloned()).collect();
    if wanted.is_empty() {
        return Ok(Gems::default());
    }
    let failed = |what: String| PolicyfileError::Cookbook(format!("gems: {what}"));
    let there = gems_beside(place.home()?).map_err(|error| failed(error.to_string()))?;
    let answer = ruby.gems(there.question(&wanted, &[])).map_err(failed)?;
    there.take(answer, "a folder `gems` beside the Policyfile").map_err(|error| failed(error.to_string()))
}
