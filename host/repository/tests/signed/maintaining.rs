//! Promotions, other keys of the platform, checks, what is removed, and writers that are cut off at each step.

use crate::place::{Place, done, revision, version, wanted};
use repository::node::fetch;
use repository::store::{Store, Writer};
use repository::trust::TrustFolder;
use repository::writer::Publisher;
use repository::{DirectoryStore, Release, RepositoryError};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a group runs of `core`.
fn released(place: &Place, group: &str) -> Option<Release> {
    place.publisher(|publisher| {
        let platform = publisher.platform().unwrap();
        let team = publisher.owner(&platform, "core").unwrap();
        let current = publisher.team(&platform, team).unwrap().current;
        publisher.released(&current, "core", group).unwrap()
    })
}

#[test]
fn a_promotion_gives_a_group_what_another_one_runs() {
    let place = Place::new();
    place.push("core", "dev", 1).unwrap();
    let read = released(&place, "dev").unwrap();
    assert_eq!(place.publisher(|publisher| publisher.promote(&read, "staging")).unwrap(), done(2));
    assert_eq!(place.runs("core"), 1);
    assert_eq!(released(&place, "staging").unwrap().digest, read.digest);
    place.push("core", "dev", 2).unwrap();
    let changed = place.publisher(|publisher| publisher.promote(&read, "prod")).unwrap_err().to_string();
    assert!(changed.contains("the group dev of core was changed by somebody else"), "{changed}");
    assert_eq!(released(&place, "prod"), None);
}

#[test]
fn the_platform_gets_other_keys_and_nodes_follow() {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    assert_eq!(place.runs("core"), 1);
    let (new, online) = (place.key("platform-2"), place.key("platform-online-2"));
    assert_eq!(place.publisher(|publisher| publisher.rotate(&[new], 1, &online)).unwrap().0, 2);
    assert_eq!(place.runs("core"), 1);
    place.push("core", "staging", 2).unwrap();
    assert_eq!(place.runs("core"), 2);
    // A node that has never seen the repository begins with the first root and ends with the newest.
    let fetched = place.fetch_from(&place.store(), "new", &["core"]);
    assert_eq!(version(fetched.artifacts["core"].artifact()), 2);
    // The old keys say nothing any more.
    let old = place.some_keys(&["platform", "platform-online"]);
    let team = place.team("mail", 1);
    let refused = place.as_author("old", &old, |publisher| publisher.set_team(&team)).unwrap_err().to_string();
    assert!(refused.contains("none of the keys"), "{refused}");
    place.publisher(|publisher| publisher.set_team(&team)).unwrap();
    place.push("mail", "staging", 1).unwrap();
    assert_eq!(place.runs("mail"), 1);
}

#[test]
fn a_check_reads_everything() {
    let mut place = Place::new();
    place.push("core", "staging", 1).unwrap();
    let check = |place: &Place| place.publisher(|publisher| publisher.check());
    let found = check(&place);
    let names: Vec<_> =
        found.iter().map(|one| (one.name.as_str(), one.expires.is_some(), one.problems.len())).collect();
    assert_eq!(names, [("platform", true, 0), ("core", true, 0), ("web", false, 0)]);
    let folder = place.path("teams/core/targets/revisions/core");
    for entry in std::fs::read_dir(folder).unwrap() {
        std::fs::write(entry.unwrap().path(), "").unwrap();
    }
    let found = check(&place);
    assert_eq!(found[1].problems.len(), 2, "{found:?}");
    assert!(found[1].problems[0].contains("is not the file that was signed"));
    place.later(31);
    let found = check(&place);
    assert!(found[0].problems[0].contains("expired"), "{found:?}");
}

#[test]
fn what_nobody_runs_is_removed_after_a_week() {
    let mut place = Place::new();
    for version in 1..=3 {
        place.push("core", "staging", version).unwrap();
    }
    let clean = |place: &Place| {
        place.publisher(|publisher| {
            let platform = publisher.platform().unwrap();
            let team = publisher.owner(&platform, "core").unwrap();
            publisher.clean(team, &platform).unwrap()
        })
    };
    let count = |place: &Place| std::fs::read_dir(place.path("teams/core/targets/revisions/core")).unwrap().count();
    assert_eq!((clean(&place), count(&place)), (vec![], 6), "they are new");
    assert_eq!(place.runs("core"), 3);
    place.later(8);
    let removed = clean(&place);
    assert_eq!((removed.len(), count(&place)), (4, 2), "{removed:?}");
    assert_eq!(place.runs("core"), 3);
    place.push("core", "staging", 1).unwrap();
    assert_eq!(place.runs("core"), 1, "what was removed can be released again");
}

/// A store whose writers are cut off after some steps, as if their process had been killed.
struct CutOff {
    store: DirectoryStore,
    left: AtomicUsize,
}

impl CutOff {
    fn step(&self) -> Result<(), RepositoryError> {
        let took = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        took.map(drop).map_err(|_| RepositoryError::Other("killed".into()))
    }
}

impl Store for CutOff {
    fn place(&self) -> String {
        self.store.place()
    }

    fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, RepositoryError> {
        self.store.get(path, limit)
    }

    fn names(&self, folder: &str) -> Result<Vec<String>, RepositoryError> {
        self.store.names(folder)
    }

    fn writer<'s>(&'s self, folder: &str) -> Result<Box<dyn Writer + 's>, RepositoryError> {
        Ok(Box::new(CutOffWriter { writer: self.store.writer(folder)?, store: self }))
    }
}

struct CutOffWriter<'s> {
    writer: Box<dyn Writer + 's>,
    store: &'s CutOff,
}

impl Writer for CutOffWriter<'_> {
    fn put_if_absent(&self, path: &str, content: &[u8]) -> Result<bool, RepositoryError> {
        self.store.step()?;
        self.writer.put_if_absent(path, content)
    }

    fn replace_if_unchanged(&self, path: &str, old: Option<&[u8]>, new: &[u8]) -> Result<bool, RepositoryError> {
        self.store.step()?;
        self.writer.replace_if_unchanged(path, old, new)
    }

    fn replace(&self, path: &str, content: &[u8]) -> Result<(), RepositoryError> {
        self.store.step()?;
        self.writer.replace(path, content)
    }

    fn remove(&self, path: &str) -> Result<(), RepositoryError> {
        self.store.step()?;
        self.writer.remove(path)
    }

    fn sweep(&self, folder: &str) -> Result<(), RepositoryError> {
        self.store.step()?;
        self.writer.sweep(folder)
    }
}

impl Place {
    /// Does something as the admin, whose writers are cut off after some steps. Returns whether they were.
    fn cut_off(&self, steps: usize, work: impl FnOnce(&Publisher<'_>) -> Result<(), RepositoryError>) -> bool {
        let store = CutOff { store: self.store(), left: AtomicUsize::new(steps) };
        let ask = |_: &repository::key_file::KeyFile| Ok(String::new());
        let keys = repository::keyring::KeyRing::new(self.folder.path().join("keys"), &ask);
        let trust = TrustFolder::new(self.folder.path().join("trust-admin"));
        match work(&Publisher { store: &store, keys: &keys, trust: &trust, now: self.now }) {
            Ok(()) => false,
            Err(error) => {
                assert_eq!(error.to_string(), "killed");
                true
            }
        }
    }
}

#[test]
fn a_push_that_is_cut_off_has_released_all_or_nothing() {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    let (mut last, mut cut) = (1, 0);
    for steps in 0.. {
        let next = last + 1;
        let is_cut = place.cut_off(steps, |publisher| publisher.push(&revision("core", next), "staging").map(drop));
        assert_eq!(place.runs("core"), if is_cut { last } else { next }, "after {steps} steps");
        if !is_cut {
            break;
        }
        cut += 1;
        // What was left does not stop the next one.
        place.push("core", "staging", next).unwrap();
        assert_eq!(place.runs("core"), next);
        last = next;
    }
    assert!(cut >= 6, "three files, targets, snapshot, timestamp: {cut}");
    place.push("core", "staging", 50).unwrap();
    assert_eq!(place.runs("core"), 50);
}

#[test]
fn platform_changes_that_are_cut_off_leave_a_repository_that_holds() {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    for steps in 0.. {
        let (new, online) = (place.key(&format!("p{steps}")), place.key(&format!("o{steps}")));
        let is_cut = place.cut_off(steps, |publisher| publisher.rotate(&[new], 1, &online).map(drop));
        assert_eq!(place.runs("core"), 1, "after {steps} steps");
        let fetched = place.fetch_from(&place.store(), &format!("new-{steps}"), &["core"]);
        assert_eq!(fetched.artifacts["core"].stale(), None);
        if !is_cut {
            break;
        }
        place.publisher(|publisher| publisher.set_team(&place.team("web", 1))).unwrap();
    }
    for steps in 0.. {
        let team = place.team("mail", 1);
        let is_cut = place.cut_off(steps, |publisher| publisher.set_team(&team).map(drop));
        assert_eq!(place.runs("core"), 1, "after {steps} steps");
        if !is_cut {
            break;
        }
        place.publisher(|publisher| publisher.set_team(&place.team("web", 1))).unwrap();
    }
    place.push("core", "staging", 2).unwrap();
    place.push("mail", "staging", 1).unwrap();
    assert_eq!((place.runs("core"), place.runs("mail")), (2, 1));
}

#[test]
fn what_a_node_keeps_can_be_cut_off_anywhere() {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    assert_eq!(place.runs("core"), 1);
    let node = place.folder.path().join("node-a");
    let old_trust = std::fs::read(node.join("trust/teams/core.json")).unwrap();
    let old_record = std::fs::read(node.join("policies/staging/core.json")).unwrap();
    place.push("core", "staging", 2).unwrap();
    assert_eq!(place.runs("core"), 2);
    // Killed after the artifact and before the record; before the artifact, too.
    std::fs::write(node.join("policies/staging/core.json"), &old_record).unwrap();
    assert_eq!(place.runs("core"), 2);
    std::fs::write(node.join("policies/staging/core.json"), &old_record).unwrap();
    let digest = revision("core", 2).artifact.digest().to_owned();
    std::fs::remove_file(node.join(format!("artifacts/core/{digest}.wasm"))).unwrap();
    std::fs::write(node.join("artifacts/core/.unfinished-1-0-x"), "half").unwrap();
    assert_eq!(place.runs("core"), 2);
    // Killed before the trust was kept: what was seen before still counts.
    std::fs::write(node.join("trust/teams/core.json"), &old_trust).unwrap();
    assert_eq!(place.runs("core"), 2);
    let store = place.store();
    let settings = place.node_settings(Ok(&store as _), node);
    assert!(fetch(settings, &[wanted("core")]).unwrap().remarks.is_empty());
}
