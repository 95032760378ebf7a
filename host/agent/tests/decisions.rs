//! Tests the agent's decisions with a simulated clock that only advances while the agent sleeps.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

use agent::{Agent, Happening, Moment, Note, Pause, Rhythm, RunEnd, Status, Surroundings, Tell, Verdict, Word};
use state::{AgentFile, AgentFolder, StateDirectory};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

const MINUTE: u64 = 60;

/// The behaviour of a simulated run.
#[derive(Clone)]
enum Run {
    /// Takes a number of seconds, and ends with an exit code.
    Ends(u64, i32),
    /// Does not begin, because the process of this name holds the lock.
    Locked(&'static str),
    /// The program is missing, so that no run starts.
    Missing,
}

/// Events, each at a number of seconds after the start.
type Script = VecDeque<(u64, Happening)>;

struct World<'a> {
    folder: &'a AgentFolder,
    seconds: u64,
    /// The second at which the clock is set to 1970.
    put_back: Option<u64>,
    script: Script,
    runs: VecDeque<Run>,
    /// The second at which the current run ends, with its exit code.
    ends: Option<(u64, i32)>,
    rhythm: Result<Rhythm, String>,
    log: Rc<RefCell<Vec<String>>>,
    /// The number of the agent's sleeps. Each sleep ends with a wake-up.
    sleeps: u64,
}

fn start() -> Moment {
    Moment::of(SystemTime::UNIX_EPOCH)
}

impl World<'_> {
    fn note(&self, what: &str) {
        let text = format!("{:>3}:{:02} {what}", self.seconds / 60, self.seconds % 60);
        self.log.borrow_mut().push(text);
    }
}

impl Surroundings for World<'_> {
    fn now(&self) -> Moment {
        let back = self.put_back.filter(|back| *back <= self.seconds).unwrap_or(0);
        start().after(Duration::from_secs(self.seconds - back))
    }

    fn random(&mut self) -> u64 {
        // The splay of the tests is a minute, and this number gives half of it.
        30_000
    }

    fn sleep(&mut self, at_most: Duration) -> Happening {
        assert!(at_most <= Duration::from_secs(60), "{at_most:?}");
        self.sleeps += 1;
        // An idle agent wakes at most once per minute. Events wake it too.
        assert!(self.sleeps <= self.seconds / 60 + 50, "{} sleeps in {} s", self.sleeps, self.seconds);
        let wakes = self.seconds + at_most.as_secs().max(1);
        let scripted = self.script.front().map(|(at, _)| *at).filter(|at| *at <= wakes);
        let ended = self.ends.filter(|(at, _)| *at <= scripted.unwrap_or(wakes));
        if let Some((at, code)) = ended {
            self.seconds = self.seconds.max(at);
            self.ends = None;
            return Happening { ended: Some(RunEnd::Exited(code)), ..Happening::default() };
        }
        self.seconds = scripted.unwrap_or(wakes);
        match scripted {
            Some(_) => self.script.pop_front().unwrap().1,
            None => Happening::default(),
        }
    }

    fn start(&mut self, asked_for: bool) -> Result<(), String> {
        match self.runs.pop_front().unwrap_or(Run::Ends(10, 0)) {
            Run::Ends(seconds, code) => {
                assert_eq!(self.ends, None, "two runs at once");
                self.ends = Some((self.seconds + seconds, code));
                self.note(if asked_for { "start, as asked for" } else { "start" });
                Ok(())
            }
            Run::Locked(holder) => {
                let note = Note { holder: Some(holder.to_owned()), ..Note::default() };
                self.folder.save(AgentFile::Note, &note).unwrap();
                self.ends = Some((self.seconds, 75));
                Ok(())
            }
            Run::Missing => Err("no such program".to_owned()),
        }
    }

    fn ask_to_end(&mut self) {
        self.note("ask to end");
        self.ends = Some((self.seconds + 5, 3));
    }

    fn rhythm(&mut self) -> Result<Rhythm, String> {
        self.rhythm.clone()
    }

    fn tell(&mut self, how: Tell, sentence: &str) {
        let mark = if how == Tell::Warning { "! " } else { "" };
        self.note(&format!("{mark}{sentence}"));
    }

    fn sign_of_life_every(&self) -> Option<Duration> {
        None
    }

    fn notify(&mut self, word: Word, _sentence: &str) {
        if word == Word::Reloading {
            self.note("reloading");
        }
    }
}

const RHYTHM: Rhythm = Rhythm { interval: Duration::from_secs(30 * MINUTE), splay: Duration::from_secs(MINUTE) };

fn run_now() -> Happening {
    Happening { run_now: true, ..Happening::default() }
}

fn end() -> Happening {
    Happening { end: true, ..Happening::default() }
}

fn reload() -> Happening {
    Happening { reload: true, ..Happening::default() }
}

/// Runs an agent through a script of events. Returns the log sentences and the final status.
fn lived(
    folder: &AgentFolder,
    script: &[(u64, Happening)],
    runs: &[Run],
    rhythm: Result<Rhythm, String>,
    put_back: Option<u64>,
) -> (String, Status) {
    let log = Rc::new(RefCell::new(Vec::new()));
    let world = World {
        folder,
        seconds: 0,
        put_back,
        script: script.iter().cloned().collect(),
        runs: runs.iter().cloned().collect(),
        ends: None,
        rhythm,
        log: Rc::clone(&log),
        sleeps: 0,
    };
    Agent::new(world, folder, RHYTHM).live();
    let status = folder.read(AgentFile::Status).unwrap().unwrap();
    let told = log.borrow().join("\n");
    (told, status)
}

fn check(script: &[(u64, Happening)], runs: &[Run], expected: &str) -> Status {
    let place = tempfile::tempdir().unwrap();
    let folder = StateDirectory::open(&place.path().join("s")).unwrap().agent().unwrap();
    let (told, status) = lived(&folder, script, runs, Ok(RHYTHM), None);
    assert_eq!(told, expected.trim_matches('\n'));
    status
}

#[test]
fn runs_begin_at_their_time_and_later_after_failures() {
    let runs = [Run::Ends(10, 0), Run::Ends(10, 1), Run::Missing, Run::Ends(5, 75), Run::Ends(10, 0)];
    let status = check(
        &[(300 * MINUTE, end())],
        &runs,
        "
  0:00 next run at 1970-01-01T00:00:30Z (in 30 s)
  0:30 start
  0:40 the run succeeded; next run at 1970-01-01T00:31:10Z (in 30 min)
 31:10 start
 31:20 ! the run failed (exit code 1); next run at 1970-01-01T01:01:50Z (in 30 min)
 61:50 ! the run failed (it could not be started): no such program; next run at 1970-01-01T02:02:20Z (in 60 min)
122:20 start
122:25 the run did not begin: another run was under way; next run at 1970-01-01T03:02:55Z (in 60 min)
182:55 start
183:05 the run succeeded; next run at 1970-01-01T03:33:35Z (in 30 min)
213:35 start
213:45 the run succeeded; next run at 1970-01-01T04:04:15Z (in 30 min)
244:15 start
244:25 the run succeeded; next run at 1970-01-01T04:34:55Z (in 30 min)
274:55 start
275:05 the run succeeded; next run at 1970-01-01T05:05:35Z (in 30 min)
300:00 ending
300:00 the agent has ended",
    );
    assert_eq!((status.failures, status.next), (0, None));
    assert_eq!(status.last_success, Some(start().after(Duration::from_secs(275 * MINUTE + 5))));
}

/// Somebody should look at a process that keeps the lock for ever, and at none that ends after some time.
#[test]
fn a_lock_that_one_process_holds_for_long_is_a_failure() {
    let [first, second] = ["process 7 (`a`)", "process 8 (`b`)"].map(Run::Locked);
    let runs =
        [first.clone(), first.clone(), first, second.clone(), second.clone(), second.clone(), second.clone(), second];
    let status = check(
        &[(260 * MINUTE, end())],
        &runs,
        "
  0:00 next run at 1970-01-01T00:00:30Z (in 30 s)
  0:30 the run did not begin: another run was under way; next run at 1970-01-01T00:31:00Z (in 30 min)
 31:00 the run did not begin: another run was under way; next run at 1970-01-01T01:01:30Z (in 30 min)
 61:30 the run did not begin: another run was under way; next run at 1970-01-01T01:32:00Z (in 30 min)
 92:00 the run did not begin: another run was under way; next run at 1970-01-01T02:02:30Z (in 30 min)
122:30 the run did not begin: another run was under way; next run at 1970-01-01T02:33:00Z (in 30 min)
153:00 the run did not begin: another run was under way; next run at 1970-01-01T03:03:30Z (in 30 min)
183:30 ! the run did not begin: the same process has held the lock for 91 min; next run at 1970-01-01T03:34:00Z (in 30 min)
214:00 ! the run did not begin: the same process has held the lock for 2 h; next run at 1970-01-01T04:34:30Z (in 60 min)
260:00 ending
260:00 the agent has ended",
    );
    assert_eq!((status.failures, status.last.unwrap().verdict), (2, Verdict::Failure));
    assert_eq!(status.blocked.unwrap().holder, "process 8 (`b`)");
}

#[test]
fn a_clock_that_is_put_back_keeps_nobody_from_running() {
    let place = tempfile::tempdir().unwrap();
    let folder = StateDirectory::open(&place.path().join("s")).unwrap().agent().unwrap();
    let (told, _) = lived(&folder, &[(150 * MINUTE, end())], &[], Ok(RHYTHM), Some(70 * MINUTE));
    let expected = "
  0:00 next run at 1970-01-01T00:00:30Z (in 30 s)
  0:30 start
  0:40 the run succeeded; next run at 1970-01-01T00:31:10Z (in 30 min)
 31:10 start
 31:20 the run succeeded; next run at 1970-01-01T01:01:50Z (in 30 min)
 61:50 start
 62:00 the run succeeded; next run at 1970-01-01T01:32:30Z (in 30 min)
 70:00 ! the clock was put back: next run at 1970-01-01T00:30:00Z (in 30 min)
100:00 start
100:10 the run succeeded; next run at 1970-01-01T01:00:40Z (in 30 min)
130:40 start
130:50 the run succeeded; next run at 1970-01-01T01:31:20Z (in 30 min)
150:00 ending
150:00 the agent has ended";
    assert_eq!(told, expected.trim_matches('\n'));
}

#[test]
fn a_run_that_is_asked_for_begins_at_once_and_never_beside_another() {
    check(
        &[(10, run_now()), (15, run_now()), (16, run_now()), (100, end())],
        &[],
        "
  0:00 next run at 1970-01-01T00:00:30Z (in 30 s)
  0:10 start, as asked for
  0:15 another run will begin after the one that is under way
  0:16 another run will begin after the one that is under way
  0:20 the run succeeded; next run at 1970-01-01T00:00:20Z (in 0 s)
  0:20 start, as asked for
  0:30 the run succeeded; next run at 1970-01-01T00:31:00Z (in 30 min)
  1:40 ending
  1:40 the agent has ended",
    );
}

#[test]
fn an_end_waits_for_the_action_that_is_under_way() {
    let status = check(
        &[(35, end()), (37, end())],
        &[Run::Ends(1000, 0)],
        "
  0:00 next run at 1970-01-01T00:00:30Z (in 30 s)
  0:30 start
  0:35 ending: the run that is under way ends after its current action
  0:35 ask to end
  0:37 ending: the run that is under way ends after its current action
  0:37 ask to end
  0:42 the agent has ended",
    );
    assert_eq!(status.last.unwrap().exit_code, Some(3));
}

#[test]
fn settings_are_read_again_and_wrong_ones_change_nothing() {
    let place = tempfile::tempdir().unwrap();
    let folder = StateDirectory::open(&place.path().join("s")).unwrap().agent().unwrap();
    let script = [(60, reload()), (200, end())];
    let shorter = Rhythm { interval: Duration::from_secs(60), ..RHYTHM };
    let (told, status) = lived(&folder, &script, &[], Ok(shorter), None);
    assert!(told.contains("  1:00 the settings were read again\n  2:00 start"), "{told}");
    assert_eq!(status.interval, 60);
    let (told, status) = lived(&folder, &script, &[], Err("interval: nonsense".into()), None);
    assert!(told.contains("! the settings cannot be used, and stay as they were: interval: nonsense"), "{told}");
    assert!(status.interval == 1800 && !told.contains("  2:00 start"), "{told}");
}

#[test]
fn a_pause_holds_runs_and_outlives_the_agent() {
    let place = tempfile::tempdir().unwrap();
    let folder = StateDirectory::open(&place.path().join("s")).unwrap().agent().unwrap();
    let hour = Duration::from_secs(3600);
    Pause::new(start(), hour, "the disk is being replaced", "alice").unwrap().keep(&folder).unwrap();
    let (told, _) = lived(&folder, &[(90, run_now()), (100, end())], &[], Ok(RHYTHM), None);
    let sentence = "paused until 1970-01-01T01:00:00Z by alice: the disk is being replaced";
    assert!(told.contains(&format!("0:00 the next run begins when the pause has ended: {sentence}")), "{told}");
    assert!(told.contains(&format!("0:30 the next run is due, and waits: {sentence}")), "{told}");
    assert!(told.contains(&format!("1:30 ! no run begins: {sentence}")) && !told.contains("start"), "{told}");
    let (told, _) = lived(&folder, &[(4000, end())], &[], Ok(RHYTHM), None);
    assert!(
        told.contains(" 60:30 the pause has ended: next run at 1970-01-01T01:01:00Z (in 30 s)\n 61:00 start"),
        "{told}"
    );
    // A damaged pause file must not stop any policies.
    std::fs::write(place.path().join("s/agent/pause.json"), "{").unwrap();
    let (told, _) = lived(&folder, &[(100, end())], &[], Ok(RHYTHM), None);
    assert!(told.contains("! whether the agent is paused is not known") && told.contains("start"), "{told}");
}

#[test]
fn a_restarted_agent_knows_what_the_last_one_did() {
    let place = tempfile::tempdir().unwrap();
    let folder = StateDirectory::open(&place.path().join("s")).unwrap().agent().unwrap();
    let (_, before) = lived(&folder, &[(100, end())], &[Run::Ends(10, 1)], Ok(RHYTHM), None);
    assert_eq!(before.failures, 1);
    folder.save(AgentFile::Note, &Note { error: Some("of an earlier run".into()), ..Note::default() }).unwrap();
    let (_, after) = lived(&folder, &[(10, end())], &[], Ok(RHYTHM), None);
    assert_eq!((after.last, after.failures), (before.last, 0));
    let (_, later) = lived(&folder, &[(100, end())], &[Run::Ends(10, 43)], Ok(RHYTHM), None);
    assert_eq!(later.last.unwrap().note.error, None, "a note of an earlier run is not the last one's");
    std::fs::write(place.path().join("s/agent/status.json"), "nonsense").unwrap();
    let (told, _) = lived(&folder, &[(10, end())], &[], Ok(RHYTHM), None);
    assert!(told.contains("! what an earlier agent did is not known"), "{told}");
}
