//! The status that the agent stores for `wrun agent status`, and the note that a run writes for the agent that started it.

use crate::{Moment, Rhythm};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The version of the status. It grows when the meaning of a key changes or a key is removed.
const VERSION: u32 = 1;

/// Largest length of a failure's stored message, in characters.
const MAX_MESSAGE: usize = 2_000;

/// Largest number of a run's failed policies that are stored.
const MAX_POLICIES: usize = 50;

/// The exit codes of `wrun converge` that mean success. docs/exit-codes.md lists all exit codes.
const DONE: [i32; 3] = [0, 35, 37];
const INTERRUPTED: [i32; 2] = [2, 3];

/// The signals that count as an interruption by a user: SIGHUP, SIGINT, SIGTERM.
const INTERRUPTING: [i32; 3] = [1, 2, 15];
const BUSY: i32 = 75;

/// The end of a run's process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// It ended by itself, with an exit code.
    Exited(i32),
    /// A signal of this number ended it.
    Killed(i32),
    /// The process could not be started, for this reason.
    NotStarted(String),
}

/// The meaning of a run's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The run has ended successfully.
    Success,
    /// Another run held the lock, which is not a failure.
    Busy,
    /// A user interrupted the run.
    Interrupted,
    /// The run failed, did not begin, or was killed.
    Failure,
}

impl RunEnd {
    /// Returns the meaning of this end.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Exited(code) if DONE.contains(code) => Verdict::Success,
            Self::Exited(code) if INTERRUPTED.contains(code) => Verdict::Interrupted,
            Self::Killed(signal) if INTERRUPTING.contains(signal) => Verdict::Interrupted,
            Self::Exited(BUSY) => Verdict::Busy,
            Self::Exited(_) | Self::Killed(_) | Self::NotStarted(_) => Verdict::Failure,
        }
    }
}

/// The note that a run writes for the agent that started it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    /// The run's identifier, once it has one.
    pub run_id: Option<String>,
    /// The earlier run that made this one unnecessary, if this run was skipped.
    pub skipped: Option<String>,
    /// Why the run did not begin.
    pub error: Option<String>,
    /// The process that held the lock, if the run did not begin because of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// The policies that failed.
    pub failed: Vec<FailedPolicy>,
}

/// A policy that failed, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedPolicy {
    /// The name of the policy that failed.
    pub policy: String,
    /// The message of its error.
    pub message: String,
}

impl Note {
    /// Returns the note with long texts shortened.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let cut = |text: &mut String| *text = text.chars().take(MAX_MESSAGE).collect();
        self.error.iter_mut().chain(&mut self.holder).for_each(cut);
        self.failed.truncate(MAX_POLICIES);
        self.failed.iter_mut().for_each(|failed| cut(&mut failed.message));
        self
    }
}

/// A run that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRun {
    /// The start of its process.
    pub began: Moment,
    /// The end of its process.
    pub ended: Moment,
    /// The meaning of its end.
    pub verdict: Verdict,
    /// Its exit code. `None`: a signal ended it, or it was not started.
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
    /// For how many seconds the same process has held the lock, if that is so long that the run counts as failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locked_for: Option<u64>,
    /// The note that the run wrote.
    #[serde(flatten)]
    pub note: Note,
}

impl LastRun {
    pub(crate) fn new(began: Moment, ended: Moment, end: &RunEnd, note: Note) -> Self {
        let (exit_code, signal, not_started) = match end {
            RunEnd::Exited(code) => (Some(*code), None, None),
            RunEnd::Killed(signal) => (None, Some(*signal), None),
            RunEnd::NotStarted(why) => (None, None, Some(why.clone())),
        };
        let note = Note { error: not_started.or(note.error), ..note }.bounded();
        Self { began, ended, verdict: end.verdict(), exit_code, signal, locked_for: None, note }
    }

    /// Counts a run that did not begin as failed, because the same process has held the lock for too long.
    pub(crate) fn fail_for_lock(&mut self, held: Duration) {
        self.verdict = Verdict::Failure;
        self.locked_for = Some(held.as_secs());
    }

    /// Returns a short description of the run's end: `failed (exit code 1)`.
    #[must_use]
    pub fn words(&self) -> String {
        let how = match (self.exit_code, self.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "it could not be started".to_owned(),
        };
        match (self.verdict, &self.note.skipped) {
            (Verdict::Success, Some(since)) => format!("had nothing to do: nothing has changed since run {since}"),
            (Verdict::Success, None) if self.exit_code == Some(0) => "succeeded".to_owned(),
            (Verdict::Success, None) => format!("succeeded ({how}: the node must be started again)"),
            (Verdict::Busy, _) => "did not begin: another run was under way".to_owned(),
            (Verdict::Interrupted, _) => format!("was interrupted ({how})"),
            (Verdict::Failure, _) => match self.locked_for {
                Some(seconds) => {
                    let held = about(Duration::from_secs(seconds));
                    format!("did not begin: the same process has held the lock for {held}")
                }
                None => format!("failed ({how})"),
            },
        }
    }
}

/// Runs in a row that did not begin because the same process held the lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// The start of the first of these runs.
    pub since: Moment,
    /// The process, with its command and the time when it began.
    pub holder: String,
}

impl Blocked {
    /// Returns the state after a run, or `None` if the run did not find the lock held, or does not know by which process.
    pub(crate) fn after(before: Option<Self>, last: &LastRun) -> Option<Self> {
        let holder = last.note.holder.clone().filter(|_| last.verdict == Verdict::Busy)?;
        before.filter(|before| before.holder == holder).or(Some(Self { since: last.began, holder }))
    }
}

/// The activity of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Doing {
    /// It waits for the next run.
    Waiting,
    /// A run is under way.
    Running,
    /// It will end after the current run.
    Ending,
    /// The agent has ended.
    Ended,
}

/// The agent's status: its activity, its last run, and its next run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The version of this format.
    pub(crate) version: u32,
    /// The start of the agent.
    pub since: Moment,
    /// The current activity of the agent.
    pub doing: Doing,
    /// The start of the current run.
    pub running_since: Option<Moment>,
    /// The moment of the next run, unless the agent is paused then.
    pub next: Option<Moment>,
    /// Seconds between two runs.
    pub interval: u64,
    /// Maximum of the random seconds that are added.
    pub splay: u64,
    /// The number of failed runs since the last successful run.
    pub failures: u32,
    /// The run that ended last.
    pub last: Option<LastRun>,
    /// The end of the last successful run.
    pub last_success: Option<Moment>,
    /// The process that has kept the last runs from beginning.
    #[serde(default)]
    pub blocked: Option<Blocked>,
}

impl Status {
    /// Creates the status of an agent that has just started. `before`: the status of an earlier agent.
    pub(crate) fn new(now: Moment, rhythm: Rhythm, before: Option<Self>) -> Self {
        let before = before.map(|before| (before.last, before.last_success, before.blocked));
        let (last, last_success, blocked) = before.unwrap_or_default();
        let status = Self {
            version: VERSION,
            since: now,
            doing: Doing::Waiting,
            running_since: None,
            next: None,
            interval: 0,
            splay: 0,
            failures: 0,
            last,
            last_success,
            blocked,
        };
        status.with(rhythm)
    }

    /// Returns the status with another rhythm.
    pub(crate) fn with(self, rhythm: Rhythm) -> Self {
        Self { interval: rhythm.interval.as_secs(), splay: rhythm.splay.as_secs(), ..self }
    }

    /// Returns whether this version can read a stored status.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.version == VERSION
    }
}

/// Formats a duration for people: `45 s`, `12 min`, `3 h`, `2 d`. It is rounded down, but never to zero.
#[must_use]
pub fn about(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn exit_codes_are_told_apart() {
        let check = |end: RunEnd, verdict: Verdict, words: &str| {
            let now = Moment::of(SystemTime::UNIX_EPOCH);
            let last = LastRun::new(now, now, &end, Note::default());
            assert_eq!((last.verdict, last.words().as_str()), (verdict, words));
        };
        check(RunEnd::Exited(0), Verdict::Success, "succeeded");
        check(RunEnd::Exited(35), Verdict::Success, "succeeded (exit code 35: the node must be started again)");
        check(RunEnd::Exited(1), Verdict::Failure, "failed (exit code 1)");
        check(RunEnd::Exited(43), Verdict::Failure, "failed (exit code 43)");
        check(RunEnd::Exited(3), Verdict::Interrupted, "was interrupted (exit code 3)");
        check(RunEnd::Exited(75), Verdict::Busy, "did not begin: another run was under way");
        check(RunEnd::Killed(9), Verdict::Failure, "failed (signal 9)");
        check(RunEnd::Killed(15), Verdict::Interrupted, "was interrupted (signal 15)");
        check(RunEnd::NotStarted("x".into()), Verdict::Failure, "failed (it could not be started)");
    }

    #[test]
    fn a_status_comes_back_as_it_was_kept() {
        let now = Moment::of(SystemTime::UNIX_EPOCH);
        let rhythm = Rhythm { interval: Duration::from_secs(60), splay: Duration::ZERO };
        let failed = vec![FailedPolicy { policy: "web".into(), message: "é".repeat(9_000) }; 60];
        let note = Note { run_id: Some("r".into()), failed, ..Note::default() };
        let mut status = Status::new(now, rhythm, None);
        status.last = Some(LastRun::new(now, now, &RunEnd::Exited(1), note));
        let kept = serde_json::to_string(&status).unwrap();
        assert_eq!(serde_json::from_str::<Status>(&kept).unwrap(), status);
        let last = status.last.unwrap();
        assert_eq!((last.note.failed.len(), last.note.failed[0].message.chars().count()), (50, 2_000));
    }

    #[test]
    fn times_are_short() {
        let check = |seconds: u64, text: &str| assert_eq!(about(Duration::from_secs(seconds)), text);
        check(0, "0 s");
        check(119, "119 s");
        check(1800, "30 min");
        check(7200, "2 h");
        check(200_000, "2 d");
    }
}
