//! A system call of a confined program as its tracer sees it: decides whether it was refused, and describes it in the
//! message.

use super::calls::{self, Named};
use super::seen::{Seen, Viewer};
use crate::root::{Kind, Root, absent};
use nix::errno::Errno;
use nix::libc::{self, c_long, user_regs_struct};
use nix::sys::ptrace;
use nix::unistd::Pid as NixPid;
use rustix::process::Pid;
use std::fmt::{self, Display, Formatter};
use std::os::unix::fs::MetadataExt as _;

/// The maximum length of a path that the tracer reads, in bytes.
const MAX_PATH: usize = 4096;

/// The most characters of a path that a message repeats.
const MAX_SHOWN: usize = 200;

/// Sockets of a name cache. A program that cannot reach it reads the files, with the same answer.
const NAME_CACHES: [&str; 2] = ["/var/run/nscd/socket", "/run/nscd/socket"];

/// A setting for crash files, which a confined program never leaves. Java writes to it at every start.
const CRASH_SETTING: &str = "/proc/self/coredump_filter";

/// Programs that list processes and skip data that they may not read. A refusal there does not change their answer.
const PASS_OVER: [&str; 2] = ["ps", "pgrep"];

/// A system call, before or after the kernel carries it out.
pub(super) struct Call {
    process: Pid,
    registers: user_regs_struct,
}

impl Call {
    pub(super) fn of(process: Pid) -> nix::Result<Self> {
        let registers = ptrace::getregs(NixPid::from_raw(process.as_raw_nonzero().get()))?;
        Ok(Self { process, registers })
    }

    fn number(&self) -> c_long {
        self.registers.orig_rax.cast_signed()
    }

    fn argument(&self, index: usize) -> u64 {
        let all = &self.registers;
        [all.rdi, all.rsi, all.rdx, all.r10, all.r8, all.r9].get(index).copied().unwrap_or_default()
    }

    pub(super) fn is_connect(&self) -> bool {
        self.number() == libc::SYS_connect
    }

    /// Returns the error of a connection if its address does not exist on the machine. Otherwise the confinement must refuse
    /// the connection.
    pub(super) fn absent_address(&self, root: &Root) -> Option<Errno> {
        let length = usize::try_from(self.argument(2)).unwrap_or_default().min(size_of::<libc::sockaddr_un>());
        let address = self.memory(self.argument(1), length, false);
        let (family, path) = address.split_first_chunk::<2>()?;
        if u16::from_ne_bytes(*family) != u16::try_from(libc::AF_UNIX).ok()? || !path.starts_with(b"/") {
            return None;
        }
        let path = path.split(|byte| *byte == 0).next().and_then(|path| str::from_utf8(path).ok())?;
        let place = absent(root.locate_target(path)).ok()?;
        let is_there = match place {
            Some(place) => absent(place.entry()).ok()?.is_some(),
            None => false,
        };
        (!is_there || NAME_CACHES.contains(&path)).then_some(Errno::ENOENT)
    }

    /// Skips the call and makes it return an error.
    pub(super) fn skip(&self, errno: Errno) -> nix::Result<()> {
        let registers = user_regs_struct {
            orig_rax: u64::MAX,
            rax: i64::from(errno as i32).wrapping_neg().cast_unsigned(),
            ..self.registers
        };
        ptrace::setregs(NixPid::from_raw(self.process.as_raw_nonzero().get()), registers)
    }

    fn opens(&self) -> bool {
        [libc::SYS_open, libc::SYS_openat, libc::SYS_creat].contains(&self.number())
    }

    /// Tells whether the call opens a named pipe or a similar device. Reading would remove data from it, and a process that
    /// waits at its other end would continue.
    pub(super) fn takes_from_others(&self) -> bool {
        self.opens() && self.target().is_some_and(is_shared)
    }

    /// Tells the same after the call, by the descriptor, because the path may now lead to another file. Nothing has been read
    /// yet.
    pub(super) fn has_taken_from_others(&self) -> bool {
        let descriptor = i32::try_from(self.registers.rax.cast_signed()).ok().filter(|number| *number >= 0);
        let opened = descriptor.filter(|_| self.opens()).and_then(|number| self.viewer().descriptor(number));
        opened.is_some_and(is_shared)
    }

    fn viewer(&self) -> Viewer {
        Viewer(self.process.as_raw_nonzero().get())
    }

    /// Tells whether the confinement made the call fail. Without confinement, root is rarely refused anything; other users
    /// often are, for good reasons.
    pub(super) fn was_stopped(&self, as_root: bool) -> bool {
        let result = self.registers.rax.cast_signed().wrapping_neg();
        let Ok(number) = i32::try_from(result) else { return false };
        if self.number() == libc::SYS_kill {
            // The process exists, but outside the namespace.
            let process = i32::try_from(self.argument(0).cast_signed()).unwrap_or_default().unsigned_abs();
            return number == libc::ESRCH && std::path::Path::new(&format!("/proc/{process}")).exists();
        }
        match Errno::from_raw(number) {
            Errno::EROFS if self.path().is_some_and(|(_, path)| path == CRASH_SETTING) => false,
            Errno::EROFS | Errno::ENOSPC | Errno::EDQUOT => true,
            Errno::EACCES | Errno::EPERM => {
                let target = self.target();
                let of_others = self.path().is_some_and(|(_, path)| path.starts_with("/proc/"));
                if of_others && self.passes_over() {
                    return false;
                }
                let is_dead = target.is_some_and(|target| {
                    matches!(target.kind, Kind::CharacterDevice | Kind::BlockDevice | Kind::Pipe)
                });
                is_dead || of_others || (as_root && !self.asks_to_execute(target))
            }
            _ => false,
        }
    }

    fn passes_over(&self) -> bool {
        let name = std::fs::read_to_string(format!("/proc/{}/comm", self.process.as_raw_nonzero()));
        name.is_ok_and(|name| PASS_OVER.contains(&name.trim_end()))
    }

    /// Tells whether the call only asks to execute a file that nobody may execute. Root may not execute it either.
    fn asks_to_execute(&self, target: Option<Seen>) -> bool {
        let mode = match self.number() {
            libc::SYS_access => self.argument(1),
            libc::SYS_faccessat | libc::SYS_faccessat2 => self.argument(2),
            _ => return false,
        };
        mode & libc::X_OK.cast_unsigned() as u64 != 0 && target.is_some_and(|target| !target.is_executable)
    }

    /// Returns the call's path, as the program wrote it, and the descriptor of its directory.
    fn path(&self) -> Option<(i32, String)> {
        let (directory, path) = match calls::watched_call(self.number())?.1? {
            Named::Path(path) => (libc::AT_FDCWD, path),
            // The register is wider than the descriptor.
            Named::Below(directory, path) => ((self.argument(directory) as u32).cast_signed(), path),
        };
        let path = self.memory(self.argument(path), MAX_PATH, true);
        Some((directory, String::from_utf8_lossy(&path).into_owned()))
    }

    /// Returns the file at the call's path, as the program sees it.
    fn target(&self) -> Option<Seen> {
        let (directory, path) = self.path()?;
        self.viewer().look(Some(directory).filter(|directory| *directory != libc::AT_FDCWD), &path)
    }

    /// Reads the program's memory as far as possible. If `text` is true, stops at a null byte.
    fn memory(&self, address: u64, length: usize, text: bool) -> Vec<u8> {
        let pid = NixPid::from_raw(self.process.as_raw_nonzero().get());
        let mut bytes = Vec::new();
        let mut at = usize::try_from(address).unwrap_or_default();
        while bytes.len() < length {
            let Ok(word) = ptrace::read(pid, std::ptr::without_provenance_mut(at)) else { break };
            let word = word.to_ne_bytes();
            match word.iter().position(|byte| *byte == 0).filter(|_| text) {
                Some(end) => {
                    bytes.extend_from_slice(word.get(..end).unwrap_or_default());
                    break;
                }
                None => bytes.extend_from_slice(&word),
            }
            at = at.wrapping_add(word.len());
        }
        bytes.truncate(length);
        bytes
    }
}

/// Returns the program of a process if it is setuid or setgid. In the confinement it does not get its owner's rights.
pub(super) fn powerless(process: Pid) -> Option<String> {
    let process = process.as_raw_nonzero();
    let program = std::fs::metadata(format!("/proc/{process}/exe")).ok()?;
    let user = std::fs::metadata(format!("/proc/{process}")).ok()?.uid();
    let lends = program.mode() & 0o4000 != 0 && program.uid() != user || program.mode() & 0o2000 != 0;
    let path = std::fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
    (lends && user != 0).then(|| shown(&path.to_string_lossy()))
}

/// Tells whether other processes wait for its data, or notice that it was opened.
fn is_shared(seen: Seen) -> bool {
    seen.is_named_pipe || seen.is_live_device
}

impl Display for Call {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let name = calls::name(self.number());
        if self.is_connect() {
            let address = self.memory(self.argument(1), size_of::<libc::sockaddr_un>(), false);
            let path = address.get(2..).unwrap_or_default().split(|byte| *byte == 0).find(|part| !part.is_empty());
            return write!(formatter, "{name} {}", shown(&String::from_utf8_lossy(path.unwrap_or_default())));
        }
        match self.path() {
            Some((_, path)) => write!(formatter, "{name} {}", shown(&path)),
            None => formatter.write_str(&name),
        }
    }
}

fn shown(path: &str) -> String {
    path.chars().take(MAX_SHOWN).collect()
}
