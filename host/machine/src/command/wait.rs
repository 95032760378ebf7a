//! Waits for a program: its output, its end, its timeout.

use super::end::{self, GRACE, PATIENCE, TICK, TimeOut};
use super::unended::Unended;
use super::{held, process_tree};
use contract::{Account, CommandOutcome, Ended, Stop, StopStep};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

/// The most bytes of each output that are kept; wrun reads and drops the rest, so that the program does not block.
pub const MAX_OUTPUT: usize = 16 * 1024 * 1024;

/// The interval for checking whether the run must end at once.
const LOOK: Duration = Duration::from_millis(200);

/// The time to go on reading after the program's end, while a process that it left behind still writes.
const LINGER: Duration = Duration::from_millis(100);

/// The limits for waiting for a program.
#[derive(Clone, Copy)]
pub(super) struct Patience<'a> {
    /// The timeout of the program itself.
    pub(super) timeout: Duration,
    /// The policy whose wall time also ends the program.
    pub(super) account: Option<&'a Account>,
    /// True if its processes are counted.
    pub(super) counts: bool,
}

struct Streams<'a> {
    input: Option<(ChildStdin, &'a [u8])>,
    output: Option<ChildStdout>,
    errors: Option<ChildStderr>,
    end: Option<OwnedFd>,
    /// The time when the kernel first reported the end.
    ended_at: Option<Instant>,
    outcome: CommandOutcome,
    live: Option<&'a super::Live>,
}

/// Feeds the program, collects its output and waits for its end. Ends it with all its descendants when its time is over, or
/// when the run must end at once. When the run ends at once, a package manager is allowed to finish.
///
/// # Errors
/// A system call fails. `Interrupted` means that the program was left running. [`Unended`] means that it was killed and does
/// not end, or that another process keeps its end from wrun.
pub(super) fn wait(
    mut child: Child,
    input: Option<&[u8]>,
    patience: Patience<'_>,
    live: Option<&super::Live>,
    stop: &Stop,
) -> io::Result<CommandOutcome> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
    let input = child.stdin.take().zip(input);
    if let Some((pipe, _)) = &input {
        rustix::io::ioctl_fionbio(pipe, true)?;
    }
    let mut streams = Streams {
        input,
        output: child.stdout.take(),
        errors: child.stderr.take(),
        end: pidfd_open(pid, PidfdFlags::empty()).ok(),
        ended_at: None,
        outcome: CommandOutcome::default(),
        live,
    };
    let mut deadline = Instant::now().checked_add(patience.timeout);
    let mut time_out = TimeOut::of(pid);
    let mut ending = false;
    let mut count_at = Instant::now() + LOOK;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let now = Instant::now();
        if streams.is_end_kept()? {
            end::kill_everything(pid);
            return Err(Unended::of(pid).into());
        }
        if stop.step() >= Some(StopStep::AtOnce) && !ending {
            let held = held::package_manager(pid);
            if held.is_some() && stop.step() == Some(StopStep::WithoutWaiting) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            ending = held.is_none();
            stop.hold(held);
            if ending {
                end::end_group(&mut child, pid, stop)?;
                continue;
            }
        }
        if let Some(account) = patience.account.filter(|_| now >= count_at && !ending) {
            count_at = now + LOOK;
            if patience.counts {
                require_few(&mut child, pid, account)?;
            }
            // The policy chooses its own timeouts. The operator limits how long it may keep others waiting, including the
            // time for reading the program's output. A first signal lets the program run to its end.
            if let Err(ended @ Ended::Exceeded(_)) = account.check()
                && held::package_manager(pid).is_none()
            {
                end::end_group(&mut child, pid, stop)?;
                return Err(io::Error::other(ended));
            }
        }
        if let Some(at) = deadline.filter(|at| *at <= now) {
            streams.outcome.timed_out = true;
            time_out.step()?;
            deadline = at.max(now).checked_add(GRACE);
            continue;
        }
        let left = deadline.map(|at| at.saturating_duration_since(now));
        let tick = if streams.end.is_some() { LOOK } else { TICK };
        streams.exchange(Some(left.map_or(tick, |left| left.min(tick))))?;
    };
    stop.hold(None);
    time_out.finish();
    streams.drain()?;
    let mut outcome = streams.outcome;
    (outcome.code, outcome.signal) = (status.code(), status.signal());
    Ok(outcome)
}

/// Ends a command that has more processes than its policy may have. A package manager is allowed to finish.
///
/// # Errors
/// The command had too many processes and was ended.
fn require_few(child: &mut Child, leader: Pid, account: &Account) -> io::Result<()> {
    let alive = process_tree::of(leader).len() as u64;
    match account.has_processes(alive) {
        Err(ended) if held::package_manager(leader).is_none() => {
            end::end_at_once(child, leader)?;
            Err(io::Error::other(ended))
        }
        _ => Ok(()),
    }
}

/// wrun's ends of a program's pipes.
pub(super) struct Pipes {
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    pub(super) errors: ChildStderr,
}

/// The reasons to end a program that another thread waits for, in addition to its timeout.
#[derive(Clone, Copy)]
pub(super) struct Watch<'a> {
    /// Tells whether the run must end at once.
    pub(super) stop: &'a Stop,
    /// The policy that the program's processes count for. `None`: they are not counted.
    pub(super) account: Option<&'a Account>,
}

/// Does the same for a program that another thread waits for. Returns when `end` can be read, or when the time is over.
/// `leader` is the process that started the program; it does not count.
///
/// # Errors
/// A system call fails, or the policy has too many processes. The caller must then end the program.
pub(super) fn follow(
    leader: Pid,
    pipes: Pipes,
    input: &[u8],
    end: OwnedFd,
    timeout: Duration,
    watch: Watch<'_>,
) -> io::Result<CommandOutcome> {
    rustix::io::ioctl_fionbio(&pipes.input, true)?;
    let mut streams = Streams {
        input: (!input.is_empty()).then_some((pipes.input, input)),
        output: Some(pipes.output),
        errors: Some(pipes.errors),
        end: Some(end),
        ended_at: None,
        outcome: CommandOutcome::default(),
        live: None,
    };
    let deadline = Instant::now().checked_add(timeout);
    let mut count_at = Instant::now() + LOOK;
    while !streams.has_ended()? {
        let now = Instant::now();
        let left = deadline.map(|at| at.saturating_duration_since(now));
        if left.is_some_and(|left| left.is_zero()) || watch.stop.step() >= Some(StopStep::AtOnce) {
            streams.outcome.timed_out = true;
            return Ok(streams.outcome);
        }
        if let Some(account) = watch.account.filter(|_| now >= count_at) {
            count_at = now + LOOK;
            let alive = process_tree::of(leader).into_iter().filter(|process| *process != leader);
            account.has_processes(alive.count() as u64).map_err(io::Error::other)?;
        }
        streams.exchange(Some(left.map_or(LOOK, |left| left.min(LOOK))))?;
    }
    streams.drain()?;
    Ok(streams.outcome)
}

impl Streams<'_> {
    /// Waits until it can read or write something, or until the program ends, and does that. Returns true if there was
    /// something.
    fn exchange(&mut self, wait: Option<Duration>) -> io::Result<bool> {
        let wait = wait.map(|wait| Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        });
        let (mut writable, mut output, mut errors) = (false, false, false);
        {
            let mut polled: Vec<(PollFd<'_>, Option<&mut bool>)> = Vec::with_capacity(4);
            if let Some((pipe, _)) = &self.input {
                polled.push((PollFd::new(pipe, PollFlags::OUT), Some(&mut writable)));
            }
            if let Some(pipe) = &self.output {
                polled.push((PollFd::new(pipe, PollFlags::IN), Some(&mut output)));
            }
            if let Some(pipe) = &self.errors {
                polled.push((PollFd::new(pipe, PollFlags::IN), Some(&mut errors)));
            }
            if let Some(end) = &self.end {
                polled.push((PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN), None));
            }
            let mut descriptors: Vec<PollFd<'_>> = polled.iter().map(|(descriptor, _)| descriptor.clone()).collect();
            match poll(&mut descriptors, wait.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            for ((_, ready), descriptor) in polled.into_iter().zip(descriptors) {
                if let Some(ready) = ready {
                    *ready = !descriptor.revents().is_empty();
                }
            }
        }
        if writable {
            self.feed();
        }
        if output
            && let Some(pipe) = &mut self.output
            && !take(pipe, &mut self.outcome.output, self.live)?
        {
            self.output = None;
        }
        if errors
            && let Some(pipe) = &mut self.errors
            && !take(pipe, &mut self.outcome.errors, self.live)?
        {
            self.errors = None;
        }
        Ok(writable || output || errors)
    }

    fn has_ended(&self) -> io::Result<bool> {
        let Some(end) = &self.end else { return Ok(true) };
        let mut polled = [PollFd::new(end, PollFlags::IN)];
        poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
        Ok(polled.iter().any(|end| !end.revents().is_empty()))
    }

    /// Tells whether the kernel reported the end some time ago, and wrun, which has asked before, still does not get it: a
    /// process that traces the program hears of the end first, and need not let wrun hear of it.
    fn is_end_kept(&mut self) -> io::Result<bool> {
        if self.end.is_some() && self.has_ended()? {
            self.end = None;
            self.ended_at = Some(Instant::now());
        }
        Ok(self.ended_at.is_some_and(|at| at.elapsed() >= PATIENCE))
    }

    /// Writes as much as fits. If the program stops reading, that is not an error, as in a shell.
    fn feed(&mut self) {
        let Some((pipe, left)) = &mut self.input else { return };
        let written = match pipe.write(left) {
            Ok(written) => written,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => 0,
            Err(_) => left.len(),
        };
        *left = left.get(written..).unwrap_or_default();
        if left.is_empty() {
            self.input = None;
        }
    }

    /// Reads the remaining output after the end. It does not wait until the pipes are closed, because a started daemon holds
    /// them open for ever.
    fn drain(&mut self) -> io::Result<()> {
        self.input = None;
        self.end = None;
        let until = Instant::now() + LINGER;
        while (self.output.is_some() || self.errors.is_some())
            && self.exchange(Some(Duration::ZERO))?
            && Instant::now() < until
        {}
        Ok(())
    }
}

/// Reads once; false at the end of the stream.
fn take(pipe: &mut impl io::Read, kept: &mut Vec<u8>, live: Option<&super::Live>) -> io::Result<bool> {
    let mut buffer = [0; 16 * 1024];
    let length = match pipe.read(&mut buffer) {
        Ok(length) => length,
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            return Ok(true);
        }
        Err(error) => return Err(error),
    };
    let read = buffer.get(..length).unwrap_or_default();
    if let Some(live) = live {
        live(read);
    }
    let room = MAX_OUTPUT.saturating_sub(kept.len()).min(length);
    kept.extend_from_slice(read.get(..room).unwrap_or_default());
    Ok(length > 0)
}
