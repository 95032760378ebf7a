//! What a confined program may ask of the kernel: three lists, and whatever is on none of them is refused.
//!
//! A list of what is *allowed*, since a list of what is forbidden is out of date with the next kernel. The kernel takes the
//! strictest word of all filters, so that three plain ones do: what may be asked at all; what the tracer looks at, because
//! its outcome may be the confinement's doing; and what is said to be missing, for which every C library has another way.
//!
//! Nothing here can change anything: files are kept by read-only mounts and Landlock, processes by a namespace of their own.
//! What is refused is the rest: sockets, mounts, modules, clocks, keys, tracing, other programs' locks and leases.

mod lists;

pub(super) use lists::Named;

use lists::{FREE, KNOWN, MISSING, WATCHED};
use nix::libc::{self, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};
use std::collections::BTreeMap;

/// What the tracer hears for a call that is refused.
pub(super) const REFUSED: c_long = 0;

/// What the tracer hears for a call whose outcome matters.
pub(super) const LOOKED_AT: c_long = 1;

/// New namespaces, which would give new powers; and a process that the tracer would not see.
const NEW_WORLDS: u64 = (libc::CLONE_UNTRACED
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u64;

/// Attributes of a file that are set without opening it for writing (`chattr`).
const SET_FILE_FLAGS: [u64; 2] = [0x4008_6602, 0x401c_5820];

/// Typing into a terminal, and into the console; another discipline of a line, for which the kernel loads a module.
const TYPING: [u64; 3] = [0x5412, 0x541c, 0x5423];

/// Types of requests to devices that do something though they are open for reading only: compact discs, tapes, watchdogs.
const DEVICE_REQUESTS: [u64; 3] = [0x53, 0x6d, 0x57];

/// Keeps the calling thread, and all that it starts, to the lists. For good. `pretends_locks`: locks count as taken, and are not.
pub(super) fn restrict(pretends_locks: bool) -> Result<(), seccompiler::Error> {
    // The last one forbids to add more.
    for program in [missing()?, pretended(pretends_locks)?, refused()?, watched()?, allowed()?] {
        apply_filter(&program)?;
    }
    Ok(())
}

/// What a watched call is called, and where its path is.
pub(super) fn watched_call(number: c_long) -> Option<(&'static str, Option<Named>)> {
    WATCHED
        .iter()
        .find(|(other, ..)| *other == number)
        .map(|(_, name, named)| (*name, *named))
        .or_else(|| (number == libc::SYS_ioctl).then_some(("ioctl", None)))
}

/// A call's name, for people.
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

/// What is said to have been done, and is not: programs that handle secrets forbid crash files, and go on only if they can. The
/// kernel leaves a crash alone at a limit of one byte; at none it calls the machine's crash handler.
fn pretended(locks: bool) -> Result<BpfProgram, seccompiler::Error> {
    let core = u64::from(libc::RLIMIT_CORE);
    let rules = [
        (libc::SYS_setrlimit, vec![rule(&[(0, Length::Dword, Op::Eq, core)])?]),
        (libc::SYS_prlimit64, vec![rule(&[(1, Length::Dword, Op::Eq, core), (2, Length::Qword, Op::Ne, 0)])?]),
    ];
    let locks = locks.then_some((libc::SYS_flock, vec![]));
    program(rules.into_iter().chain(locks).collect(), SeccompAction::Allow, SeccompAction::Errno(0))
}

/// What is refused of calls that are otherwise allowed.
fn refused() -> Result<BpfProgram, seccompiler::Error> {
    let requests = DEVICE_REQUESTS.iter().map(|kind| rule(&[(1, Length::Dword, Op::MaskedEq(0xff00), *kind << 8)]));
    let rules = [(libc::SYS_ioctl, requests.collect::<Result<_, _>>()?)];
    program(rules.into_iter().collect(), SeccompAction::Allow, trace(REFUSED))
}

fn watched() -> Result<BpfProgram, seccompiler::Error> {
    let mut rules: Rules = WATCHED.iter().map(|(number, ..)| (*number, vec![])).collect();
    let flags = SET_FILE_FLAGS.iter().map(|request| rule(&[(1, Length::Dword, Op::Eq, *request)]));
    rules.insert(libc::SYS_ioctl, flags.collect::<Result<_, _>>()?);
    // Looking at what is open already is what C libraries do all the time, and it always works.
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
        // A filter of the program's own could overrule ours: by saying that a refused call is one to be looked at, or by
        // having another process let it go on.
        (libc::SYS_prctl, rule(&[(0, Length::Dword, Op::Ne, libc::PR_SET_SECCOMP.unsigned_abs().into())])?),
        // By themselves they lead nowhere: connecting is looked at, and sending takes no address.
        (libc::SYS_socket, rule(&[(0, Length::Dword, Op::Eq, libc::AF_UNIX.unsigned_abs().into())])?),
        // Of any other family, the kernel looks for a module first.
        (libc::SYS_socketpair, rule(&[(0, Length::Dword, Op::Eq, libc::AF_UNIX.unsigned_abs().into())])?),
        (libc::SYS_sendto, rule(&[(4, Length::Qword, Op::Eq, 0)])?),
        // A lease makes others wait; so does a lock, but one for reading is what databases are read under.
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
