//! The agent's surroundings as they are: the machine's clock, child processes, the signals that the program hears.

use crate::notifier::VARIABLES;
use crate::{Happening, Moment, Notifier, Rhythm, RunEnd, Surroundings, Tell, Word};
use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// The shortest sleep: a socket cannot wait for no time at all.
const SHORTEST_SLEEP: Duration = Duration::from_millis(1);

/// A clock, and how long a wait takes on it.
pub trait Clock {
    /// The moment that it shows.
    fn now(&self) -> Moment;

    /// How long one has to wait until a time has passed on it.
    fn wait(&self, time: Duration) -> Duration {
        time
    }
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy)]
pub struct MachineClock;

impl Clock for MachineClock {
    fn now(&self) -> Moment {
        Moment::of(SystemTime::now())
    }
}

/// The signals that the program hears. Each sets its flag, and sends a byte that ends the agent's sleep; so does the end of a
/// child.
#[derive(Debug)]
pub struct Signals {
    /// The end of a pair of sockets that the bytes arrive at.
    pub wake: UnixStream,
    /// A run is to begin at once.
    pub run_now: Arc<AtomicBool>,
    /// The settings are to be read again.
    pub reload: Arc<AtomicBool>,
    /// The agent is to end.
    pub end: Arc<AtomicBool>,
}

/// Makes the command of a run; true: somebody has asked for it.
pub type MakeCommand = Box<dyn FnMut(bool) -> Command>;

/// Writes a sentence into the log.
pub type TellLog = Box<dyn FnMut(Tell, &str)>;

/// Reads the rhythm out of the settings, or says what is wrong with them.
pub type ReadRhythm = Box<dyn FnMut() -> Result<Rhythm, String>>;

/// Child processes as runs.
pub struct Processes<C> {
    /// The clock that the agent lives by.
    pub clock: C,
    /// The signals that the program hears.
    pub signals: Signals,
    /// The service manager, if one listens.
    pub notifier: Notifier,
    /// Makes the command of a run; true: somebody has asked for it.
    pub command: MakeCommand,
    /// Reads the settings again.
    pub rhythm: ReadRhythm,
    /// Writes a sentence into the log.
    pub tell: TellLog,
    /// The run that is under way.
    pub child: Option<Child>,
}

impl<C: Clock> Processes<C> {
    /// The end of the run that was under way, if it has ended.
    fn ended(&mut self) -> Option<RunEnd> {
        let end = match self.child.as_mut()?.try_wait() {
            Ok(None) => return None,
            Ok(Some(status)) => end_of(status),
            // Nobody else waits for our children, so that this does not happen; a run that is not known of is over.
            Err(error) => RunEnd::NotStarted(error.to_string()),
        };
        self.child = None;
        Some(end)
    }
}

impl<C: Clock> Surroundings for Processes<C> {
    fn now(&self) -> Moment {
        self.clock.now()
    }

    fn random(&mut self) -> u64 {
        let mut bytes = [0; 8];
        // Without randomness nodes run at one moment, which is not a reason not to run.
        let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
        u64::from_ne_bytes(bytes)
    }

    fn sleep(&mut self, at_most: Duration) -> Happening {
        let time = self.clock.wait(at_most).max(SHORTEST_SLEEP);
        // A sleep that fails at once would be a busy loop.
        if self.signals.wake.set_read_timeout(Some(time)).is_err() {
            std::thread::sleep(time);
        }
        let mut bytes = [0; 64];
        let _ = (&self.signals.wake).read(&mut bytes);
        let taken = |flag: &AtomicBool| flag.swap(false, Ordering::SeqCst);
        Happening {
            run_now: taken(&self.signals.run_now),
            reload: taken(&self.signals.reload),
            end: taken(&self.signals.end),
            ended: self.ended(),
        }
    }

    fn start(&mut self, asked_for: bool) -> Result<(), String> {
        let mut command = (self.command)(asked_for);
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        // A group of its own: Ctrl-C at a terminal reaches the agent alone, which passes it on once.
        let child = command.stdin(Stdio::null()).process_group(0).spawn();
        self.child = Some(child.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn ask_to_end(&mut self) {
        if let Some(child) = &self.child {
            // It may end in this very moment.
            let _ =
                rustix::process::kill_process(rustix::process::Pid::from_child(child), rustix::process::Signal::TERM);
        }
    }

    fn rhythm(&mut self) -> Result<Rhythm, String> {
        (self.rhythm)()
    }

    fn tell(&mut self, how: Tell, sentence: &str) {
        (self.tell)(how, sentence);
    }

    fn sign_of_life_every(&self) -> Option<Duration> {
        self.notifier.sign_of_life_every()
    }

    fn notify(&mut self, word: Word, sentence: &str) {
        self.notifier.say(word, sentence);
    }
}

fn end_of(status: ExitStatus) -> RunEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => RunEnd::Exited(code),
        (None, Some(signal)) => RunEnd::Killed(signal),
        (None, None) => RunEnd::NotStarted(status.to_string()),
    }
}
