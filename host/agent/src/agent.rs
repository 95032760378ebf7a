//! The agent's loop: waits, starts runs, handles requests, and stores its status.

use crate::{Blocked, Doing, LastRun, Moment, Note, Pause, Rhythm, RunEnd, Status, Verdict, Word, about};
use state::{AgentFile, AgentFolder};
use std::time::Duration;

/// Longest sleep. Afterwards the agent checks the clock, which may have been changed, and the pause, which may have ended.
/// One wake-up per minute costs almost nothing.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// The number of intervals for which one process may hold the run lock. Afterwards a run that does not begin because of it
/// counts as failed: nobody converges the node any more, and somebody should look at that process.
const PATIENT_INTERVALS: u32 = 3;

/// The importance of a sentence for the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tell {
    /// Everything is as it should be.
    Note,
    /// Somebody should look at the node.
    Warning,
}

/// The events during the agent's sleep. There may be several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Happening {
    /// Whether a run must begin at once.
    pub run_now: bool,
    /// Whether the settings must be read again.
    pub reload: bool,
    /// Whether the agent must end after the current action.
    pub end: bool,
    /// The end of the current run, if it has ended.
    pub ended: Option<RunEnd>,
}

/// The agent's environment: the clock, processes, signals, settings, the log, and the service manager.
pub trait Surroundings {
    /// Returns the current time of the clock.
    fn now(&self) -> Moment;

    /// Returns a random number.
    fn random(&mut self) -> u64;

    /// Sleeps until an event, but at most for this time.
    fn sleep(&mut self, at_most: Duration) -> Happening;

    /// Starts a run. `asked_for`: a user requested it.
    ///
    /// # Errors
    /// It cannot be started, for the reason that the text gives.
    fn start(&mut self, asked_for: bool) -> Result<(), String>;

    /// Asks the current run to end after its current action.
    fn ask_to_end(&mut self);

    /// Reads the settings again.
    ///
    /// # Errors
    /// They are invalid, as the text says.
    fn rhythm(&mut self) -> Result<Rhythm, String>;

    /// Writes a sentence into the log.
    fn tell(&mut self, how: Tell, sentence: &str);

    /// Returns the longest time between two watchdog messages, if there is a watchdog.
    fn sign_of_life_every(&self) -> Option<Duration>;

    /// Sends a message to the service manager. `sentence` describes the agent's activity.
    fn notify(&mut self, what: Word, sentence: &str);
}

/// The agent of one state directory.
pub struct Agent<'a, S> {
    surroundings: S,
    folder: &'a AgentFolder,
    rhythm: Rhythm,
    status: Status,
    /// The moment of the next run.
    next: Moment,
    /// The start of the current run.
    running: Option<Moment>,
    /// Whether another run must begin after the current one.
    again: bool,
    /// Whether a user requested the next run.
    asked_for: bool,
    /// Whether the agent ends after the current run.
    ending: bool,
    /// Whether the next run is due but delayed by a pause.
    held: bool,
}

impl<'a, S: Surroundings> Agent<'a, S> {
    /// Creates an agent. Its first run begins after a random part of the splay.
    pub fn new(mut surroundings: S, folder: &'a AgentFolder, rhythm: Rhythm) -> Self {
        let now = surroundings.now();
        let before = match folder.read::<Status>(AgentFile::Status) {
            Ok(before) => before.filter(Status::is_known),
            Err(error) => {
                let sentence = format!("what an earlier agent did is not known: {}", text::error_chain(&error));
                surroundings.tell(Tell::Warning, &sentence);
                None
            }
        };
        let next = now.after(rhythm.splayed(surroundings.random()));
        let status = Status::new(now, rhythm, before);
        Self {
            surroundings,
            folder,
            rhythm,
            status,
            next,
            running: None,
            again: false,
            asked_for: false,
            ending: false,
            held: false,
        }
    }

    /// Runs the loop until the agent is asked to end.
    pub fn live(&mut self) {
        self.keep(Doing::Waiting);
        let sentence = self.waiting();
        self.surroundings.tell(Tell::Note, &sentence);
        self.surroundings.notify(Word::Ready, &sentence);
        loop {
            if self.running.is_none() {
                if self.ending {
                    break;
                }
                self.follow_the_clock();
                if self.surroundings.now() >= self.next {
                    self.begin_unless_paused();
                }
            }
            let happened = self.surroundings.sleep(self.patience());
            self.surroundings.notify(Word::Alive, "");
            self.hear(happened);
        }
        self.keep(Doing::Ended);
        self.surroundings.tell(Tell::Note, "the agent has ended");
    }

    /// Handles a clock that was set back, which must not stop the node's runs. The next run is never further away than a
    /// whole wait.
    fn follow_the_clock(&mut self) {
        let now = self.surroundings.now();
        let delay = self.rhythm.delay(self.status.failures);
        if now.until(self.next) > delay.saturating_add(self.rhythm.splay) {
            self.next = now.after(delay);
            let sentence = format!("the clock was put back: {}", self.waiting());
            self.surroundings.tell(Tell::Warning, &sentence);
            self.surroundings.notify(Word::Status, &sentence);
            self.keep(self.doing());
        }
    }

    /// Returns the time until the next check is necessary.
    fn patience(&self) -> Duration {
        let next = self.surroundings.now().until(self.next);
        let wait = if self.running.is_some() || next.is_zero() { LONGEST_SLEEP } else { next };
        let sign_of_life = self.surroundings.sign_of_life_every().unwrap_or(LONGEST_SLEEP);
        wait.min(LONGEST_SLEEP).min(sign_of_life)
    }

    fn hear(&mut self, happened: Happening) {
        // The end of a run is handled first, so that other requests find no current run.
        if let Some(end) = happened.ended {
            self.finish(&end);
        }
        if happened.reload && !self.ending {
            self.reload();
        }
        if happened.end {
            self.end();
        } else if happened.run_now && !self.ending {
            self.run_now();
        }
    }

    fn end(&mut self) {
        self.ending = true;
        let sentence = match self.running {
            Some(_) => "ending: the run that is under way ends after its current action",
            None => "ending",
        };
        self.surroundings.notify(Word::Stopping, sentence);
        self.surroundings.tell(Tell::Note, sentence);
        if self.running.is_some() {
            self.keep(Doing::Ending);
            self.surroundings.ask_to_end();
        }
    }

    fn reload(&mut self) {
        self.surroundings.notify(Word::Reloading, "");
        match self.surroundings.rhythm() {
            Ok(rhythm) => {
                self.rhythm = rhythm;
                // A shorter interval applies at once, a longer one after the next run.
                let soonest = self.surroundings.now().after(rhythm.delay(self.status.failures));
                self.next = self.next.min(soonest);
                self.surroundings.tell(Tell::Note, "the settings were read again");
            }
            Err(why) => {
                let sentence = format!("the settings cannot be used, and stay as they were: {why}");
                self.surroundings.tell(Tell::Warning, &sentence);
            }
        }
        self.keep(self.doing());
        let sentence = self.waiting();
        self.surroundings.notify(Word::Ready, &sentence);
    }

    fn run_now(&mut self) {
        match self.pause() {
            Some(pause) => {
                let sentence = format!("no run begins: {}", pause.sentence());
                self.surroundings.tell(Tell::Warning, &sentence);
            }
            None if self.running.is_some() => {
                self.again = true;
                self.surroundings.tell(Tell::Note, "another run will begin after the one that is under way");
            }
            None => self.begin(true),
        }
    }

    fn begin_unless_paused(&mut self) {
        match self.pause() {
            Some(pause) if !self.held => {
                self.held = true;
                let sentence = format!("the next run is due, and waits: {}", pause.sentence());
                self.surroundings.tell(Tell::Note, &sentence);
                self.surroundings.notify(Word::Status, &pause.sentence());
            }
            Some(_) => {}
            None if self.held => {
                // A random delay follows, so that nodes that were paused together do not all run at once.
                self.held = false;
                self.next = self.surroundings.now().after(self.rhythm.splayed(self.surroundings.random()));
                self.keep(Doing::Waiting);
                let sentence = format!("the pause has ended: {}", self.waiting());
                self.surroundings.tell(Tell::Note, &sentence);
                self.surroundings.notify(Word::Status, &sentence);
            }
            None => {
                let asked_for = std::mem::take(&mut self.asked_for);
                self.begin(asked_for);
            }
        }
    }

    /// Returns the current pause. An unreadable pause is ignored, since it must not stop all teams on the node.
    fn pause(&mut self) -> Option<Pause> {
        let now = self.surroundings.now();
        match Pause::holding(self.folder, now) {
            Ok(pause) => pause,
            Err(error) => {
                let sentence = format!("whether the agent is paused is not known: {}", text::error_chain(&error));
                self.surroundings.tell(Tell::Warning, &sentence);
                None
            }
        }
    }

    fn begin(&mut self, asked_for: bool) {
        self.held = false;
        // The note of an earlier run must not count for this one.
        if let Err(error) = self.folder.remove(AgentFile::Note) {
            let sentence = text::error_chain(&error);
            self.surroundings.tell(Tell::Warning, &sentence);
        }
        self.running = Some(self.surroundings.now());
        match self.surroundings.start(asked_for) {
            Ok(()) => {
                self.keep(Doing::Running);
                self.surroundings.notify(Word::Status, "a run is under way");
            }
            Err(why) => self.finish(&RunEnd::NotStarted(why)),
        }
    }

    fn finish(&mut self, end: &RunEnd) {
        let now = self.surroundings.now();
        let Some(began) = self.running.take() else { return };
        let note = self.folder.read::<Note>(AgentFile::Note).ok().flatten().unwrap_or_default();
        let mut last = LastRun::new(began, now, end, note);
        self.status.blocked = Blocked::after(self.status.blocked.take(), &last);
        if let Some(blocked) = &self.status.blocked {
            let held = blocked.since.until(now);
            if held > self.rhythm.interval.saturating_mul(PATIENT_INTERVALS) {
                last.fail_for_lock(held);
            }
        }
        match last.verdict {
            Verdict::Success => {
                self.status.failures = 0;
                self.status.last_success = Some(now);
            }
            Verdict::Failure => self.status.failures = self.status.failures.saturating_add(1),
            // Neither result says anything about the node's policies.
            Verdict::Busy | Verdict::Interrupted => {}
        }
        let splay = self.rhythm.splayed(self.surroundings.random());
        let delay = self.rhythm.delay(self.status.failures).saturating_add(splay);
        self.asked_for = std::mem::take(&mut self.again);
        self.next = if self.asked_for { now } else { now.after(delay) };
        let how = if last.verdict == Verdict::Failure { Tell::Warning } else { Tell::Note };
        let why = last.note.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        let sentence = format!("the run {}{why}; {}", last.words(), self.waiting());
        self.status.last = Some(last);
        self.keep(self.doing());
        if !self.ending {
            self.surroundings.tell(how, &sentence);
            self.surroundings.notify(Word::Status, &sentence);
        }
    }

    fn doing(&self) -> Doing {
        match (self.ending, self.running) {
            (true, _) => Doing::Ending,
            (false, Some(_)) => Doing::Running,
            (false, None) => Doing::Waiting,
        }
    }

    /// Returns the sentence about the next run.
    fn waiting(&mut self) -> String {
        let next = self.next;
        if let Some(pause) = self.pause().filter(|pause| pause.until > next) {
            return format!("the next run begins when the pause has ended: {}", pause.sentence());
        }
        let wait = self.surroundings.now().until(self.next);
        format!("next run at {} (in {})", self.next, about(wait))
    }

    /// Stores the status. A failure does not end the agent, since runs are more important.
    fn keep(&mut self, doing: Doing) {
        let next = (!self.ending && self.running.is_none()).then_some(self.next);
        let status = Status { doing, next, running_since: self.running, ..self.status.clone().with(self.rhythm) };
        if let Err(error) = self.folder.save(AgentFile::Status, &status) {
            let sentence = format!("the status cannot be kept: {}", text::error_chain(&error));
            self.surroundings.tell(Tell::Warning, &sentence);
        }
    }
}
