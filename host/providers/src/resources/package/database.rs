//! The package database of a root, cached for the length of a run and read again when its files have changed.

use super::candidates::{Offer, parse_policy, parse_providers};
use super::status::{JOURNAL, STATUS_FILE, Status};
use super::tools;
use crate::plan::View;
use contract::{ErrorKind, Raised};
use machine::root::Root;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Files whose change makes apt's answers outdated: its lists of available packages, and its settings.
const APT_FILES: [&str; 7] = [
    "/var/lib/apt/lists",
    "/var/lib/apt/lists/partial",
    "/etc/apt/sources.list",
    "/etc/apt/sources.list.d",
    "/etc/apt/preferences",
    "/etc/apt/preferences.d",
    "/etc/apt/apt.conf.d",
];

/// The number of [`APT_FILES`] that are apt's lists; the others configure the sources of the lists.
const APT_LISTS: usize = 2;

/// Maximum age of apt's lists, in seconds. If a package is missing in older lists, wrun refreshes them.
const FRESH_SECONDS: i64 = 3600;

/// The version of a file: inode, size, modification time.
type Stamp = Option<(u64, u64, i64)>;

/// The package database of one root.
#[derive(Debug, Default)]
pub(crate) struct PackageCache {
    read: Option<(Stamp, Arc<Status>)>,
    apt: Vec<Stamp>,
    /// Offers by requested release and name. `None`: apt does not know the name.
    offers: HashMap<(Option<String>, String), Option<Offer>>,
    providers: HashMap<String, BTreeSet<String>>,
    refreshed: bool,
    complaint: Option<String>,
}

impl PackageCache {
    /// Returns the installed packages; the file is read again only after a change.
    pub(super) fn status(&mut self, root: &Root) -> Result<Arc<Status>, Raised> {
        let stamp = stamp(root, STATUS_FILE);
        if let Some((known, status)) = &self.read
            && *known == stamp
        {
            return Ok(Arc::clone(status));
        }
        let text = match root.read(STATUS_FILE) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => vec![],
            Err(error) => return Err(Raised::new(ErrorKind::Package, format!("cannot read {STATUS_FILE}: {error}"))),
        };
        let native = root.read("/var/lib/dpkg/arch").unwrap_or_default();
        let native = String::from_utf8_lossy(&native).lines().next().map(str::to_owned);
        let status = Arc::new(Status::parse(&String::from_utf8_lossy(&text), native.as_deref()));
        self.offers.clear();
        self.read = Some((stamp, Arc::clone(&status)));
        Ok(status)
    }

    /// Must be called after a transaction of wrun: the status file is read again. The offers of apt stay valid, because they
    /// included the versions that are now installed.
    pub(super) fn transaction_ended(&mut self, root: &Root) {
        let offers = std::mem::take(&mut self.offers);
        self.read = None;
        if self.status(root).is_ok() {
            self.offers = offers;
        }
    }

    /// Must be called after the lists were refreshed. `complaint` is the error, if there was one.
    pub(super) fn lists_refreshed(&mut self, complaint: Option<String>) {
        self.refreshed = true;
        self.complaint = complaint;
        self.offers.clear();
        self.providers.clear();
    }

    /// Tells whether the lists were refreshed in this run.
    pub(super) fn was_refreshed(&self) -> bool {
        self.refreshed
    }

    /// Returns the error of refreshing the lists in this run.
    pub(super) fn complaint(&self) -> Option<&str> {
        self.complaint.as_deref()
    }

    /// Tells whether refreshing apt's lists could help. It must not have been done in this run. And the lists must be
    /// missing, old, or older than the configuration of their sources.
    pub(super) fn worth_refreshing(&self, root: &Root) -> bool {
        let times = APT_FILES.iter().map(|path| stamp(root, path).map(|(_, _, modified)| modified)).collect::<Vec<_>>();
        let (lists, sources) = times.split_at_checked(APT_LISTS).unwrap_or_default();
        let newest = |times: &[Option<i64>]| times.iter().flatten().max().copied();
        let empty = root.locate_target("/var/lib/apt/lists").and_then(|place| place.names());
        let empty =
            !empty.is_ok_and(|names| names.iter().any(|name| name.contains("_dists_") || name.ends_with("Packages")));
        let fresh = newest(lists).is_some_and(|lists| {
            newest(sources).is_none_or(|sources| sources <= lists) && now() - lists < FRESH_SECONDS
        });
        !self.refreshed && (empty || !fresh)
    }

    /// Clears apt's answers if its files have changed since.
    fn check_apt(&mut self, root: &Root) {
        let apt = APT_FILES.iter().map(|path| stamp(root, path)).collect();
        if self.apt != apt {
            self.apt = apt;
            self.offers.clear();
            self.providers.clear();
        }
    }
}

/// Returns apt's offers for names. All names that are not cached are looked up in one call.
pub(super) fn offers(
    view: &mut View<'_>,
    release: Option<&str>,
    names: &[&str],
) -> Result<HashMap<String, Offer>, Raised> {
    let root = Arc::clone(view.root);
    view.caches.packages.check_apt(&root);
    let key = |name: &str| (release.map(str::to_owned), name.to_owned());
    let offers = &view.caches.packages.offers;
    let unknown = names.iter().copied().filter(|name| !offers.contains_key(&key(name))).collect::<BTreeSet<_>>();
    if !unknown.is_empty() {
        let mut arguments = tools::release_options(release);
        arguments.extend(["policy".to_owned(), "--".to_owned()]);
        arguments.extend(unknown.iter().map(|name| (*name).to_owned()));
        let mut found = parse_policy(&tools::ask(view, "apt-cache", arguments)?);
        for name in unknown {
            let offer = found.remove(name);
            view.caches.packages.offers.insert(key(name), offer);
        }
    }
    let offers = &view.caches.packages.offers;
    let known = |name: &&str| Some(((*name).to_owned(), offers.get(&key(name))?.clone()?));
    Ok(names.iter().filter_map(known).collect())
}

/// Returns the packages that provide a virtual package.
pub(super) fn providers(view: &mut View<'_>, name: &str) -> Result<BTreeSet<String>, Raised> {
    if let Some(known) = view.caches.packages.providers.get(name) {
        return Ok(known.clone());
    }
    let arguments = ["showpkg".to_owned(), "--".to_owned(), name.to_owned()];
    let found = parse_providers(&tools::ask(view, "apt-cache", arguments.to_vec())?);
    view.caches.packages.providers.insert(name.to_owned(), found.clone());
    Ok(found)
}

/// Tells whether dpkg was interrupted and refuses to work: its journal has changes that are not yet in the status file.
pub(super) fn is_interrupted(root: &Root) -> bool {
    let names = root.locate_target(JOURNAL).and_then(|place| place.names()).unwrap_or_default();
    names.iter().any(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()))
}

fn stamp(root: &Root, path: &str) -> Stamp {
    let entry = root.target_entry(path).ok().flatten()?;
    Some((entry.identity.1, entry.size, entry.modified))
}

/// Returns the present time in seconds since 1970.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
