//! Processes, and where asked a network, of a throw-away root.
//!
//! A service that the program starts must be there for the next command and gone with the test. So one small process is
//! the first of a process namespace of its own; commands join it, and when it ends the kernel ends them all. It waits
//! on a pipe: also a test that is killed takes its machine along.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::root::Root;

/// The first process. It says its number outside, then collects its dead until its input ends.
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

/// Which network a machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// The tester's: packages can be installed.
    Shared,
    /// Only a loopback of its own: nothing leaves it, and every port is free.
    Own,
}

/// A running throw-away machine. All its processes end when it is dropped.
#[derive(Debug)]
pub struct Machine<'root> {
    root: &'root Root,
    network: Network,
    first: Child,
    /// The first process's number, as the tester's machine counts.
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

    /// A command inside the root, with a plain environment, that the caller completes and runs.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.outside("chroot");
        command.arg(self.root.path()).arg(program);
        command
    }

    /// Runs a command inside the root to its end.
    pub fn run<Argument: AsRef<OsStr>>(&self, arguments: &[Argument]) -> Result<Output> {
        let (program, rest) = arguments.split_first().context("a command has at least one word")?;
        let output = self.command(program).args(rest).stdin(Stdio::null()).output();
        output.with_context(|| format!("cannot run {}", program.as_ref().display()))
    }

    /// A command that sees the tester's files but the machine's processes and network: how `wrun --root` is run.
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

    /// The file that names the machine's network namespace, for servers that are to be reached from inside.
    pub(crate) fn network_file(&self) -> Option<std::path::PathBuf> {
        (self.network == Network::Own).then(|| Path::new("/proc").join(&self.number).join("ns/net"))
    }
}

/// The largest resident set among the processes that this one has waited for, in kilobytes.
pub fn largest_child() -> Result<u64> {
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN)?;
    Ok(u64::try_from(usage.max_rss())?)
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        drop(self.first.stdin.take());
        // The first process may hang in the kernel for a moment; the test's result does not depend on it.
        let _ignored = self.first.wait();
    }
}
