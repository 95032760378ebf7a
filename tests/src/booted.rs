//! A temporary root with Debian's systemd as its first process, so that it has services, timers, and the journal like a node.
//!
//! It has its own namespaces for processes, mounts, control groups, the host name, messages, and the network. Files that a
//! machine creates at boot are in memory. systemd treats it as a container.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::root::Root;

/// Debian packages that a root needs for booting.
pub const PACKAGES: [&str; 3] = ["systemd", "systemd-sysv", "dbus"];

/// Time limit for all waits. Working code never needs so long, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Time between two checks while waiting.
const TICK: Duration = Duration::from_millis(50);

/// The script that prepares the root and then becomes its systemd. The first output line contains the process's ID outside,
/// or the operation that this machine forbids. `$2` and the words after it are pairs: a file or folder outside, and its path
/// in the root.
const BOOT: &str = r#"
read -r number rest </proc/self/stat
root=$1; shift
mount --make-rprivate /
mount --rbind "$root" "$root"
cd "$root"
set -e
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=0755 tmpfs sys/fs/cgroup
mount -t cgroup2 cgroup2 sys/fs/cgroup 2>/dev/null || { echo 'forbidden: a control-group file system'; exit 0; }
for folder in run dev tmp; do mount -t tmpfs -o mode=0755 tmpfs "$folder"; done
chmod 1777 tmp
for device in null zero full random urandom tty; do touch "dev/$device"; mount --bind "/dev/$device" "dev/$device"; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
while [ $# -gt 0 ]; do
    if [ -d "$1" ]; then mkdir -p ".$2"; else mkdir -p ".${2%/*}"; touch ".$2"; fi
    mount --bind "$1" ".$2"
    shift 2
done
ip link set lo up
mkdir -p mnt/outside
pivot_root . mnt/outside
echo "$number"
exec /bin/sh -c 'umount -l /mnt/outside; exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /sbin/init --log-target=journal </dev/null >/dev/null 2>&1'
"#;

/// The script that starts the namespaces, and kills all their processes when its input ends. So the machine also ends if the
/// test is killed.
const WATCH: &str = r#"
exec 3<&0
unshare --mount --pid --fork --kill-child --cgroup --uts --ipc --net /bin/sh -c "$BOOT" sh "$@" </dev/null &
first=$!
exec >&-
cat <&3 >/dev/null
kill -9 "$first"
wait "$first" 2>/dev/null
"#;

/// A booted machine. All its processes end when it is dropped.
#[derive(Debug)]
pub struct Booted {
    watch: Child,
    /// The ID of its first process on the developer's machine.
    number: String,
}

impl Booted {
    /// Boots a root that has [`PACKAGES`]. Each item of `seen` is a file or folder outside, and its path in the root. Returns
    /// `None` if this machine forbids it, which is reported on standard error.
    ///
    /// # Errors
    /// systemd does not come up.
    pub fn start(root: &Root, seen: &[(&Path, &str)]) -> Result<Option<Self>> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", WATCH, "sh"]).arg(root.path()).env("BOOT", BOOT);
        for (outside, inside) in seen {
            command.arg(outside).arg(inside);
        }
        let mut watch = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot start sh")?;
        let mut first = String::new();
        if let Some(output) = watch.stdout.take() {
            BufReader::new(output).read_line(&mut first)?;
        }
        let booted = Self { watch, number: first.trim().to_owned() };
        if let Some(what) = booted.number.strip_prefix("forbidden: ") {
            use std::io::Write as _;
            let _ignored = writeln!(std::io::stderr(), "skipped: this machine forbids {what} in a namespace");
            return Ok(None);
        }
        ensure!(!booted.number.is_empty(), "the root {} was not booted", root.path().display());
        // Some services, such as the loading of modules, cannot start in a namespace. They do not matter here.
        booted.wait_for(&["systemctl", "is-system-running"], |said| matches!(said, "running" | "degraded"))?;
        Ok(Some(booted))
    }

    /// Returns a command that runs in the machine.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.number, "--all", "--wd=/", "--"]).arg(program).env_clear();
        command.envs([("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"), ("LC_ALL", "C.UTF-8"), ("SYSTEMD_COLORS", "0")]);
        command.stdin(Stdio::null());
        command
    }

    /// Runs a command in the machine and waits for its end.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn run(&self, words: &[&str]) -> Result<Output> {
        let (program, rest) = words.split_first().context("a command has at least one word")?;
        self.command(program).args(rest).output().with_context(|| format!("cannot run {program}"))
    }

    /// Returns the output of a command, without leading and trailing white space.
    ///
    /// # Errors
    /// It fails.
    pub fn says(&self, words: &[&str]) -> Result<String> {
        let output = self.run(words)?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        let (out, errors) = (said(&output.stdout), said(&output.stderr));
        ensure!(output.status.success(), "{} failed ({}):\n{out}\n{errors}", words.join(" "), output.status);
        Ok(out)
    }

    /// Repeats a command, which may fail, until its output is as wanted. Returns that output.
    ///
    /// # Errors
    /// It never does.
    pub fn wait_for(&self, words: &[&str], is_wanted: impl Fn(&str) -> bool) -> Result<String> {
        let until = Instant::now() + PATIENCE;
        loop {
            let output = self.run(words)?;
            let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            if is_wanted(&said) {
                return Ok(said);
            }
            let errors = String::from_utf8_lossy(&output.stderr);
            ensure!(Instant::now() < until, "{} still says:\n{said}\n{errors}", words.join(" "));
            std::thread::sleep(TICK);
        }
    }
}

impl Drop for Booted {
    fn drop(&mut self) {
        drop(self.watch.stdin.take());
        // The process may hang in the kernel for a moment, but the test's result does not depend on it.
        let _ignored = self.watch.wait();
    }
}
