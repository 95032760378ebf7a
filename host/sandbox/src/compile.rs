//! Native code of strangers' components, made where a compiler that is led astray harms nobody.
//!
//! A component that keeps all limits of [`examine`](crate::examine()) may still be what a compiler likes least. So the program
//! starts itself once more as a compiler: a process with little memory and time, and without rights. It reads a component
//! from standard input and writes native code to standard output, which is a file in memory that it cannot outgrow.
//!
//! The native code is trusted all the same: it is run without further checks. The process bounds what compiling costs, and
//! keeps a compiler that was tricked from reaching the machine before it has an end.

use crate::examine::validate;
use crate::limits::NATIVE_BYTES;
use crate::verdicts::CompileLimits;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, pidfd_open};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use wasmtime::{Config, Engine, OptLevel, RegallocAlgorithm};

/// The word that makes the program a compiler: its first argument.
pub const COMPILE_WORD: &str = "compile-component";

/// How often the operator's wish to stop is looked at while a compiler works.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The longest text that is read of a compiler that failed, in bytes.
const MAX_TEXT: u64 = 4 << 10;

/// Bytes of the program itself and of the compiler's threads, beside what a component costs.
const OWN_MEMORY: u64 = 64 << 20;

/// Who compiles policies' components.
pub enum Compiler {
    /// This process: for components of one's own.
    Here,
    /// A process of its own, with limits.
    Process(CompilerProcess),
}

/// A compiler in a process of its own: the program, which calls [`compile_standard_input`] when its first argument is
/// [`COMPILE_WORD`].
pub struct CompilerProcess {
    /// The path of the program that compiles.
    pub program: PathBuf,
    /// Processor time that one component may cost. It may take twice as long by the clock.
    pub time: Duration,
    /// Bytes of memory that one component may cost.
    pub memory: u64,
    /// Whether the operator wants to stop.
    pub interrupted: Box<dyn Fn() -> bool + Send + Sync>,
}

/// How well native code is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Code that runs fast.
    Full,
    /// Code that is made fast.
    Quick,
}

/// What the process does with a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Compiles it to native code.
    Compile(Effort),
    /// Checks that it is valid, and writes nothing.
    Validate,
}

/// The names of each work, as an argument of the process.
const WORKS: [(&str, Work); 3] =
    [("full", Work::Compile(Effort::Full)), ("quick", Work::Compile(Effort::Quick)), ("validate", Work::Validate)];

/// Why there is no native code.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotCompiled {
    /// The component is invalid. The text says why.
    #[error("{0}")]
    Invalid(String),
    /// It costs more than it may.
    #[error("{why}")]
    Costly {
        /// The sentence that tells the time or memory it takes.
        why: String,
        /// It would cost as much again: what was measured does not depend on what else the machine does.
        always: bool,
    },
    /// No compiler could be started, or it ended for no reason that the component has.
    #[error("{0}")]
    Failed(String),
    /// The operator wants to stop.
    #[error("interrupted while it was compiled")]
    Interrupted,
}

/// The engine's settings for one kind of code. Those of strangers' components have no dense memory images beyond the
/// engine's own default.
pub(crate) fn configuration(effort: Effort) -> Config {
    let mut config = crate::engine::configuration();
    if effort == Effort::Quick {
        config.cranelift_opt_level(OptLevel::None).cranelift_regalloc_algorithm(RegallocAlgorithm::SinglePass);
    }
    config
}

impl Compiler {
    /// What one component may cost; `None`: whatever it costs.
    pub(crate) fn limits(&self) -> Option<CompileLimits> {
        match self {
            Self::Here => None,
            Self::Process(process) => {
                Some(CompileLimits { seconds: process.time.as_secs().max(1), memory: process.memory })
            }
        }
    }

    /// Compiles a component to a file of native code.
    pub(crate) fn compile(&self, bytes: &[u8], effort: Effort) -> Result<File, NotCompiled> {
        match self {
            Self::Here => {
                let code = compile(bytes, effort).map_err(NotCompiled::Invalid)?;
                let written = || -> io::Result<File> {
                    let mut file = native_file()?;
                    file.write_all(&code)?;
                    file.rewind()?;
                    Ok(file)
                };
                written().map_err(|error| failed("its native code cannot be kept in memory", &error))
            }
            Self::Process(process) => process.work(bytes, Work::Compile(effort)),
        }
    }

    /// Checks that a component is valid.
    ///
    /// # Errors
    /// It is not, or checking it costs too much; the text says what is wrong, as part of a sentence.
    pub fn validate(&self, bytes: &[u8]) -> Result<(), String> {
        match self {
            Self::Here => validate(bytes),
            Self::Process(process) => process.work(bytes, Work::Validate).map(drop).map_err(|error| error.to_string()),
        }
    }
}

fn failed(what: &str, error: &dyn std::error::Error) -> NotCompiled {
    NotCompiled::Failed(format!("{what}: {error}"))
}

/// A file in memory, for native code.
fn native_file() -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    Ok(rustix::fs::memfd_create("native code", flags)?.into())
}

fn compile(bytes: &[u8], effort: Effort) -> Result<Vec<u8>, String> {
    let engine = Engine::new(&configuration(effort)).map_err(|error| format!("{error:#}"))?;
    engine.precompile_component(bytes).map_err(|error| format!("{:#}", error.root_cause()))
}

impl CompilerProcess {
    fn work(&self, bytes: &[u8], work: Work) -> Result<File, NotCompiled> {
        let system = |error: io::Error| failed("its compiler cannot be started", &error);
        let mut code = native_file().map_err(system)?;
        let output = code.try_clone().map_err(system)?;
        let mut command = Command::new(&self.program);
        let memory = self.memory.saturating_add(OWN_MEMORY);
        let limits = [self.time.as_secs().max(1), memory].map(|limit| limit.to_string());
        let kind = WORKS.iter().find(|(_, known)| *known == work).map(|(name, _)| name);
        command.arg(COMPILE_WORD).args(limits).args(kind);
        // The allocator asks for memory as it needs it, and not for a gibibyte at the start: the limit counts all of it.
        command.env_clear().env("MIMALLOC_ARENA_EAGER_COMMIT", "0");
        command.stdin(Stdio::piped()).stdout(output).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(system)?;
        drop(command);
        let ended = self.follow(&mut child, bytes);
        // Whatever happened, it ends now.
        let _ = child.kill();
        let status = child.wait().map_err(system)?;
        let (text, way) = ended.map_err(system)?;
        match way {
            Way::Ended => self.judge(status, &text)?,
            Way::Interrupted => return Err(NotCompiled::Interrupted),
            Way::TooLong => {
                let why = format!("it takes longer than {} s", self.wall_time().as_secs());
                return Err(NotCompiled::Costly { why, always: false });
            }
        }
        // Nobody writes to it any more, whoever may still hold it.
        let sealed = rustix::fs::fcntl_add_seals(&code, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK);
        sealed.map_err(|errno| system(errno.into()))?;
        code.rewind().map_err(system)?;
        Ok(code)
    }

    /// The time that compiling may take by the clock.
    fn wall_time(&self) -> Duration {
        self.time.saturating_mul(2)
    }

    /// Hands the component over and waits for the process to end.
    fn follow(&self, child: &mut Child, bytes: &[u8]) -> io::Result<(String, Way)> {
        let deadline = Instant::now() + self.wall_time();
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
        let ends = pidfd_open(pid, PidfdFlags::empty())?;
        let (input, errors) = (child.stdin.take(), child.stderr.take());
        let (mut input, errors) = input.zip(errors).ok_or(io::ErrorKind::BrokenPipe)?;
        std::thread::scope(|scope| {
            // One that ends early does not read all of it.
            let write = move || drop(input.write_all(bytes));
            std::thread::Builder::new().stack_size(64 << 10).spawn_scoped(scope, write)?;
            let way = loop {
                if poll(&mut [PollFd::new(&ends, PollFlags::IN)], Some(&LOOK))? > 0 {
                    break Way::Ended;
                }
                if (self.interrupted)() {
                    break Way::Interrupted;
                }
                if Instant::now() >= deadline {
                    break Way::TooLong;
                }
            };
            // The writer ends with the reader.
            let _ = rustix::process::pidfd_send_signal(&ends, Signal::KILL);
            let mut text = vec![];
            errors.take(MAX_TEXT).read_to_end(&mut text)?;
            Ok((String::from_utf8_lossy(&text).trim().to_owned(), way))
        })
    }

    /// What an end says of the component.
    fn judge(&self, status: ExitStatus, text: &str) -> Result<(), NotCompiled> {
        let seconds = self.time.as_secs().max(1);
        let mebibytes = self.memory >> 20;
        let costly = |why: String| Err(NotCompiled::Costly { why, always: true });
        let signal = status.signal().and_then(Signal::from_named_raw);
        match (status.code(), signal) {
            (Some(0), _) => Ok(()),
            // Whoever ran out of memory on the way to an error says so in other words.
            (Some(_), _) if text.contains("Cannot allocate memory") => {
                costly(format!("it takes more than {mebibytes} MiB of memory"))
            }
            (Some(INVALID), _) => Err(NotCompiled::Invalid(text.to_owned())),
            (_, Some(Signal::XCPU)) => costly(format!("it takes more than {seconds} s of processor time")),
            (_, Some(Signal::XFSZ)) => costly(format!("its native code has more than {} MiB", NATIVE_BYTES >> 20)),
            (_, Some(Signal::ABORT)) if text.contains("memory allocation of") => {
                costly(format!("it takes more than {mebibytes} MiB of memory"))
            }
            (Some(CONFINED), _) => Err(NotCompiled::Failed(format!("its compiler cannot be confined: {text}"))),
            _ => Err(NotCompiled::Failed(format!("its compiler ended early ({status}): {text}"))),
        }
    }
}

/// Why the wait for a compiler is over.
enum Way {
    Ended,
    Interrupted,
    TooLong,
}

/// The component is invalid.
const INVALID: i32 = 3;

/// The component could not be read, or the native code not be written.
const UNREAD: i32 = 5;

/// The process could not give up its rights.
const CONFINED: i32 = 4;

/// The compiler's whole life, in a process of its own. `arguments` follow [`COMPILE_WORD`]; `give_up` takes all rights from
/// the process.
pub fn compile_standard_input(arguments: &[String], give_up: impl FnOnce() -> Result<(), String>) -> ExitCode {
    match confine(arguments).and_then(|work| give_up().map(|()| work)) {
        Err(why) => end(CONFINED, &why),
        Ok(work) => match work_on_input(work) {
            Ok(Ok(())) => ExitCode::SUCCESS,
            Ok(Err(why)) => end(INVALID, &why),
            Err(error) => end(UNREAD, &error.to_string()),
        },
    }
}

fn end(code: i32, why: &str) -> ExitCode {
    let _ = io::stderr().write_all(why.as_bytes());
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

/// Sets the limits, and returns what is to be done.
fn confine(arguments: &[String]) -> Result<Work, String> {
    let misused = || "it is started by wrun alone".to_owned();
    let [seconds, memory, work] = arguments else { return Err(misused()) };
    let (_, work) = WORKS.into_iter().find(|(name, _)| name == work).ok_or_else(misused)?;
    let number = |text: &String| text.parse::<u64>().map_err(|_| misused());
    let (seconds, memory) = (number(seconds)?, number(memory)?);
    // One byte of a core file is how the kernel is told to leave a crash alone: at none it calls the machine's crash handler.
    let limits = [
        (Resource::Cpu, seconds, seconds.saturating_add(1)),
        (Resource::Data, memory, memory),
        (Resource::Fsize, NATIVE_BYTES, NATIVE_BYTES),
        (Resource::Core, 1, 1),
    ];
    for (resource, soft, hard) in limits {
        // A limit that is lower already stays (sudo allows no core files at all): raising it needs a right.
        let most = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let limit = Rlimit { current: Some(soft.min(most)), maximum: Some(hard.min(most)) };
        rustix::process::setrlimit(resource, limit).map_err(|errno| format!("limits cannot be set: {errno}"))?;
    }
    // The terminal's signals are wrun's, which then ends this process.
    rustix::process::setsid().map_err(|errno| errno.to_string())?;
    // Nobody waits for it any more where the run has ended.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(|errno| errno.to_string())?;
    Ok(work)
}

/// Whether the component is valid, and if not, why not.
fn work_on_input(work: Work) -> io::Result<Result<(), String>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    let Work::Compile(effort) = work else { return Ok(validate(&bytes)) };
    let code = match compile(&bytes, effort) {
        Ok(code) => code,
        Err(why) => return Ok(Err(why)),
    };
    let mut output = io::stdout().lock();
    output.write_all(&code).and_then(|()| output.flush())?;
    Ok(Ok(()))
}
