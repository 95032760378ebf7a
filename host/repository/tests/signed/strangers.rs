//! A team may write to its own part of the directory, and somebody else, often root, writes there too.

use crate::place::{Place, revision, wanted};
use repository::DirectoryStore;
use repository::node::fetch;
use repository::store::Store as _;
use rustix::fs::{CWD, FileType, FlockOperation, Mode};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::PathBuf;
use std::time::Duration;

/// A repository whose team `web` has put something into its folder, and a folder elsewhere.
fn with_elsewhere() -> (Place, PathBuf) {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    place.push("web", "staging", 1).unwrap();
    let elsewhere = place.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    (place, elsewhere)
}

/// The web team's folder of that name leads elsewhere from now on.
fn link(place: &Place, path: &str, elsewhere: &PathBuf) {
    let path = place.path(path);
    if path.is_dir() {
        fs::remove_dir_all(&path).unwrap();
    } else if path.exists() {
        fs::remove_file(&path).unwrap();
    }
    symlink(elsewhere, path).unwrap();
}

#[test]
fn a_lock_that_is_a_link_or_a_pipe_is_refused() {
    let (place, elsewhere) = with_elsewhere();
    let target = elsewhere.join("nologin");
    link(&place, "teams/web/.lock", &target);
    let refused = text::error_chain(&place.push("web", "staging", 2).unwrap_err());
    assert!(refused.contains("teams/web/.lock") && refused.contains("it is a link"), "{refused}");
    assert!(!target.exists());
    let path = place.path("teams/web/.lock");
    fs::remove_file(&path).unwrap();
    rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let refused = text::error_chain(&place.push("web", "staging", 2).unwrap_err());
    assert!(refused.contains("not a plain file"), "{refused}");
    fs::remove_file(&path).unwrap();
    place.push("web", "staging", 2).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o007, 0, "whoever may only read cannot lock it");
}

#[test]
fn a_lock_that_is_held_is_not_waited_for_without_end() {
    let (place, _) = with_elsewhere();
    let held = fs::File::open(place.path("teams/web/.lock")).unwrap();
    rustix::fs::flock(&held, FlockOperation::LockExclusive).unwrap();
    let store = DirectoryStore::open(&place.path("")).unwrap().with_patience(Duration::from_millis(100));
    let refused = text::error_chain(&store.writer("teams/web").err().unwrap());
    assert!(refused.contains("somebody else has held its lock") && refused.contains("teams/web/.lock"), "{refused}");
    drop(held);
    assert!(store.writer("teams/web").is_ok());
}

#[test]
fn nothing_is_written_or_removed_behind_a_link() {
    let (mut place, elsewhere) = with_elsewhere();
    let digest = "0".repeat(64);
    let kept = elsewhere.join(format!("{digest}.web.json"));
    fs::write(&kept, "kept").unwrap();
    for path in ["teams/web/metadata", "teams/web/targets/groups/staging", "teams/web/targets/groups"] {
        let saved = place.snapshot("teams/web");
        link(&place, path, &elsewhere);
        assert!(place.push("web", "staging", 2).is_err(), "{path}");
        place.later(8);
        let cleaned = place.publisher(|publisher| {
            let platform = publisher.platform().unwrap();
            let team = publisher.owner(&platform, "web").unwrap();
            publisher.clean(team, &platform)
        });
        assert!(cleaned.is_err(), "{path}");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1, "{path}");
        assert_eq!(fs::read_to_string(&kept).unwrap(), "kept");
        fs::remove_file(place.path(path)).unwrap();
        place.put_back("teams/web", &saved);
    }
    place.push("web", "staging", 2).unwrap();
}

#[test]
fn a_folder_that_is_exchanged_meanwhile_leads_nowhere() {
    let (place, elsewhere) = with_elsewhere();
    fs::write(elsewhere.join("a"), "kept").unwrap();
    let store = place.store();
    let writer = store.writer("teams/web").unwrap();
    writer.put_if_absent("teams/web/extra/a", b"1").unwrap();
    link(&place, "teams/web/extra", &elsewhere);
    assert!(writer.put_if_absent("teams/web/extra/b", b"1").is_err());
    assert!(writer.replace("teams/web/extra/a", b"1").is_err());
    assert!(writer.remove("teams/web/extra/a").is_err());
    assert!(writer.put_if_absent("teams/web/../../../elsewhere/c", b"1").is_err());
    assert_eq!(fs::read_to_string(elsewhere.join("a")).unwrap(), "kept");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
}

#[test]
fn the_names_of_unfinished_files_cannot_be_guessed() {
    let (place, elsewhere) = with_elsewhere();
    let target = elsewhere.join("file");
    fs::write(&target, "kept").unwrap();
    for number in 0..300 {
        let name = format!(".unfinished-{}-{number}-2.targets.json", std::process::id());
        symlink(&target, place.path("teams/web/metadata").join(name)).unwrap();
    }
    place.push("web", "staging", 2).unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
    assert_eq!(place.runs("web"), 2);
}

#[test]
fn a_team_that_damages_its_folder_does_not_stop_the_platform() {
    let (place, elsewhere) = with_elsewhere();
    link(&place, "teams/web/metadata", &elsewhere);
    // Its key is taken away all the same: what counts is the platform's word.
    let web = repository::admin::TeamKeys { keys: vec![place.key("web-new")], ..place.team("web", 1) };
    let unwritten = place.publisher(|publisher| publisher.set_team(&web)).unwrap();
    assert!(unwritten.is_some_and(|error| error.to_string().contains("teams/web/metadata/2.root.json")));
    let (new, online) = (place.key("platform-2"), place.key("platform-online-2"));
    let (version, unwritten) = place.publisher(|publisher| publisher.rotate(&[new], 1, &online)).unwrap();
    assert_eq!((version, unwritten.len()), (2, 1));
    assert_eq!(place.runs("core"), 1);
    place.push("core", "staging", 2).unwrap();
    assert_eq!(place.runs("core"), 2);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn what_killed_writers_left_is_removed() {
    let (place, _) = with_elsewhere();
    let left = ["metadata", "targets/groups/staging", "targets/revisions/web"]
        .map(|folder| place.path(&format!("teams/web/{folder}/.unfinished-0123")));
    for path in &left {
        fs::write(path, "half").unwrap();
    }
    fs::write(place.path("teams/web/targets/groups/stray"), "").unwrap();
    place.publisher(|publisher| {
        let platform = publisher.platform().unwrap();
        let team = publisher.owner(&platform, "web").unwrap();
        publisher.clean(team, &platform).unwrap();
    });
    assert!(left.iter().all(|path| !path.exists()));
    assert_eq!(place.runs("web"), 1);
}

#[test]
fn a_damaged_file_is_released_again() {
    let (place, _) = with_elsewhere();
    let digest = revision("web", 1).artifact.digest().to_owned();
    let folder = place.path("teams/web/targets/revisions/web");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains(&digest) {
            fs::write(path, "damaged").unwrap();
        }
    }
    assert!(place.refused("web").contains("is not the file that was signed"));
    // What was released stays in the documents as it was; only the file is mended.
    place.push("web", "next", 1).unwrap();
    assert_eq!(place.runs("web"), 1);
}

#[test]
fn the_directory_that_is_open_is_the_one_that_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
    for (name, bits) in [("own", 0o755), ("theirs", 0o777)] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("a"), "").unwrap();
        fs::set_permissions(folder.path().join(name), mode(bits)).unwrap();
    }
    // A link that somebody exchanges after the directory was opened and before it is judged.
    let place = folder.path().join("link");
    symlink("theirs", &place).unwrap();
    let store = DirectoryStore::open(&place).unwrap();
    fs::remove_file(&place).unwrap();
    symlink("own", &place).unwrap();
    assert!(!store.is_operators_own("a"));
    assert!(DirectoryStore::open(&place).unwrap().is_operators_own("a"));
    symlink("../theirs/a", folder.path().join("own/b")).unwrap();
    assert!(!DirectoryStore::open(&place).unwrap().is_operators_own("b"), "a link is judged by nobody");
}

/// What somebody puts into a node's own folder leads nowhere: what is read there is verified and lies there, and what is written
/// takes the link's place.
#[test]
fn links_in_a_nodes_own_folder_are_not_followed() {
    let place = Place::new();
    place.push("core", "staging", 1).unwrap();
    assert_eq!(place.runs("core"), 1);
    let (node, elsewhere) = (place.folder.path().join("node-a"), place.folder.path().join("elsewhere"));
    fs::create_dir(&elsewhere).unwrap();
    // A record, and the artifact that it names.
    let digest = revision("core", 1).artifact.digest().to_owned();
    for file in ["policies/staging/core.json".to_owned(), format!("artifacts/core/{digest}.wasm")] {
        let (own, other) = (node.join(file), elsewhere.join("file"));
        fs::rename(&own, &other).unwrap();
        symlink(&other, &own).unwrap();
        let before = fs::read(&other).unwrap();
        assert_eq!(place.runs("core"), 1);
        assert!(fs::symlink_metadata(&own).unwrap().is_file(), "{own:?}");
        assert_eq!(fs::read(&other).unwrap(), before);
    }
    // Whole folders.
    for folder in ["policies", "artifacts", "artifacts/core"] {
        let (own, other) = (node.join(folder), elsewhere.join("folder"));
        fs::rename(&own, &other).unwrap();
        symlink(&other, &own).unwrap();
        let refused = place.refused("core");
        assert!(refused.contains("it is a link"), "{folder}: {refused}");
        fs::remove_file(&own).unwrap();
        fs::rename(&other, &own).unwrap();
        assert_eq!(place.runs("core"), 1);
    }
    // The lock.
    fs::remove_file(node.join(".lock")).unwrap();
    symlink(elsewhere.join("lock"), node.join(".lock")).unwrap();
    let store = place.store();
    let refused = fetch(place.node_settings(Ok(&store), node), &[wanted("core")]).unwrap_err();
    let refused = text::error_chain(&refused);
    assert!(
        refused.contains(".lock") && refused.contains("it is a link") && !elsewhere.join("lock").exists(),
        "{refused}"
    );
}
