//! Finds policies that include themselves through other policies. It reads the locks that an included lock names, as far as
//! possible. A lock that cannot be read is reported, and its includes are ignored.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use text::error_chain;

use super::includes::{LOCK, lock_file, parse, read_document, with_scheme};
use super::paths::inside;
use super::{PolicyfileError, Session};

/// The most policies that one includes.
const MAX_INCLUDED: usize = 1000;

/// Largest length of a chain of included policies.
const MAX_CHAIN: usize = 32;

/// Largest number of locks that are fetched from servers and repositories only to find loops.
const MAX_DISTANT: usize = 100;

/// What the paths in a lock are relative to.
#[derive(Debug, Clone)]
pub(super) enum Base {
    /// A folder on this machine.
    Folder(PathBuf),
    /// A folder in a commit of a repository.
    Commit {
        /// The address of the repository.
        uri: String,
        /// The whole id of the commit.
        commit: String,
        /// The folder's path, empty for the top.
        folder: String,
    },
    /// The lock was downloaded alone, so its paths cannot be followed.
    Alone,
}

/// The chain of includes that is being followed.
#[derive(Debug)]
pub(super) struct Way {
    /// The names of the policies on it.
    names: Vec<String>,
    /// The locks that are not part of a loop, and places without a lock. Each is read only once, even if many policies
    /// include it.
    followed: BTreeSet<String>,
    /// The number of locks that were fetched.
    distant: usize,
}

impl Way {
    /// Starts the chain with a policy.
    pub(super) fn from(name: String) -> Self {
        Self { names: vec![name], followed: BTreeSet::new(), distant: 0 }
    }
}

/// An included policy's lock that is still to be read.
enum Next {
    File(PathBuf),
    InCommit { uri: String, commit: String, path: String, name: String },
    Address(String),
    Server { uri: String, policy: String, revision: String },
}

impl Next {
    /// Returns the key that identifies a lock, such as the resolved path of a file.
    fn key(&self) -> String {
        match self {
            Self::File(file) => file.display().to_string(),
            Self::InCommit { uri, commit, path, .. } => format!("{path} in {uri} at {commit}"),
            Self::Address(address) => address.clone(),
            Self::Server { uri, policy, revision } => format!("{policy} {revision} on {uri}"),
        }
    }
}

impl Session<'_> {
    /// Looks for a policy that includes itself. `document`: a lock that is included; `place`: where it is, for messages.
    pub(super) fn follow(&self, way: &mut Way, document: &Value, base: &Base, place: &str) -> Result<(), String> {
        let name = document.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let is_known = way.names.contains(&name);
        way.names.push(name);
        if is_known {
            return Err(format!("policies include each other in a loop: {}", way.names.join(" -> ")));
        }
        if way.names.len() > MAX_CHAIN {
            return Err(format!("more than {MAX_CHAIN} policies include each other: {} ..", way.names.join(" -> ")));
        }
        let included = document.get("included_policy_locks").and_then(Value::as_array);
        let included = included.map(Vec::as_slice).unwrap_or_default();
        if included.len() > MAX_INCLUDED {
            return Err(format!("{place} includes more than {MAX_INCLUDED} policies"));
        }
        for included in included {
            let name = included.get("name").and_then(Value::as_str).unwrap_or_default();
            let note = |what: &str| (self.tools.say)(&format!("note: cannot look for a loop through {name:?}: {what}"));
            let next = match next(name, included.get("source_options").unwrap_or(&Value::Null), base) {
                Ok(next) => next,
                Err(what) => {
                    note(&what);
                    continue;
                }
            };
            let key = next.key();
            if way.followed.contains(&key) {
                continue;
            }
            match self.read_next(way, next) {
                Ok((document, base)) => self.follow(way, &document, &base, &key)?,
                // A lock that cannot be read is reported only once.
                Err(what) => note(&what),
            }
            way.followed.insert(key);
        }
        way.names.pop();
        Ok(())
    }

    fn read_next(&self, way: &mut Way, next: Next) -> Result<(Value, Base), String> {
        if !matches!(next, Next::File(_)) {
            way.distant += 1;
            if way.distant > MAX_DISTANT {
                return Err(format!("more than {MAX_DISTANT} locks would have to be fetched"));
            }
        }
        let said = |error: PolicyfileError| error_chain(&error);
        let key = next.key();
        match next {
            Next::File(file) => {
                let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
                Ok((read_document(&file).map_err(said)?, Base::Folder(folder)))
            }
            Next::InCommit { uri, commit, path, name } => {
                let repository = self.repositories.with_commit(&uri, &commit).map_err(|error| said(error.into()))?;
                let show = |path: &str| self.repositories.show(&repository, &commit, path);
                // A folder means the lock of the policy's name in it.
                let (text, path) = match show(&path) {
                    Ok(text) => (text, path),
                    Err(error) => {
                        let below =
                            format!("{}{name}.lock.json", if path.is_empty() { path } else { format!("{path}/") });
                        (show(&below).map_err(|_| said(error.into()))?, below)
                    }
                };
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
                Ok((parse(&text, &key).map_err(said)?, Base::Commit { uri, commit, folder }))
            }
            Next::Address(address) => {
                let text = self.tools.download_text(&address)?;
                Ok((parse(&text, &key).map_err(said)?, Base::Alone))
            }
            Next::Server { uri, policy, revision } => {
                let text = self.server_lock(&uri, &policy, Some(&revision), None).map_err(said)?;
                Ok((parse(&String::from_utf8_lossy(&text), &key).map_err(said)?, Base::Alone))
            }
        }
    }
}

/// Where an included policy's lock is, as the lock that includes it says.
fn next(name: &str, options: &Value, base: &Base) -> Result<Next, String> {
    let option = |key: &str| options.get(key).and_then(Value::as_str);
    if let Some(uri) = option("git") {
        let (uri, path) = (with_scheme(uri), option("path").or_else(|| option("rel")).unwrap_or(LOCK));
        let commit = option("revision").ok_or("its lock does not say at which commit it was")?.to_owned();
        let path = inside("", path).ok_or_else(|| format!("{path:?} leads out of {uri}"))?;
        return Ok(Next::InCommit { uri, commit, path, name: name.to_owned() });
    }
    if let Some(path) = option("path") {
        return match base {
            Base::Folder(folder) => {
                let file = lock_file(name, path, folder)?;
                let file = file.canonicalize().map_err(|error| format!("{}: {error}", file.display()))?;
                Ok(Next::File(file))
            }
            Base::Commit { uri, commit, folder } => {
                let path = inside(folder, path).ok_or_else(|| format!("{path:?} leads out of {uri}"))?;
                Ok(Next::InCommit { uri: uri.clone(), commit: commit.clone(), path, name: name.to_owned() })
            }
            Base::Alone => Err(format!("the path {path:?} is on the machine where it was locked")),
        };
    }
    if let Some(address) = option("remote") {
        return Ok(Next::Address(address.to_owned()));
    }
    let (uri, revision) = (option("server"), option("policy_revision_id"));
    match uri.zip(revision) {
        Some((uri, revision)) => {
            let policy = option("policy_name").unwrap_or(name).to_owned();
            Ok(Next::Server { uri: uri.to_owned(), policy, revision: revision.to_owned() })
        }
        None => Err("its lock does not say where it was".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tools;
    use super::*;
    use serde_json::json;

    /// Follows a lock in a folder, for a policy of this name. Returns the way and what was said.
    fn followed(name: &str, document: &Value, folder: &Path) -> (Result<Way, String>, Vec<String>) {
        let said = std::cell::RefCell::new(vec![]);
        let say = |text: &str| said.borrow_mut().push(text.to_owned());
        let tools = Tools { say: &say, ..Tools::offline() };
        let session = Session::new(&tools, false);
        let mut way = Way::from(name.to_owned());
        let result = session.follow(&mut way, document, &Base::Folder(folder.to_owned()), "the lock");
        (result.map(|()| way), said.into_inner())
    }

    #[test]
    fn each_lock_is_followed_once() {
        let folder = tempfile::tempdir().unwrap();
        let lock = |level: usize, side: &str| {
            let below = (level < 30).then(|| ["a", "b"].map(|side| format!("p{}{side}", level + 1)));
            let below = below.into_iter().flatten();
            let include = |name: String| json!({"name": name, "source_options": {"path": format!("{name}.lock.json")}});
            json!({"name": format!("p{level}{side}"), "included_policy_locks": below.map(include).collect::<Vec<_>>()})
        };
        for level in 1..=30 {
            for side in ["a", "b"] {
                let path = folder.path().join(format!("p{level}{side}.lock.json"));
                std::fs::write(path, lock(level, side).to_string()).unwrap();
            }
        }
        let (way, _) = followed("own", &lock(0, "a"), folder.path());
        assert_eq!(way.unwrap().followed.len(), 60);
        let (way, _) = followed("p9b", &lock(0, "a"), folder.path());
        let error = way.unwrap_err();
        assert!(error.starts_with("policies include each other in a loop: p9b -> p0a -> p1a"), "{error}");
        assert!(error.ends_with(" -> p9b"), "{error}");
    }

    #[test]
    fn what_cannot_be_read_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("bad.lock.json"), "not JSON").unwrap();
        let check = |options: Value, part: &str| {
            let include = json!({"name": "bad", "source_options": options});
            let lock = json!({"name": "a", "included_policy_locks": vec![include; 3]});
            let (way, said) = followed("own", &lock, folder.path());
            way.unwrap();
            assert!(
                said.iter().all(|note| note.starts_with("note: cannot look for a loop through \"bad\": ")),
                "{said:?}"
            );
            assert!(said.first().is_some_and(|note| note.contains(part)), "{said:?}");
            said.len()
        };
        assert_eq!(check(json!({"path": "bad.lock.json"}), "not valid JSON"), 1);
        assert_eq!(check(json!({"remote": "https://localhost/x"}), "https://localhost/x cannot be read here"), 1);
        assert_eq!(check(json!({"git": "file:///x", "revision": "ab"}), "nothing can be fetched here"), 1);
        let server = json!({"server": "https://localhost", "policy_revision_id": "ab"});
        assert_eq!(check(server, "the settings name no Chef server"), 1);
        // Where nobody says where it is, there is nothing to be read twice.
        assert_eq!(check(json!({"git": "file:///x"}), "does not say at which commit"), 3);
        assert_eq!(check(json!({}), "does not say where it was"), 3);
        let include = json!({"name": "bad", "source_options": {"path": "bad.lock.json"}});
        let lock = json!({"name": "a", "included_policy_locks": vec![include; 1001]});
        let (way, _) = followed("own", &lock, folder.path());
        assert_eq!(way.unwrap_err(), "the lock includes more than 1000 policies");
        // However many there are elsewhere, no more than a hundred are asked for.
        let include =
            |number: usize| json!({"name": "x", "source_options": {"remote": format!("https://localhost/{number}")}});
        let lock = json!({"name": "a", "included_policy_locks": (0..150).map(include).collect::<Vec<_>>()});
        let (_, said) = followed("own", &lock, folder.path());
        assert_eq!(said.iter().filter(|note| note.contains("more than 100 locks")).count(), 50);
    }
}
