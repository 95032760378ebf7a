//! Teams release, nodes run it; nobody releases for another team.

use crate::place::{DAY, Place, done, revision, revision_with, version, wanted};
use repository::node::{NodeSettings, Remark, converged, fetch};
use std::time::Duration;

#[test]
fn what_a_team_pushes_is_what_its_nodes_run() {
    let place = Place::new();
    assert_eq!(place.push("core", "staging", 1).unwrap(), done(1));
    assert_eq!(place.push("web", "staging", 7).unwrap(), done(1));
    assert_eq!((place.runs("core"), place.runs("web")), (1, 7));
    assert_eq!(place.push("core", "staging", 2).unwrap(), done(2));
    assert_eq!((place.runs("core"), place.runs("web")), (2, 7));
    place.push("core", "staging", 1).unwrap();
    assert_eq!(place.runs("core"), 1, "a team may go back, by a release of its own");
    let prod = place.fetch(&["core"]);
    assert_eq!(prod.artifacts["core"].team(), "core");
    assert!(place.push("mail", "staging", 1).unwrap_err().to_string().contains("no team"), "nobody owns it");
}

#[test]
fn the_first_root_is_trusted_and_told_once() {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    let first = place.fetch(&["core"]);
    assert!(matches!(first.remarks.as_slice(), [Remark::FirstUse { keys, .. }] if keys.len() == 1));
    assert_eq!(place.fetch(&["core"]).remarks, []);
}

#[test]
fn a_directory_that_others_can_change_is_not_trusted_at_first_use() {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    let store = place.store();
    let root = place.read("platform/metadata/1.root.json");
    let settings = |root| NodeSettings {
        root,
        first_use: false,
        ..place.node_settings(Ok(&store as _), place.folder.path().join("node-b"))
    };
    let refused = fetch(settings(None), &[wanted("core")]).unwrap().refused.remove("core").unwrap().to_string();
    assert!(refused.contains("repository_root"), "{refused}");
    assert!(fetch(settings(Some(root)), &[wanted("core")]).unwrap().refused.is_empty());
}

#[test]
fn what_is_not_released_is_refused_by_name() {
    let place = Place::new();
    let empty = place.refused("core");
    assert!(empty.contains("nothing has been released yet"), "{empty}");
    place.push("core", "prod", 1).unwrap();
    let other = place.refused("core");
    assert!(other.contains("has not released the policy \"core\" to the group \"staging\""), "{other}");
    let nobody = place.refused("mail");
    assert!(nobody.contains("no team") && nobody.contains("core (core), web (web)"), "{nobody}");
}

/// A revision's text joins attributes without an escape: two sets of them can have one revision.
#[test]
fn one_revision_with_other_attributes_is_refused() {
    let place = Place::new();
    let of = |attributes: serde_json::Value| revision_with("core", 1, attributes.as_object().unwrap().clone());
    let plain = of(serde_json::json!({"cmd": "safe", "verify": "yes"}));
    let joined = of(serde_json::json!({"cmd": "safe\",\"verify\":\"yes"}));
    assert_eq!(plain.artifact.manifest().revision_id, joined.artifact.manifest().revision_id);
    let _ = place.publisher(|publisher| publisher.push(&plain, "staging")).unwrap();
    place.publisher(|publisher| publisher.check_same_files(&plain.artifact)).unwrap();
    let refused = place.publisher(|publisher| publisher.check_same_files(&joined.artifact)).unwrap_err().to_string();
    assert!(refused.contains("with other attributes or run lists than this archive has"), "{refused}");
}

#[test]
fn a_dry_run_keeps_nothing() {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    let (store, folder) = (place.store(), place.folder.path().join("node-dry"));
    let settings = NodeSettings { keeps: false, ..place.node_settings(Ok(&store as _), folder.clone()) };
    let fetched = fetch(settings, &[wanted("core")]).unwrap();
    assert_eq!(version(fetched.artifacts["core"].artifact()), 1);
    assert!(!folder.exists());
}

#[test]
fn old_revisions_are_run_until_they_are_too_old() {
    let mut place = Place::new();
    place.push("core", "staging", 1).unwrap();
    assert_eq!(place.runs("core"), 1);
    std::fs::rename(place.path(""), place.folder.path().join("away")).unwrap();
    place.later(10);
    let fetch_after = |days: i64| {
        let settings = NodeSettings {
            stale_after: Some(Duration::from_secs(u64::try_from(days * DAY).unwrap())),
            ..place.node_settings(
                Err(repository::RepositoryError::Other("the repository is away".into())),
                place.folder.path().join("node-a"),
            )
        };
        fetch(settings, &[wanted("core"), wanted("web")]).unwrap()
    };
    let fetched = fetch_after(30);
    let stale = fetched.artifacts["core"].stale().unwrap();
    assert_eq!(stale.reason, "the repository is away");
    assert_eq!(place.now.duration_since(stale.verified).as_secs(), 10 * DAY);
    let nothing = fetched.refused["web"].to_string();
    assert!(nothing.contains("no revision of web for the group staging"), "{nothing}");
    let too_old = fetch_after(5).refused["core"].to_string();
    assert!(too_old.contains("longer ago than `stale_after` allows"), "{too_old}");
}

#[test]
fn the_revision_that_converged_last_stays_until_another_one_has() {
    let place = Place::new();
    let node = place.folder.path().join("node-a");
    let run = |version: u32, succeeds: bool| {
        place.push("core", "staging", version).unwrap();
        let fetched = place.fetch(&["core"]);
        let release = fetched.artifacts["core"].release().clone();
        if succeeds {
            converged(&node, [&release].into_iter()).unwrap();
        }
        release
    };
    let count = || std::fs::read_dir(node.join("artifacts/core")).unwrap().count();
    let first = run(1, true);
    run(2, false);
    assert_eq!(count(), 2);
    let ask = |revision: &str| {
        let store = place.store();
        let settings = place.node_settings(Ok(&store as _), node.clone());
        let one = repository::node::Wanted { revision: Some(revision.to_owned()), ..wanted("core") };
        fetch(settings, &[one]).unwrap()
    };
    let earlier = ask(&first.revision_id[..10]);
    assert_eq!(version(earlier.artifacts["core"].artifact()), 1);
    let third = run(3, true);
    assert_eq!(count(), 1, "neither the second nor the first is needed any more");
    let gone = ask(&first.revision_id).refused["core"].to_string();
    assert!(gone.contains(&third.revision_id[..12]), "{gone}");
}

#[test]
fn two_who_push_at_once_both_arrive() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for version in 1..=8 {
            let place = &place;
            scope.spawn(move || {
                let group = format!("group-{version}");
                let keys = place.folder.path().join("keys");
                // Each has his own memory of the repository, as on machines of their own.
                let pushed =
                    place.as_author(&group, &keys, |publisher| publisher.push(&revision("core", version), &group));
                pushed.unwrap();
            });
        }
    });
    for version in 1..=8 {
        let path = place.path(&format!("teams/core/targets/groups/group-{version}"));
        assert_eq!(std::fs::read_dir(path).unwrap().count(), 1);
    }
    place.push("core", "staging", 9).unwrap();
    assert_eq!(place.runs("core"), 9);
    let targets = String::from_utf8(place.read("teams/core/metadata/9.targets.json")).unwrap();
    assert!((1..=8).all(|version| targets.contains(&format!("groups/group-{version}/core.json"))));
}

#[test]
fn within_the_interval_nobody_is_asked() {
    let mut place = Place::new();
    place.push("core", "staging", 1).unwrap();
    assert_eq!(place.runs("core"), 1);
    place.push("core", "staging", 2).unwrap();
    let ask = |place: &Place| {
        let store = place.store();
        let settings = NodeSettings {
            refresh: Some(Duration::from_secs(300)),
            ..place.node_settings(Ok(&store as _), place.folder.path().join("node-a"))
        };
        let fetched = fetch(settings, &[wanted("core")]).unwrap();
        let artifact = &fetched.artifacts["core"];
        assert_eq!(artifact.stale(), None);
        version(artifact.artifact())
    };
    assert_eq!(ask(&place), 1);
    place.later(1);
    assert_eq!(ask(&place), 2);
}
