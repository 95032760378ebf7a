//! Runs one confined command: starts the launcher and the tracer, and reads the output.

use super::launcher::Request;
use super::reply::Reply;
use super::tracer::{self, Ending, Leash};
use super::{Answer, MISSING_PROGRAM};
use crate::command::wait::{self, Pipes, Watch};
use crate::command::{CommandFailure, Launch, start, start::Identity};
use crate::root::Root;
use contract::{Ended, SystemError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc;

/// The argument that makes wrun act as the launcher.
const WORD: &str = "launch-confined";

/// The launcher's timeout for making the view: a mount whose server is dead must not hold up a run.
const PATIENCE: Timespec = Timespec { tv_sec: 20, tv_nsec: 0 };

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
    };
    let asked = || -> io::Result<Answer> {
        let body = serde_json::to_vec(&request)?;
        let root = Root::open(root, &contract::Account::unmetered("wrun"))
            .map_err(|fault| io::Error::other(fault.to_string()))?;
        let (end, ending) = io::pipe()?;
        let (started, hear) = mpsc::channel();
        let leash = Leash::default();
        std::thread::scope(|scope| {
            let leash = &leash;
            let trace = move || -> io::Result<Traced> {
                // Closes when this thread ends. The reader waits for that.
                let _ending = ending;
                let (pid, pipes) = match begin(launcher, &body, leash)? {
                    Ok(begun) => begun,
                    Err(reply) => return Ok(Traced::Said(reply)),
                };
                let _ = started.send((pid, pipes));
                Ok(Traced::Ended(tracer::watch(pid, &root, as_root, leash)))
            };
            let tracer = std::thread::Builder::new().name("tracer".into()).spawn_scoped(scope, trace)?;
            let outcome = hear.recv().ok().map(|(launcher, pipes)| {
                let input = launch.input.as_deref().unwrap_or_default();
                wait::follow(launcher, pipes, input, end.into(), launch.timeout, watch)
            });
            if !matches!(outcome, Some(Ok(ref outcome)) if !outcome.timed_out) {
                leash.pull();
            }
            let traced = tracer.join().map_err(|_| io::Error::other("the tracer ended"))??;
            Ok(match (traced, outcome) {
                (Traced::Said(reply), _) => answer_of_reply(reply, &request.cwd),
                (Traced::Ended(ending), Some(Ok(outcome))) => answer(ending, outcome, launch, &request.cwd),
                (Traced::Ended(_), Some(Err(error))) => {
                    match error.get_ref().and_then(|why| why.downcast_ref::<Ended>()) {
                        Some(ended) => Answer::Unknown(format!("it was ended: the policy {ended}")),
                        None => return Err(error),
                    }
                }
                (Traced::Ended(_), None) => return Err(io::Error::other("nobody read along")),
            })
        })
    };
    asked().unwrap_or_else(|error| Answer::Unknown(format!("a dry run could not confine it: {error}")))
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
            let _ = child.wait();
            Ok(Err(none?.err().unwrap_or(Reply::Ready)))
        }
    }
}

/// Reads one line byte by byte, because everything after it is the program's output.
fn first_line(output: &mut ChildStdout) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut byte = [0];
    for _ in 0..MAX_LINE {
        if poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&PATIENCE))? == 0 {
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
