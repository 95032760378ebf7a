//! Files that a node asks for at once: what becomes of the answers is what becomes of them one after another.

use crate::place::Place;
use repository::RepositoryError;
use repository::node::{Fetched, Wanted, fetch};
use repository::store::{Store, Writer};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// A store behind an address: it answers only once so many are asking, fails for one file, and notes what it was asked.
struct Distant<'s> {
    store: &'s dyn Store,
    fails: Option<&'static str>,
    /// How many must ask at the same time.
    together: usize,
    asking: Mutex<usize>,
    enough: Condvar,
    asked: Mutex<Vec<String>>,
}

impl<'s> Distant<'s> {
    fn new(store: &'s dyn Store, together: usize, fails: Option<&'static str>) -> Self {
        let (asking, enough, asked) = (Mutex::new(0), Condvar::new(), Mutex::new(vec![]));
        Self { store, fails, together, asking, enough, asked }
    }

    fn asked(&self) -> Vec<String> {
        let mut asked = self.asked.lock().unwrap().clone();
        asked.sort();
        asked
    }
}

impl Store for Distant<'_> {
    fn place(&self) -> String {
        "https://releases.example".into()
    }

    fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, RepositoryError> {
        self.asked.lock().unwrap().push(path.to_owned());
        let mut asking = self.asking.lock().unwrap();
        *asking += 1;
        self.enough.notify_all();
        let (asking, waited) =
            self.enough.wait_timeout_while(asking, Duration::from_secs(60), |asking| *asking < self.together).unwrap();
        assert!(!waited.timed_out(), "only {} files are asked for at once", *asking);
        drop(asking);
        if self.fails == Some(path) {
            return Err(RepositoryError::Other(format!("{path} cannot be had now")));
        }
        self.store.get(path, limit)
    }

    fn names(&self, folder: &str) -> Result<Vec<String>, RepositoryError> {
        self.store.names(folder)
    }

    fn writer<'w>(&'w self, folder: &str) -> Result<Box<dyn Writer + 'w>, RepositoryError> {
        self.store.writer(folder)
    }
}

/// Asks a store as a node does that is far from it.
fn fetch_from(place: &Place, store: &dyn Store) -> Fetched {
    let mut settings = place.node_settings(Ok(store), place.folder.path().join("node-a"));
    settings.refresh = Some(Duration::ZERO);
    let wanted =
        ["core", "web"].map(|policy| Wanted { policy: policy.into(), group: "staging".into(), revision: None });
    fetch(settings, &wanted).unwrap()
}

/// Two teams, both released, of which the node has seen all.
fn known() -> Place {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    place.push("web", "staging", 1).unwrap();
    let fetched = fetch_from(&place, &place.store());
    assert_eq!(fetched.artifacts.len(), 2);
    place
}

#[test]
fn what_an_update_begins_with_is_asked_for_at_once_and_once() {
    let place = known();
    let store = place.store();
    let distant = Distant::new(&store, 4, None);
    let fetched = fetch_from(&place, &distant);
    assert!(fetched.artifacts.values().all(|artifact| artifact.stale().is_none()));
    let files = ["platform/metadata/2.root", "platform/metadata/timestamp", "teams/core/metadata/timestamp"];
    let files = files.into_iter().chain(["teams/web/metadata/timestamp"]);
    assert_eq!(distant.asked(), files.map(|file| format!("{file}.json")).collect::<Vec<_>>());
    // What is new is found as ever.
    place.push("web", "staging", 2).unwrap();
    let fetched = fetch_from(&place, &Distant::new(&store, 4, None));
    assert_eq!(fetched.artifacts["web"].release(), place.fetch(&["web"]).artifacts["web"].release());
    assert_ne!(fetched.artifacts["web"].release().digest, fetched.artifacts["core"].release().digest);
}

#[test]
fn an_answer_that_failed_is_a_failure_and_never_an_absence() {
    let place = known();
    let store = place.store();
    place.push("core", "staging", 2).unwrap();
    let stale = |fails: &'static str| {
        let distant = Distant::new(&store, 4, Some(fails));
        let fetched = fetch_from(&place, &distant);
        assert_eq!(distant.asked().iter().filter(|path| *path == fails).count(), 1, "it is asked once");
        fetched.artifacts.into_iter().filter_map(|(policy, one)| Some((policy, one.stale()?.reason.clone()))).collect()
    };
    // Who hides the next root could hide that a key was revoked: nothing new is taken from anybody.
    let all: Vec<(String, String)> = stale("platform/metadata/2.root.json");
    assert_eq!(all.iter().map(|(policy, _)| policy.as_str()).collect::<Vec<_>>(), ["core", "web"]);
    assert!(all.iter().all(|(_, reason)| reason.contains("2.root.json cannot be had now")), "{all:?}");
    let all = stale("platform/metadata/timestamp.json");
    assert_eq!(all.len(), 2);
    // One team's trouble is its own.
    let all = stale("teams/core/metadata/timestamp.json");
    assert_eq!(all.iter().map(|(policy, _)| policy.as_str()).collect::<Vec<_>>(), ["core"]);
}
