//! The real environment of the agent: the machine's clock, child processes, and the program's signals.

use crate::notifier::VARIABLES;
use crate::{Happening, Moment, Notifier, Rhythm, RunEnd, Surroundings, Tell, Word};
use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// Shortest sleep. A timeout of zero is not allowed for a socket.
const SHORTEST_SLEEP: Duration = Duration::from_millis(1);

/// A clock, and the real duration of waits on it.
pub trait Clock {
    /// Returns the current moment.
    fn now(&self) -> Moment;

    /// Returns the real time to wait until `time` has passed on this clock.
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

/// The program's signals. Each signal sets its flag and sends a byte that wakes the agent. The end of a child also wakes it.
#[derive(Debug)]
pub struct Signals {
    /// The socket that receives the bytes.
    pub wake: UnixStream,
    /// Whether a run must begin at once.
    pub run_now: Arc<AtomicBool>,
    /// Whether the settings must be read again.
    pub reload: Arc<AtomicBool>,
    /// Whether the agent must end.
    pub end: Arc<AtomicBool>,
}

/// Creates the command of a run. The argument is true if a user requested the run.
pub type MakeCommand = Box<dyn FnMut(bool) -> Command>;

/// Writes a sentence into the log.
pub type TellLog = Box<dyn FnMut(Tell, &str)>;

/// Reads the rhythm from the settings. Otherwise it returns the error as text.
pub type ReadRhythm = Box<dyn FnMut() -> Result<Rhythm, String>>;

/// The real environment of the agent, with child processes as runs.
pub struct Processes<C> {
    /// The clock that the agent uses.
    pub clock: C,
    /// The signals of the program.
    pub signals: Signals,
    /// The connection to the service manager, if there is one.
    pub notifier: Notifier,
    /// Creates the command of a run. The argument is true if a user requested the run.
    pub command: MakeCommand,
    /// Reads the settings again.
    pub rhythm: ReadRhythm,
    /// Writes a sentence into the log.
    pub tell: TellLog,
    /// The process of the current run.
    pub child: Option<Child>,
}

impl<C: Clock> Processes<C> {
    /// Returns the end of the current run, if it has ended.
    fn ended(&mut self) -> Option<RunEnd> {
        let end = match self.child.as_mut()?.try_wait() {
            Ok(None) => return None,
            Ok(Some(status)) => end_of(status),
            // No other code waits for the agent's children, so this should not happen. If the status is unknown, the run
            // counts as ended.
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
        // Without random numbers nodes may run at the same moment, which is still better than no run.
        let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
        u64::from_ne_bytes(bytes)
    }

    fn sleep(&mut self, at_most: Duration) -> Happening {
        let time = self.clock.wait(at_most).max(SHORTEST_SLEEP);
        // If the timeout cannot be set, the thread sleeps instead, to avoid a busy loop.
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
        // The run has its own process group. So Ctrl-C at a terminal reaches only the agent, which forwards it once.
        let child = command.stdin(Stdio::null()).process_group(0).spawn();
        self.child = Some(child.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn ask_to_end(&mut self) {
        if let Some(child) = &self.child {
            // The process may end at this moment, so an error is ignored.
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
