//! Ends a program with everything it started, and waits for that at most a few seconds.
//!
//! wrun asks the process group first (SIGTERM). Then it kills the group, the session and all descendants. A command that does
//! not even end then is an error ([`Unended`]), and the run goes on without it.

use super::held;
use super::process_tree::{self, Found};
use super::unended::Unended;
use contract::{Stop, StopStep};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::io;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// The time between asking a program to end and killing it, as in Mixlib::ShellOut.
pub(super) const GRACE: Duration = Duration::from_secs(3);

/// The time before a program that is ended with the run is killed.
const STOPPING_GRACE: Duration = Duration::from_secs(5);

/// The time that a killed program has to end.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// The interval for checking whether a program has ended, if the kernel does not report it.
pub(super) const TICK: Duration = Duration::from_millis(20);

/// The steps of ending a program whose time is over.
pub(super) struct TimeOut {
    leader: Pid,
    next: Next,
    /// The processes when the time was over. When the program has ended, its descendants cannot be found any more.
    kin: Vec<Found>,
}

#[derive(Clone, Copy)]
enum Next {
    Ask,
    Kill,
    GiveUp,
}

impl TimeOut {
    pub(super) fn of(leader: Pid) -> Self {
        Self { leader, next: Next::Ask, kin: vec![] }
    }

    /// Takes the next step. The time until the following one is [`GRACE`].
    ///
    /// # Errors
    /// The kernel refuses the signal, or the program was killed before and has not ended.
    pub(super) fn step(&mut self) -> io::Result<()> {
        match self.next {
            Next::Ask => {
                self.next = Next::Kill;
                self.kin = process_tree::find(self.leader);
                match kill_process_group(self.leader, Signal::TERM) {
                    Err(errno) if errno != Errno::SRCH => Err(errno.into()),
                    _ => Ok(()),
                }
            }
            Next::Kill => {
                self.next = Next::GiveUp;
                kill_everything(self.leader);
                Ok(())
            }
            Next::GiveUp => Err(Unended::of(self.leader).into()),
        }
    }

    /// Ends the rest of the processes after the program's own end, if its time was over.
    pub(super) fn finish(&self) {
        if !matches!(self.next, Next::Ask) {
            end_rest(self.leader, &self.kin);
        }
    }
}

/// Ends a process group: asks the processes first, and kills everything that the program started when the time is over or the
/// run must not wait.
///
/// # Errors
/// The program does not end.
pub(super) fn end_group(child: &mut Child, leader: Pid, stop: &Stop) -> io::Result<()> {
    let until = Instant::now() + STOPPING_GRACE;
    let kin = process_tree::find(leader);
    let mut sent = kill_process_group(leader, Signal::TERM);
    while sent.is_ok() && Instant::now() < until && stop.step() != Some(StopStep::WithoutWaiting) {
        std::thread::sleep(TICK);
        // A dead process still counts as a member of the group until its parent has waited for it.
        child.try_wait()?;
        sent = test_kill_process_group(leader);
    }
    if child.try_wait()?.is_none() {
        kill_everything(leader);
        await_end(child, leader)?;
    }
    end_rest(leader, &kin);
    Ok(())
}

/// Kills a program with everything that it started.
///
/// # Errors
/// It does not end.
pub(super) fn end_at_once(child: &mut Child, leader: Pid) -> io::Result<()> {
    process_tree::kill(leader);
    await_end(child, leader)?;
    end_kin(leader);
    Ok(())
}

/// Waits for a killed program.
///
/// # Errors
/// It does not end in time.
pub(super) fn await_end(child: &mut Child, leader: Pid) -> io::Result<ExitStatus> {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= until {
            return Err(Unended::of(leader).into());
        }
        std::thread::sleep(TICK);
    }
}

/// Kills all processes of a program that wrun has not waited for: another process could have its number afterwards. If a
/// package manager is among them, only those of the group: it may be in the middle of its work in a session of its own.
pub(super) fn kill_everything(leader: Pid) {
    if process_tree::of(leader).into_iter().any(held::is_package_manager) {
        let _ = kill_process_group(leader, Signal::KILL);
    } else {
        process_tree::kill(leader);
    }
}

/// Ends the processes that a program left when it ended: those of its group, and those that were found before.
fn end_rest(leader: Pid, kin: &[Found]) {
    if !kin.iter().any(|found| held::is_package_manager(found.process)) {
        process_tree::kill_found(kin);
    }
    end_kin(leader);
}

/// Ends the processes of the group that did not end with the program, and waits until they are gone: the kernel only notes a
/// signal and does not wait. The wait is limited: if process 1 does not wait for its children, dead ones stay in the group.
fn end_kin(leader: Pid) {
    let until = Instant::now() + GRACE;
    while kill_process_group(leader, Signal::KILL).is_ok() && Instant::now() < until {
        std::thread::sleep(TICK);
    }
}
