//! Simulates weeks of an agent: 500 runs, each a real process, with a clock that is much faster than the machine's. The test
//! is in its own file because it measures the whole process.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

use agent::{Agent, Clock, Moment, Notifier, Processes, Rhythm, Signals, Status, Verdict};
use state::{AgentFile, StateDirectory};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

const RUNS: usize = 500;

/// The number of the run at which the process is first measured.
const SETTLED: usize = 10;

/// The growth of anonymous memory, in KiB, that the test's allocator may cause without a leak in the agent.
const SLACK: u64 = 256;

/// A clock on which a minute passes in a millisecond.
struct FastClock(Instant);

const SPEED: u32 = 60_000;

impl Clock for FastClock {
    fn now(&self) -> Moment {
        Moment::of(SystemTime::UNIX_EPOCH).after(self.0.elapsed() * SPEED)
    }

    fn wait(&self, time: Duration) -> Duration {
        time / SPEED
    }
}

/// Returns this process's anonymous memory in KiB and its number of open files.
fn measured() -> (u64, usize) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    let memory = line.trim().trim_end_matches("kB").trim().parse().unwrap();
    (memory, std::fs::read_dir("/proc/self/fd").unwrap().count())
}

/// Returns the command for a run's number. Most runs succeed; some fail, find a lock, are killed, or cannot be started.
fn run(number: usize) -> Command {
    let script = match number % 10 {
        3 => "exit 1",
        5 => "exit 75",
        7 => "kill -9 $$",
        8 => "exit 3",
        9 => return Command::new("/nothing/lies/here"),
        _ => "exit 0",
    };
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    command
}

#[test]
fn five_hundred_runs_leave_the_agent_as_the_tenth_did() {
    let place = tempfile::tempdir().unwrap();
    let folder = StateDirectory::open(&place.path().join("s")).unwrap().agent().unwrap();
    let (wake, _ours) = UnixStream::pair().unwrap();
    let flag = || Arc::new(AtomicBool::new(false));
    let signals = Signals { wake, run_now: flag(), reload: flag(), end: flag() };
    let (end, run_now, reload) = (Arc::clone(&signals.end), Arc::clone(&signals.run_now), Arc::clone(&signals.reload));
    let measures = Arc::new(Mutex::new((0, Vec::new())));
    let counted = Arc::clone(&measures);
    let rhythm = Rhythm { interval: Duration::from_secs(1800), splay: Duration::from_secs(300) };
    let processes = Processes {
        clock: FastClock(Instant::now()),
        signals,
        notifier: Notifier::default(),
        command: Box::new(move |_| {
            let mut counted = counted.lock().unwrap();
            counted.0 += 1;
            let number = counted.0;
            if number == SETTLED || number == RUNS {
                counted.1.push(measured());
            }
            run_now.store(number % 20 == 4, Ordering::SeqCst);
            reload.store(number % 50 == 6, Ordering::SeqCst);
            end.store(number == RUNS, Ordering::SeqCst);
            run(number)
        }),
        rhythm: Box::new(move || Ok(rhythm)),
        tell: Box::new(|_, _| {}),
        child: None,
    };
    let lock = folder.lock().unwrap();
    assert!(lock.is_some());
    Agent::new(processes, &folder, rhythm).live();
    let measures = measures.lock().unwrap();
    assert_eq!(measures.0, RUNS);
    let [(settled, open), (last, open_at_last)] = measures.1[..] else { panic!("{:?}", measures.1) };
    assert_eq!(open_at_last, open, "open files");
    assert!(last <= settled + SLACK, "{settled} KiB of memory at run {SETTLED}, {last} KiB at run {RUNS}");
    let status: Status = folder.read(AgentFile::Status).unwrap().unwrap();
    assert_eq!(status.last.unwrap().verdict, Verdict::Success, "run {RUNS} exits with 0");
    assert_eq!(status.failures, 0);
}
