//! What follows on stolen keys, exchanged keys and moved policies; what a node may spend on somebody else's files.

use crate::place::{Place, done, revision, version, wanted};
use repository::admin::TeamKeys;
use repository::key_file::KeyFile;
use repository::metadata::{Envelope, MAX_TARGETS, MAX_VERSION, Target, sign};
use repository::names::PolicyPattern;
use repository::node::{Fetched, NodeSettings, converged, fetch};
use repository::teams::Team;
use repository::writer::{Lifetimes, Published};
use repository::{RepositoryError, admin};
use serde_json::{Value, json};
use std::fs;

pub(crate) fn signed(place: &Place, key: &str, document: &Value) -> Vec<u8> {
    let path = place.folder.path().join(format!("keys/{key}.key"));
    sign(document, [&KeyFile::read(&path).unwrap().open("").unwrap()]).unwrap()
}

pub(crate) fn document(place: &Place, path: &str) -> Value {
    Envelope::parse(path, &place.read(path)).unwrap().signed().clone()
}

/// The thief of a team's keys releases the same once more, under the largest numbers that there are.
fn raise(place: &Place, team: &str, number: u64) {
    let folder = format!("teams/{team}/metadata");
    let mut timestamp = document(place, &format!("{folder}/timestamp.json"));
    let version = &timestamp["meta"]["snapshot.json"]["version"];
    let mut snapshot = document(place, &format!("{folder}/{version}.snapshot.json"));
    let version = &snapshot["meta"]["targets.json"]["version"];
    let mut targets = document(place, &format!("{folder}/{version}.targets.json"));
    let point = |bytes: &[u8]| {
        let Target { length, sha256, .. } = Target::of(bytes);
        json!({ "version": number, "length": length, "hashes": { "sha256": sha256 } })
    };
    targets["version"] = number.into();
    let bytes = signed(place, &format!("{team}-0"), &targets);
    place.write(&format!("{folder}/{number}.targets.json"), &bytes);
    snapshot["version"] = number.into();
    snapshot["meta"]["targets.json"] = point(&bytes);
    let bytes = signed(place, &format!("{team}-online"), &snapshot);
    place.write(&format!("{folder}/{number}.snapshot.json"), &bytes);
    timestamp["version"] = number.into();
    timestamp["meta"]["snapshot.json"] = point(&bytes);
    place.write(&format!("{folder}/timestamp.json"), signed(place, &format!("{team}-online"), &timestamp));
}

/// A repository in which `core` runs in two groups.
pub(crate) fn with_two_groups() -> Place {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    place.push("core", "prod", 1).unwrap();
    assert_eq!(place.runs("core"), 1);
    place
}

fn with_other_keys(place: &Place) -> TeamKeys {
    TeamKeys { keys: vec![place.key("core-new")], online: place.key("core-online-new"), ..place.team("core", 1) }
}

#[test]
fn numbers_that_a_thief_has_raised_are_left_behind_with_his_keys() {
    for number in [MAX_VERSION, MAX_VERSION - 1] {
        let place = with_two_groups();
        raise(&place, "core", number);
        assert_eq!(place.runs("core"), 1);
        if number == MAX_VERSION {
            let refused = place.push("core", "staging", 2).unwrap_err().to_string();
            assert!(refused.contains("used up") && refused.contains("add-team"), "{refused}");
        }
        let team = with_other_keys(&place);
        place.publisher(|publisher| publisher.set_team(&team)).unwrap();
        let pushed = place.push("core", "staging", 2).unwrap();
        let Published::Done { version, dropped } = pushed else { panic!("{pushed:?}") };
        assert!(version < 100 && dropped == ["prod/core"], "{version} {dropped:?}");
        assert_eq!(place.runs("core"), 2);
        place.push("core", "prod", 2).unwrap();
        assert_eq!(place.runs("core"), 2);
    }
}

#[test]
fn nobody_without_a_key_says_where_numbers_go_on() {
    let place = with_two_groups();
    let team = with_other_keys(&place);
    place.publisher(|publisher| publisher.set_team(&team)).unwrap();
    // An earlier root of his own, under which he has released something with large numbers.
    let path = "teams/core/metadata/1.root.json";
    let mut root = document(&place, path);
    let thief = place.key("thief");
    root["keys"] = json!({ thief.id(): thief.to_json() });
    for role in ["root", "targets", "snapshot", "timestamp"] {
        root["roles"][role] = json!({ "keyids": [thief.id()], "threshold": 1 });
    }
    place.write(path, signed(&place, "thief", &root));
    for name in ["core-0", "core-online"] {
        let keys = place.folder.path().join("keys");
        fs::copy(keys.join("thief.key"), keys.join(format!("{name}.key"))).unwrap();
    }
    raise(&place, "core", MAX_VERSION / 4);
    let all = place.folder.path().join("keys");
    let refused = place.as_author("new", &all, |publisher| publisher.push(&revision("core", 2), "staging"));
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("signatures that the role timestamp needs"), "{refused}");
}

#[test]
fn another_online_key_needs_new_pointers_only() {
    let place = with_two_groups();
    let team = TeamKeys { online: place.key("core-online-new"), ..place.team("core", 1) };
    place.publisher(|publisher| publisher.set_team(&team)).unwrap();
    assert!(place.runs_stale("core").1.contains("signatures that the role timestamp needs"));
    // The release key is not needed for that.
    let keys = place.some_keys(&["core-online-new"]);
    place.as_author("server", &keys, |publisher| {
        let platform = publisher.platform().unwrap();
        let root = platform.team_root(publisher.store, "core").unwrap();
        publisher.refresh("teams/core", Some(&root), platform.lifetimes).unwrap();
    });
    assert_eq!(place.runs("core"), 1);
    assert_eq!(place.push("core", "staging", 2).unwrap(), done(3));
    assert_eq!(place.runs("core"), 2);
    // A push does the same by itself.
    let team = TeamKeys { online: place.key("core-online-3"), ..team };
    place.publisher(|publisher| publisher.set_team(&team)).unwrap();
    assert_eq!(place.push("core", "staging", 3).unwrap(), done(4));
    let targets = document(&place, "teams/core/metadata/4.targets.json");
    assert!(targets["targets"].get("groups/prod/core.json").is_some());
    assert_eq!(place.runs("core"), 3);
}

#[test]
fn groups_that_wait_for_a_release_with_the_new_keys_go_on() {
    let place = with_two_groups();
    let team = TeamKeys { keys: vec![place.key("core-new")], ..place.team("core", 1) };
    place.publisher(|publisher| publisher.set_team(&team)).unwrap();
    assert!(place.runs_stale("core").1.contains("signatures that the role targets needs"));
    place.push("core", "prod", 2).unwrap();
    let (version, reason) = place.runs_stale("core");
    assert!(
        version == 1 && reason.contains("has not released the policy \"core\" to the group \"staging\""),
        "{reason}"
    );
    // A node that has never run it there has nothing to run.
    let new = place.fetch_from(&place.store(), "new", &["core"]);
    assert!(matches!(new.refused["core"], RepositoryError::NotReleased { .. }));
    place.push("core", "staging", 3).unwrap();
    assert_eq!(place.runs("core"), 3);
}

#[test]
fn what_another_team_had_signed_is_not_run_after_a_policy_has_moved() {
    let place = with_two_groups();
    let pattern = |text: &str| PolicyPattern::try_from(text.to_owned()).unwrap();
    let give = |name: &str, policies: &[&str]| {
        let team = Team { name: name.into(), policies: policies.iter().map(|text| pattern(text)).collect() };
        let team = TeamKeys { team, ..place.team(name, 1) };
        place.publisher(|publisher| publisher.set_team(&team)).unwrap();
    };
    give("core", &["core-rest"]);
    give("web", &["web", "core"]);
    let refused = place.refused("core");
    assert!(refused.contains("belongs to the team web now") && refused.contains("by the team core"), "{refused}");
    // It stays so if the repository hides itself from now on, and within the interval.
    fs::rename(place.path(""), place.folder.path().join("away")).unwrap();
    for refresh in [None, Some(std::time::Duration::from_secs(300))] {
        let settings =
            NodeSettings { store: Err(RepositoryError::Other("it is away".into())), refresh, ..settings(&place, "a") };
        let fetched = fetch(settings, &[wanted("core")]).unwrap();
        assert!(fetched.refused["core"].to_string().contains("belongs to the team web now"), "{:?}", fetched.refused);
    }
    fs::rename(place.folder.path().join("away"), place.path("")).unwrap();
    place.push("core", "staging", 7).unwrap();
    assert_eq!(place.runs("core"), 7);
    assert!(place.path("teams/web/targets/groups/staging").is_dir());
}

/// Whoever serves the repository shows the platform's new root and withholds what its keys have signed since.
#[test]
fn attack_a_platforms_new_keys_do_not_bring_the_earlier_team_back() {
    let place = with_two_groups();
    let pattern = |text: &str| PolicyPattern::try_from(text.to_owned()).unwrap();
    for (name, policies) in [("core", &["core-rest"][..]), ("web", &["web", "core"])] {
        let team = Team { name: name.into(), policies: policies.iter().map(|text| pattern(text)).collect() };
        let team = TeamKeys { team, ..place.team(name, 1) };
        place.publisher(|publisher| publisher.set_team(&team)).unwrap();
    }
    assert!(place.refused("core").contains("belongs to the team web now"));
    let (new, online) = (place.key("platform-new"), place.key("platform-new-online"));
    place.publisher(|publisher| publisher.rotate(&[new], 1, &online)).unwrap();
    fs::remove_file(place.path("platform/metadata/timestamp.json")).unwrap();
    for _ in 0..2 {
        let refused = place.refused("core");
        assert!(refused.contains("belongs to the team web now"), "{refused}");
    }
}

fn settings<'s>(place: &Place, node: &str) -> NodeSettings<'s> {
    place
        .node_settings(Err(RepositoryError::Other("no store".into())), place.folder.path().join(format!("node-{node}")))
}

#[test]
fn a_new_root_that_was_seen_once_cannot_be_hidden_again() {
    let place = with_two_groups();
    let before = place.snapshot("platform");
    let (new, online) = (place.key("platform-2"), place.key("platform-online-2"));
    place.publisher(|publisher| publisher.rotate(&[new], 1, &online)).unwrap();
    // The rest of the update fails, by chance or not.
    let timestamp = place.read("platform/metadata/timestamp.json");
    fs::remove_file(place.path("platform/metadata/timestamp.json")).unwrap();
    assert!(place.runs_stale("core").1.contains("does not exist"));
    let after = place.snapshot("platform");
    place.put_back("platform", &before);
    let (version, reason) = place.runs_stale("core");
    assert!(version == 1 && reason.contains("signatures that the role timestamp needs"), "{reason}");
    place.put_back("platform", &after);
    place.write("platform/metadata/timestamp.json", timestamp);
    assert_eq!(place.runs("core"), 1);
}

#[test]
fn a_root_that_is_named_later_is_looked_for() {
    let place = with_two_groups();
    let first = place.read("platform/metadata/1.root.json");
    let (new, online) = (place.key("platform-2"), place.key("platform-online-2"));
    place.publisher(|publisher| publisher.rotate(&[new], 1, &online)).unwrap();
    assert_eq!(place.runs("core"), 1);
    let store = place.store();
    let ask = |root: Option<Vec<u8>>| -> Result<Fetched, RepositoryError> {
        let settings = NodeSettings { store: Ok(&store as _), root, ..settings(&place, "a") };
        fetch(settings, &[wanted("core")])
    };
    let second = place.read("platform/metadata/2.root.json");
    for root in [&first, &second, &first] {
        assert!(ask(Some(root.clone())).unwrap().refused.is_empty());
    }
    // Now it is known, also where the repository is away.
    let away = NodeSettings { root: Some(first.clone()), ..settings(&place, "a") };
    assert!(fetch(away, &[wanted("core")]).unwrap().artifacts["core"].stale().is_some());
    // Somebody else's root: what was believed at the first use was wrong, and nothing of it is run.
    let other = Place::new();
    let root = other.read("platform/metadata/1.root.json");
    let refused = ask(Some(root.clone())).unwrap_err().to_string();
    assert!(
        refused.contains("cannot be found among those that were trusted") && refused.contains("node-a"),
        "{refused}"
    );
    let away = NodeSettings { root: Some(root.clone()), ..settings(&place, "a") };
    assert!(fetch(away, &[wanted("core")]).is_err());
    let refused = place.publisher(|publisher| publisher.begin(Some(&root), true)).unwrap_err().to_string();
    assert!(refused.contains("cannot be found among those that were trusted"), "{refused}");
    assert_eq!(place.publisher(|publisher| publisher.begin(Some(&first), false)).unwrap(), None);
}

#[test]
fn a_policy_that_never_converges_keeps_one_revision() {
    let place = Place::new();
    let node = place.folder.path().join("node-a");
    let count = || fs::read_dir(node.join("artifacts/core")).unwrap().count();
    for version in 1..=4 {
        place.push("core", "staging", version).unwrap();
        assert_eq!(place.runs("core"), version);
    }
    assert_eq!(count(), 1);
    let release = place.fetch(&["core"]).artifacts["core"].release().clone();
    converged(&node, [&release].into_iter()).unwrap();
    for version in 5..=8 {
        place.push("core", "staging", version).unwrap();
        assert_eq!(place.runs("core"), version);
    }
    assert_eq!(count(), 2, "the one that converged and the newest one");
}

#[test]
fn a_full_disk_gets_no_further_revision() {
    let place = with_two_groups();
    place.push("core", "staging", 2).unwrap();
    let store = place.store();
    let settings = NodeSettings { store: Ok(&store as _), min_free: u64::MAX, ..settings(&place, "a") };
    let fetched = fetch(settings, &[wanted("core")]).unwrap();
    let artifact = &fetched.artifacts["core"];
    assert_eq!(version(artifact.artifact()), 1);
    assert!(artifact.stale().unwrap().reason.contains("are always left"), "{:?}", artifact.stale());
}

#[test]
fn documents_that_cost_more_than_their_bytes_are_refused_before_they_are_read() {
    let place = with_two_groups();
    let zeros = |count: usize| format!("{{\"signatures\":[],\"signed\":[{}0]}}", "0,".repeat(count));
    let refused = Envelope::parse("x", zeros(4 << 20).as_bytes()).unwrap_err().to_string();
    assert!(refused.contains("more than 250000 values"), "{refused}");
    assert!(Envelope::parse("x", zeros(1000).as_bytes()).is_ok());
    let text = format!("{{\"signatures\":[],\"signed\":\"{}\\\"{}\"}}", ",".repeat(1 << 20), "[".repeat(1 << 20));
    assert!(Envelope::parse("x", text.as_bytes()).is_ok(), "commas in texts are not values");
    place.write("platform/metadata/2.root.json", zeros(260_000));
    assert!(place.runs_stale("core").1.contains("more than 250000 values"));
    fs::remove_file(place.path("platform/metadata/2.root.json")).unwrap();
    // One key has one signature, however often it stands there.
    let path = "teams/core/metadata/timestamp.json";
    let mut value: Value = serde_json::from_slice(&place.read(path)).unwrap();
    let one = value["signatures"][0].clone();
    value["signatures"] = vec![one; 20].into();
    place.write(path, value.to_string());
    assert!(place.runs_stale("core").1.contains("two signatures of one key"));
}

#[test]
fn what_nobody_could_read_is_not_released() {
    let place = with_two_groups();
    place.publisher(|publisher| {
        let platform = publisher.platform().unwrap();
        let team = publisher.owner(&platform, "core").unwrap();
        let current = publisher.team(&platform, team).unwrap().current;
        let mut targets = current.targets();
        for number in 0..=MAX_TARGETS {
            targets.insert(format!("groups/{number}/core.json"), Target::of(b""));
        }
        let writer = publisher.store.writer("teams/core").unwrap();
        let refused = publisher.release(writer.as_ref(), &current, &[], targets, Lifetimes::USUAL).unwrap_err();
        assert!(refused.to_string().contains("wrun policy clean"), "{refused}");
    });
    assert_eq!(place.runs("core"), 1);
    assert!(admin::own_key(&place.folder.path().join("keys"), "core-0", "").is_ok());
}
