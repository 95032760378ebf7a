//! The state directory on a real file system: what is kept, what is refused, who may write.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use contract::Memory as _;
use serde_json::{Value, json};
use state::{Holder, LeftDue, LockRequest, RunId, RunLock, StateDirectory, StateError, Unrecorded, cache_key};

fn lock_at_once(state: &StateDirectory) -> Result<RunLock, StateError> {
    state.lock(LockRequest {
        command: "wrun converge --policy-name core",
        began: SystemTime::UNIX_EPOCH,
        wait: Duration::ZERO,
        interrupted: &|| false,
        waiting: &mut |_| panic!("a request that does not wait announces nothing"),
    })
}

/// A fresh state directory and its lock.
fn fresh() -> (tempfile::TempDir, StateDirectory, RunLock) {
    let temporary = tempfile::tempdir().unwrap();
    let state = StateDirectory::open(&temporary.path().join("var/lib/wrun")).unwrap();
    let lock = lock_at_once(&state).unwrap();
    (temporary, state, lock)
}

/// All files and directories below, as `(path, mode)`.
fn modes(below: &Path) -> Vec<(String, u32)> {
    let mut found = vec![];
    for entry in fs::read_dir(below).unwrap() {
        let entry = entry.unwrap();
        let status = entry.metadata().unwrap();
        found.push((entry.path().display().to_string(), status.mode() & 0o7777));
        if status.is_dir() {
            found.extend(modes(&entry.path()));
        }
    }
    found.sort();
    found
}

#[test]
fn nodes_are_saved_and_found_again() {
    let (_temporary, state, lock) = fresh();
    assert_eq!(state.node("web1.example.com").unwrap(), None);
    assert!(state.node_names().unwrap().is_empty());
    let first = json!({"normal": {"z": 1, "a": [null, "ä\n"]}});
    lock.save_node("web1.example.com", &first).unwrap();
    lock.save_node("db1", &json!({})).unwrap();
    assert_eq!(state.node("web1.example.com").unwrap().unwrap().to_string(), first.to_string(), "order is kept");
    lock.save_node("web1.example.com", &json!({"normal": {}})).unwrap();
    assert_eq!(state.node("web1.example.com").unwrap(), Some(json!({"normal": {}})));
    assert_eq!(state.node_names().unwrap(), ["db1", "web1.example.com"]);
}

#[test]
fn only_the_owner_reads_what_is_kept() {
    let (temporary, _state, lock) = fresh();
    lock.save_node("n", &json!({"normal": {"password": "x"}})).unwrap();
    lock.pending("n").unwrap().due("core", "service[a]", "restart").unwrap();
    lock.run_folder(SystemTime::UNIX_EPOCH).unwrap().save_record(&json!({})).unwrap();
    let root = temporary.path().join("var/lib/wrun");
    cache_key(&root).unwrap();
    assert_eq!(fs::metadata(&root).unwrap().mode() & 0o7777, 0o700);
    let found = modes(&root);
    assert!(found.len() >= 9, "{found:?}");
    for (path, mode) in found {
        let expect = if Path::new(&path).is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, expect, "{path}");
    }
}

#[test]
fn damaged_nodes_are_refused_with_file_and_line() {
    let (temporary, state, lock) = fresh();
    lock.save_node("n", &json!({})).unwrap();
    let file = temporary.path().join("var/lib/wrun/nodes/n.json");
    let check = |text: &str, expect: &str| {
        fs::write(&file, text).unwrap();
        let error = state.node("n").unwrap_err().to_string();
        assert!(error.starts_with(file.to_str().unwrap()) && error.contains(expect), "{error}");
    };
    check("{\"format\": 1,\n\"node\": {\"a\": }}", ":2: expected value");
    check("", ":1: EOF while parsing");
    check("{}", "no \"format\"");
    check("{\"format\": 2, \"node\": {}}", "has format 2, but this version of wrun reads formats up to 1");
    check("{\"format\": 1, \"node\": 3}", "no object \"node\"");
    fs::remove_file(&file).unwrap();
    symlink("/etc/passwd", &file).unwrap();
    assert!(matches!(state.node("n").unwrap_err(), StateError::NotPlain { wanted: "file", .. }));
    assert!(matches!(state.node("../n").unwrap_err(), StateError::BadName { .. }));
    assert!(matches!(lock.save_node("a/b", &json!({})).unwrap_err(), StateError::BadName { .. }));
    // Saving replaces the link and does not follow it.
    lock.save_node("n", &json!({})).unwrap();
    assert!(fs::symlink_metadata(&file).unwrap().is_file());
}

#[test]
fn directories_that_others_can_change_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path().join("state");
    StateDirectory::open(&root).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o770)).unwrap();
    let error = StateDirectory::open(&root).unwrap_err().to_string();
    assert!(error.contains("may be written by others (mode 0770)") && error.contains("chmod 0700"), "{error}");
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
    let state = StateDirectory::open(&root).unwrap();
    fs::create_dir(root.join("nodes")).unwrap();
    fs::set_permissions(root.join("nodes"), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(state.node("n").unwrap_err(), StateError::OpenToOthers { mode: 0o777, .. }));
    fs::remove_dir(root.join("nodes")).unwrap();
    symlink("/etc", root.join("nodes")).unwrap();
    assert!(matches!(state.node("n").unwrap_err(), StateError::NotPlain { wanted: "directory", .. }));
    fs::write(temporary.path().join("file"), "").unwrap();
    assert!(matches!(
        StateDirectory::open(&temporary.path().join("file")).unwrap_err(),
        StateError::NotPlain { wanted: "directory", .. }
    ));
    // The directory itself may be reached through a link: that is the operator's choice.
    symlink(&root, temporary.path().join("link")).unwrap();
    StateDirectory::open(&temporary.path().join("link")).unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&root, Some(65534), None).unwrap();
        let error = StateDirectory::open(&root).unwrap_err().to_string();
        assert!(error.contains("belongs to user 65534"), "{error}");
    }
}

#[test]
fn looking_makes_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path().join("state");
    assert!(StateDirectory::open_existing(&root).unwrap().is_none());
    assert!(!root.exists());
    let state = StateDirectory::open(&root).unwrap();
    let state = StateDirectory::open_existing(&root).unwrap().unwrap_or(state);
    assert_eq!(state.left_due("n").unwrap(), []);
    assert_eq!(state.runs().unwrap(), []);
    assert_eq!(state.node("n").unwrap(), None);
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
}

#[test]
fn a_second_run_hears_who_runs() {
    let (_temporary, state, lock) = fresh();
    let error = lock_at_once(&state).unwrap_err();
    let pid = std::process::id();
    assert_eq!(
        error.to_string(),
        format!(
            "another run is under way: process {pid} (`wrun converge --policy-name core`), since 1970-01-01T00:00:00Z"
        )
    );
    drop(lock);
    lock_at_once(&state).unwrap();
}

#[test]
fn a_waiting_run_gets_its_turn_or_gives_up() {
    let (_temporary, state, lock) = fresh();
    let announced: RefCell<Vec<Option<Holder>>> = RefCell::default();
    let held = RefCell::new(Some(lock));
    let wait = |limit, interrupted: &dyn Fn() -> bool| {
        state.lock(LockRequest {
            command: "second",
            began: SystemTime::UNIX_EPOCH,
            wait: limit,
            interrupted,
            waiting: &mut |holder| announced.borrow_mut().push(holder.cloned()),
        })
    };
    let error = wait(Duration::from_millis(10), &|| false).unwrap_err();
    assert!(matches!(error, StateError::Locked { holder: Some(_), .. }), "{error}");
    assert!(error.to_string().ends_with("waited 0.01 s for it to end"), "{error}");
    assert!(matches!(wait(Duration::from_secs(60), &|| true).unwrap_err(), StateError::Interrupted));
    assert_eq!(announced.borrow().len(), 2, "each wait is announced once");
    // The first run ends while the second one waits.
    let second = wait(Duration::from_secs(60), &|| {
        held.borrow_mut().take();
        false
    });
    second.unwrap();
}

#[test]
fn what_a_killed_run_left_unfinished_is_swept() {
    let (temporary, state, lock) = fresh();
    lock.save_node("n", &json!({})).unwrap();
    lock.save_good_run("n", &json!({})).unwrap();
    let leftovers = ["nodes", "good-runs"]
        .map(|folder| temporary.path().join("var/lib/wrun").join(folder).join(".unfinished-n.json-01234567"));
    leftovers.iter().for_each(|leftover| fs::write(leftover, "{").unwrap());
    assert_eq!(state.node_names().unwrap(), ["n"]);
    drop(lock);
    lock_at_once(&state).unwrap();
    assert!(leftovers.iter().all(|leftover| !leftover.exists()));
}

#[test]
fn runs_are_recorded_in_order_and_pruned() {
    let (temporary, state, lock) = fresh();
    let mut ids = vec![];
    for second in [30, 10, 20, 40] {
        let folder = lock.run_folder(SystemTime::UNIX_EPOCH + Duration::from_secs(second)).unwrap();
        folder.save_record(&json!({"second": second})).unwrap();
        ids.push(folder.id().clone());
    }
    let failed = lock.run_folder(SystemTime::UNIX_EPOCH + Duration::from_secs(50)).unwrap();
    failed.save_record(&json!({"status": "running"})).unwrap();
    failed.save_record(&json!({"status": "failed"})).unwrap();
    failed.save_error(&json!({"class": "RuntimeError"})).unwrap();
    let newest = failed.id().clone();
    assert!(newest.as_str().starts_with("19700101T000050.000Z-"), "{newest}");
    let kept = |id: &RunId, file: &str| {
        let text = fs::read_to_string(temporary.path().join("var/lib/wrun/runs").join(id.as_str()).join(file)).ok();
        text.map(|text| serde_json::from_str::<Value>(&text).unwrap())
    };
    assert_eq!(kept(&newest, "run.json"), Some(json!({"status": "failed"})));
    assert_eq!(kept(&newest, "error.json"), Some(json!({"class": "RuntimeError"})));
    assert_eq!(kept(&ids[0], "error.json"), None);
    let seconds = |ids: Vec<RunId>| ids.iter().map(|id| id.as_str()[13..15].to_owned()).collect::<Vec<_>>();
    assert_eq!(seconds(state.runs().unwrap()), ["50", "40", "30", "20", "10"]);

    fs::create_dir(temporary.path().join("var/lib/wrun/runs/kept-by-hand")).unwrap();
    // What somebody put into a run's folder stops nothing: a name that is not text goes with the record, a directory stays.
    let odd = |id: &RunId, name: &[u8]| {
        temporary.path().join("var/lib/wrun/runs").join(id.as_str()).join(OsStr::from_bytes(name))
    };
    fs::write(odd(&ids[0], b"\xff\xfe"), "").unwrap();
    fs::create_dir(odd(&ids[2], b"notes")).unwrap();
    lock.prune_runs(2, u64::MAX, None).unwrap();
    assert!(odd(&ids[2], b"notes").exists());
    fs::remove_dir(odd(&ids[2], b"notes")).unwrap();
    lock.prune_runs(2, u64::MAX, None).unwrap();
    assert_eq!(seconds(state.runs().unwrap()), ["50", "40"]);
    assert_eq!(kept(&ids[1], "run.json"), None);
    assert!(temporary.path().join("var/lib/wrun/runs/kept-by-hand").exists());
}

#[test]
fn run_ids_are_read_strictly() {
    let id = RunId::new(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(RunId::parse(id.as_str()).unwrap(), id);
    for bad in ["", "..", "19700101T000050.000Z-0123456g", "19700101T000050.000Z-012345678", "../../../etc/passwd_____"]
    {
        assert!(matches!(RunId::parse(bad).unwrap_err(), StateError::BadName { .. }), "{bad}");
    }
}

#[test]
fn the_cache_key_is_made_once_and_never_printed() {
    let temporary = tempfile::tempdir().unwrap();
    let [folder, other] = ["native", "other"].map(|name| temporary.path().join(name));
    let key = cache_key(&folder).unwrap();
    assert_eq!(cache_key(&folder).unwrap(), key);
    assert_ne!(key.bytes(), &[0; 32]);
    assert_eq!(format!("{key:?}"), "CacheKey(..)");
    assert_ne!(cache_key(&other).unwrap(), key);
    fs::write(folder.join("cache-key"), "short").unwrap();
    let error = cache_key(&folder).unwrap_err().to_string();
    assert!(error.contains("cache-key:1: this is not a key: it has 5 bytes instead of 32"), "{error}");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(cache_key(&other).unwrap_err(), StateError::OpenToOthers { .. }));
}

#[test]
fn due_notifications_outlive_the_run() {
    let (temporary, state, lock) = fresh();
    let journal = temporary.path().join("var/lib/wrun/pending/n.v1");
    let run = lock.run_folder(SystemTime::now()).unwrap();
    let mut pending = lock.pending("n").unwrap().of_run(run.id());
    assert_eq!(pending.left("core"), []);
    assert!(!journal.exists(), "a run without notifications writes nothing");
    pending.due("core", "service[a]", "restart").unwrap();
    pending.due("core", "service[a]", "restart").unwrap();
    pending.due("database", "service[b]", "reload").unwrap();
    pending.due("core", "execute[x\ny]", "run").unwrap();
    pending.done("core", "service[a]", "restart");
    pending.due("core", "service[a]", "restart").unwrap();
    assert_eq!(pending.left("core"), [], "what the run itself made due was not left by another");
    drop(pending);
    let due = |policy: &str, receiver: &str, action: &str| LeftDue {
        policy: policy.to_owned(),
        receiver: receiver.to_owned(),
        action: action.to_owned(),
        since: run.id().to_string(),
    };
    assert_eq!(
        state.left_due("n").unwrap(),
        [
            due("database", "service[b]", "reload"),
            due("core", "execute[x\ny]", "run"),
            due("core", "service[a]", "restart")
        ]
    );

    let mut dry = Unrecorded::new(state.left_due("n").unwrap());
    dry.done("database", "service[b]", "reload");
    assert_eq!(dry.left("database"), [("service[b]".to_owned(), "reload".to_owned())]);
    assert_eq!(dry.since("database", "service[b]", "reload").as_deref(), Some(run.id().as_str()));

    let mut pending = lock.pending("n").unwrap();
    assert_eq!(fs::read_to_string(&journal).unwrap().lines().count(), 3, "opening compacts");
    assert_eq!(
        pending.since("core", "service[a]", "restart").as_deref(),
        Some(run.id().as_str()),
        "across compactions"
    );
    let left = pending.left("core");
    assert_eq!(left, [("execute[x\ny]".to_owned(), "run".to_owned()), ("service[a]".to_owned(), "restart".to_owned())]);
    for (receiver, action) in left {
        pending.done("core", &receiver, &action);
    }
    pending.done("database", "service[b]", "reload");
    pending.finish().unwrap();
    assert!(!journal.exists(), "nothing is due, so there is no journal");
    assert_eq!(state.left_due("n").unwrap(), []);
}

#[test]
fn what_cannot_be_recorded_is_said_at_the_end() {
    let (temporary, _state, lock) = fresh();
    let mut pending = lock.pending("n").unwrap();
    fs::create_dir(temporary.path().join("var/lib/wrun/pending/n.v1")).unwrap();
    pending.due("core", "service[a]", "run").unwrap();
    assert!(matches!(pending.failure(), Some(StateError::NotPlain { .. })));
    let error = pending.finish().unwrap_err().to_string();
    assert!(error.contains("pending/n.v1 is not a plain file"), "{error}");
}

#[test]
fn of_a_record_a_part_may_be_read_alone() {
    let (temporary, state, lock) = fresh();
    let folder = lock.run_folder(SystemTime::UNIX_EPOCH).unwrap();
    folder.save_record(&json!({"node": {"a": [1, {}]}, "why_run": false, "layers": ["x"]})).unwrap();
    let part = state.record_part(folder.id(), &["layers", "why_run", "none"]).unwrap();
    assert_eq!(part, Some(json!({"why_run": false, "layers": ["x"]})));
    let file = temporary.path().join("var/lib/wrun/runs").join(folder.id().as_str()).join("run.json");
    for damaged in ["{\"node\": {", "{} {}", "[]"] {
        fs::write(&file, damaged).unwrap();
        assert!(matches!(state.record_part(folder.id(), &["layers"]), Err(StateError::Malformed { .. })), "{damaged}");
    }
}

#[test]
fn node_files_are_plain_json_for_people() {
    let (temporary, state, lock) = fresh();
    lock.save_node("n", &json!({"a": 1})).unwrap();
    let text = fs::read_to_string(temporary.path().join("var/lib/wrun/nodes/n.json")).unwrap();
    assert_eq!(text, "{\n  \"format\": 1,\n  \"node\": {\n    \"a\": 1\n  }\n}\n");
    let _: Value = serde_json::from_str(&text).unwrap();
    // What nobody reads line by line is on one line.
    let long = json!({ "a": "x".repeat(100 << 10) });
    lock.save_node("long", &long).unwrap();
    let text = fs::read_to_string(state.node_file("long")).unwrap();
    assert_eq!(text.lines().count(), 1);
    assert_eq!(state.node("long").unwrap(), Some(long));
}

#[test]
fn a_node_that_did_not_change_is_not_written_again() {
    let (temporary, _state, lock) = fresh();
    let inode = || fs::metadata(temporary.path().join("var/lib/wrun/nodes/n.json")).unwrap().ino();
    lock.save_node("n", &json!({"a": 1})).unwrap();
    let first = inode();
    lock.save_node("n", &json!({"a": 1})).unwrap();
    assert_eq!(inode(), first);
    lock.save_node("n", &json!({"a": 2})).unwrap();
    assert_ne!(inode(), first);
}

#[test]
fn dry_runs_are_recorded_apart_and_push_no_real_run_out() {
    let (temporary, state, lock) = fresh();
    let at = |second| SystemTime::UNIX_EPOCH + Duration::from_secs(second);
    let real = lock.run_folder(at(1)).unwrap();
    real.save_record(&json!({"why_run": false})).unwrap();
    for second in 2..6 {
        let folder = state.dry_run_folder(RunId::new(at(second)).unwrap());
        folder.save_record(&json!({"why_run": true, "second": second})).unwrap();
        state.prune_dry_runs(2, u64::MAX, None).unwrap();
    }
    let runs = state.runs().unwrap();
    assert_eq!(runs.len(), 3);
    assert_eq!(state.record(&runs[0]).unwrap().unwrap()["second"], 5);
    assert_eq!(state.record(&runs[1]).unwrap().unwrap()["second"], 4);
    assert_eq!(state.record(real.id()).unwrap().unwrap()["why_run"], false);
    lock.prune_runs(0, u64::MAX, None).unwrap();
    assert_eq!((state.runs().unwrap().len(), state.record(real.id()).unwrap()), (2, None));
    let damaged = temporary.path().join("var/lib/wrun/dry-runs").join(runs[0].as_str()).join("run.json");
    fs::write(&damaged, "{").unwrap();
    assert!(state.record(&runs[0]).unwrap_err().to_string().contains("run.json:1"), "the file is named");
}
