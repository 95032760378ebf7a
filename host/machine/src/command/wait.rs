//! Waiting for a program: its output, its end, its time.

use super::{held, process_tree};
use contract::{Account, CommandOutcome, Ended, Stop, StopStep};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, test_kill_process_group};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

/// The most bytes of each output that are kept; the rest is read and dropped, so that the program does not stall.
pub const MAX_OUTPUT: usize = 16 * 1024 * 1024;

/// How long a program that was asked to end may take before it is killed, as Mixlib::ShellOut gives it.
const GRACE: Duration = Duration::from_secs(3);

/// How long a program that is ended with the run may take before it is killed.
const STOPPING_GRACE: Duration = Duration::from_secs(5);

/// How often to look whether a program has ended where the kernel does not say.
const TICK: Duration = Duration::from_millis(20);

/// How often to look whether the run is to end at once.
const LOOK: Duration = Duration::from_millis(200);

/// How long to go on reading after the program's end, while something it left behind still writes.
const LINGER: Duration = Duration::from_millis(100);

/// How long a program is waited for, and for whom.
#[derive(Clone, Copy)]
pub(super) struct Patience<'a> {
    /// The timeout of the program itself.
    pub(super) timeout: Duration,
    /// The policy whose wall time ends it, too.
    pub(super) account: Option<&'a Account>,
    /// Its processes are counted.
    pub(super) counts: bool,
}

struct Streams<'a> {
    input: Option<(ChildStdin, &'a [u8])>,
    output: Option<ChildStdout>,
    errors: Option<ChildStderr>,
    end: Option<OwnedFd>,
    outcome: CommandOutcome,
    live: Option<&'a super::Live>,
}

/// Feeds the program, gathers what it writes, and waits for its end, or ends it with all its kin: when its time is over, and
/// when the run is to end at once. Then a package manager is left to finish.
///
/// # Errors
/// The system fails; `Interrupted`: the program was left running.
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
        outcome: CommandOutcome::default(),
        live,
    };
    let mut deadline = Instant::now().checked_add(patience.timeout);
    let mut signal = Some(Signal::TERM);
    let mut ending = false;
    let mut count_at = Instant::now() + LOOK;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let now = Instant::now();
        if stop.step() >= Some(StopStep::AtOnce) && !ending {
            let held = held::package_manager(pid);
            if held.is_some() && stop.step() == Some(StopStep::WithoutWaiting) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            ending = held.is_none();
            stop.hold(held);
            if ending {
                end_group(&mut child, pid, stop)?;
                continue;
            }
        }
        if let Some(account) = patience.account.filter(|_| now >= count_at && !ending) {
            count_at = now + LOOK;
            if patience.counts {
                require_few(&mut child, pid, account)?;
            }
            // The policy chooses its own timeouts; what it may keep others waiting is the operator's to say, and what reading
            // the program's output costs. A first signal lets the program run to its end.
            if let Err(ended @ Ended::Exceeded(_)) = account.check()
                && held::package_manager(pid).is_none()
            {
                end_group(&mut child, pid, stop)?;
                return Err(io::Error::other(ended));
            }
        }
        if let Some(at) = deadline.filter(|at| *at <= now) {
            streams.outcome.timed_out = true;
            let sent = kill_process_group(pid, signal.take().unwrap_or(Signal::KILL));
            deadline = at.max(now).checked_add(GRACE);
            if let Err(errno) = sent
                && errno != Errno::SRCH
            {
                return Err(errno.into());
            }
            continue;
        }
        let left = deadline.map(|at| at.saturating_duration_since(now));
        let tick = if streams.end.is_some() { LOOK } else { TICK };
        streams.exchange(Some(left.map_or(tick, |left| left.min(tick))))?;
    };
    stop.hold(None);
    if streams.outcome.timed_out {
        end_kin(pid);
    }
    streams.drain()?;
    let mut outcome = streams.outcome;
    (outcome.code, outcome.signal) = (status.code(), status.signal());
    Ok(outcome)
}

/// Ends a command that has more processes than its policy may have. A package manager is left to finish.
///
/// # Errors
/// It had, and is ended.
fn require_few(child: &mut Child, leader: Pid, account: &Account) -> io::Result<()> {
    let alive = process_tree::of(leader).len() as u64;
    match account.has_processes(alive) {
        Err(ended) if held::package_manager(leader).is_none() => {
            process_tree::kill(leader);
            child.wait()?;
            end_kin(leader);
            Err(io::Error::other(ended))
        }
        _ => Ok(()),
    }
}

/// Ends a group of processes: asks first, and kills what is left when the time is over or nobody wants to wait.
fn end_group(child: &mut Child, leader: Pid, stop: &Stop) -> io::Result<()> {
    let until = Instant::now() + STOPPING_GRACE;
    let mut sent = kill_process_group(leader, Signal::TERM);
    while sent.is_ok() && Instant::now() < until && stop.step() != Some(StopStep::WithoutWaiting) {
        std::thread::sleep(TICK);
        // One that nobody has heard the end of still counts as one of the group.
        child.try_wait()?;
        sent = test_kill_process_group(leader);
    }
    let _ = kill_process_group(leader, Signal::KILL);
    child.wait()?;
    end_kin(leader);
    Ok(())
}

/// The ends of a program's pipes that are ours.
pub(super) struct Pipes {
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    pub(super) errors: ChildStderr,
}

/// What ends a program that somebody else waits for, beside its own timeout.
#[derive(Clone, Copy)]
pub(super) struct Watch<'a> {
    /// The run is to end at once.
    pub(super) stop: &'a Stop,
    /// The policy whose processes the program's are; `None`: they are not counted.
    pub(super) account: Option<&'a Account>,
}

/// The same for a program that somebody else waits for: until `end` can be read, or its time is over. `leader`: what started
/// it, which is not counted with its processes.
///
/// # Errors
/// The system fails, or there are more processes than the policy may have. The program is left to whoever waits for it.
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

/// Ends whatever a program started that did not end with it, and waits until it is gone: the kernel only notes a signal
/// and lets the sender go on. Not for ever: where process 1 buries nobody, the dead stay in the group.
fn end_kin(leader: Pid) {
    let until = Instant::now() + GRACE;
    while kill_process_group(leader, Signal::KILL).is_ok() && Instant::now() < until {
        std::thread::sleep(TICK);
    }
}

impl Streams<'_> {
    /// Waits until something can be read or written, or the program ends, and does it. True if there was something.
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

    /// Writes what fits; a program that reads no further is left alone, as a shell does.
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

    /// Reads what is left after the end. Not until the pipes are closed: a daemon that was started holds them for ever.
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
