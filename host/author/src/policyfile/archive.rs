//! Archives of `chef export -a`: a locked policy with its cookbooks, in one compressed file.
//!
//! chef-cli replaces `metadata.rb` by a `metadata.json` in an archive, so the identifiers of the lock cannot be computed from
//! the archived files. wrun checks the lock's revision, and that each cookbook exists under its identifier, in its version
//! and with its dependencies. The content of the files is protected by the digest of the artifact, which the team signs. The
//! manifest names the archive by its digest.
//!
//! The archive is untrusted: see [`unpacked`].

use std::collections::BTreeMap;
use std::path::Path;

use artifact::Artifact;
use policyfile::lock::Lock;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use text::hex;

use super::cookbook::LocalCookbook;
use super::error::{PolicyfileError, Remedy};
use super::locked::{Read, build};
use super::unpack::unpacked;
use super::{MAX_TEXT, Place};
use crate::policy::Ruby;

/// The largest archive, in bytes.
const MAX_ARCHIVE: u64 = 128 << 20;

/// The folder of the cookbooks.
const COOKBOOKS: &str = "cookbook_artifacts";

/// The lock of the policy.
const LOCK: &str = "Policyfile.lock.json";

/// A policy that was taken from an archive.
#[derive(Debug)]
pub struct ArchivedPolicy {
    /// The artifact that was made of it.
    pub artifact: Artifact,
    /// The content of the lock's file.
    pub lock: Vec<u8>,
    /// SHA-256 of the archive, 64 hexadecimal digits.
    pub digest: String,
}

/// Reads an archive and makes the artifact of its policy. `expected`: the SHA-256 that the archive must have, if one is
/// given.
///
/// # Errors
/// It is not such an archive, is too large, or its parts do not fit each other.
pub fn archived(path: &Path, expected: Option<&str>, ruby: &mut dyn Ruby) -> Result<ArchivedPolicy, PolicyfileError> {
    let bytes = plain_files::read(path, MAX_ARCHIVE).map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => {
            PolicyfileError::TooMuch { path: path.to_owned(), limit: MAX_ARCHIVE, of: "bytes" }
        }
        _ => PolicyfileError::read(path)(error),
    })?;
    let digest = hex(Sha256::digest(&bytes));
    let wrong = |what: String| PolicyfileError::Cookbook(format!("{}: {what}", path.display()));
    if expected.is_some_and(|expected| !expected.eq_ignore_ascii_case(&digest)) {
        return Err(wrong(format!("its SHA-256 is {digest}, and not {}", expected.unwrap_or_default())));
    }
    let mut files = unpacked(&bytes, "an archive of `chef export -a`").map_err(wrong)?;
    let is_old = || files.keys().any(|file| file.starts_with("cookbooks/"));
    let Some(lock_bytes) = files.get(LOCK) else { return Err(wrong(format!("it has no {LOCK} at its top"))) };
    if !files.keys().any(|file| file.starts_with(&format!("{COOKBOOKS}/"))) && is_old() {
        return Err(wrong("it has the old format of archives, without cookbook_artifacts/; export it anew".into()));
    }
    let lock_bytes = lock_bytes.clone();
    let text = String::from_utf8(lock_bytes.clone()).map_err(|_| wrong(format!("{LOCK} is not UTF-8 text")))?;
    let lock = Lock::parse_stated(&text).map_err(|invalid| {
        let place = format!("{}: {LOCK}", path.display());
        PolicyfileError::Lock { place, invalid, remedy: Remedy::Export }
    })?;
    let cookbooks = cookbooks(&lock, &mut files, path).map_err(wrong)?;
    check_recipes(&lock, &cookbooks).map_err(wrong)?;
    let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
    let place = Place::new(path.to_owned(), path.to_owned(), folder, true);
    let artifact = build(&place, &lock, cookbooks, Some(digest.clone()), ruby)?;
    Ok(ArchivedPolicy { artifact, lock: lock_bytes, digest })
}

/// The cookbooks of a lock: each is there under its identifier, and there are no others.
fn cookbooks(
    lock: &Lock,
    files: &mut BTreeMap<String, Vec<u8>>,
    archive: &Path,
) -> Result<BTreeMap<String, Read>, String> {
    let mut by_folder: BTreeMap<String, Vec<(String, Vec<u8>)>> = BTreeMap::new();
    for (path, content) in std::mem::take(files) {
        let Some(below) = path.strip_prefix(&format!("{COOKBOOKS}/")) else { continue };
        let Some((folder, rest)) = below.split_once('/') else {
            return Err(format!("{path} does not belong to a cookbook"));
        };
        by_folder.entry(folder.to_owned()).or_default().push((rest.to_owned(), content));
    }
    let mut found = BTreeMap::new();
    for (name, locked) in &lock.cookbooks {
        let folder = format!("{name}-{}", locked.identifier);
        let files =
            by_folder.remove(&folder).ok_or_else(|| format!("it has no {COOKBOOKS}/{folder}, which the lock names"))?;
        let in_folder = |what: String| format!("{COOKBOOKS}/{folder}: {what}");
        let metadata = files.iter().find(|(path, _)| path == "metadata.json");
        let (_, metadata) = metadata.ok_or_else(|| in_folder("it has no metadata.json".into()))?;
        if metadata.len() as u64 > MAX_TEXT {
            return Err(in_folder("its metadata.json is too large".into()));
        }
        let metadata: Value = super::bounded_json(metadata).map_err(in_folder)?;
        let cookbook = LocalCookbook::of_metadata(&archive.join(COOKBOOKS).join(&folder), &metadata)
            .map_err(|error| error.to_string())?;
        if cookbook.name != *name || cookbook.version != locked.version {
            return Err(in_folder(format!(
                "its metadata.json says {} {}, and the lock {name} {}",
                cookbook.name, cookbook.version, locked.version
            )));
        }
        let wanted = |dependency: &&(String, String)| !lock.cookbooks.contains_key(&dependency.0);
        if let Some((missing, _)) = cookbook.dependencies.iter().find(wanted) {
            return Err(in_folder(format!("it depends on {missing:?}, which the lock does not have")));
        }
        found.insert(name.clone(), Read { cookbook, identifier: locked.identifier.clone(), files });
    }
    match by_folder.keys().next() {
        None => Ok(found),
        Some(folder) => Err(format!("{COOKBOOKS}/{folder} is not a cookbook of the lock")),
    }
}

/// Checks that the recipes of the run lists exist.
fn check_recipes(lock: &Lock, cookbooks: &BTreeMap<String, Read>) -> Result<(), String> {
    let named = lock.named_run_lists.iter().flat_map(|(_, list)| list);
    for item in lock.run_list.iter().chain(named) {
        let recipe = item.strip_prefix("recipe[").and_then(|item| item.strip_suffix(']'));
        let Some((cookbook, recipe)) = recipe.and_then(|recipe| recipe.split_once("::")) else { continue };
        let Some(read) = cookbooks.get(cookbook) else {
            return Err(format!("the run list has {item}, and the lock no cookbook {cookbook}"));
        };
        let mut names = ["rb", "yml", "yaml"].map(|ending| format!("recipes/{recipe}.{ending}")).to_vec();
        names.extend((recipe == "default").then(|| "recipe.rb".to_owned()));
        if !read.files.iter().any(|(path, _)| names.contains(path)) {
            return Err(format!("cookbook {cookbook} does not have the recipe {recipe} of the run list"));
        }
    }
    Ok(())
}
