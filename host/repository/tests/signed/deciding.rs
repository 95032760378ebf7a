//! Several people sign one release; the platform's admin says who they are.

use crate::place::{Place, done, revision};
use crate::recovering::{document, with_two_groups};
use repository::admin::TeamKeys;
use repository::canonical::canonical;
use repository::key_file::{KeyFile, write_command};
use repository::keyring::{KeyRing, RunCommand};
use repository::metadata::{Envelope, Target, sign as sign_document};
use repository::trust::TrustFolder;
use repository::writer::{Published, Publisher};
use repository::{RepositoryError, admin};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::PathBuf;

/// A team of which two of three have to sign, and the key folders of the first two.
fn two_of_three() -> (Place, PathBuf, PathBuf) {
    let place = Place::empty();
    place.init(&[place.team("core", 2), place.team("web", 1)]).unwrap();
    let one = place.some_keys(&["core-0", "core-online"]);
    let two = place.some_keys(&["core-1", "core-online"]);
    (place, one, two)
}

fn pending(published: Published) -> String {
    let Published::Pending { id, .. } = published else { panic!("{published:?}") };
    id
}

fn sign(publisher: &Publisher<'_>, id: &str) -> Result<Published, RepositoryError> {
    let platform = publisher.platform()?;
    let team = publisher.owner(&platform, "core")?;
    let writer = publisher.store.writer("teams/core")?;
    let current = publisher.team(&platform, team)?.current;
    let pending = publisher.read_pending(&current, id, platform.lifetimes)?;
    publisher.sign_pending(writer.as_ref(), &current, &pending, platform.lifetimes)
}

#[test]
fn an_id_is_the_release_that_was_seen_under_it() {
    let (place, one, two) = two_of_three();
    let push = |version, group| {
        let pushed = place.as_author("one", &one, |publisher| publisher.push(&revision("core", version), group));
        pending(pushed.unwrap())
    };
    let (honest, evil) = (push(1, "staging"), push(66, "prod"));
    assert_eq!(honest.len(), 64, "nobody can make two releases of one id");
    // After the second one has looked at the list, somebody exchanges the files.
    let path = |id: &str| format!("teams/core/pending/{id}.json");
    let saved = place.read(&path(&honest));
    place.write(&path(&honest), place.read(&path(&evil)));
    let refused = place.as_author("two", &two, |publisher| sign(publisher, &honest)).unwrap_err().to_string();
    assert!(refused.contains("it was put in the place of the release of this id"), "{refused}");
    let short = place.as_author("two", &two, |publisher| sign(publisher, &honest[..12])).unwrap_err().to_string();
    assert!(short.contains("ids have 64 digits"), "{short}");
    place.write(&path(&honest), saved);
    assert_eq!(place.as_author("two", &two, |publisher| sign(publisher, &honest)).unwrap(), done(1));
    assert_eq!(place.runs("core"), 1);
}

#[test]
fn what_a_release_would_change_is_read_from_it() {
    let (place, one, _) = two_of_three();
    let id = place.as_author("one", &one, |publisher| publisher.push(&revision("core", 1), "staging")).unwrap();
    let id = pending(id);
    place.publisher(|publisher| {
        let platform = publisher.platform().unwrap();
        let team = publisher.owner(&platform, "core").unwrap();
        let current = publisher.team(&platform, team).unwrap().current;
        let waiting = publisher.read_pending(&current, &id, platform.lifetimes).unwrap();
        let changes = publisher.changes(&current, &waiting.targets).unwrap();
        let digest = revision("core", 1).artifact.digest().to_owned();
        assert_eq!(changes[0].will.as_ref().unwrap().digest, digest);
        let by = |group| publisher.released_by(&current, &waiting.targets.targets, "core", group).unwrap();
        assert_eq!((by("staging").unwrap().digest, by("prod")), (digest, None));
        // Another team's file of this name is not its release.
        fs::create_dir_all(place.path("teams/web/pending")).unwrap();
        fs::copy(
            place.path(&format!("teams/core/pending/{id}.json")),
            place.path(&format!("teams/web/pending/{id}.json")),
        )
        .unwrap();
        let web = platform.teams.iter().find(|team| team.name == "web").unwrap();
        let current = publisher.team(&platform, web).unwrap().current;
        let refused = publisher.read_pending(&current, &id, platform.lifetimes).err().unwrap().to_string();
        assert!(refused.contains("it is for the repository"), "{refused}");
    });
}

/// Leaves a release that follows the third one and that nobody has signed, as whoever may write to the repository can. Returns
/// its id.
fn leave(place: &Place, change: &dyn Fn(&mut Value)) -> String {
    let mut document = document(place, "teams/core/metadata/3.targets.json");
    document["version"] = 4.into();
    change(&mut document);
    let id = text::hex(Sha256::digest(canonical(&document).unwrap()));
    fs::create_dir_all(place.path("teams/core/pending")).unwrap();
    let unsigned = json!({ "signatures": [], "signed": document }).to_string();
    place.write(&format!("teams/core/pending/{id}.json"), unsigned);
    id
}

#[test]
fn a_release_that_takes_revisions_away_is_not_signed_as_one_that_changes_nothing() {
    let place = with_two_groups();
    place.push("core", "staging", 2).unwrap();
    let leave = |change: &dyn Fn(&mut Value)| leave(&place, change);
    let read = |id: &str| {
        place.publisher(|publisher| {
            let platform = publisher.platform().unwrap();
            let team = publisher.owner(&platform, "core").unwrap();
            let current = publisher.team(&platform, team).unwrap().current;
            let pending =
                publisher.read_pending(&current, id, platform.lifetimes).map_err(|error| error.to_string())?;
            Ok::<_, String>(publisher.lost_files(&current, &pending.targets))
        })
    };
    let without = |keep: &dyn Fn(&str) -> bool| {
        leave(&|document| document["targets"].as_object_mut().unwrap().retain(|path, _| keep(path)))
    };
    let refused = read(&without(&|path| !path.starts_with("revisions/"))).unwrap_err();
    assert!(refused.contains("the group prod is given a revision of core whose file revisions/core/"), "{refused}");
    let refused = read(&leave(&|document| document["expires"] = "9000-01-01T00:00:00Z".into())).unwrap_err();
    assert!(refused.contains("it would be good until 9000-01-01T00:00:00Z"), "{refused}");
    // A group may be given up, and its revision with it: that is shown.
    let digest = revision("core", 1).artifact.digest().to_owned();
    let given_up = without(&|path| path != "groups/prod/core.json" && !path.contains(&digest));
    let lost: Vec<_> = read(&given_up).unwrap().into_iter().map(|file| (file.path, file.is_removed)).collect();
    let expected = [".lock.json", ".wasm"].map(|end| (format!("revisions/core/{digest}{end}"), true));
    assert_eq!(lost, expected);
    let replaced = leave(&|document| {
        document["targets"][format!("revisions/core/{digest}.wasm")]["hashes"]["sha256"] = "0".repeat(64).into();
    });
    let lost = read(&replaced).unwrap();
    assert!(lost.len() == 1 && !lost[0].is_removed, "{lost:?}");
}

#[test]
fn a_check_follows_each_group_to_its_revision() {
    let place = with_two_groups();
    place.publisher(|publisher| {
        let platform = publisher.platform().unwrap();
        let team = publisher.owner(&platform, "core").unwrap();
        let current = publisher.team(&platform, team).unwrap().current;
        let kept = current.targets().into_iter().filter(|(path, _)| path.starts_with("groups/")).collect();
        let writer = publisher.store.writer("teams/core").unwrap();
        publisher.release(writer.as_ref(), &current, &[], kept, platform.lifetimes).unwrap();
        let problems = publisher.check().into_iter().find(|one| one.name == "core").unwrap().problems;
        assert!(
            problems.len() == 2 && problems[0].contains("the group prod is given a revision of core whose"),
            "{problems:?}"
        );
    });
}

#[test]
fn one_key_that_is_named_twice_is_one_key() {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    let core = place.team("core", 1);
    let twice = vec![core.keys[0].clone(), core.keys[0].clone()];
    let broken = TeamKeys { keys: twice.clone(), threshold: 2, ..core.clone() };
    let refused = place.publisher(|publisher| publisher.set_team(&broken)).unwrap_err().to_string();
    assert!(refused.contains("the team core has 1 different keys, so that 2 signatures"), "{refused}");
    let (key, online) = (place.key("platform"), place.key("platform-online"));
    let refused = place.publisher(|publisher| publisher.rotate(&[key.clone(), key], 2, &online)).unwrap_err();
    assert!(refused.to_string().contains("the platform has 1 different keys"), "{refused}");
    assert_eq!(place.runs("core"), 1);
    let fine = TeamKeys { keys: twice, threshold: 1, ..core };
    place.publisher(|publisher| publisher.set_team(&fine)).unwrap();
    assert_eq!(place.runs("core"), 1);
}

#[test]
fn a_root_that_contradicts_itself_is_replaced() {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    assert_eq!(place.runs("core"), 1);
    // Published by a program that does not look as closely: two have to sign, and there is one key.
    let path = "teams/core/metadata/1.root.json";
    let mut document = Envelope::parse(path, &place.read(path)).unwrap().signed().clone();
    document["roles"]["targets"]["threshold"] = 2.into();
    document["version"] = 2.into();
    let key = KeyFile::read(&place.folder.path().join("keys/platform.key")).unwrap().open("").unwrap();
    let bytes = sign_document(&document, [&key]).unwrap();
    place.publisher(|publisher| {
        let platform = publisher.platform().unwrap();
        let mut targets = platform.current.targets();
        let known = targets["teams/core/root.json"].custom.clone();
        targets.insert("teams/core/root.json".into(), Target { custom: known, ..Target::of(&bytes) });
        let files = [("teams/core/root.json".to_owned(), bytes.clone())];
        let writer = publisher.store.writer("platform").unwrap();
        publisher.release(writer.as_ref(), &platform.current, &files, targets, platform.lifetimes).unwrap();
    });
    assert!(place.runs_stale("core").1.contains("needs 2 signatures and has 1 keys"));
    // The platform's keys are exchanged all the same, and the team gets another root.
    let (key, online) = (place.key("platform-2"), place.key("platform-online-2"));
    let (_, failed) = place.publisher(|publisher| publisher.rotate(&[key], 1, &online)).unwrap();
    assert_eq!(failed.len(), 1);
    let team = place.team("core", 1);
    assert!(place.publisher(|publisher| publisher.set_team(&team)).unwrap().is_none());
    assert_eq!(place.runs("core"), 1);
    place.push("core", "staging", 2).unwrap();
    assert_eq!(place.runs("core"), 2);
}

#[test]
fn releases_that_nobody_can_sign_any_more_are_removed() {
    let (place, one, two) = two_of_three();
    let push = |version, group| {
        pending(place.as_author("one", &one, |publisher| publisher.push(&revision("core", version), group)).unwrap())
    };
    let (first, second) = (push(1, "staging"), push(2, "prod"));
    place.as_author("two", &two, |publisher| sign(publisher, &first)).unwrap();
    let third = push(3, "staging");
    let path = |id: &str| place.path(&format!("teams/core/pending/{id}.json"));
    let stray = "0".repeat(64);
    fs::write(path(&stray), "{}").unwrap();
    assert!(path(&second).exists());
    place.publisher(|publisher| {
        let platform = publisher.platform().unwrap();
        let team = publisher.owner(&platform, "core").unwrap();
        publisher.clean(team, &platform).unwrap();
    });
    assert_eq!([&second, &third, &stray].map(|id| path(id).exists()), [false, true, false]);
    place.as_author("two", &two, |publisher| sign(publisher, &third)).unwrap();
    assert_eq!(place.runs("core"), 3);
}

#[test]
fn what_is_known_of_a_team_can_be_taken_over() {
    let place = Place::new();
    let team = TeamKeys { threshold: 2, ..place.team("core", 2) };
    place.publisher(|publisher| {
        publisher.set_team(&team).unwrap();
        let platform = publisher.platform().unwrap();
        let known = platform.teams.iter().find(|team| team.name == "core").unwrap();
        let mut read = publisher.team_keys(&platform, known).unwrap();
        let mut keys = team.keys.clone();
        keys.sort();
        read.keys.sort();
        assert_eq!((read.keys, read.threshold, read.online), (keys, 2, team.online.clone()));
    });
}

#[test]
fn keys_of_other_purposes_are_no_teams() {
    let place = Place::new();
    for name in ["platform", "core-online"] {
        let team = place.team(name, 1);
        let refused = place.publisher(|publisher| publisher.set_team(&team)).unwrap_err().to_string();
        assert!(refused.contains("cannot be the name of a team"), "{refused}");
        let place = Place::empty();
        let team = place.team(name, 1);
        assert!(place.init(&[team]).is_err());
    }
    assert!(admin::own_key(&place.folder.path().join("keys"), "../x", "").is_err());
}

#[test]
fn what_expires_soon_is_renewed_with_its_keys() {
    let mut place = Place::new();
    place.push("core", "staging", 1).unwrap();
    assert_eq!(place.runs("core"), 1);
    let refresh = |place: &Place, keys: Option<&PathBuf>| {
        let all = place.folder.path().join("keys");
        place.as_author("admin", keys.unwrap_or(&all), |publisher| {
            let lifetimes = publisher.platform().unwrap().lifetimes;
            publisher.refresh("platform", None, lifetimes).unwrap()
        })
    };
    for _ in 0..11 {
        place.later(28);
        refresh(&place, None);
        place.push("core", "staging", 1).unwrap();
        assert_eq!(place.runs("core"), 1);
    }
    // A year has nearly gone since the teams were changed last.
    let online = place.some_keys(&["platform-online"]);
    for _ in 0..4 {
        place.later(28);
        refresh(&place, None);
        place.push("core", "staging", 1).unwrap();
        assert_eq!(place.runs("core"), 1, "the platform's targets were renewed");
    }
    // Where the platform's key is not, somebody hears that it is time.
    for _ in 0..11 {
        place.later(28);
        refresh(&place, Some(&online));
    }
    place.later(10);
    assert!(refresh(&place, Some(&online)).is_some());
    place.later(60);
    refresh(&place, Some(&online));
    let (version, reason) = place.runs_stale("core");
    assert!(version == 1 && reason.contains("(role targets)"), "{reason}");
    assert!(reason.contains("wrun repository refresh") && !reason.contains("wrun policy push"), "{reason}");
}

#[test]
fn an_expired_root_of_the_platform_is_rotated() {
    let mut place = Place::new();
    place.push("core", "staging", 1).unwrap();
    place.later(3651);
    let refused = place.push("core", "staging", 2).unwrap_err().to_string();
    assert!(refused.contains("expired") && refused.contains("wrun repository rotate"), "{refused}");
    let (key, online) = (place.key("platform"), place.key("platform-online"));
    place.publisher(|publisher| publisher.rotate(&[key], 1, &online)).unwrap();
    place.push("core", "staging", 2).unwrap();
    assert_eq!(place.runs("core"), 2);
}

#[test]
fn an_init_that_was_killed_is_begun_again() {
    let place = Place::empty();
    let teams = [place.team("core", 1)];
    place.init(&teams).unwrap();
    assert!(matches!(place.init(&teams), Err(RepositoryError::Exists { .. })));
    fs::remove_file(place.path("platform/metadata/timestamp.json")).unwrap();
    place.init(&teams).unwrap();
    place.push("core", "staging", 1).unwrap();
    assert_eq!(place.runs("core"), 1);
}

/// A ring whose key of the team core is in another program, which `run` plays.
fn with_command(place: &Place, run: &RunCommand<'_>) -> Result<Published, RepositoryError> {
    let folder = place.some_keys(&["core-online"]);
    let own = KeyFile::read(&place.folder.path().join("keys/core-0.key")).unwrap();
    let path = folder.join("core-0.key");
    drop(fs::remove_file(&path));
    let command = ["/usr/bin/sign", "slot 1"].map(str::to_owned);
    write_command(&path, own.public(), &command).unwrap();
    let (store, ask) = (place.store(), |_: &KeyFile| Ok(String::new()));
    let keys = KeyRing::new(folder, &ask).with_commands(run);
    let trust = TrustFolder::new(place.folder.path().join("trust-token"));
    let publisher = Publisher { store: &store, keys: &keys, trust: &trust, now: place.now };
    publisher.begin(None, true).unwrap();
    publisher.push(&revision("core", 2), "staging")
}

#[test]
fn a_key_in_another_program_signs_and_is_believed_only_if_the_signature_is_its_own() {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    let key =
        |name: &str| KeyFile::read(&place.folder.path().join(format!("keys/{name}.key"))).unwrap().open("").unwrap();
    let (own, other) = (key("core-0"), key("web-0"));
    let bytes = |signature: String| text::unhex(&signature).unwrap();
    let timestamp = || place.read("teams/core/metadata/timestamp.json");
    let before = timestamp();
    for (answer, part) in [
        (Ok(vec![0; 64]), "is not the signature of this key"),
        (Ok(vec![]), "is not the signature of this key"),
        (Err("the token is not there".to_owned()), "core-0.key: the token is not there"),
    ] {
        let error = text::error_chain(&with_command(&place, &|_, _| answer.clone()).unwrap_err());
        assert!(error.contains(part), "{error}");
        assert!(timestamp() == before, "nothing was released");
    }
    // Another key's signature, and the own one of another message.
    assert!(with_command(&place, &|_, message| Ok(bytes(other.sign(message)))).is_err());
    assert!(with_command(&place, &|_, _| Ok(bytes(own.sign(b"other")))).is_err());
    assert_eq!(place.runs("core"), 1);
    let asked = std::cell::RefCell::new(vec![]);
    let signs = |command: &[String], message: &[u8]| {
        asked.borrow_mut().push(command.to_vec());
        Ok(bytes(own.sign(message)))
    };
    assert_eq!(with_command(&place, &signs).unwrap(), done(2));
    assert_eq!(asked.into_inner(), [["/usr/bin/sign".to_owned(), "slot 1".to_owned()]]);
    assert_eq!(place.runs("core"), 2);
}
