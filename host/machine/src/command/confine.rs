//! Commands of a dry run: they run so that wrun gets their answers, but they cannot change anything.
//!
//! A guard's command, or one that Ruby code runs, inspects the machine, and a dry run needs the answer as much as a real run.
//! So wrun runs it in an environment where it can read everything and change nothing:
//! - [`view`]: all mounts are read-only, and devices do not work, in a private mount namespace. Writes to scratch directories
//!   are discarded. Process, host name and shared memory namespaces are private, too.
//! - Landlock ([`launcher`]): forbids writing, even to devices and named pipes, and access to other processes.
//! - [`calls`]: a list of allowed system calls. It refuses sockets that lead out of the confinement, mounts, modules, clocks
//!   and keys.
//! - Capabilities: only those to read all files and to become another user.
//! - [`tracer`]: notices each refused call, ends the program, and makes the answer *unknown*, with the reason.
//!
//! Rejected: using the exit code even after a refusal (a `systemctl is-active` that cannot reach systemd says *no*). Also
//! rejected: seccomp's notification by a descriptor, which needs `unsafe` and does not see the result of a call.
//!
//! If a kernel or a container does not support all of this, the command does not run, and the answer is unknown too.

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

/// The directory, within the scratch directory, of a file that a confined command examines.
pub const PLACED: &str = "/tmp/.wrun-asked";

/// The maximum size of such a file, in bytes: wrun sends it to the launcher with the command.
pub const MAX_PLACED: u64 = 2 << 20;

/// The reason for an unknown answer if the program is not installed.
pub const MISSING_PROGRAM: &str = "its program is not on this machine";

/// The answer of a confined command.
#[derive(Debug)]
pub enum Answer {
    /// The program ran to its end, and the confinement refused it nothing.
    Ended(CommandOutcome),
    /// The outcome is unknown. The text is a clause with the reason, to append to the subject.
    Unknown(String),
}

/// The tracer reads registers, which differ between processor types: other processors get this replacement.
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
