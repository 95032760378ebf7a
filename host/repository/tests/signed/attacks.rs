//! The attacks of the TUF specification, each played against a repository that somebody else can change.

use crate::place::{Place, done, revision};
use repository::RepositoryError;
use repository::store::{Store, Writer};
use repository::writer::Published;

/// A repository with two releases of `core`, of which the node `a` has run the second.
fn after_two() -> Place {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    place.push("core", "staging", 2).unwrap();
    place.push("web", "staging", 1).unwrap();
    assert_eq!((place.runs("core"), place.runs("web")), (2, 1));
    place
}

/// The file of a folder whose name ends so.
fn ending(place: &Place, folder: &str, end: &str) -> String {
    let names = std::fs::read_dir(place.path(folder)).unwrap().map(|entry| entry.unwrap().file_name());
    let name = names.map(|name| name.into_string().unwrap()).find(|name| name.ends_with(end)).unwrap();
    format!("{folder}/{name}")
}

/// The node stays with the second release and says why; the other team is not concerned.
#[track_caller]
fn stays(place: &Place, part: &str) {
    let (version, reason) = place.runs_stale("core");
    assert!(version == 2 && reason.contains(part), "{version}: {reason}");
    assert_eq!(place.runs("web"), 1, "one team's trouble is its own");
}

#[test]
fn arbitrary_software_is_not_run() {
    let place = after_two();
    place.push("core", "staging", 3).unwrap();
    let digest = revision("core", 3).artifact.digest().to_owned();
    let path = ending(&place, "teams/core/targets/revisions/core", &format!(".{digest}.wasm"));
    place.write(&path, revision("core", 4).artifact.bytes());
    stays(&place, "is not the file that was signed");
    // Another file of the same name is not taken for it either.
    let mut longer = revision("core", 3).artifact.bytes().to_vec();
    longer.push(0);
    place.write(&path, longer);
    stays(&place, "more than the");
    std::fs::remove_file(place.path(&path)).unwrap();
    stays(&place, "does not exist");
}

#[test]
fn changed_metadata_is_not_believed() {
    let place = after_two();
    place.push("core", "staging", 3).unwrap();
    let path = "teams/core/metadata/timestamp.json";
    let text = String::from_utf8(place.read(path)).unwrap();
    place.write(path, text.replacen("\"version\":3", "\"version\":4", 1));
    stays(&place, "has 0 of the 1 signatures");
    place.write(path, "{\"signed\": {}, \"signatures\": []}");
    stays(&place, "has 0 of the 1 signatures");
    place.write(path, "no JSON");
    stays(&place, "is not valid");
    place.write(path, text.replacen("\"version\":3", "\"version\":3.5", 1));
    stays(&place, "signatures");
    std::fs::remove_file(place.path(path)).unwrap();
    stays(&place, "does not exist");
    place.write(path, text);
    assert_eq!(place.runs("core"), 3);
}

#[test]
fn endless_data_is_not_read() {
    struct Endless<'s>(&'s dyn Store, &'static str);

    impl Store for Endless<'_> {
        fn place(&self) -> String {
            self.0.place()
        }

        fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, RepositoryError> {
            if path.contains(self.1) {
                // What a transport does with a body that goes on after the limit.
                assert!(limit < 1 << 30, "{path} may be {limit} bytes long");
                return Err(RepositoryError::TooLarge { file: self.file(path), limit });
            }
            self.0.get(path, limit)
        }

        fn names(&self, folder: &str) -> Result<Vec<String>, RepositoryError> {
            self.0.names(folder)
        }

        fn writer<'s>(&'s self, folder: &str) -> Result<Box<dyn Writer + 's>, RepositoryError> {
            self.0.writer(folder)
        }
    }

    let place = after_two();
    place.push("core", "staging", 3).unwrap();
    let store = place.store();
    for part in ["2.root.json", "timestamp.json", "snapshot.json", "targets.json", "groups/staging", ".wasm"] {
        let fetched = place.fetch_from(&Endless(&store, part), "a", &["core"]);
        let artifact = &fetched.artifacts["core"];
        assert_eq!(crate::place::version(artifact.artifact()), 2, "{part}");
        assert!(artifact.stale().unwrap().reason.contains("more than the"), "{part}");
    }
    // A real file that is too large, in the directory.
    place.write("teams/core/metadata/timestamp.json", vec![b' '; 1 << 20]);
    stays(&place, "more than the 16384 bytes");
}

#[test]
fn a_repository_that_stands_still_is_noticed() {
    let mut place = after_two();
    place.later(31);
    let (version, reason) = place.runs_stale("core");
    assert_eq!(version, 2);
    assert!(reason.contains("expired") && reason.contains("wrun repository refresh"), "{reason}");
    place.publisher(|publisher| {
        let platform = publisher.platform().unwrap();
        publisher.refresh("platform", None, platform.lifetimes).unwrap();
        for team in ["core", "web"] {
            let root = platform.team_root(publisher.store, team).unwrap();
            publisher.refresh(&format!("teams/{team}"), Some(&root), platform.lifetimes).unwrap();
        }
    });
    assert_eq!((place.runs("core"), place.runs("web")), (2, 1));
    place.later(20);
    place.push("core", "staging", 3).unwrap();
    place.later(20);
    assert!(place.runs_stale("web").1.contains("expired"), "the platform itself was not renewed");
}

#[test]
fn one_team_that_expired_stops_itself_alone() {
    let mut place = after_two();
    place.later(20);
    place.publisher(|publisher| {
        let lifetimes = publisher.platform().unwrap().lifetimes;
        publisher.refresh("platform", None, lifetimes).unwrap();
    });
    place.push("web", "staging", 5).unwrap();
    place.later(20);
    let (version, reason) = place.runs_stale("core");
    assert!(version == 2 && reason.contains("teams/core/metadata/timestamp.json expired"), "{reason}");
    assert_eq!(place.runs("web"), 5);
}

#[test]
fn a_repository_that_was_put_back_is_not_believed() {
    let place = after_two();
    let before = place.snapshot("teams/core");
    place.push("core", "staging", 3).unwrap();
    assert_eq!(place.runs("core"), 3);
    place.put_back("teams/core", &before);
    let (version, reason) = place.runs_stale("core");
    assert!(version == 3 && reason.contains("version 3 was seen before"), "{version}: {reason}");
    // Nor do authors build on it.
    let refused = place.push("core", "staging", 4).unwrap_err().to_string();
    assert!(refused.contains("was seen before"), "{refused}");
}

#[test]
fn the_platform_that_was_put_back_is_not_believed() {
    let place = after_two();
    let before = place.snapshot("platform");
    place.publisher(|publisher| publisher.set_team(&place.team("mail", 1))).unwrap();
    assert_eq!(place.runs("core"), 2);
    place.put_back("platform", &before);
    let (version, reason) = place.runs_stale("core");
    assert!(version == 2 && reason.contains("platform/metadata/timestamp.json has the version 1"), "{reason}");
}

#[test]
fn parts_of_different_releases_do_not_mix() {
    let place = after_two();
    let old = place.read("teams/core/metadata/2.targets.json");
    place.push("core", "staging", 3).unwrap();
    place.write("teams/core/metadata/3.targets.json", old);
    stays(&place, "is not the file that was signed");
    let old = place.read("teams/core/metadata/2.snapshot.json");
    place.write("teams/core/metadata/3.snapshot.json", old);
    stays(&place, "is not the file that was signed");
}

#[test]
fn another_teams_key_releases_nothing() {
    let place = after_two();
    // The other team has its own keys only, and no right but to write files.
    let keys = place.some_keys(&["web-0", "web-online"]);
    let refused = place.as_author("web", &keys, |publisher| publisher.push(&revision("core", 3), "staging"));
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("may sign targets of") && refused.contains("teams/core"), "{refused}");
    // It copies its own signed documents over the other team's.
    place.push("web", "staging", 2).unwrap();
    for entry in std::fs::read_dir(place.path("teams/web/metadata")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "1.root.json" {
            std::fs::copy(entry.path(), place.path("teams/core/metadata").join(entry.file_name())).unwrap();
        }
    }
    let (version, reason) = place.runs_stale("core");
    assert!(version == 2 && reason.contains("has 0 of the 1 signatures"), "{reason}");
}

#[test]
fn below_the_threshold_nothing_is_released() {
    let place = Place::empty();
    let team = place.team("core", 2);
    place.init(&[team]).unwrap();
    let one = place.some_keys(&["core-0", "core-online"]);
    let two = place.some_keys(&["core-1", "core-online"]);
    let pushed = place.as_author("one", &one, |publisher| publisher.push(&revision("core", 1), "staging")).unwrap();
    let Published::Pending { id, signatures: 1, threshold: 2 } = pushed else { panic!("{pushed:?}") };
    assert!(place.refused("core").contains("nothing has been released yet"));
    let sign = |name: &str, keys: &std::path::Path| {
        place.as_author(name, keys, |publisher| {
            let platform = publisher.platform()?;
            let team = publisher.owner(&platform, "core")?;
            let writer = publisher.store.writer("teams/core")?;
            let current = publisher.team(&platform, team)?.current;
            let pending = publisher.read_pending(&current, &id, platform.lifetimes)?;
            publisher.sign_pending(writer.as_ref(), &current, &pending, platform.lifetimes)
        })
    };
    let again = sign("one", &one).unwrap_err().to_string();
    assert!(again.contains("have signed the release"), "one key does not count twice: {again}");
    // A signature that somebody else adds does not count either.
    let path = format!("teams/core/pending/{id}.json");
    let honest = place.read(&path);
    let forged = String::from_utf8(honest.clone()).unwrap();
    let start = forged.find("\"sig\":\"").unwrap() + 7;
    let signature = &forged[start..start + 128];
    let other = place.key("core-2").id();
    let forged = forged.replacen(
        "\"signatures\":[",
        &format!("\"signatures\":[{{\"keyid\":\"{other}\",\"sig\":\"{signature}\"}},"),
        1,
    );
    place.write(&path, forged);
    assert!(place.refused("core").contains("nothing has been released yet"));
    assert!(sign("one", &one).is_err(), "a forged signature does not reach the threshold");
    place.write(&path, honest);
    assert_eq!(sign("two", &two).unwrap(), done(1));
    assert_eq!(place.runs("core"), 1);
    assert!(!place.path(&path).exists());
}

#[test]
fn a_revoked_key_releases_nothing_any_more() {
    let place = after_two();
    let stolen = place.some_keys(&["core-0", "core-online"]);
    let team = place.team("core", 1);
    let renewed = repository::admin::TeamKeys { keys: vec![place.key("core-new")], ..team.clone() };
    place.publisher(|publisher| publisher.set_team(&renewed)).unwrap();
    let refused = place.as_author("thief", &stolen, |publisher| publisher.push(&revision("core", 9), "staging"));
    assert!(refused.is_err(), "{refused:?}");
    // What the old key had signed does not count either, until the team releases with the new one.
    let (version, reason) = place.runs_stale("core");
    assert!(version == 2 && reason.contains("signatures that the role targets needs"), "{reason}");
    // The thief, who can write files, hides the new root: the platform vouches for it all the same.
    std::fs::remove_file(place.path("teams/core/metadata/2.root.json")).unwrap();
    let (version, reason) = place.runs_stale("core");
    assert!(version == 2 && reason.contains("signatures that the role targets needs"), "{reason}");
    // What was released with the old key is not signed anew by accident: each group is released again.
    let pushed = place.push("core", "prod", 3).unwrap();
    assert_eq!(pushed, Published::Done { version: 3, dropped: vec!["staging/core".to_owned()] });
    let (version, reason) = place.runs_stale("core");
    assert!(version == 2 && reason.contains("has not released the policy"), "{reason}");
    place.push("core", "staging", 4).unwrap();
    assert_eq!(place.runs("core"), 4);
    assert!(place.as_author("thief", &stolen, |publisher| publisher.push(&revision("core", 9), "staging")).is_err());
}

#[test]
fn a_store_that_cannot_answer_does_not_hide_a_new_root() {
    struct Silent<'s>(&'s dyn Store);

    impl Store for Silent<'_> {
        fn place(&self) -> String {
            self.0.place()
        }

        fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, RepositoryError> {
            if path.ends_with("2.root.json") {
                let source = std::io::Error::other("no answer");
                return Err(RepositoryError::Read { file: self.file(path), source });
            }
            self.0.get(path, limit)
        }

        fn names(&self, folder: &str) -> Result<Vec<String>, RepositoryError> {
            self.0.names(folder)
        }

        fn writer<'s>(&'s self, folder: &str) -> Result<Box<dyn Writer + 's>, RepositoryError> {
            self.0.writer(folder)
        }
    }

    let place = after_two();
    let store = place.store();
    let fetched = place.fetch_from(&Silent(&store), "a", &["core"]);
    assert!(fetched.artifacts["core"].stale().unwrap().reason.contains("no answer"));
}

#[test]
fn damaged_trust_is_an_error_and_not_a_new_beginning() {
    let place = after_two();
    let before = place.snapshot("teams/core");
    place.push("core", "staging", 3).unwrap();
    assert_eq!(place.runs("core"), 3);
    place.put_back("teams/core", &before);
    std::fs::write(place.folder.path().join("node-a/trust/teams/core.json"), "{").unwrap();
    let (version, reason) = place.runs_stale("core");
    assert!(version == 3 && reason.contains("is damaged"), "{reason}");
}

#[test]
fn a_teams_links_and_pipes_do_not_hold_or_mislead_a_node() {
    let place = after_two();
    let path = place.path("teams/core/metadata/timestamp.json");
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    stays(&place, "it is a link");
    std::fs::remove_file(&path).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    stays(&place, "not a plain file");
}

#[test]
fn the_cache_of_a_node_is_verified_too() {
    let place = after_two();
    let digest = revision("core", 2).artifact.digest().to_owned();
    let path = place.folder.path().join(format!("node-a/artifacts/core/{digest}.wasm"));
    std::fs::write(&path, revision("core", 8).artifact.bytes()).unwrap();
    assert_eq!(place.runs("core"), 2, "it is fetched again");
    std::fs::write(&path, revision("core", 8).artifact.bytes()).unwrap();
    std::fs::remove_file(place.path("teams/core/metadata/timestamp.json")).unwrap();
    assert!(place.refused("core").contains("is not the file that was signed"));
}

/// How many repositories are damaged at a time, and how often each: ten thousand times together.
const PARTS: u64 = 4;
const ROUNDS: usize = 2_500;

#[test]
fn damaged_files_end_in_an_error_and_never_in_another_release() {
    std::thread::scope(|scope| {
        for part in 0..PARTS {
            scope.spawn(move || damage(part));
        }
    });
}

/// Damages a file of a repository, and looks what nodes make of it. `part`: which damage.
fn damage(part: u64) {
    let place = after_two();
    place.push("core", "staging", 3).unwrap();
    place.push("core", "staging", 2).unwrap();
    let files: Vec<_> = place.snapshot("teams/core").into_iter().chain(place.snapshot("platform")).collect();
    let files: Vec<_> = files.into_iter().filter(|(_, content)| !content.is_empty()).collect();
    // A fixed seed: the same damage in every run.
    let mut state: u64 = 0x2545_f491_4f6c_dd1d + part;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    for round in 0..ROUNDS {
        let (path, content) = &files[random(files.len())];
        let mut damaged = content.clone();
        for _ in 0..=random(3) {
            let at = random(damaged.len());
            match random(4) {
                0 => damaged[at] ^= 1 << random(8),
                1 => damaged.insert(at, b"0123456789\"\\{}[],:"[random(18)]),
                2 if damaged.len() > 1 => drop(damaged.remove(at)),
                _ => damaged.truncate(at.max(1)),
            }
        }
        std::fs::write(path, &damaged).unwrap();
        // A node of its own, which has seen the second release before, and one that has seen nothing.
        let fetched = place.fetch(&["core", "web"]);
        for (policy, artifact) in &fetched.artifacts {
            let expected = if policy == "core" { 2 } else { 1 };
            assert_eq!(crate::place::version(artifact.artifact()), expected, "round {round}: {}", path.display());
        }
        assert_eq!(fetched.artifacts.len(), 2, "round {round}: {:?}", fetched.refused);
        let fresh = place.fetch_from(&place.store(), &format!("fresh-{}", round % 7), &["web"]);
        assert!(fresh.artifacts.values().all(|artifact| crate::place::version(artifact.artifact()) == 1));
        std::fs::write(path, content).unwrap();
    }
    assert_eq!((place.runs("core"), place.runs("web")), (2, 1));
}
