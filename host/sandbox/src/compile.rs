//! Compiles untrusted components in a confined process.
//!
//! A component within all limits of [`examine`](crate::examine()) may still cost the compiler too much. So the program starts
//! itself again as a compiler. This process has little memory and time, and no rights. It reads a component from standard
//! input and writes native code to standard output. The output is a file in memory with a limited size.
//!
//! wrun still trusts the native code and runs it without further checks. The process limits the cost of compiling. It also
//! keeps a compromised compiler away from the machine while it runs.

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

/// The first argument that starts the program as a compiler.
pub const COMPILE_WORD: &str = "compile-component";

/// The period after which a wait for a compiler checks for an interruption.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The maximum length of the text that is read from a compiler's standard error, in bytes.
const MAX_TEXT: u64 = 4 << 10;

/// The memory in bytes for the program itself and the compiler's threads, in addition to the limit of a component.
const OWN_MEMORY: u64 = 64 << 20;

/// The place where policies' components are compiled.
pub enum Compiler {
    /// The present process, for the user's own components.
    Here,
    /// A separate process with limits.
    Process(CompilerProcess),
}

/// The settings of a separate compiler process. Its program calls [`compile_standard_input`] if its first argument is
/// [`COMPILE_WORD`].
pub struct CompilerProcess {
    /// The path of the program that compiles.
    pub program: PathBuf,
    /// The maximum processor time for one component. The maximum wall time is twice as long.
    pub time: Duration,
    /// The maximum memory for one component, in bytes.
    pub memory: u64,
    /// Returns true if the operator has interrupted the run.
    pub interrupted: Box<dyn Fn() -> bool + Send + Sync>,
}

/// The trade-off between the speed of native code and the time to compile it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Compiles slowly to code that runs fast.
    Full,
    /// Compiles fast to code that runs slowly.
    Quick,
}

/// The task of a compiler process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Compiles the component to native code.
    Compile(Effort),
    /// Only checks that the component is valid.
    Validate,
}

/// The names of each work, as an argument of the process.
const WORKS: [(&str, Work); 3] =
    [("full", Work::Compile(Effort::Full)), ("quick", Work::Compile(Effort::Quick)), ("validate", Work::Validate)];

/// The reasons why a compilation failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotCompiled {
    /// The exit code for an invalid component. The text says why.
    #[error("{0}")]
    Invalid(String),
    /// The compilation exceeds a limit.
    #[error("{why}")]
    Costly {
        /// The sentence with the exceeded limit of time, memory or size.
        why: String,
        /// True if a repetition would exceed the limit again. That is so if the measured cost does not depend on the
        /// machine's load.
        always: bool,
    },
    /// The compiler did not start, or it ended for a reason unrelated to the component.
    #[error("{0}")]
    Failed(String),
    /// The operator interrupted the run.
    #[error("interrupted while it was compiled")]
    Interrupted,
}

/// Returns the engine's settings for one effort. For policies' components, the engine's default limit of dense memory images
/// applies.
pub(crate) fn configuration(effort: Effort) -> Config {
    let mut config = crate::engine::configuration();
    if effort == Effort::Quick {
        config.cranelift_opt_level(OptLevel::None).cranelift_regalloc_algorithm(RegallocAlgorithm::SinglePass);
    }
    config
}

impl Compiler {
    /// Returns the limits for compiling one component, or `None` if compiling is not limited.
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
    /// Returns the reason if the component is invalid, or if the check exceeds a limit. The reason is part of a sentence.
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

/// Creates a file in memory for native code.
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
        // The setting makes the allocator reserve memory as needed instead of a gibibyte at the start. The process's limit
        // counts all reserved memory.
        command.env_clear().env("MIMALLOC_ARENA_EAGER_COMMIT", "0");
        command.stdin(Stdio::piped()).stdout(output).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(system)?;
        drop(command);
        let ended = self.follow(&mut child, bytes);
        // The process must end in every case.
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
        // The seals prevent further writes, even by a process that still has the file open.
        let sealed = rustix::fs::fcntl_add_seals(&code, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK);
        sealed.map_err(|errno| system(errno.into()))?;
        code.rewind().map_err(system)?;
        Ok(code)
    }

    /// Returns the maximum wall time of a compilation.
    fn wall_time(&self) -> Duration {
        self.time.saturating_mul(2)
    }

    /// Sends the component to the process and waits for the process's end.
    fn follow(&self, child: &mut Child, bytes: &[u8]) -> io::Result<(String, Way)> {
        let deadline = Instant::now() + self.wall_time();
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
        let ends = pidfd_open(pid, PidfdFlags::empty())?;
        let (input, errors) = (child.stdin.take(), child.stderr.take());
        let (mut input, errors) = input.zip(errors).ok_or(io::ErrorKind::BrokenPipe)?;
        std::thread::scope(|scope| {
            // The process may end before it has read everything, so a failed write is ignored.
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
            // Killing the process also ends the writing thread, which may still wait for it.
            let _ = rustix::process::pidfd_send_signal(&ends, Signal::KILL);
            let mut text = vec![];
            errors.take(MAX_TEXT).read_to_end(&mut text)?;
            Ok((String::from_utf8_lossy(&text).trim().to_owned(), way))
        })
    }

    /// Derives the outcome of a compilation from the exit status and the text of the process.
    fn judge(&self, status: ExitStatus, text: &str) -> Result<(), NotCompiled> {
        let seconds = self.time.as_secs().max(1);
        let mebibytes = self.memory >> 20;
        let costly = |why: String| Err(NotCompiled::Costly { why, always: true });
        let signal = status.signal().and_then(Signal::from_named_raw);
        match (status.code(), signal) {
            (Some(0), _) => Ok(()),
            // A compiler that runs out of memory may also end with an ordinary error that contains this text.
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

/// The reason why the wait for a compiler ended.
enum Way {
    Ended,
    Interrupted,
    TooLong,
}

/// The component is invalid.
const INVALID: i32 = 3;

/// The exit code if reading the component or writing the native code failed.
const UNREAD: i32 = 5;

/// The exit code if the process could not set its limits or give up its rights.
const CONFINED: i32 = 4;

/// Runs the compiler in its own process and returns the exit code. `arguments` follow [`COMPILE_WORD`], and `give_up` removes
/// all rights of the process.
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

/// Writes the reason and returns the exit code. The reason may contain a name of the component, however long. It is cut to
/// what the parent reads: a longer one would fill the pipe, and the process would wait for a reader.
fn end(code: i32, why: &str) -> ExitCode {
    let bytes = why.as_bytes();
    let _ = io::stderr().write_all(bytes.get(..MAX_TEXT as usize).unwrap_or(bytes));
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

/// Sets the limits of the process, and returns its task.
fn confine(arguments: &[String]) -> Result<Work, String> {
    let misused = || "it is started by wrun alone".to_owned();
    let [seconds, memory, work] = arguments else { return Err(misused()) };
    let (_, work) = WORKS.into_iter().find(|(name, _)| name == work).ok_or_else(misused)?;
    let number = |text: &String| text.parse::<u64>().map_err(|_| misused());
    let (seconds, memory) = (number(seconds)?, number(memory)?);
    // A limit of one byte prevents core files. With a limit of zero, the kernel may still call the machine's crash handler.
    let limits = [
        (Resource::Cpu, seconds, seconds.saturating_add(1)),
        (Resource::Data, memory, memory),
        (Resource::Fsize, NATIVE_BYTES, NATIVE_BYTES),
        (Resource::Core, 1, 1),
    ];
    for (resource, soft, hard) in limits {
        // A lower limit stays, because raising it needs a right. For example, sudo does not allow core files.
        let most = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let limit = Rlimit { current: Some(soft.min(most)), maximum: Some(hard.min(most)) };
        rustix::process::setrlimit(resource, limit).map_err(|errno| format!("limits cannot be set: {errno}"))?;
    }
    // Only wrun gets the terminal's signals. It then ends this process.
    rustix::process::setsid().map_err(|errno| errno.to_string())?;
    // The process must end with its parent, because then nothing waits for its result.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(|errno| errno.to_string())?;
    Ok(work)
}

/// Reads the component from standard input and validates or compiles it. The inner error is the reason why it is invalid.
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
