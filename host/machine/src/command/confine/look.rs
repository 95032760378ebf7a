//! A system call of a confined program, as its tracer sees it: for the message, and for the verdict.

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

/// The longest path that is looked at, in bytes.
const MAX_PATH: usize = 4096;

/// The most characters of a path that a message repeats.
const MAX_SHOWN: usize = 200;

/// A cache of names: who cannot reach it asks the files, with the same answer.
const NAME_CACHES: [&str; 2] = ["/var/run/nscd/socket", "/run/nscd/socket"];

/// What a crash of the program would leave behind, which confined is nothing: Java sets it at every start.
const CRASH_SETTING: &str = "/proc/self/coredump_filter";

/// They list processes, and pass over what they may not read of each: nobody asked them for it.
const PASS_OVER: [&str; 2] = ["ps", "pgrep"];

/// A call, before or after it is made.
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

    /// The error that a connection ends in, if nobody is there to be reached. Else it is the confinement's to refuse.
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

    /// Makes the call not happen, and end in an error.
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

    /// Whether it opens a pipe that has a name, or a device like one: what is read from it is gone, and who waits at its other
    /// end goes on.
    pub(super) fn takes_from_others(&self) -> bool {
        self.opens() && self.target().is_some_and(is_shared)
    }

    /// The same once it is open, by its descriptor: the path may have led elsewhere meanwhile. Nothing has been read yet.
    pub(super) fn has_taken_from_others(&self) -> bool {
        let descriptor = i32::try_from(self.registers.rax.cast_signed()).ok().filter(|number| *number >= 0);
        let opened = descriptor.filter(|_| self.opens()).and_then(|number| self.viewer().descriptor(number));
        opened.is_some_and(is_shared)
    }

    fn viewer(&self) -> Viewer {
        Viewer(self.process.as_raw_nonzero().get())
    }

    /// Whether the confinement made it fail. Root is otherwise refused little; others are, with good reason.
    pub(super) fn was_stopped(&self, as_root: bool) -> bool {
        let result = self.registers.rax.cast_signed().wrapping_neg();
        let Ok(number) = i32::try_from(result) else { return false };
        if self.number() == libc::SYS_kill {
            // The number of a process that is there, but outside.
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

    /// What nobody may execute, root may not either.
    fn asks_to_execute(&self, target: Option<Seen>) -> bool {
        let mode = match self.number() {
            libc::SYS_access => self.argument(1),
            libc::SYS_faccessat | libc::SYS_faccessat2 => self.argument(2),
            _ => return false,
        };
        mode & libc::X_OK.cast_unsigned() as u64 != 0 && target.is_some_and(|target| !target.is_executable)
    }

    /// The path that the call is about, as the program wrote it, and its directory's descriptor.
    fn path(&self) -> Option<(i32, String)> {
        let (directory, path) = match calls::watched_call(self.number())?.1? {
            Named::Path(path) => (libc::AT_FDCWD, path),
            // A register holds more than the number.
            Named::Below(directory, path) => ((self.argument(directory) as u32).cast_signed(), path),
        };
        let path = self.memory(self.argument(path), MAX_PATH, true);
        Some((directory, String::from_utf8_lossy(&path).into_owned()))
    }

    /// What lies there, to the program.
    fn target(&self) -> Option<Seen> {
        let (directory, path) = self.path()?;
        self.viewer().look(Some(directory).filter(|directory| *directory != libc::AT_FDCWD), &path)
    }

    /// The program's memory, as far as it can be read; up to a null if it is text.
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

/// The program that a process has become, if it is one that its owner lends rights to: confined, it does not get them.
pub(super) fn powerless(process: Pid) -> Option<String> {
    let process = process.as_raw_nonzero();
    let program = std::fs::metadata(format!("/proc/{process}/exe")).ok()?;
    let user = std::fs::metadata(format!("/proc/{process}")).ok()?.uid();
    let lends = program.mode() & 0o4000 != 0 && program.uid() != user || program.mode() & 0o2000 != 0;
    let path = std::fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
    (lends && user != 0).then(|| shown(&path.to_string_lossy()))
}

/// Whether others wait for what is read from it, or see that it was opened.
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
