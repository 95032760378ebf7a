//! A dry run's commands: started to be asked, and kept from changing anything.
//!
//! A guard's command, or one that Ruby code runs, is asked what is so; a dry run needs the answer as much as a real one. So
//! it runs, in a world where everything can be read and nothing can be changed:
//! - [`view`]: all mounts are read-only and all devices dead, in a mount namespace; scratch directories take what is thrown
//!   away afterwards. Process, host name and shared memory namespaces are its own.
//! - Landlock ([`launcher`]): no writing, not even into devices and named pipes; no look into other processes.
//! - [`calls`]: a list of allowed system calls. No sockets but to itself, no mounts, modules, clocks, keys.
//! - Capabilities: to read, and to become another user.
//! - [`tracer`]: whatever was refused is noticed, the program is ended, and the answer is *unknown*, with the reason.
//!
//! Rejected: taking the exit code for the answer whatever was refused (a `systemctl is-active` that may not ask systemd says
//! *no*); seccomp's notification by a descriptor, which needs `unsafe` and does not see how a call ends.
//!
//! Where a kernel or a container does not allow all of this, nothing runs, and the answer is unknown too.

#[cfg(target_arch = "x86_64")]
mod calls;
#[cfg(target_arch = "x86_64")]
mod launcher;
#[cfg(target_arch = "x86_64")]
mod look;
#[cfg(target_arch = "x86_64")]
mod reply;
#[cfg(target_arch = "x86_64")]
mod seen;
#[cfg(target_arch = "x86_64")]
mod tracer;
#[cfg(target_arch = "x86_64")]
mod view;
mod worker;

pub use worker::give_up_all_rights;

#[cfg(target_arch = "x86_64")]
mod ask;
#[cfg(target_arch = "x86_64")]
pub(super) use ask::ask;
#[cfg(target_arch = "x86_64")]
pub use launcher::launch_confined;

use contract::CommandOutcome;

/// The directory of a file that a confined command is asked about, in its scratch directory.
pub const PLACED: &str = "/tmp/.wrun-asked";

/// How large such a file may be, in bytes: it is sent to the launcher with the command.
pub const MAX_PLACED: u64 = 2 << 20;

/// Why there is no knowing where the program is not installed.
pub const MISSING_PROGRAM: &str = "its program is not on this machine";

/// What came of asking.
#[derive(Debug)]
pub enum Answer {
    /// It ran to its end, and nothing was refused.
    Ended(CommandOutcome),
    /// There is no knowing, and why: a clause to follow what it is about.
    Unknown(String),
}

/// The tracer reads registers, and those are each processor's own.
#[cfg(not(target_arch = "x86_64"))]
mod elsewhere {
    use super::Answer;
    use crate::command::{Launch, start::Identity, wait::Watch};
    use std::path::Path;
    use std::process::ExitCode;

    /// Answers that the outcome is unknown, without starting anything.
    pub(in crate::command) fn ask(
        _: &Path,
        _: &Path,
        _: &Launch,
        _: &Identity,
        _: Vec<(String, String)>,
        _: Watch<'_>,
    ) -> Answer {
        Answer::Unknown("a dry run cannot confine commands on this kind of processor".into())
    }

    /// Fails at once: nothing calls it on this kind of processor.
    pub fn launch_confined() -> ExitCode {
        ExitCode::FAILURE
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use elsewhere::ask;
#[cfg(not(target_arch = "x86_64"))]
pub use elsewhere::launch_confined;
