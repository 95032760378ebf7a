//! Gives up every right of this process for good. This is for a worker process that only computes, from one pipe to another.
//!
//! The worker has its code, memory and pipes before it starts. So it need not open files, make sockets, start programs or
//! touch other processes. The list below names *allowed* calls; every other call fails.

use landlock::{ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr as _, Scope};
use nix::libc::{self, c_long};
use rustix::thread::{CapabilitySet, CapabilitySets};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::os::fd::RawFd;

/// Memory, threads, time, files that are already open, and exit.
const ALLOWED: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_close,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_membarrier,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getcpu,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getrusage,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Gives up every right. If it returns `Err`, the process still has some of them, and the text gives the reason.
///
/// # Errors
/// The kernel refuses a step.
pub fn give_up_all_rights() -> Result<(), String> {
    close_the_rest().map_err(at("close files"))?;
    // If memory runs out, the kernel should end this process and not a service of the machine. This is only a hint.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    for capability in CapabilitySet::all().iter() {
        // This fails without the right to do it; then there is nothing to give up.
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets).map_err(at("give up capabilities"))?;
    rustix::thread::set_no_new_privs(true).map_err(at("give up rights"))?;
    close_files().map_err(at("close the file system"))?;
    // The last filter forbids adding more filters.
    for program in [missing(), allowed()] {
        let program = program.map_err(at("restrict system calls"))?;
        apply_filter(&program).map_err(at("restrict system calls"))?;
    }
    Ok(())
}

fn at<E: Display>(doing: &'static str) -> impl FnOnce(E) -> String {
    move |error| format!("cannot {doing}: {error}")
}

/// Closes files that the process inherited open.
pub(super) fn close_the_rest() -> std::io::Result<()> {
    let open = std::fs::read_dir("/proc/self/fd")?;
    let numbers: Vec<RawFd> = open.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // The descriptor that listed them is already closed.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

/// Restricts files by Landlock, if the kernel has it: a second barrier behind the list of system calls.
fn close_files() -> Result<(), landlock::RulesetError> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V5))?
        .handle_access(AccessNet::from_all(ABI::V4))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?;
    rules.restrict_self().map(drop)
}

/// Reports `clone3` as missing: every C library then creates threads in the older way.
fn missing() -> Result<BpfProgram, seccompiler::Error> {
    let rules = BTreeMap::from([(libc::SYS_clone3, vec![])]);
    program(rules, SeccompAction::Allow, SeccompAction::Errno(libc::ENOSYS.unsigned_abs()))
}

fn allowed() -> Result<BpfProgram, seccompiler::Error> {
    let free = ALLOWED.iter().chain([&libc::SYS_clone3]);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = free.map(|number| (*number, vec![])).collect();
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    let some = [
        // `clone` may make threads, but no processes.
        (libc::SYS_clone, 0, Length::Qword, Op::MaskedEq(thread), thread),
        // A panic ends the process by a signal to itself.
        (libc::SYS_tgkill, 0, Length::Dword, Op::Eq, std::process::id().into()),
        (libc::SYS_prctl, 0, Length::Dword, Op::Eq, libc::PR_SET_NAME.unsigned_abs().into()),
        // Limits may be read, but not set.
        (libc::SYS_prlimit64, 2, Length::Qword, Op::Eq, 0),
    ];
    for (number, argument, length, op, value) in some {
        let condition = SeccompCondition::new(argument, length, op, value)?;
        rules.insert(number, vec![SeccompRule::new(vec![condition])?]);
    }
    program(rules, SeccompAction::Errno(libc::EPERM.unsigned_abs()), SeccompAction::Allow)
}

fn program(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    matched: SeccompAction,
) -> Result<BpfProgram, seccompiler::Error> {
    let processor = std::env::consts::ARCH.try_into()?;
    Ok(SeccompFilter::new(rules, otherwise, matched, processor)?.try_into()?)
}
