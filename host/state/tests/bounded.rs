//! What is kept is bounded when it is written, and what is damaged all the same stops nothing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use contract::Memory as _;
use serde_json::json;
use state::{LockRequest, RunLock, StateDirectory, StateError};

struct Bench {
    folder: tempfile::TempDir,
    state: StateDirectory,
    lock: RunLock,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&folder.path().join("state")).unwrap();
        let lock = lock(&state);
        Self { folder, state, lock }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join("state").join(below)
    }

    /// The files in a folder of the state whose names go on as those that were set aside.
    fn set_aside(&self, below: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(below)).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.to_string_lossy().contains(".damaged-")).collect()
    }
}

fn lock(state: &StateDirectory) -> RunLock {
    let request = LockRequest {
        command: "test",
        began: SystemTime::UNIX_EPOCH,
        wait: Duration::ZERO,
        interrupted: &|| false,
        waiting: &mut |_| {},
    };
    state.lock(request).unwrap()
}

#[test]
fn journal_too_large_by_the_number_of_notifications() {
    let bench = Bench::new();
    let mut pending = bench.lock.pending("n").unwrap();
    for number in 0..10_000 {
        pending.due("evil", &format!("log[{number}]"), "write").unwrap();
    }
    let refused = pending.due("evil", "log[more]", "write").unwrap_err();
    assert_eq!(refused, "has more than 10000 notifications due, or 2097152 bytes of them");
    // What is due already is no more, and what is done makes room.
    pending.due("evil", "log[0]", "write").unwrap();
    pending.done("evil", "log[0]", "write");
    pending.due("evil", "log[more]", "write").unwrap();
    pending.due("good", "service[a]", "restart").unwrap();
    drop(pending);
    assert_eq!(bench.lock.pending("n").unwrap().left("good").len(), 1);
}

#[test]
fn journal_too_large_by_long_names() {
    let bench = Bench::new();
    let mut pending = bench.lock.pending("n").unwrap();
    let name = |number: u32| format!("log[{number}{}]", "\u{1}".repeat(10_000));
    let refused = (0..1000).find_map(|number| pending.due("evil", &name(number), "write").err());
    assert!(refused.unwrap().contains("2097152 bytes"));
    let refused = pending.due("other", &"x".repeat(state::MAX_LINE), "run").unwrap_err();
    assert!(refused.contains("bytes long, more than the 65536 allowed"), "{refused}");
    pending.due("good", "service[a]", "restart").unwrap();
    pending.finish().unwrap();
    assert!(fs::metadata(bench.path("pending/n.v1")).unwrap().len() < 3 << 20);
    assert_eq!(bench.state.left_due("n").unwrap().last().unwrap().policy, "good");
}

#[test]
fn journal_too_large_by_notifications_that_come_and_go() {
    let bench = Bench::new();
    let mut pending = bench.lock.pending("n").unwrap();
    let name = format!("log[{}]", "x".repeat(10_000));
    for _ in 0..1000 {
        pending.due("evil", &name, "write").unwrap();
        pending.done("evil", &name, "write");
    }
    // Twenty megabytes of events, of which the last few are kept.
    let size = fs::metadata(bench.path("pending/n.v1")).map_or(0, |about| about.len());
    assert!(size < 5 << 20, "{size}");
    assert_eq!(bench.state.left_due("n").unwrap(), []);
}

#[test]
fn a_damaged_journal_is_set_aside_and_its_whole_lines_count() {
    let bench = Bench::new();
    let mut pending = bench.lock.pending("n").unwrap();
    pending.due("core", "service[a]", "restart").unwrap();
    drop(pending);
    let journal = bench.path("pending/n.v1");
    let damaged = [b"\0\0 nonsense\n".to_vec(), fs::read(&journal).unwrap()].concat();
    fs::write(&journal, &damaged).unwrap();
    assert_eq!(bench.state.left_due("n").unwrap().len(), 1, "a dry run reads it");
    let mut pending = bench.lock.pending("n").unwrap();
    let (place, why) = pending.set_aside().unwrap();
    assert!(why.to_string().contains("pending/n.v1:1: "), "{why}");
    assert_eq!(fs::read(place).unwrap(), damaged);
    assert_eq!(bench.set_aside("pending").len(), 1);
    assert_eq!(pending.left("core"), [("service[a]".to_owned(), "restart".to_owned())]);
    drop(pending);
    assert!(bench.lock.pending("n").unwrap().set_aside().is_none(), "what is left is whole");
}

#[test]
fn a_damaged_node_is_set_aside() {
    let bench = Bench::new();
    bench.lock.save_node("n", &json!({"a": 1})).unwrap();
    fs::write(bench.path("nodes/n.json"), "{\"format\": 1, \"no").unwrap();
    let error = bench.state.node("n").unwrap_err();
    assert!(error.is_damage() && error.to_string().contains("nodes/n.json:1: "), "{error}");
    let place = bench.lock.set_node_aside("n").unwrap();
    assert_eq!(fs::read_to_string(&place).unwrap(), "{\"format\": 1, \"no");
    assert_eq!((bench.state.node("n").unwrap(), bench.state.node_names().unwrap()), (None, vec![]));
    bench.lock.save_node("n", &json!({"a": 2})).unwrap();
    assert_eq!(bench.set_aside("nodes"), [place]);
}

#[test]
fn runs_that_a_wrong_clock_named_count_as_the_oldest() {
    let bench = Bench::new();
    let record = |began: SystemTime| {
        let run = bench.lock.run_folder(began).unwrap();
        run.save_record(&json!({})).unwrap();
        run.id().clone()
    };
    let now = SystemTime::now();
    let ahead = [300, 200].map(|days| record(now + Duration::from_secs(days * 86_400)));
    let kept = [20, 10].map(|seconds| record(now - Duration::from_secs(seconds)));
    let expected = [&kept[1], &kept[0], &ahead[0], &ahead[1]].map(Clone::clone);
    assert_eq!(bench.state.runs().unwrap(), expected);
    // The clock was put back while the run was under way.
    bench.lock.prune_runs(2, u64::MAX, Some(&ahead[1])).unwrap();
    assert_eq!(bench.state.runs().unwrap(), [&kept[1], &kept[0], &ahead[1]].map(Clone::clone));
    bench.lock.prune_runs(2, u64::MAX, Some(&kept[1])).unwrap();
    assert_eq!(bench.state.runs().unwrap(), [&kept[1], &kept[0]].map(Clone::clone));
}

#[test]
fn record_too_large_in_sum_ends_older_ones() {
    let bench = Bench::new();
    let record = |second: u64, bytes: usize| {
        let run = bench.lock.run_folder(SystemTime::UNIX_EPOCH + Duration::from_secs(second)).unwrap();
        run.save_record(&json!("x".repeat(bytes))).unwrap();
        run.id().clone()
    };
    let ids: Vec<_> = (0..5).map(|second| record(second, 100_000)).collect();
    bench.lock.prune_runs(10, 350_000, None).unwrap();
    assert_eq!(bench.state.runs().unwrap(), [ids[4].clone(), ids[3].clone(), ids[2].clone()]);
    // The newest stays, however large it is.
    let large = record(9, 1_000_000);
    bench.lock.prune_runs(10, 350_000, None).unwrap();
    assert_eq!(bench.state.runs().unwrap(), [large]);
}

#[test]
fn nothing_is_written_where_the_disk_has_less_than_stays_free() {
    let bench = Bench::new();
    bench.lock.save_node("n", &json!({"a": 1})).unwrap();
    drop(bench.lock);
    let full = StateDirectory::open_keeping_free(&bench.folder.path().join("state"), u64::MAX).unwrap();
    let lock = lock(&full);
    let error = lock.save_node("n", &json!({"a": 2})).unwrap_err();
    assert!(matches!(error, StateError::DiskFull { .. }) && error.to_string().contains("`min_free_mib`"), "{error}");
    let run = lock.run_folder(SystemTime::UNIX_EPOCH).unwrap();
    assert!(matches!(run.save_record(&json!({})), Err(StateError::DiskFull { .. })));
    let mut pending = lock.pending("n").unwrap();
    pending.due("core", "service[a]", "restart").unwrap();
    assert!(matches!(pending.finish(), Err(StateError::DiskFull { .. })));
    assert_eq!(full.node("n").unwrap(), Some(json!({"a": 1})));
}
