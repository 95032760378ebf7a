//! Documents that are signed for one repository and shown in another, and stores that are another one altogether.

use crate::place::{Place, revision};
use repository::admin::TeamKeys;
use repository::metadata::{Envelope, Root, sign};
use repository::names::RepositoryName;
use serde_json::Value;
use std::fs;

/// A repository with two releases of `core` and one of `web`, which the node `a` has run. The team `web` has a second root.
fn with_second_root() -> Place {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    place.push("core", "staging", 2).unwrap();
    let web = TeamKeys { keys: vec![place.key("web-new")], ..place.team("web", 1) };
    place.publisher(|publisher| publisher.set_team(&web)).unwrap();
    place.push("web", "staging", 1).unwrap();
    assert_eq!((place.runs("core"), place.runs("web")), (2, 1));
    place
}

#[test]
fn a_teams_root_is_no_root_of_the_platform_or_of_another_team() {
    let place = with_second_root();
    let root = place.read("teams/web/metadata/2.root.json");
    // Signed by the platform's root key, and of the version that comes next.
    place.write("platform/metadata/2.root.json", &root);
    let trust = place.folder.path().join("node-a/trust/platform.json");
    let before = fs::read(&trust).unwrap();
    let (version, reason) = place.runs_stale("core");
    assert!(version == 2 && reason.contains("/teams/web and not for"), "{reason}");
    let new = place.fetch_from(&place.store(), "new", &["core"]);
    assert!(new.artifacts.is_empty() && new.refused["core"].to_string().contains("it is for the repository"));
    assert_eq!(fs::read(&trust).unwrap(), before);
    let refused = place.push("web", "staging", 2).unwrap_err().to_string();
    assert!(refused.contains("it is for the repository"), "{refused}");
    fs::remove_file(place.path("platform/metadata/2.root.json")).unwrap();
    // Of a team counts what the platform vouches for.
    place.write("teams/core/metadata/2.root.json", &root);
    assert_eq!(place.runs("core"), 2);
    place.push("core", "staging", 3).unwrap();
    assert_eq!(place.runs("core"), 3);
}

#[test]
fn a_root_that_names_no_repository_is_refused() {
    let place = Place::new();
    let path = "platform/metadata/1.root.json";
    let envelope = Envelope::parse(path, &place.read(path)).unwrap();
    let mut document: Value = envelope.signed().clone();
    document.as_object_mut().unwrap().remove("repository");
    let file = repository::key_file::KeyFile::read(&place.folder.path().join("keys/platform.key")).unwrap();
    let bytes = sign(&document, [&file.open("").unwrap()]).unwrap();
    place.write(path, &bytes);
    let refused = place.refused("core");
    assert!(refused.contains("does not say in \"repository\" which repository it is for"), "{refused}");
}

#[test]
fn documents_of_another_repository_with_the_same_keys_are_not_believed() {
    let place = with_second_root();
    let real = place.folder.path().join("real");
    fs::rename(place.path(""), &real).unwrap();
    fs::create_dir(place.path("")).unwrap();
    // Made by the same admin at the same place: what was seen of the first one says nothing about it.
    place.init(&[place.team("core", 1), place.team("web", 1)]).unwrap();
    for version in 4..8 {
        place.push("core", "staging", version).unwrap();
    }
    let other = place.snapshot("teams/core");
    fs::remove_dir_all(place.path("")).unwrap();
    fs::rename(&real, place.path("")).unwrap();
    let roots = ["platform", "teams/core", "teams/web"].map(|folder| {
        let path = format!("{folder}/metadata/1.root.json");
        let root = Root::of(&Envelope::parse(&path, &place.read(&path)).unwrap()).unwrap();
        assert_eq!(root.repository.folder(), folder);
        assert_eq!(RepositoryName::parse(&root.repository.to_string()), Some(root.repository.clone()));
        root.repository.to_string().split('/').next().unwrap().to_owned()
    });
    assert!(roots.iter().all(|id| *id == roots[0]), "{roots:?}");
    place.put_back("teams/core", &other);
    let (version, reason) = place.runs_stale("core");
    assert!(
        version == 2 && reason.contains("timestamp.json") && reason.contains("it is for the repository"),
        "{reason}"
    );
}

/// A store of a thief: his own platform, and in it a team with the real keys, which releases something else to `prod`.
fn fake(place: &Place) {
    fs::rename(place.path(""), place.folder.path().join("real")).unwrap();
    fs::create_dir(place.path("")).unwrap();
    let core = place.team("core", 1);
    let (root, online) = (place.key("thief"), place.key("thief-online"));
    let thief = TeamKeys { keys: vec![core.keys[0].clone(), place.key("thief")], ..core };
    let trust = repository::trust::TrustFolder::new(place.folder.path().join("trust-thief"));
    let store = place.store();
    let ask = |_: &repository::key_file::KeyFile| Ok(String::new());
    let folder = place.some_keys(&["thief", "thief-online", "core-online"]);
    let keys = repository::keyring::KeyRing::new(folder, &ask);
    let publisher = repository::writer::Publisher { store: &store, keys: &keys, trust: &trust, now: place.now };
    publisher.init(&root, &online, &[thief], repository::writer::Lifetimes::USUAL).unwrap();
    publisher.push(&revision("core", 66), "prod").unwrap();
}

#[test]
fn who_publishes_begins_with_a_root_that_was_named_or_a_directory_of_his_own() {
    let place = with_second_root();
    let real = place.read("platform/metadata/1.root.json");
    fake(&place);
    let path = "teams/core/metadata/timestamp.json";
    let before = place.read(path);
    let store = place.store();
    let ask = |_: &repository::key_file::KeyFile| Ok(String::new());
    let keys = repository::keyring::KeyRing::new(place.some_keys(&["core-0", "core-online"]), &ask);
    let trust = repository::trust::TrustFolder::new(place.folder.path().join("trust-ci"));
    let publisher = repository::writer::Publisher { store: &store, keys: &keys, trust: &trust, now: place.now };
    // Without a word of whom to trust, nothing is signed.
    for refused in [
        publisher.begin(None, false).unwrap_err().to_string(),
        publisher.push(&revision("core", 3), "staging").unwrap_err().to_string(),
        publisher.check()[0].problems[0].clone(),
    ] {
        assert!(refused.contains("nothing says whom to trust"), "{refused}");
    }
    // With the real root, the thief's store is found out.
    assert_eq!(publisher.begin(Some(&real), false).unwrap(), None);
    let refused = publisher.push(&revision("core", 3), "staging").unwrap_err().to_string();
    assert!(refused.contains("signatures that the role timestamp needs"), "{refused}");
    assert_eq!(place.read(path), before);
    let found = publisher.check();
    assert!(found[0].problems[0].contains("signatures that the role timestamp needs"), "{found:?}");
}

#[test]
fn who_publishes_from_a_directory_of_his_own_hears_whom_he_trusts() {
    let place = with_second_root();
    let store = place.store();
    let ask = |_: &repository::key_file::KeyFile| Ok(String::new());
    let keys = repository::keyring::KeyRing::new(place.folder.path().join("keys"), &ask);
    let trust = repository::trust::TrustFolder::new(place.folder.path().join("trust-new"));
    let publisher = repository::writer::Publisher { store: &store, keys: &keys, trust: &trust, now: place.now };
    let told = publisher.begin(None, true).unwrap();
    assert!(matches!(told, Some(repository::node::Remark::FirstUse { ref keys, .. }) if keys.len() == 1), "{told:?}");
    assert_eq!(publisher.begin(None, true).unwrap(), None);
    publisher.push(&revision("core", 3), "staging").unwrap();
    assert_eq!(place.runs("core"), 3);
    assert!(publisher.check().iter().all(|one| one.problems.is_empty()));
}
