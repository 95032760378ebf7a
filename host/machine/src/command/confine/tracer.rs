//! Watches a confined program and detects whether the confinement refused it something.
//!
//! If a program was refused something, its answer may differ from its answer in a real run. So each refused call, and each
//! call that a read-only view makes fail, ends the program, and the answer is unknown. As a consequence, no program continues
//! in a surprising environment.
//!
//! The tracer does not enforce the confinement. It reads a program's memory to explain the *reason*, and a program with two
//! threads may change that memory meanwhile. The kernel alone enforces it ([`super::view`], [`super::calls`], Landlock).

use super::calls;
use super::look::{self, Call};
use crate::root::Root;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::unistd::Pid as NixPid;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, WaitOptions, pidfd_open, pidfd_send_signal};
use std::sync::Mutex;

/// How a program ended.
#[derive(Debug, Default)]
pub(super) struct Ending {
    /// True if the program started.
    pub(super) started: bool,
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    /// The call that the confinement refused.
    pub(super) stopped: Option<String>,
}

/// The processes to end together. A process that is added after `pull` is ended at once.
#[derive(Debug, Default)]
pub(super) struct Leash(Mutex<(bool, Vec<OwnedFd>)>);

impl Leash {
    /// Ends all processes that it holds, and all that are added later.
    pub(super) fn pull(&self) {
        let Ok(mut held) = self.0.lock() else { return };
        held.0 = true;
        held.1.drain(..).for_each(|process| end(&process));
    }

    /// Adds a process, or ends it if all were ended already.
    pub(super) fn hold(&self, process: OwnedFd) {
        let Ok(mut held) = self.0.lock() else { return end(&process) };
        if held.0 {
            end(&process);
        } else {
            held.1.push(process);
        }
    }
}

fn end(process: &OwnedFd) {
    // The process may already have ended.
    let _ = pidfd_send_signal(process, rustix::process::Signal::KILL);
}

/// Starts tracing the launcher and everything that it will start. The launcher must be a child of the calling thread, and
/// this thread must also run the tracer.
pub(super) fn seize(launcher: Pid) -> nix::Result<()> {
    let options = Options::PTRACE_O_TRACESECCOMP
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_EXITKILL;
    ptrace::seize(other(launcher), options)
}

/// Watches until all processes of the program have ended.
pub(super) fn watch(launcher: Pid, root: &Root, as_root: bool, leash: &Leash) -> Ending {
    let mut tracer = Tracer { launcher, program: None, root, as_root, leash, ending: Ending::default() };
    // Other threads have children too, and wait for those themselves.
    let own = WaitOptions::from_bits_retain(libc::__WALL.cast_unsigned() | libc::__WNOTHREAD.cast_unsigned());
    loop {
        match rustix::process::wait(own) {
            Ok(Some((process, status))) => tracer.note(process, status.as_raw()),
            Ok(None) | Err(Errno::INTR) => {}
            Err(_) => return tracer.ending,
        }
    }
}

fn other(pid: Pid) -> NixPid {
    NixPid::from_raw(pid.as_raw_nonzero().get())
}

struct Tracer<'a> {
    launcher: Pid,
    program: Option<Pid>,
    root: &'a Root,
    as_root: bool,
    leash: &'a Leash,
    ending: Ending,
}

impl Tracer<'_> {
    /// Handles one report of the kernel about a process.
    fn note(&mut self, process: Pid, status: i32) {
        let is_program = self.program == Some(process);
        if libc::WIFEXITED(status) {
            if is_program {
                self.ending.code = Some(libc::WEXITSTATUS(status));
            }
        } else if libc::WIFSIGNALED(status) {
            let signal = libc::WTERMSIG(status);
            if signal == libc::SIGSYS {
                self.stop("it spoke to the kernel as another kind of program".into());
            }
            if is_program {
                self.ending.signal = Some(signal);
            }
        } else if libc::WIFSTOPPED(status) {
            self.go_on(process, libc::WSTOPSIG(status), status >> 16);
        }
    }

    /// Handles a stopped process and lets it continue.
    fn go_on(&mut self, process: Pid, signal: i32, event: i32) {
        let pid = other(process);
        // If the process has ended meanwhile, these calls fail; the next report covers it.
        let _ = match event {
            libc::PTRACE_EVENT_SECCOMP => self.asked(process),
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
                if process == self.launcher && self.program.is_none() {
                    self.program = ptrace::getevent(pid).ok().and_then(|new| Pid::from_raw(i32::try_from(new).ok()?));
                    let held = self.program.and_then(|program| pidfd_open(program, PidfdFlags::empty()).ok());
                    held.into_iter().for_each(|program| self.leash.hold(program));
                }
                ptrace::cont(pid, None)
            }
            libc::PTRACE_EVENT_EXEC => {
                self.ending.started |= self.program == Some(process);
                match look::powerless(process) {
                    Some(program) => {
                        self.stop(format!("{program}, which needs rights that its user has not"));
                        Ok(())
                    }
                    None => ptrace::cont(pid, None),
                }
            }
            0 if signal == libc::SIGTRAP | 0x80 => {
                self.answered(process);
                ptrace::cont(pid, None)
            }
            0 if signal == libc::SIGXFSZ => {
                self.stop("it wrote too much".into());
                Ok(())
            }
            0 => match Signal::try_from(signal) {
                Ok(signal) => ptrace::cont(pid, signal),
                Err(_) => {
                    self.stop(format!("it sent itself signal {signal}"));
                    Ok(())
                }
            },
            _ => ptrace::cont(pid, None),
        };
    }

    /// Handles the stop of a process just before a system call.
    fn asked(&mut self, process: Pid) -> nix::Result<()> {
        let pid = other(process);
        let kind = ptrace::getevent(pid)?;
        let call = Call::of(process)?;
        if kind == calls::REFUSED {
            self.stop(call.to_string());
            return Ok(());
        }
        if call.is_connect() {
            return match call.absent_address(self.root) {
                Some(errno) => call.skip(errno).and_then(|()| ptrace::cont(pid, None)),
                None => {
                    self.stop(call.to_string());
                    Ok(())
                }
            };
        }
        if call.takes_from_others() {
            self.stop(call.to_string());
            return Ok(());
        }
        ptrace::syscall(pid, None)
    }

    /// Examines the result of a watched call.
    fn answered(&mut self, process: Pid) {
        if let Ok(call) = Call::of(process)
            && (call.was_stopped(self.as_root) || call.has_taken_from_others())
        {
            self.stop(call.to_string());
        }
    }

    /// Ends all processes of the program. Only the first reason is kept.
    fn stop(&mut self, what: String) {
        self.ending.stopped.get_or_insert(what);
        self.leash.pull();
    }
}
