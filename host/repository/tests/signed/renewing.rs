//! A repository whose targets somebody has damaged is renewed, and what is signed then is what was verified.

use crate::place::{Place, revision};
use crate::recovering::{document, signed, with_two_groups};
use repository::RepositoryError;
use repository::admin::TeamKeys;
use repository::metadata::Target;
use serde_json::json;
use std::fs;
use std::path::Path;

const TARGETS: &str = "teams/core/metadata/2.targets.json";

/// The targets of the platform, which name the teams.
const PLATFORM_TARGETS: &str = "platform/metadata/1.targets.json";

fn refresh(place: &Place, name: &str, keys: &Path) -> Result<(), RepositoryError> {
    place.as_author(name, keys, |publisher| {
        let platform = publisher.platform().unwrap();
        let root = platform.team_root(publisher.store, "core").unwrap();
        publisher.refresh("teams/core", Some(&root), platform.lifetimes).map(drop)
    })
}

/// Lets a team's pointers name other bytes as the targets, as a holder of the online key can.
fn point_at(place: &Place, bytes: &[u8]) {
    let version = 2;
    point(place, ("teams/core/metadata", "core-online"), (version, bytes));
}

fn point(place: &Place, (folder, online): (&str, &str), (targets, bytes): (u64, &[u8])) {
    place.write(&format!("{folder}/{targets}.targets.json"), bytes);
    let point = |version: u64, bytes: &[u8]| {
        let Target { length, sha256, .. } = Target::of(bytes);
        json!({ "version": version, "length": length, "hashes": { "sha256": sha256 } })
    };
    let mut timestamp = document(place, &format!("{folder}/timestamp.json"));
    let version = timestamp["meta"]["snapshot.json"]["version"].as_u64().unwrap();
    let mut snapshot = document(place, &format!("{folder}/{version}.snapshot.json"));
    let number = version + 1;
    snapshot["version"] = number.into();
    snapshot["meta"]["targets.json"] = point(targets, bytes);
    let snapshot = signed(place, online, &snapshot);
    place.write(&format!("{folder}/{number}.snapshot.json"), &snapshot);
    timestamp["version"] = (timestamp["version"].as_u64().unwrap() + 1).into();
    timestamp["meta"]["snapshot.json"] = point(number, &snapshot);
    place.write(&format!("{folder}/timestamp.json"), signed(place, online, &timestamp));
}

#[test]
fn a_refresh_signs_what_was_verified_and_not_what_lies_there() {
    let place = with_two_groups();
    let honest = place.read(TARGETS);
    let keys = place.some_keys(&["core-online"]);
    for junk in ["junk", "", "{\"signatures\":[],\"signed\":{}}"] {
        place.write(TARGETS, junk);
        refresh(&place, "admin", &keys).unwrap();
        assert_eq!(place.read(TARGETS), honest, "it is put back");
        assert_eq!(place.runs("core"), 1);
    }
    fs::remove_file(place.path(TARGETS)).unwrap();
    refresh(&place, "admin", &keys).unwrap();
    assert_eq!(place.read(TARGETS), honest);
    // Who has never verified it has nothing to put back.
    place.write(TARGETS, "junk");
    let refused = refresh(&place, "new", &keys).unwrap_err().to_string();
    assert!(refused.contains("2.targets.json is not the file that was signed"), "{refused}");
    assert_eq!(place.read(TARGETS), b"junk");
}

#[test]
fn pointers_to_targets_that_nobody_signed_are_mended_where_the_targets_are_known() {
    let place = with_two_groups();
    let honest = place.read(TARGETS);
    let keys = place.some_keys(&["core-online"]);
    let mut unsigned = document(&place, TARGETS);
    unsigned["targets"] = json!({});
    point_at(&place, &signed(&place, "core-online", &unsigned));
    assert!(place.runs_stale("core").1.contains("signatures that the role targets needs"));
    assert!(place.push("core", "staging", 2).is_err());
    assert!(refresh(&place, "new", &keys).is_err(), "a machine that has not seen the targets does not know them");
    refresh(&place, "admin", &keys).unwrap();
    assert_eq!((place.read(TARGETS), place.runs("core")), (honest, 1));
    place.push("core", "staging", 2).unwrap();
    assert_eq!(place.runs("core"), 2);
}

#[test]
fn targets_that_nobody_has_any_more_are_released_anew_with_another_online_key() {
    let place = with_two_groups();
    point_at(&place, b"junk");
    fs::remove_file(place.folder.path().join("trust-admin/trust/teams/core.json")).unwrap();
    assert!(place.push("core", "staging", 2).is_err());
    let team = TeamKeys { online: place.key("core-online-new"), ..place.team("core", 1) };
    place.publisher(|publisher| publisher.set_team(&team)).unwrap();
    fs::remove_file(place.path("teams/core/metadata/timestamp.json")).unwrap();
    for group in ["staging", "prod"] {
        place.publisher(|publisher| publisher.push(&revision("core", 3), group)).unwrap();
    }
    assert_eq!(place.runs("core"), 3);
}

/// The thief of the platform's online key lets it name junk, so that nobody can read who the teams are.
#[test]
fn attack_platform_pointers_that_name_junk_are_mended_where_the_platform_is_known() {
    let place = with_two_groups();
    let honest = place.read(PLATFORM_TARGETS);
    let keys = place.some_keys(&["platform-online"]);
    let renew = |name: &str| place.as_author(name, &keys, |publisher| publisher.refresh_platform().map(drop));
    point(&place, ("platform/metadata", "platform-online"), (1, b"junk"));
    place.publisher(|publisher| publisher.platform().map(drop)).unwrap_err();
    assert!(renew("new").is_err(), "a machine that has not seen the platform does not know its teams");
    renew("admin").unwrap();
    assert_eq!((place.read(PLATFORM_TARGETS), place.runs("core")), (honest.clone(), 1));
    place.publisher(|publisher| publisher.platform().map(drop)).unwrap();
    // Damage alone is mended too.
    place.write(PLATFORM_TARGETS, "junk");
    renew("admin").unwrap();
    assert_eq!((place.read(PLATFORM_TARGETS), place.runs("core")), (honest, 1));
}
