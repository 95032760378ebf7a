//! Processes and, if requested, a network for a temporary root.
//!
//! A service that the program starts must still run for the next command, and must end with the test. So one small process is
//! the first in a new process namespace, and commands join this namespace. When the first process ends, the kernel ends all
//! others. It waits for the end of a pipe, so the machine also ends if the test is killed.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::root::Root;

/// The script of the first process. It prints its process ID outside, and then reaps ended processes until its input ends.
const FIRST_PROCESS: &str = r#"set -e
read -r number rest </proc/self/stat
mount -t proc proc /proc
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
if [ "$2" = own ]; then ip link set lo up; fi
exec 3<&0
echo "$number"
cat <&3 >/dev/null &
wait "$!"
"#;

/// The network of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// The developer's network, so that packages can be installed.
    Shared,
    /// Its own network with only a loopback: it has no connection to the outside, and every port is free.
    Own,
}

/// A running temporary machine. All its processes end when it is dropped.
#[derive(Debug)]
pub struct Machine<'root> {
    root: &'root Root,
    network: Network,
    first: Child,
    /// The ID of the first process on the developer's machine.
    number: String,
}

impl<'root> Machine<'root> {
    pub(crate) fn start(root: &'root Root, network: Network) -> Result<Self> {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child"]);
        if network == Network::Own {
            command.arg("--net");
        }
        let own = if network == Network::Own { "own" } else { "shared" };
        command.args(["sh", "-c", FIRST_PROCESS, "sh"]).arg(root.path()).arg(own);
        let mut first = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a process namespace with unshare")?;
        let mut number = String::new();
        if let Some(output) = first.stdout.take() {
            BufReader::new(output).read_line(&mut number)?;
        }
        let machine = Self { root, network, first, number: number.trim().to_owned() };
        ensure!(!machine.number.is_empty(), "the machine of {} did not start", root.path().display());
        Ok(machine)
    }

    #[must_use]
    pub fn root(&self) -> &Root {
        self.root
    }

    /// Returns a command inside the root, with a minimal environment. The caller adds arguments and runs it.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.outside("chroot");
        command.arg(self.root.path()).arg(program);
        command
    }

    /// Runs a command inside the root and waits for its end.
    pub fn run<Argument: AsRef<OsStr>>(&self, arguments: &[Argument]) -> Result<Output> {
        let (program, rest) = arguments.split_first().context("a command has at least one word")?;
        let output = self.command(program).args(rest).stdin(Stdio::null()).output();
        output.with_context(|| format!("cannot run {}", program.as_ref().display()))
    }

    /// Returns a command that sees the developer's files, but the machine's processes and network. `wrun --root` runs in this
    /// way.
    pub fn outside(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.number, "--mount", "--pid"]);
        if self.network == Network::Own {
            command.arg("--net");
        }
        command.arg("--").arg(program).env_clear().envs([
            ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
            ("LC_ALL", "C.UTF-8"),
            ("DEBIAN_FRONTEND", "noninteractive"),
        ]);
        command
    }

    /// Returns the file of the machine's network namespace, for servers that must be reachable from inside.
    pub(crate) fn network_file(&self) -> Option<std::path::PathBuf> {
        (self.network == Network::Own).then(|| Path::new("/proc").join(&self.number).join("ns/net"))
    }
}

/// Returns the largest resident set of all child processes that have ended, in kilobytes.
pub fn largest_child() -> Result<u64> {
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN)?;
    Ok(u64::try_from(usage.max_rss())?)
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        drop(self.first.stdin.take());
        // The first process may hang in the kernel for a moment, but the test's result does not depend on it.
        let _ignored = self.first.wait();
    }
}
