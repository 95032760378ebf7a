//! What the agent does and did last, as it keeps it for `wrun agent status`; and what a run says to the agent that started it.

use crate::{Moment, Rhythm};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The version of the status; it grows when a key changes its meaning or goes away.
const VERSION: u32 = 1;

/// The longest message that is kept of a failure, in characters.
const MAX_MESSAGE: usize = 2_000;

/// The most failed policies that are kept of a run.
const MAX_POLICIES: usize = 50;

/// The exit codes of `wrun converge` that the agent tells apart; docs/exit-codes.md has all.
const DONE: [i32; 3] = [0, 35, 37];
const INTERRUPTED: [i32; 2] = [2, 3];

/// The signals by which somebody ends a run at once: SIGHUP, SIGINT, SIGTERM.
const INTERRUPTING: [i32; 3] = [1, 2, 15];
const BUSY: i32 = 75;

/// How the process of a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// It ended by itself, with an exit code.
    Exited(i32),
    /// A signal of this number ended it.
    Killed(i32),
    /// It could not be started, for this reason.
    NotStarted(String),
}

/// What the end of a run means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The run went well.
    Success,
    /// Another run had the lock. This is nobody's fault.
    Busy,
    /// Somebody ended the run before its time.
    Interrupted,
    /// The run failed, did not begin, or was killed.
    Failure,
}

impl RunEnd {
    /// What this end means.
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

/// What a run says to the agent that started it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    /// The run's identifier, once it has one.
    pub run_id: Option<String>,
    /// The earlier run whose outcome still holds, if nothing was done therefore.
    pub skipped: Option<String>,
    /// Why the run did not begin.
    pub error: Option<String>,
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
    /// The note with long texts cut.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let cut = |text: &mut String| *text = text.chars().take(MAX_MESSAGE).collect();
        self.error.iter_mut().for_each(cut);
        self.failed.truncate(MAX_POLICIES);
        self.failed.iter_mut().for_each(|failed| cut(&mut failed.message));
        self
    }
}

/// A run that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRun {
    /// The moment at which its process was started.
    pub began: Moment,
    /// The moment at which its process ended.
    pub ended: Moment,
    /// What its end means.
    pub verdict: Verdict,
    /// Its exit code. `None`: a signal ended it, or it was not started.
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
    /// What the run said of itself.
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
        Self { began, ended, verdict: end.verdict(), exit_code, signal, note }
    }

    /// How the run ended, in a few words: `failed (exit code 1)`.
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
            (Verdict::Failure, _) => format!("failed ({how})"),
        }
    }
}

/// What the agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Doing {
    /// It waits for the next run.
    Waiting,
    /// A run is under way.
    Running,
    /// It ends, once the run that is under way has ended.
    Ending,
    /// The agent has ended.
    Ended,
}

/// What the agent does, did last, and does next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The version of this shape.
    pub(crate) version: u32,
    /// The moment at which the agent was started.
    pub since: Moment,
    /// What it does now.
    pub doing: Doing,
    /// The moment at which the run that is under way began.
    pub running_since: Option<Moment>,
    /// The moment of the next run, unless the agent is paused then.
    pub next: Option<Moment>,
    /// Seconds between two runs.
    pub interval: u64,
    /// Seconds that are added at random, at most.
    pub splay: u64,
    /// The number of failed runs since the last one that went well.
    pub failures: u32,
    /// The run that ended last.
    pub last: Option<LastRun>,
    /// The moment at which a run last ended well.
    pub last_success: Option<Moment>,
}

impl Status {
    /// The status of an agent that has just been started. `before`: what an earlier agent left.
    pub(crate) fn new(now: Moment, rhythm: Rhythm, before: Option<Self>) -> Self {
        let (last, last_success) = before.map(|before| (before.last, before.last_success)).unwrap_or_default();
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
        };
        status.with(rhythm)
    }

    /// The same with another rhythm.
    pub(crate) fn with(self, rhythm: Rhythm) -> Self {
        Self { interval: rhythm.interval.as_secs(), splay: rhythm.splay.as_secs(), ..self }
    }

    /// Tells whether this version can read a status that was kept.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.version == VERSION
    }
}

/// A time for people: `45 s`, `12 min`, `3 h`, `2 d`. It is rounded down, and never to nothing.
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
