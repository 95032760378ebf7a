//! Runs one confined command: starts the launcher and the tracer, and reads the output.

use super::launcher::Request;
use super::reply::Reply;
use super::tracer::{self, Ending, Leash};
use super::{Answer, MISSING_PROGRAM};
use crate::command::end::{self, PATIENCE};
use crate::command::unended::Unended;
use crate::command::wait::{self, Pipes, Watch};
use crate::command::{CommandFailure, Launch, process_tree, start, start::Identity};
use crate::root::Root;
use contract::{Ended, SystemError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io::{self, PipeReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The argument that makes wrun act as the launcher.
const WORD: &str = "launch-confined";

/// The launcher's timeout for making the view: a mount whose server is dead must not hold up a run.
const VIEW_PATIENCE: Duration = Duration::from_secs(20);

/// The maximum length of the launcher's first line, in bytes.
const MAX_LINE: u64 = 4096;

/// Runs a command confined.
pub(in crate::command) fn ask(
    launcher: &Path,
    root: &Path,
    launch: &Launch,
    identity: &Identity,
    environment: Vec<(String, String)>,
    watch: Watch<'_>,
) -> Answer {
    let as_root = identity.ids.as_ref().and_then(|ids| ids.uid).unwrap_or(0) == 0;
    let request = Request {
        words: launch.words.clone(),
        arg0: launch.arg0.map(Into::into),
        environment,
        cwd: start::directory(launch),
        umask: launch.umask,
        ids: identity.ids.clone(),
        root: root.to_owned(),
        placed: launch.placed.clone(),
        scratch: launch.scratch.iter().map(|directory| (*directory).to_owned()).collect(),
        pretends_locks: launch.pretends_locks,
        lacks_network: launch.lacks_network,
    };
    let asked = || -> io::Result<Answer> {
        let body = serde_json::to_vec(&request)?;
        let root = Root::open(root, &contract::Account::unmetered("wrun"))
            .map_err(|fault| io::Error::other(fault.to_string()))?;
        let leash = Arc::new(Leash::default());
        let tracing = Tracing::start(launcher.to_owned(), body, root, as_root, Arc::clone(&leash))?;
        let Ok((launcher, pipes)) = tracing.begun.recv() else {
            return match tracing.result.recv().map_err(io::Error::other)?? {
                Traced::Said(reply) => Ok(answer_of_reply(reply, &request.cwd)),
                Traced::Ended(_) => Err(io::Error::other("nobody read along")),
            };
        };
        let input = launch.input.as_deref().unwrap_or_default();
        let outcome = wait::follow(launcher, pipes, input, tracing.end.into(), launch.timeout, watch);
        if !matches!(outcome, Ok(ref outcome) if !outcome.timed_out) {
            leash.pull();
        }
        // A program that another process traces, or that waits in the kernel, does not end. The thread is then left behind.
        let traced = match tracing.result.recv_timeout(PATIENCE) {
            Ok(traced) => Some(traced?),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the tracer ended")),
        };
        match (traced, outcome) {
            (_, Err(error)) => match error.get_ref().and_then(|why| why.downcast_ref::<Ended>()) {
                Some(ended) => Ok(Answer::Unknown(format!("it was ended: the policy {ended}"))),
                None => Err(error),
            },
            (Some(Traced::Ended(ending)), Ok(outcome)) => Ok(answer(ending, outcome, launch, &request.cwd)),
            (Some(Traced::Said(reply)), Ok(_)) => Ok(answer_of_reply(reply, &request.cwd)),
            (None, Ok(_)) => Ok(Answer::Unknown(match left_behind(launcher) {
                Some(unended) => format!("it took longer than {} s, and its {unended}", launch.timeout.as_secs()),
                None => format!("it took longer than {} s and does not end", launch.timeout.as_secs()),
            })),
        }
    };
    asked().unwrap_or_else(|error| Answer::Unknown(format!("a dry run could not confine it: {error}")))
}

/// Describes a process of a confined command that was killed and is still there. The launcher only waits for the others.
fn left_behind(launcher: Pid) -> Option<Unended> {
    let left: Vec<Pid> = process_tree::of(launcher).into_iter().filter(|process| *process != launcher).collect();
    Unended::among(&left)
}

/// The thread that starts a confined command and traces it.
struct Tracing {
    /// Receives the launcher and the pipes of the program, once it begins. Closed if it does not begin.
    begun: Receiver<(Pid, Pipes)>,
    /// Receives the result of the thread.
    result: Receiver<io::Result<Traced>>,
    /// Closed by the thread when it has sent the result.
    end: PipeReader,
}

impl Tracing {
    /// Starts the thread. It is never joined, since it waits as long as a process of the command is there.
    fn start(launcher: PathBuf, body: Vec<u8>, root: Root, as_root: bool, leash: Arc<Leash>) -> io::Result<Self> {
        let (end, ending) = io::pipe()?;
        let (started, begun) = mpsc::channel();
        let (done, result) = mpsc::channel();
        let trace = move || {
            // Closes when this thread ends. The reader waits for that.
            let _ending = ending;
            let started = started;
            let traced = begin(&launcher, &body, &leash).map(|begun| match begun {
                Ok((pid, pipes)) => {
                    let _ = started.send((pid, pipes));
                    Traced::Ended(tracer::watch(pid, &root, as_root, &leash))
                }
                Err(reply) => Traced::Said(reply),
            });
            let _ = done.send(traced);
        };
        std::thread::Builder::new().name("tracer".into()).spawn(trace)?;
        Ok(Self { begun, result, end })
    }
}

/// The result of the tracing thread.
enum Traced {
    /// The program did not start; the launcher sent this reply.
    Said(Reply),
    Ended(Ending),
}

/// Starts the launcher, and lets it go on once it is traced.
fn begin(launcher: &Path, request: &[u8], leash: &Leash) -> io::Result<Result<(Pid, Pipes), Reply>> {
    let mut command = Command::new(launcher);
    command.arg(WORD).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
    leash.hold(pidfd_open(pid, PidfdFlags::empty())?);
    let mut said = || -> io::Result<Result<Pipes, Reply>> {
        let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
        let ((mut input, mut output), errors) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        input.write_all(&u64::try_from(request.len()).unwrap_or_default().to_le_bytes())?;
        input.write_all(request)?;
        match Reply::of_line(&first_line(&mut output)?) {
            Reply::Ready => {}
            other => return Ok(Err(other)),
        }
        tracer::seize(pid)?;
        input.write_all(&[0])?;
        Ok(Ok(Pipes { input, output, errors }))
    };
    match said() {
        Ok(Ok(pipes)) => Ok(Ok((pid, pipes))),
        none => {
            leash.pull();
            // What holds it up in the kernel may hold it for ever.
            let _ = end::await_end(&mut child, pid);
            Ok(Err(none?.err().unwrap_or(Reply::Ready)))
        }
    }
}

/// Reads one line byte by byte, because everything after it is the program's output.
fn first_line(output: &mut ChildStdout) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut byte = [0];
    let until = Instant::now() + VIEW_PATIENCE;
    for _ in 0..MAX_LINE {
        let left = until.saturating_duration_since(Instant::now());
        let left =
            Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or_default(), tv_nsec: left.subsec_nanos().into() };
        if poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&left))? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if output.read(&mut byte)? == 0 || byte == *b"\n" {
            break;
        }
        line.extend_from_slice(&byte);
    }
    Ok(line)
}

fn answer(ending: Ending, outcome: contract::CommandOutcome, launch: &Launch, cwd: &str) -> Answer {
    if let Some(what) = ending.stopped {
        return Answer::Unknown(format!("a dry run stopped it at: {what}"));
    }
    if outcome.timed_out {
        return Answer::Unknown(format!("it took longer than {} s", launch.timeout.as_secs()));
    }
    if !ending.started {
        return answer_of_reply(Reply::of_line(outcome.output.trim_ascii_end()), cwd);
    }
    Answer::Ended(contract::CommandOutcome { code: ending.code, signal: ending.signal, ..outcome })
}

fn answer_of_reply(reply: Reply, cwd: &str) -> Answer {
    match reply {
        Reply::NoDirectory(errno) => Answer::Ended(start::no_directory(&io::Error::from_raw_os_error(errno), cwd)),
        Reply::NotStarted(errno) => {
            let error = CommandFailure::of_system(&io::Error::from_raw_os_error(errno), "the program");
            Answer::Unknown(match error {
                CommandFailure::NotStarted { error: SystemError::NotFound, .. } => MISSING_PROGRAM.to_owned(),
                error => format!("it could not be started: {error}"),
            })
        }
        Reply::Impossible(why) => Answer::Unknown(format!("a dry run could not confine it: {why}")),
        Reply::Ready => Answer::Unknown("a dry run could not confine it".into()),
    }
}
