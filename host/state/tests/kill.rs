//! The state directory after `kill -9` at any moment.
//!
//! The test starts this very program again as a child that changes the state as fast as it can and says so after each
//! change, kills it, and looks whether what the child said is there.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use contract::Memory as _;
use serde_json::json;
use state::{LockRequest, RunLock, StateDirectory};

/// How many children are killed.
const ROUNDS: u64 = 60;

/// The variable that makes the child's test a child.
const CHILD: &str = "STATE_TEST_CHILD";

fn lock(state: &StateDirectory) -> RunLock {
    state
        .lock(LockRequest {
            command: "child",
            began: SystemTime::UNIX_EPOCH,
            wait: Duration::from_secs(10),
            interrupted: &|| false,
            waiting: &mut |_| {},
        })
        .unwrap()
}

/// Not a test by itself: what the child does until it is killed.
#[test]
fn child_that_is_killed() {
    let Ok(path) = std::env::var(CHILD) else { return };
    let state = StateDirectory::open(Path::new(&path)).unwrap();
    let lock = lock(&state);
    let mut pending = lock.pending("n").unwrap();
    let mut output = std::io::stdout();
    for number in 0_u64.. {
        pending.due("core", &format!("service[{number}]"), "restart").unwrap();
        if number % 2 == 1 {
            pending.done("core", &format!("service[{}]", number - 1), "restart");
        }
        if number % 8 == 0 {
            lock.save_node("n", &json!({"number": number, "filler": "x".repeat(10_000)})).unwrap();
        }
        writeln!(output, "\nsaid {number}.").unwrap();
    }
}

#[test]
fn nothing_that_was_said_is_lost() {
    let temporary = tempfile::tempdir().unwrap();
    for round in 0..ROUNDS {
        let path = temporary.path().join(round.to_string());
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_is_killed", "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut said = None;
        // Each round kills later than the one before, in the middle of whatever the child is doing then.
        while said.is_none_or(|number| number < round * 3) {
            let line = lines.next().expect("the child says more").unwrap();
            said = number_said(&line).or(said);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines {
            said = number_said(&line.unwrap()).or(said);
        }
        check(&path, said.unwrap());
    }
}

/// Every event up to `said` is there; at most the one after it may be there as well.
fn check(path: &Path, said: u64) {
    let state = StateDirectory::open(path).unwrap();
    let node = state.node("n").unwrap().expect("saved at 0");
    let saved = node["number"].as_u64().unwrap();
    assert!(saved.is_multiple_of(8) && saved + 8 > said, "saved {saved}, said {said}");
    assert_eq!(node["filler"].as_str().unwrap().len(), 10_000);

    let left = lock(&state).pending("n").unwrap().left("core");
    let numbers: Vec<u64> = left.iter().map(|(receiver, _)| receiver[8..receiver.len() - 1].parse().unwrap()).collect();
    let odd_said = (0..=said).filter(|number| number % 2 == 1 || (*number == said && said.is_multiple_of(2)));
    let mut expect: Vec<u64> = odd_said.collect();
    let mut tolerated = vec![expect.clone()];
    // What the child was doing when it was killed: the next `due`, and the `done` that belongs to it.
    expect.push(said + 1);
    tolerated.push(expect.clone());
    expect.retain(|number| number % 2 == 1 || *number == said + 1);
    tolerated.push(expect);
    assert!(tolerated.contains(&numbers), "said {said}, left {numbers:?}");
}

/// The number in a whole line of the child's; a killed child may end in the middle of one.
fn number_said(line: &str) -> Option<u64> {
    line.strip_prefix("said ")?.strip_suffix('.')?.parse().ok()
}
