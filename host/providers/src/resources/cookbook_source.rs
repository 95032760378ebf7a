//! Finds files of a cookbook, the most specific place first.

use crate::plan::View;
use contract::{ErrorKind, FileError, Raised, Wanted};
use machine::digest::Digest;
use node::file_specificity::{given_paths, lookup_paths};
use std::collections::HashMap;
use text::did_you_mean;

/// Maximum number of a cookbook's files that a message names.
const MAX_NAMED: usize = 50;

/// Returns the cookbook of a resource: the named one, or else the one that declares the resource.
///
/// # Errors
/// [`ErrorKind::NoSuchCookbook`]: the resource names no cookbook and none declares it.
pub(crate) fn cookbook<'a>(named: Option<&'a str>, wanted: &'a Wanted<'_>) -> Result<&'a str, Raised> {
    named.or(wanted.declaration.origin.cookbook.as_deref()).ok_or_else(|| {
        let key = wanted.declaration.key();
        Raised::new(ErrorKind::NoSuchCookbook, format!("{key} belongs to no cookbook and names none"))
    })
}

/// A file of a cookbook.
pub(crate) struct CookbookFile {
    /// Its path in the cookbook.
    pub(crate) place: String,
    /// The whole content of the file.
    pub(crate) bytes: Vec<u8>,
}

/// Reads a file of a cookbook. One name is looked up by host and platform. Several names are places to try in order.
///
/// # Errors
/// [`ErrorKind::NoSuchCookbook`], [`ErrorKind::NoSuchFile`] with the places that were tried.
pub(crate) fn read(view: &View<'_>, cookbook: &str, segment: &str, names: &[String]) -> Result<CookbookFile, Raised> {
    for place in places(view, segment, names) {
        match view.files.read(cookbook, &place) {
            Ok(bytes) => return Ok(CookbookFile { place, bytes }),
            Err(FileError::NoSuchFile(_)) => {}
            Err(FileError::NoSuchCookbook(known)) => return Err(no_cookbook(cookbook, known)),
        }
    }
    Err(not_found(view, cookbook, segment, names))
}

fn places(view: &View<'_>, segment: &str, names: &[String]) -> Vec<String> {
    match names {
        [one] => lookup_paths(segment, one, &view.settings.node),
        several => given_paths(segment, several),
    }
}

/// The digests of cookbook files that were computed in this run, by cookbook and place. Plans and claims need the same ones.
pub(crate) type Digests = HashMap<(String, String), Digest>;

/// Returns the digest of a file that has been read.
pub(crate) fn digest_of_read(view: &mut View<'_>, cookbook: &str, file: &CookbookFile) -> Digest {
    let key = (cookbook.to_owned(), file.place.clone());
    view.caches.digests.entry(key).or_insert_with(|| Digest::of(&file.bytes)).clone()
}

/// Returns the digest of a file, and reads it only if the digest is not known.
///
/// # Errors
/// As [`read`].
pub(crate) fn digest(view: &mut View<'_>, cookbook: &str, segment: &str, names: &[String]) -> Result<Digest, Raised> {
    for place in places(view, segment, names) {
        let key = (cookbook.to_owned(), place);
        if let Some(known) = view.caches.digests.get(&key) {
            return Ok(known.clone());
        }
        match view.files.read(cookbook, &key.1) {
            Ok(bytes) => return Ok(view.caches.digests.entry(key).or_insert_with(|| Digest::of(&bytes)).clone()),
            Err(FileError::NoSuchFile(_)) => {}
            Err(FileError::NoSuchCookbook(known)) => return Err(no_cookbook(cookbook, known)),
        }
    }
    Err(not_found(view, cookbook, segment, names))
}

/// The paths below a folder of a cookbook's files, as `(relative path, path in the cookbook)`: those of the most specific
/// place that has any.
///
/// # Errors
/// [`ErrorKind::NoSuchCookbook`], [`ErrorKind::NoSuchFile`].
pub(super) fn folder(view: &View<'_>, cookbook: &str, folder: &str) -> Result<Vec<String>, Raised> {
    for place in lookup_paths("files", folder, &view.settings.node) {
        let paths = match view.files.paths(cookbook, &place) {
            Ok(paths) => paths,
            Err(FileError::NoSuchFile(_)) => continue,
            Err(FileError::NoSuchCookbook(known)) => return Err(no_cookbook(cookbook, known)),
        };
        let prefix = format!("{}/", place.trim_end_matches('/'));
        let mut below: Vec<String> =
            paths.iter().filter_map(|path| path.strip_prefix(&prefix)).map(str::to_owned).collect();
        if !below.is_empty() {
            // Chef's order: by depth, otherwise unchanged.
            below.sort_by_key(|path| path.matches('/').count());
            return Ok(below);
        }
    }
    Err(Raised::new(ErrorKind::NoSuchFile, format!("cookbook {cookbook} has no directory files/default/{folder}")))
}

fn no_cookbook(cookbook: &str, known: String) -> Raised {
    Raised::new(
        ErrorKind::NoSuchCookbook,
        format!(
            "Cookbook {cookbook} not found. If you're loading {cookbook} from another cookbook, make sure you configure the \
             dependency in your metadata"
        ),
    )
    .with_hint(known)
}

/// Returns Chef's message, which names the usual places and the files that exist.
fn not_found(view: &View<'_>, cookbook: &str, segment: &str, names: &[String]) -> Raised {
    let version = view.files.cookbooks().into_iter().find(|(name, _)| name == cookbook).map(|(_, version)| version);
    let identity = &view.settings.node;
    let shown = |value: &Option<String>| value.clone().unwrap_or_default();
    let (platform, number) = (shown(&identity.platform), shown(&identity.platform_version));
    let places = match names {
        [name] => vec![
            format!("{segment}/host-{}/{name}", shown(&identity.fqdn)),
            format!("{segment}/{platform}-{number}/{name}"),
            format!("{segment}/{platform}/{name}"),
            format!("{segment}/default/{name}"),
            format!("{segment}/{name}"),
        ],
        several => several.iter().map(|name| format!("{segment}/{name}")).collect(),
    };
    let mut message = format!(
        "Cookbook '{cookbook}' ({}) does not contain a file at any of these locations:\n  {}",
        version.unwrap_or_default(),
        places.join("\n  ")
    );
    let there = view.files.paths(cookbook, segment).unwrap_or_default();
    if !there.is_empty() {
        let named: Vec<&str> = there.iter().take(MAX_NAMED).map(String::as_str).collect();
        message.push_str(&format!("\n\nThis cookbook _does_ contain: ['{}']", named.join("','")));
    }
    let raised = Raised::new(ErrorKind::NoSuchFile, message);
    match hint(cookbook, segment, names, &there) {
        Some(hint) => raised.with_hint(hint),
        None => raised,
    }
}

/// The file that may have been meant; of a cookbook without such files, where they belong.
fn hint(cookbook: &str, segment: &str, names: &[String], there: &[String]) -> Option<String> {
    if there.is_empty() {
        return Some(format!("put it into {cookbook}/{segment}/"));
    }
    // A file lies in the segment's folder, or in that of a host or a platform.
    let below = there.iter().filter_map(|path| path.strip_prefix(segment)?.strip_prefix('/'));
    let candidates: Vec<&str> =
        below.flat_map(|path| [Some(path), path.split_once('/').map(|(_, rest)| rest)]).flatten().collect();
    names.iter().find_map(|name| did_you_mean(name, candidates.iter().copied()))
}
