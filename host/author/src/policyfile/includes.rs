//! Reads the locks of included policies.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use policyfile::include::Included;
use policyfile::lock::{CookbookPlace, Lock};
use policyfile::model::{CookbookSpec, IncludeSpec, Policy};
use serde_json::{Map, Value};
use text::error_chain;

use super::error::PolicyfileError;
use super::install::{exactly, source_of};
use super::paths::{expanded, inside, relative};
use super::{FOLDER_LOCK, MAX_TEXT, Place, Session, read_text};

/// The lock's path in a repository that does not say.
const LOCK: &str = "Policyfile.lock.json";

/// The length of a revision's beginning by which one may be named.
const SHORT_REVISION: usize = 10;

/// The most policies that one includes.
const MAX_INCLUDED: usize = 1000;

/// How many policies that include each other are followed.
const MAX_CHAIN: usize = 32;

/// What an update does with the commits that the lock has of included policies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pins<'a> {
    /// The lock as it was before; `None`: there is none yet.
    pub(super) lock: Option<&'a Lock>,
    /// The includes that are to be taken anew, by name; `all` means all of them.
    pub(super) renewed: &'a [String],
    /// Cookbooks that were fetched stay at the commits of the lock.
    pub(super) keeps_fetched: bool,
}

impl Pins<'_> {
    /// The commit that an include stays at, unless its options changed.
    fn commit(&self, include: &IncludeSpec) -> Option<String> {
        if self.renewed.iter().any(|name| *name == include.name || name == "all") {
            return None;
        }
        let locked = self.lock?.included.iter().find(|locked| locked.name == include.name)?;
        let mut options = locked.source_options.as_object()?.clone();
        let commit = options.get("revision")?.as_str()?.to_owned();
        if !include.options.contains_key("revision") {
            options.remove("revision");
        }
        (options == include.options).then_some(commit)
    }

    /// The policy with the fetched cookbooks of the lock at their commits, if they are to be kept. What an included policy
    /// locks is its own matter, and a source that says something else than the lock is taken as it is written.
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
            if spec.is_some_and(|spec| !is_locked_as(spec, &locked.source_options)) {
                continue;
            }
            let kept = CookbookSpec {
                name: name.clone(),
                constraint: exactly(name, &locked.version)?,
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
            let wrong = |what: String| PolicyfileError::Include {
                file: place.policyfile.clone(),
                line: include.line,
                name: include.name.clone(),
                what,
            };
            // Whatever is wrong with an included lock is told with the line that includes it.
            let placed = |error: PolicyfileError| match error {
                error @ PolicyfileError::Include { .. } => error,
                // Its source is part of the message.
                error @ PolicyfileError::Lock { .. } => wrong(error.to_string()),
                error => wrong(error_chain(&error)),
            };
            let option = |key: &str| include.options.get(key).and_then(Value::as_str);
            let found = match (option("path"), option("git"), option("remote")) {
                (_, Some(uri), None) => self.lock_in_repository(include, uri, pins, &wrong),
                (Some(path), None, _) => self.lock_at_path(include, path, place, policy, &wrong),
                (_, _, Some(address)) => self.lock_at_address(include, address, &wrong),
                _ => {
                    let what = "policies on a Chef server cannot be included yet; use path, git or remote";
                    return Err(wrong(what.into()));
                }
            };
            let (document, lock_place, options) = found.map_err(placed)?;
            let lock = Lock::from_json(&document)
                .map_err(|source| placed(PolicyfileError::Lock { place: lock_place.clone(), source }))?;
            all.push(Included {
                name: include.name.clone(),
                lock,
                revision_id: document.get("revision_id").cloned().unwrap_or(Value::Null),
                source_options: options,
                place: lock_place,
            });
        }
        Ok(all)
    }

    fn lock_at_path(
        &mut self,
        include: &IncludeSpec,
        path: &str,
        place: &Place,
        policy: &Policy,
        wrong: &dyn Fn(String) -> PolicyfileError,
    ) -> Result<Found, PolicyfileError> {
        let file = lock_file(&include.name, path, &place.folder).map_err(wrong)?;
        let mut document = read_document(&file)?;
        check_revision(include, &document).map_err(wrong)?;
        let own = policy.name.clone().unwrap_or_default();
        let mut way = Way { names: vec![own], followed: BTreeSet::new(), say: self.tools.say };
        way.follow(&document, &file).map_err(wrong)?;
        let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
        for options in source_options(&mut document) {
            if let Some(Value::String(path)) = options.get_mut("path") {
                *path = relative(&place.folder, &expanded(&*path, &folder));
            }
        }
        Ok((document, path.to_owned(), include.options.clone()))
    }

    fn lock_at_address(
        &mut self,
        include: &IncludeSpec,
        address: &str,
        wrong: &dyn Fn(String) -> PolicyfileError,
    ) -> Result<Found, PolicyfileError> {
        let text = (self.tools.download)(address).map_err(wrong)?;
        let mut document = parse(&text, address)?;
        check_revision(include, &document).map_err(wrong)?;
        for options in source_options(&mut document) {
            if let Some(path) = options.get("path").filter(|path| !path.is_null()) {
                let path = path.as_str().map_or_else(|| path.to_string(), str::to_owned);
                return Err(wrong(format!(
                    "Invalid cookbook path: {path}. Remote Policyfiles should only use remote cookbooks ({address})"
                )));
            }
        }
        Ok((document, address.to_owned(), include.options.clone()))
    }

    fn lock_in_repository(
        &mut self,
        include: &IncludeSpec,
        uri: &str,
        pins: Pins<'_>,
        wrong: &dyn Fn(String) -> PolicyfileError,
    ) -> Result<Found, PolicyfileError> {
        let option = |key: &str| include.options.get(key).and_then(Value::as_str);
        let address = with_scheme(uri);
        let pinned = option("revision").or_else(|| option("sha")).map(str::to_owned);
        let commit = match pinned.or_else(|| pins.commit(include)) {
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
        let path = inside("", path).ok_or_else(|| wrong(format!("{path:?} leads out of {uri}")))?;
        let lock_place = format!("{path} in {uri} at {commit}");
        let mut document = parse(&self.repositories.show(&repository, &commit, &path)?, &lock_place)?;
        check_revision(include, &document).map_err(wrong)?;
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for options in source_options(&mut document) {
            let Some(Value::String(cookbook)) = options.shift_remove("path") else { continue };
            let rel = inside(folder, &cookbook)
                .ok_or_else(|| wrong(format!("the cookbook path {cookbook:?} in {lock_place} leads out of {uri}")))?;
            let mut add = |key: &str, value: Option<&str>| {
                if let Some(value) = value {
                    options.entry(key).or_insert_with(|| value.into());
                }
            };
            add("git", Some(&address));
            add("revision", Some(&commit));
            add("branch", option("branch"));
            // As chef-cli: a tag counts beside a branch only.
            add("tag", option("branch").and(option("tag")));
            add("ref", option("ref"));
            add("rel", Some(rel.as_str()).filter(|rel| !rel.is_empty()));
        }
        let mut options = include.options.clone();
        options.insert("revision".into(), commit.into());
        Ok((document, lock_place, options))
    }
}

/// Whether a source that somebody wrote is the one that a lock has.
fn is_locked_as(spec: &CookbookSpec, locked: &Map<String, Value>) -> bool {
    spec.options.iter().all(|(key, value)| match (key.as_str(), value.as_str()) {
        ("github", Some(place)) => {
            locked.get("git").and_then(Value::as_str) == Some(&format!("https://github.com/{place}.git"))
        }
        // A lock has the whole id.
        ("revision", Some(name)) if name.chars().all(|one| one.is_ascii_hexdigit()) => {
            locked.get(key).and_then(Value::as_str).is_some_and(|locked| locked.starts_with(&name.to_ascii_lowercase()))
        }
        // A lock has the beginning of it.
        ("ref", Some(name)) => locked.get(key).and_then(Value::as_str).is_some_and(|locked| name.starts_with(locked)),
        _ => locked.get(key) == Some(value),
    })
}

/// A lock's document, its place for messages, and the source options that the including lock keeps.
type Found = (Value, String, Map<String, Value>);

/// The lock that a path means: a file, or `NAME.lock.json` in a folder, or the lock beside a policy.toml there.
fn lock_file(name: &str, path: &str, folder: &Path) -> Result<PathBuf, String> {
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

fn read_document(file: &Path) -> Result<Value, PolicyfileError> {
    parse(&read_text(file, MAX_TEXT)?, &file.display().to_string())
}

fn parse(text: &str, place: &str) -> Result<Value, PolicyfileError> {
    serde_json::from_str(text).map_err(|error| PolicyfileError::Lock {
        place: place.to_owned(),
        source: policyfile::lock::InvalidLock::Json { reason: error.to_string() },
    })
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

/// The way from a policy to one that it includes, over others.
struct Way<'a> {
    /// The names of the policies on it.
    names: Vec<String>,
    /// The locks from which no way leads back, and files that are not locks: each is read once, however many policies include it.
    followed: BTreeSet<PathBuf>,
    say: &'a dyn Fn(&str),
}

impl Way<'_> {
    /// Looks for a policy that includes itself. `document`: the lock in a file.
    fn follow(&mut self, document: &Value, file: &Path) -> Result<(), String> {
        let name = document.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let is_known = self.names.contains(&name);
        self.names.push(name);
        if is_known {
            return Err(format!("policies include each other in a loop: {}", self.names.join(" -> ")));
        }
        if self.names.len() > MAX_CHAIN {
            return Err(format!("more than {MAX_CHAIN} policies include each other: {} ..", self.names.join(" -> ")));
        }
        let folder = file.parent().unwrap_or(Path::new("/"));
        let included = document.get("included_policy_locks").and_then(Value::as_array);
        let included = included.map(Vec::as_slice).unwrap_or_default();
        if included.len() > MAX_INCLUDED {
            return Err(format!("{} includes more than {MAX_INCLUDED} policies", file.display()));
        }
        for included in included {
            let options = included.get("source_options");
            let option = |key: &str| options.and_then(|options| options.get(key)).and_then(Value::as_str);
            let Some(path) = option("path").filter(|_| option("git").is_none()) else { continue };
            let name = included.get("name").and_then(Value::as_str).unwrap_or_default();
            let read = lock_file(name, path, folder).and_then(|file| {
                let file = file.canonicalize().map_err(|error| format!("{}: {error}", file.display()))?;
                if self.followed.contains(&file) {
                    return Ok(None);
                }
                match read_document(&file) {
                    Ok(document) => Ok(Some((file, document))),
                    Err(error) => {
                        // It leads nowhere: that is said once.
                        self.followed.insert(file);
                        Err(error.to_string())
                    }
                }
            });
            match read {
                Ok(Some((file, document))) => {
                    self.follow(&document, &file)?;
                    self.followed.insert(file);
                }
                Ok(None) => {}
                Err(error) => (self.say)(&format!("note: cannot look for a loop through {name:?}: {error}")),
            }
        }
        self.names.pop();
        Ok(())
    }
}

/// `github.com/org/repo.git` means https. Paths and `user@host:path` are left as they are.
fn with_scheme(uri: &str) -> String {
    let host = uri.split('/').next().unwrap_or_default();
    let is_host = host.contains('.') && !host.starts_with('.') && !host.contains([':', '@']) && uri.contains('/');
    if is_host && !uri.contains("://") { format!("https://{uri}") } else { uri.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_that_many_include_are_read_once() {
        let folder = tempfile::tempdir().unwrap();
        // 31 levels of two policies each, each of which includes both of the next level: 2^31 ways.
        let lock = |level: usize, side: &str| {
            let include = |side: &str| {
                serde_json::json!({"name": format!("p{}{side}", level + 1),
                    "source_options": {"path": format!("p{}{side}.lock.json", level + 1)}})
            };
            let includes = if level < 30 { vec![include("a"), include("b")] } else { vec![] };
            serde_json::json!({"name": format!("p{level}{side}"), "included_policy_locks": includes})
        };
        for level in 0..=30 {
            for side in ["a", "b"] {
                let path = folder.path().join(format!("p{level}{side}.lock.json"));
                std::fs::write(path, lock(level, side).to_string()).unwrap();
            }
        }
        let mut way = Way { names: vec!["own".into()], followed: BTreeSet::new(), say: &|_| {} };
        way.follow(&lock(0, "a"), &folder.path().join("p0a.lock.json")).unwrap();
        assert_eq!(way.followed.len(), 60);
        let mut way = Way { names: vec!["p9b".into()], followed: BTreeSet::new(), say: &|_| {} };
        let error = way.follow(&lock(0, "a"), &folder.path().join("p0a.lock.json")).unwrap_err();
        assert!(error.starts_with("policies include each other in a loop: p9b -> p0a -> p1a"), "{error}");
        assert!(error.ends_with(" -> p9b"), "{error}");
    }

    #[test]
    fn what_is_not_a_lock_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("bad.lock.json"), "not JSON").unwrap();
        let said = std::cell::RefCell::new(vec![]);
        let say = |text: &str| said.borrow_mut().push(text.to_owned());
        let include = serde_json::json!({"name": "bad", "source_options": {"path": "bad.lock.json"}});
        let lock =
            |count: usize| serde_json::json!({"name": "a", "included_policy_locks": vec![include.clone(); count]});
        let file = folder.path().join("a.lock.json");
        let mut way = Way { names: vec!["own".into()], followed: BTreeSet::new(), say: &say };
        way.follow(&lock(1000), &file).unwrap();
        assert_eq!(said.borrow().len(), 1, "{:?}", said.borrow());
        let mut way = Way { names: vec!["own".into()], followed: BTreeSet::new(), say: &say };
        assert!(way.follow(&lock(1001), &file).unwrap_err().ends_with("includes more than 1000 policies"));
    }

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
