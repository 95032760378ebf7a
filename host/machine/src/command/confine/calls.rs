//! The system calls of a confined program: three lists, and the kernel refuses every call that is on none of them.
//!
//! The lists name *allowed* calls, because a list of forbidden calls is out of date with the next kernel. If several filters
//! apply, the kernel takes the strictest result, so three simple lists suffice. The first has allowed calls. The second has
//! calls that the tracer examines, because the confinement may be the reason for their result. The third has calls that are
//! reported as missing; for each of them every C library has a replacement.
//!
//! The allowed calls cannot change anything: read-only mounts and Landlock protect files, and a private namespace protects
//! processes. The filters refuse everything else: sockets, mounts, modules, clocks, keys, tracing, and locks and leases on
//! other programs' files.

mod lists;

pub(super) use lists::Named;

use lists::{FREE, KNOWN, MISSING, WATCHED};
use nix::libc::{self, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};
use std::collections::BTreeMap;

/// The message that the tracer gets for a refused call.
pub(super) const REFUSED: c_long = 0;

/// The message that the tracer gets for a call whose result it examines.
pub(super) const LOOKED_AT: c_long = 1;

/// Flags for new namespaces, which would give new rights, and for a process that the tracer would not see.
const NEW_WORLDS: u64 = (libc::CLONE_UNTRACED
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u64;

/// Requests that set attributes of a file without opening it for writing (`chattr`).
const SET_FILE_FLAGS: [u64; 2] = [0x4008_6602, 0x401c_5820];

/// Requests that put input into a terminal or the console, or change the line discipline, for which the kernel loads a
/// module.
const TYPING: [u64; 3] = [0x5412, 0x541c, 0x5423];

/// Types of device requests that act although the device is open for reading only: compact discs, tapes, watchdogs.
const DEVICE_REQUESTS: [u64; 3] = [0x53, 0x6d, 0x57];

/// Restricts the calling thread, and everything that it starts, to the lists. This cannot be undone. `pretends_locks`: locks
/// count as taken, and are not. `lacks_network`: sockets of networks, and
/// attributes of files, are not supported.
pub(super) fn restrict(pretends_locks: bool, lacks_network: bool) -> Result<(), seccompiler::Error> {
    if lacks_network {
        apply_filter(&without_network()?)?;
        apply_filter(&without_attributes()?)?;
    }
    // The last filter forbids adding more filters.
    for program in [missing()?, pretended(pretends_locks)?, refused()?, watched()?, allowed()?] {
        apply_filter(&program)?;
    }
    Ok(())
}

/// Returns the name of a watched call and the arguments that hold its path.
pub(super) fn watched_call(number: c_long) -> Option<(&'static str, Option<Named>)> {
    WATCHED
        .iter()
        .find(|(other, ..)| *other == number)
        .map(|(_, name, named)| (*name, *named))
        .or_else(|| (number == libc::SYS_ioctl).then_some(("ioctl", None)))
}

/// Returns a call's name for messages.
pub(super) fn name(number: c_long) -> String {
    let known = KNOWN.iter().find(|(other, _)| *other == number).map(|(_, name)| *name);
    let name = known.or_else(|| watched_call(number).map(|(name, _)| name));
    name.map_or_else(|| format!("system call {number}"), Into::into)
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn program(rules: Rules, otherwise: SeccompAction, matched: SeccompAction) -> Result<BpfProgram, seccompiler::Error> {
    let processor = std::env::consts::ARCH.try_into()?;
    Ok(SeccompFilter::new(rules, otherwise, matched, processor)?.try_into()?)
}

fn missing() -> Result<BpfProgram, seccompiler::Error> {
    let rules = MISSING.iter().map(|number| (*number, vec![])).collect();
    program(rules, SeccompAction::Allow, SeccompAction::Errno(libc::ENOSYS.unsigned_abs()))
}

/// Reports success for calls that set the limit for crash files, without setting it. Programs that handle secrets disable
/// crash files, and stop if that fails. With a limit of one byte the kernel ignores a crash; with zero it calls the machine's
/// crash handler.
fn pretended(locks: bool) -> Result<BpfProgram, seccompiler::Error> {
    let core = u64::from(libc::RLIMIT_CORE);
    let rules = [
        (libc::SYS_setrlimit, vec![rule(&[(0, Length::Dword, Op::Eq, core)])?]),
        (libc::SYS_prlimit64, vec![rule(&[(1, Length::Dword, Op::Eq, core), (2, Length::Qword, Op::Ne, 0)])?]),
    ];
    let locks = locks.then_some((libc::SYS_flock, vec![]));
    program(rules.into_iter().chain(locks).collect(), SeccompAction::Allow, SeccompAction::Errno(0))
}

/// Reports sockets of all families but the machine's own as not supported, as a kernel without networks does.
fn without_network() -> Result<BpfProgram, seccompiler::Error> {
    let other = rule(&[(0, Length::Dword, Op::Ne, libc::AF_UNIX.unsigned_abs().into())])?;
    let rules = [(libc::SYS_socket, vec![other])].into_iter().collect();
    program(rules, SeccompAction::Allow, SeccompAction::Errno(libc::EAFNOSUPPORT.unsigned_abs()))
}

/// Reports attributes of open files as not supported, as some file systems do: dnf keeps checksums of its lists there.
fn without_attributes() -> Result<BpfProgram, seccompiler::Error> {
    let rules = [(libc::SYS_fsetxattr, vec![])].into_iter().collect();
    program(rules, SeccompAction::Allow, SeccompAction::Errno(libc::EOPNOTSUPP.unsigned_abs()))
}

/// Refuses some uses of calls that are otherwise allowed.
fn refused() -> Result<BpfProgram, seccompiler::Error> {
    let requests = DEVICE_REQUESTS.iter().map(|kind| rule(&[(1, Length::Dword, Op::MaskedEq(0xff00), *kind << 8)]));
    let rules = [(libc::SYS_ioctl, requests.collect::<Result<_, _>>()?)];
    program(rules.into_iter().collect(), SeccompAction::Allow, trace(REFUSED))
}

fn watched() -> Result<BpfProgram, seccompiler::Error> {
    let mut rules: Rules = WATCHED.iter().map(|(number, ..)| (*number, vec![])).collect();
    let flags = SET_FILE_FLAGS.iter().map(|request| rule(&[(1, Length::Dword, Op::Eq, *request)]));
    rules.insert(libc::SYS_ioctl, flags.collect::<Result<_, _>>()?);
    // C libraries often examine files that are already open. That always works, so the tracer need not see it.
    let empty = libc::AT_EMPTY_PATH.unsigned_abs().into();
    rules.insert(libc::SYS_newfstatat, vec![rule(&[(3, Length::Dword, Op::MaskedEq(empty), 0)])?]);
    rules.insert(libc::SYS_statx, vec![rule(&[(2, Length::Dword, Op::MaskedEq(empty), 0)])?]);
    program(rules, SeccompAction::Allow, trace(LOOKED_AT))
}

fn allowed() -> Result<BpfProgram, seccompiler::Error> {
    let free = FREE.iter().copied().chain(WATCHED.iter().map(|(number, ..)| *number));
    let mut rules: Rules = free.map(|number| (number, vec![])).collect();
    let some = [
        (libc::SYS_clone, rule(&[(0, Length::Qword, Op::MaskedEq(NEW_WORLDS), 0)])?),
        // A filter of the program's own could override ours: it could turn a refused call into a watched one, or let another
        // process approve it.
        (libc::SYS_prctl, rule(&[(0, Length::Dword, Op::Ne, libc::PR_SET_SECCOMP.unsigned_abs().into())])?),
        // Sockets alone lead nowhere: the tracer examines `connect`, and `sendto` may not name an address.
        (libc::SYS_socket, rule(&[(0, Length::Dword, Op::Eq, libc::AF_UNIX.unsigned_abs().into())])?),
        // For any other address family the kernel would first try to load a module.
        (libc::SYS_socketpair, rule(&[(0, Length::Dword, Op::Eq, libc::AF_UNIX.unsigned_abs().into())])?),
        (libc::SYS_sendto, rule(&[(4, Length::Qword, Op::Eq, 0)])?),
        // A lease makes other processes wait. Locks do, too, but databases need locks for reading.
        (libc::SYS_fcntl, rule(&[(1, Length::Dword, Op::Ne, libc::F_SETLEASE.unsigned_abs().into())])?),
        (libc::SYS_ioctl, rule(&TYPING.map(|request| (1, Length::Dword, Op::Ne, request)))?),
    ];
    rules.extend(some.map(|(number, rule)| (number, vec![rule])));
    program(rules, trace(REFUSED), SeccompAction::Allow)
}

fn trace(message: c_long) -> SeccompAction {
    SeccompAction::Trace(u32::try_from(message).unwrap_or_default())
}

fn rule(conditions: &[(u8, Length, Op, u64)]) -> Result<SeccompRule, seccompiler::Error> {
    let conditions = conditions
        .iter()
        .map(|(argument, length, op, value)| SeccompCondition::new(*argument, length.clone(), op.clone(), *value));
    Ok(SeccompRule::new(conditions.collect::<Result<_, _>>()?)?)
}
