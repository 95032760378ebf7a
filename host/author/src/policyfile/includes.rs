//! Reads the locks of included policies.

use std::path::{Path, PathBuf};

use policyfile::constraint::version;
use policyfile::include::Included;
use policyfile::lock::{CookbookPlace, InvalidLock, Lock, document};
use policyfile::model::{CookbookSpec, IncludeSpec, Policy};
use serde_json::{Map, Value};
use text::error_chain;

use super::error::{PolicyfileError, Remedy};
use super::install::{exactly, source_of};
use super::loops::{Base, Way};
use super::paths::{expanded, inside, relative};
use super::{FOLDER_LOCK, MAX_TEXT, Place, Session, read_text};

/// The default path of the lock in a repository.
pub(super) const LOCK: &str = "Policyfile.lock.json";

/// Smallest length of an abbreviated revision.
const SHORT_REVISION: usize = 10;

/// The commits of the previous lock that an update keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pins<'a> {
    /// The previous lock; `None` if it does not exist.
    pub(super) lock: Option<&'a Lock>,
    /// The names of the includes to update; `all` means all of them.
    pub(super) renewed: &'a [String],
    /// Whether fetched cookbooks stay at the commits of the lock.
    pub(super) keeps_fetched: bool,
}

/// The options that a lock adds to those of an include: the commit of a repository; the revision and the policy on a server.
const ADDED: [&str; 3] = ["revision", REVISION, POLICY];

/// The revision of a policy on a Chef server.
const REVISION: &str = "policy_revision_id";

/// The name of a policy on a Chef server, where it is not the include's.
const POLICY: &str = "policy_name";

impl Pins<'_> {
    /// Returns the commit (`revision`), or the revision on a server, that an include keeps. `None` if it is updated or its
    /// options changed.
    fn kept(&self, include: &IncludeSpec, key: &str) -> Option<String> {
        if self.renewed.iter().any(|name| *name == include.name || name == "all") {
            return None;
        }
        let locked = self.lock?.included.iter().find(|locked| locked.name == include.name)?;
        let mut options = locked.source_options.as_object()?.clone();
        let kept = options.get(key)?.as_str()?.to_owned();
        options.retain(|key, _| include.options.contains_key(key) || !ADDED.contains(&key.as_str()));
        (options == include.options).then_some(kept)
    }

    /// Pins the policy's fetched cookbooks to the commits of the lock, if they are to be kept. Cookbooks of included policies
    /// are not pinned here, and neither are those whose source was changed since.
    pub(super) fn keep_fetched(&self, policy: &Policy, includes: &[Included]) -> Result<Policy, PolicyfileError> {
        let mut policy = policy.clone();
        let Some(lock) = self.lock.filter(|_| self.keeps_fetched) else { return Ok(policy) };
        for (name, locked) in &lock.cookbooks {
            let is_fetched = matches!(locked.place, CookbookPlace::Cached { .. });
            if !is_fetched || includes.iter().any(|include| include.lock.cookbooks.contains_key(name)) {
                continue;
            }
            let written = policy.cookbooks.iter().position(|spec| spec.name == *name);
            let spec = written.and_then(|at| policy.cookbooks.get(at));
            let constraint = exactly(name, &locked.version)?;
            let still_fits = |spec: &CookbookSpec| {
                is_locked_as(spec, &locked.source_options)
                    && version(&locked.version).is_ok_and(|version| spec.constraint.includes(version))
            };
            if spec.is_some_and(|spec| !still_fits(spec)) {
                continue;
            }
            let kept = CookbookSpec {
                name: name.clone(),
                constraint,
                options: locked.source_options.clone(),
                source: source_of(name, &locked.source_options)?,
                line: spec.map_or(0, |spec| spec.line),
            };
            if let Some(at) = written {
                policy.cookbooks.remove(at);
            }
            policy.cookbooks.push(kept);
        }
        Ok(policy)
    }
}

impl Session<'_> {
    /// Reads the locks of all included policies.
    pub(super) fn includes(
        &mut self,
        place: &Place,
        policy: &Policy,
        pins: Pins<'_>,
    ) -> Result<Vec<Included>, PolicyfileError> {
        let mut all = vec![];
        for include in &policy.includes {
            let asked = Asked { include, pins, policyfile: &place.policyfile };
            // Errors of an included lock name the line that includes it.
            let placed = |error: PolicyfileError| match error {
                error @ PolicyfileError::Include { .. } => error,
                error => asked.wrong(error_chain(&error)),
            };
            let found = match (asked.option("path"), asked.option("git"), asked.option("remote")) {
                (_, Some(uri), None) => self.lock_in_repository(&asked, uri),
                (Some(path), None, _) => self.lock_at_path(&asked, path, &place.folder),
                (_, _, Some(address)) => self.lock_at_address(&asked, address),
                _ => self.lock_on_server(&asked, asked.option("server").unwrap_or_default()),
            };
            let Found { text, document, file, place: lock_place, options, base } = found.map_err(placed)?;
            let mut way = Way::from(policy.name.clone().unwrap_or_default());
            self.follow(&mut way, &document, &base, &lock_place).map_err(|what| asked.wrong(what))?;
            let lock = Lock::from_json(&document).and_then(|lock| lock.check_statements(&text).map(|()| lock));
            let lock = lock.map_err(|invalid| placed(unsound(&file, invalid)))?;
            all.push(Included {
                name: include.name.clone(),
                lock,
                revision_id: document.get("revision_id").cloned().unwrap_or_default(),
                source_options: options,
                place: lock_place,
            });
        }
        Ok(all)
    }

    fn lock_at_path(&mut self, asked: &Asked<'_>, path: &str, from: &Path) -> Result<Found, PolicyfileError> {
        let file = lock_file(&asked.include.name, path, from).map_err(|what| asked.wrong(what))?;
        let text = read_text(&file, MAX_TEXT)?;
        let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
        let file = file.display().to_string();
        let mut document = parse(&text, &file)?;
        check_revision(asked.include, &document).map_err(|what| asked.wrong(what))?;
        for options in source_options(&mut document) {
            if let Some(Value::String(path)) = options.get_mut("path") {
                *path = relative(from, &expanded(&*path, &folder));
            }
        }
        let (place, options) = (path.to_owned(), asked.include.options.clone());
        Ok(Found { text, document, file, place, options, base: Base::Folder(folder) })
    }

    fn lock_at_address(&mut self, asked: &Asked<'_>, address: &str) -> Result<Found, PolicyfileError> {
        let text = self.tools.download_text(address).map_err(|what| asked.wrong(what))?;
        let mut document = parse(&text, address)?;
        check_revision(asked.include, &document).map_err(|what| asked.wrong(what))?;
        for options in source_options(&mut document) {
            if let Some(path) = options.get("path").filter(|path| !path.is_null()) {
                let path = path.as_str().map_or_else(|| path.to_string(), str::to_owned);
                return Err(asked.wrong(format!(
                    "Invalid cookbook path: {path}. Remote Policyfiles should only use remote cookbooks ({address})"
                )));
            }
        }
        let (place, options) = (address.to_owned(), asked.include.options.clone());
        Ok(Found { text, document, file: place.clone(), place, options, base: Base::Alone })
    }

    fn lock_on_server(&mut self, asked: &Asked<'_>, uri: &str) -> Result<Found, PolicyfileError> {
        let policy = asked.option(POLICY).unwrap_or(&asked.include.name);
        let revision = asked.option(REVISION).map(str::to_owned).or_else(|| asked.kept(REVISION));
        let text = self.server_lock(uri, policy, revision.as_deref(), asked.option("policy_group"))?;
        let place = format!("the policy {policy} on {uri}");
        let text = String::from_utf8(text).map_err(|_| asked.wrong(format!("{place} is not UTF-8 text")))?;
        let mut document = parse(&text, &place)?;
        let found = document.get("revision_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(expected) = revision.filter(|expected| *expected != found) {
            let what = format!("{place} has the revision '{found}', and not '{expected}' as it was asked for");
            return Err(asked.wrong(what));
        }
        let locks = document.get_mut("cookbook_locks").and_then(Value::as_object_mut).into_iter();
        for (_, lock) in locks.flat_map(|locks| locks.iter_mut()) {
            let identifier = lock.get("identifier").cloned().unwrap_or(Value::Null);
            let options = [("chef_server_artifact".to_owned(), uri.into()), ("identifier".to_owned(), identifier)];
            if let Some(fields) = lock.as_object_mut() {
                fields.insert("source_options".into(), Value::Object(Map::from_iter(options)));
            }
        }
        let mut options = asked.include.options.clone();
        options.entry(POLICY).or_insert_with(|| policy.into());
        options.insert(REVISION.into(), found.into());
        Ok(Found { text, document, file: place.clone(), place, options, base: Base::Alone })
    }

    fn lock_in_repository(&mut self, asked: &Asked<'_>, uri: &str) -> Result<Found, PolicyfileError> {
        let option = |key: &str| asked.option(key);
        let address = with_scheme(uri);
        let pinned = option("revision").or_else(|| option("sha")).map(str::to_owned);
        let commit = match pinned.or_else(|| asked.kept("revision")) {
            Some(commit) => self.repositories.pinned(&address, &commit)?,
            None => {
                self.repositories.fetch(&address)?;
                match option("ref").or_else(|| option("branch")).or_else(|| option("tag")) {
                    Some(name) => self.repositories.resolve(&address, name)?,
                    None => {
                        let usual = self.repositories.resolve(&address, "master");
                        usual.or_else(|_| self.repositories.resolve(&address, "HEAD"))?
                    }
                }
            }
        };
        let repository = self.repositories.with_commit(&address, &commit)?;
        let path = option("path").or_else(|| option("rel")).unwrap_or(LOCK);
        let path = inside("", path).ok_or_else(|| asked.wrong(format!("{path:?} leads out of {uri}")))?;
        let lock_place = format!("{path} in {uri} at {commit}");
        let text = self.repositories.show(&repository, &commit, &path)?;
        let mut document = parse(&text, &lock_place)?;
        check_revision(asked.include, &document).map_err(|what| asked.wrong(what))?;
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for options in source_options(&mut document) {
            let Some(Value::String(cookbook)) = options.shift_remove("path") else { continue };
            let rel = inside(folder, &cookbook).ok_or_else(|| {
                asked.wrong(format!("the cookbook path {cookbook:?} in {lock_place} leads out of {uri}"))
            })?;
            let mut add = |key: &str, value: Option<&str>| {
                if let Some(value) = value {
                    options.entry(key).or_insert_with(|| value.into());
                }
            };
            add("git", Some(&address));
            add("revision", Some(&commit));
            add("branch", option("branch"));
            // As in chef-cli, a tag counts only together with a branch.
            add("tag", option("branch").and(option("tag")));
            add("ref", option("ref"));
            add("rel", Some(rel.as_str()).filter(|rel| !rel.is_empty()));
        }
        let mut options = asked.include.options.clone();
        options.insert("revision".into(), commit.clone().into());
        let base = Base::Commit { uri: address, commit, folder: folder.to_owned() };
        Ok(Found { text, document, file: lock_place.clone(), place: lock_place, options, base })
    }
}

/// Tells whether a source in the policy is the same as in the lock.
fn is_locked_as(spec: &CookbookSpec, locked: &Map<String, Value>) -> bool {
    spec.options.iter().all(|(key, value)| match (key.as_str(), value.as_str()) {
        ("github", Some(place)) => {
            locked.get("git").and_then(Value::as_str) == Some(&format!("https://github.com/{place}.git"))
        }
        // The lock has the full id.
        ("revision", Some(name)) if name.chars().all(|one| one.is_ascii_hexdigit()) => {
            locked.get(key).and_then(Value::as_str).is_some_and(|locked| locked.starts_with(&name.to_ascii_lowercase()))
        }
        // A lock has the beginning of it.
        ("ref", Some(name)) => locked.get(key).and_then(Value::as_str).is_some_and(|locked| name.starts_with(locked)),
        _ => locked.get(key) == Some(value),
    })
}

/// An included policy whose lock is read.
struct Asked<'a> {
    include: &'a IncludeSpec,
    pins: Pins<'a>,
    /// The Policyfile or policy.toml that includes it.
    policyfile: &'a Path,
}

impl Asked<'_> {
    /// One of its options, if that is a text.
    fn option(&self, key: &str) -> Option<&str> {
        self.include.options.get(key).and_then(Value::as_str)
    }

    /// Returns the commit or the revision that it keeps: see [`Pins::kept`].
    fn kept(&self, key: &str) -> Option<String> {
        self.pins.kept(self.include, key)
    }

    /// The error for it, at the line that includes it.
    fn wrong(&self, what: String) -> PolicyfileError {
        let (file, line, name) = (self.policyfile.to_owned(), self.include.line, self.include.name.clone());
        PolicyfileError::Include { file, line, name, what }
    }
}

/// A lock that was read.
struct Found {
    /// The lock as it was written.
    text: String,
    /// The lock with its paths made relative to the policy that includes it.
    document: Value,
    /// The path of its file, or the place that it was fetched from.
    file: String,
    /// The place that its policy names, for messages.
    place: String,
    /// The source options that the including lock keeps.
    options: Map<String, Value>,
    /// The folder or commit that its paths are relative to.
    base: Base,
}

/// The lock that a path means: a file, or `NAME.lock.json` in a folder, or the lock beside a policy.toml there.
pub(super) fn lock_file(name: &str, path: &str, folder: &Path) -> Result<PathBuf, String> {
    let found = expanded(path, folder);
    if found.is_dir() {
        let file = found.join(format!("{name}.lock.json"));
        let what = format!(
            "there is no file {name}.lock.json or {FOLDER_LOCK} in {path} ({}); give the lock's own path if it has another name",
            found.display()
        );
        let beside = found.join(FOLDER_LOCK);
        let found = [file, beside].into_iter().find(|file| file.is_file());
        return found.ok_or(what);
    }
    if found.is_file() {
        Ok(found)
    } else {
        Err(format!("the provided path {path} does not exist ({})", found.display()))
    }
}

pub(super) fn read_document(file: &Path) -> Result<Value, PolicyfileError> {
    parse(&read_text(file, MAX_TEXT)?, &file.display().to_string())
}

pub(super) fn parse(text: &str, place: &str) -> Result<Value, PolicyfileError> {
    document(text).map_err(|invalid| unsound(place, invalid))
}

/// The error of an included lock.
fn unsound(place: &str, invalid: InvalidLock) -> PolicyfileError {
    PolicyfileError::Lock { place: place.to_owned(), invalid, remedy: Remedy::UpdateIncluded }
}

/// `policy_revision_id` names the revision, or begins it.
fn check_revision(include: &IncludeSpec, document: &Value) -> Result<(), String> {
    let Some(expected) = include.options.get("policy_revision_id").and_then(Value::as_str) else { return Ok(()) };
    let found = document.get("revision_id").and_then(Value::as_str).unwrap_or_default();
    if found == expected || found.get(..SHORT_REVISION) == Some(expected) {
        return Ok(());
    }
    Err(format!("expected policy_revision_id '{expected}' does not match the included policy's '{found}'"))
}

/// The source options of all cookbooks of a lock.
fn source_options(document: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let locks = document.get_mut("cookbook_locks").and_then(Value::as_object_mut).into_iter();
    let locks = locks.flat_map(|locks| locks.iter_mut().map(|(_, lock)| lock));
    locks.filter_map(|lock| lock.get_mut("source_options")?.as_object_mut())
}

/// Adds `https://` to an address such as `github.com/org/repo.git`. Paths and `user@host:path` are returned unchanged.
pub(super) fn with_scheme(uri: &str) -> String {
    let host = uri.split('/').next().unwrap_or_default();
    let is_host = host.contains('.') && !host.starts_with('.') && !host.contains([':', '@']) && uri.contains('/');
    if is_host && !uri.contains("://") { format!("https://{uri}") } else { uri.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_without_a_scheme_mean_https() {
        #[track_caller]
        fn check(uri: &str, expect: &str) {
            assert_eq!(with_scheme(uri), expect);
        }
        check("github.com/org/repo.git", "https://github.com/org/repo.git");
        check("https://github.com/org/repo", "https://github.com/org/repo");
        check("file:///x", "file:///x");
        check("git@github.com:org/repo.git", "git@github.com:org/repo.git");
        check("../repo", "../repo");
        check("/srv/git.d/repo", "/srv/git.d/repo");
        check("repo.git", "repo.git");
    }
}
