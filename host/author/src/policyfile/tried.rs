//! Builds a Policyfile for trying: with the current content of its folders, and the commits of its lock.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use artifact::Artifact;
use artifact::lock::{CookbookIdentifier, FileChecksum};
use plain_files::{HeldFolder, Kind};
use policyfile::lock::{CookbookPlace, Lock};

use super::cookbook::contents;
use super::error::PolicyfileError;
use super::includes::Pins;
use super::locate::Located;
use super::locked::{MAX_BYTES, Read, build, other_identifier};
use super::outdated::differences;
use super::paths::expanded;
use super::{POLICY_TOML, POLICYFILE, Place, Session, Tools, own_lock};
use crate::policy::Ruby;

/// A Policyfile's artifact that was built to be tried.
#[derive(Debug)]
pub struct TriedPolicy {
    /// The artifact that was built.
    pub artifact: Artifact,
    /// The lock and its differences from the artifact, each as a sentence without a period, for which `push` would refuse it.
    /// `None`: the lock matches.
    pub outdated: Option<(PathBuf, Vec<String>)>,
}

/// The Policyfile of a folder. `None`: the folder has none, or a policy.toml says what the policy is.
#[must_use]
pub fn policyfile_of(home: &HeldFolder) -> Option<Place> {
    let has_toml = !matches!(home.kind(POLICY_TOML), Ok(None));
    // A link out of the folder is told when it is read.
    let is_policyfile = matches!(home.kind(POLICYFILE), Ok(Some(Kind::File)) | Err(_)) && !has_toml;
    let folder = std::path::absolute(home.path()).ok().filter(|_| is_policyfile)?;
    Some(Place::of(Some(Path::new(POLICYFILE)), &folder).ok()?.within(home.clone().with_path(folder)))
}

/// The folders on this machine that a Policyfile's lock takes cookbooks from; without a lock, none.
#[must_use]
pub fn local_folders(place: &Place) -> Vec<PathBuf> {
    let Ok(lock) = place.read_lock() else { return vec![] };
    let sources = lock.cookbooks.values().filter_map(|locked| match &locked.place {
        CookbookPlace::Local { source, .. } => Some(expanded(source, &place.folder)),
        CookbookPlace::Cached { .. } => None,
    });
    sources.collect()
}

/// Builds a Policyfile's artifact to try it. Cookbooks in folders are used as they are now. Fetched ones stay at the commits
/// of the lock, which must exist. Nothing is written.
///
/// # Errors
/// There is no sound lock, or the Policyfile cannot be resolved.
pub fn tried(place: &Place, tools: &Tools<'_>, ruby: &mut dyn Ruby) -> Result<TriedPolicy, PolicyfileError> {
    if !place.lock.exists() {
        return Err(PolicyfileError::NoLock { path: place.lock.clone() });
    }
    let text = place.read_text(&place.lock)?;
    let before = own_lock(&place.lock, &text)?;
    let mut session = Session::of(place, tools);
    let policy = session.evaluate(place)?;
    let pins = Pins { lock: Some(&before), renewed: &[], keeps_fetched: true };
    let (now, located) = session.compile(place, &policy, pins)?;
    let found = read(located)?;
    refuse_other_files(place, &text, &before, &found)?;
    let artifact = build(place, &now, found, None, ruby)?;
    let is_same = before.revision_id()? == now.revision_id()?;
    let outdated = (!is_same).then(|| (place.lock.clone(), differences(&before, &text, &now)));
    Ok(TriedPolicy { artifact, outdated })
}

/// Refuses fetched cookbooks that differ from the lock. Cookbooks in the author's own folders may differ.
fn refuse_other_files(
    place: &Place,
    text: &str,
    lock: &Lock,
    found: &BTreeMap<String, Read>,
) -> Result<(), PolicyfileError> {
    let differs = |name: &String, read: &Read| {
        let locked = lock.cookbooks.get(name).filter(|locked| matches!(locked.place, CookbookPlace::Cached { .. }))?;
        let is_same = read.identifier == locked.identifier || read.cookbook.version != locked.version;
        (!is_same).then(|| other_identifier(name, read, &locked.identifier, text))
    };
    let differences: Vec<_> = found.iter().filter_map(|(name, read)| differs(name, read)).collect();
    if differences.is_empty() {
        return Ok(());
    }
    Err(PolicyfileError::Outdated { lock: place.lock.clone(), differences })
}

/// Reads the files of cookbooks that were found.
fn read(located: BTreeMap<String, Located>) -> Result<BTreeMap<String, Read>, PolicyfileError> {
    let mut room = MAX_BYTES;
    let one = |(name, found): (String, Located)| {
        let files = contents(&found.cookbook.path, &mut room, MAX_BYTES)?;
        let sums: Vec<_> = files.iter().map(|(path, content)| FileChecksum::of(path, content)).collect();
        let identifier = CookbookIdentifier::of(&sums).to_string();
        Ok((name, Read { cookbook: found.cookbook, identifier, files }))
    };
    located.into_iter().map(one).collect()
}
