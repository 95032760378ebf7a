//! The processes of a command: those of its process group and session, and all descendants.
//!
//! wrun counts them while the command runs, by reading `/proc` now and then. Limits of the kernel count differently.
//! `RLIMIT_NPROC` counts all processes of a user and does not apply to root. A control group needs rights over wrun's own
//! group, which few machines give. A process that has left the group, the session and the line of descent is not found.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// The time to search for new processes before the found ones are killed.
const GRACE: Duration = Duration::from_secs(3);

/// The maximum length of a line of descent. The kernel's table has no circles, but a copy that is read in pieces may have
/// some.
const MAX_DESCENT: usize = 10_000;

/// The number of fields of `/proc/PID/stat` between the session and the time when the process began.
const FIELDS_BEFORE_BEGIN: usize = 15;

/// A process of a command. Its number may belong to another process later, which then began at another time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) process: Pid,
    began: u64,
}

/// The kernel's data about one process.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Process {
    /// The program's name, or that of the thread that made it, cut to 15 bytes.
    name: String,
    parent: i32,
    group: i32,
    session: i32,
    /// The time when it began, in the kernel's ticks since the start of the machine.
    began: u64,
}

/// Returns the processes of a command, by the leader of its process group. The list includes dead processes that no parent
/// has waited for.
pub(super) fn of(leader: Pid) -> Vec<Pid> {
    find(leader).into_iter().map(|found| found.process).collect()
}

/// Returns the same processes in a form that stays valid when they end.
pub(super) fn find(leader: Pid) -> Vec<Found> {
    let all = processes();
    let leader = leader.as_raw_nonzero().get();
    let mut known: HashMap<i32, bool> = HashMap::new();
    let kin = all.iter().filter(|(pid, _)| is_kin(**pid, leader, &all, &mut known));
    let found = |(pid, process): (&i32, &Process)| Some(Found { process: Pid::from_raw(*pid)?, began: process.began });
    let mut kin: Vec<Found> = kin.filter_map(found).collect();
    kin.sort_unstable_by_key(|found| found.process.as_raw_nonzero());
    kin
}

/// Kills those of some processes that still run.
pub(super) fn kill_found(found: &[Found]) {
    for one in found {
        let now = std::fs::read_to_string(format!("/proc/{}/stat", one.process.as_raw_nonzero()));
        if now.ok().and_then(|stat| parse(&stat)).is_some_and(|process| process.began == one.began) {
            let _ = kill_process(one.process, Signal::KILL);
        }
    }
}

/// Kills the processes of a command. It stops all of them first. The children of a killed parent cannot be found any more,
/// and a running process may start others meanwhile.
pub(super) fn kill(leader: Pid) {
    let until = Instant::now() + GRACE;
    let mut stopped: BTreeSet<i32> = BTreeSet::new();
    loop {
        let new: Vec<Pid> = of(leader).into_iter().filter(|pid| stopped.insert(pid.as_raw_nonzero().get())).collect();
        for pid in &new {
            let _ = kill_process(*pid, Signal::STOP);
        }
        if new.is_empty() || Instant::now() >= until {
            break;
        }
    }
    let _ = kill_process_group(leader, Signal::KILL);
    for pid in stopped.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Kills the children of this process that a thread of this name has made and that have not become another program, and
/// returns their numbers. Until it becomes another program, a child has the name of its thread.
pub(super) fn kill_children_of_thread(name: &str) -> Vec<Pid> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let children = processes().into_iter().filter(|(_, child)| child.parent == own && child.name == name);
    let children: Vec<Pid> = children.filter_map(|(pid, _)| Pid::from_raw(pid)).collect();
    for child in &children {
        let _ = kill_process(*child, Signal::KILL);
    }
    children
}

/// Tells whether a process belongs to the leader's command. Caches the result for the ancestors that it passes.
fn is_kin(pid: i32, leader: i32, all: &HashMap<i32, Process>, known: &mut HashMap<i32, bool>) -> bool {
    let mut way = vec![];
    let mut here = pid;
    let found = loop {
        if here == leader {
            break true;
        }
        if let Some(found) = known.get(&here) {
            break *found;
        }
        let Some(process) = all.get(&here) else { break false };
        if process.group == leader || process.session == leader {
            break true;
        }
        way.push(here);
        if way.len() > MAX_DESCENT {
            break false;
        }
        here = process.parent;
    };
    known.extend(way.into_iter().map(|passed| (passed, found)));
    found
}

fn processes() -> HashMap<i32, Process> {
    let Ok(folder) = std::fs::read_dir("/proc") else { return HashMap::new() };
    let of = |entry: std::io::Result<std::fs::DirEntry>| {
        let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        Some((pid, parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?))
    };
    folder.filter_map(of).collect()
}

/// Reads a line of `/proc/PID/stat`. The program's name, in parentheses, may contain any characters.
fn parse(stat: &str) -> Option<Process> {
    let (name, rest) = stat.rsplit_once(')')?;
    let (_, name) = name.split_once('(')?;
    let mut fields = rest.split_ascii_whitespace().skip(1);
    let mut number = || fields.next()?.parse().ok();
    let (parent, group, session) = (number()?, number()?, number()?);
    let began = fields.nth(FIELDS_BEFORE_BEGIN)?.parse().ok()?;
    Some(Process { name: name.to_owned(), parent, group, session, began })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programs_name_may_hold_anything() {
        let process = |name: &str| Some(Process { name: name.to_owned(), parent: 1, group: 42, session: 7, began: 93 });
        let rest = "S 1 42 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 93 1000";
        assert_eq!(parse(&format!("42 (a) R 9 (b) {rest}")), process("a) R 9 (b"));
        assert_eq!(parse(&format!("42 (sleep) {rest}")), process("sleep"));
        for broken in ["", "42", "42 (x", "42 (x) S 1", "42 (x) S a b c", "42 (x) S 1 42 7 0 -1"] {
            assert_eq!(parse(broken), None, "{broken}");
        }
    }

    #[test]
    fn descendants_and_those_of_group_and_session_are_kin() {
        let process = |parent, group, session| Process { name: String::new(), parent, group, session, began: 0 };
        let all = HashMap::from([
            (10, process(1, 10, 10)),
            (11, process(10, 10, 10)),
            // Left the group, then the session.
            (12, process(11, 12, 12)),
            (13, process(12, 12, 12)),
            // Its parent has ended; it is still in the group.
            (14, process(1, 10, 3)),
            (20, process(1, 20, 20)),
            (21, process(20, 20, 20)),
            // Nobody knows its parent.
            (30, process(99, 30, 30)),
        ]);
        let mut known = HashMap::new();
        let mut kin: Vec<i32> = all.keys().copied().filter(|pid| is_kin(*pid, 10, &all, &mut known)).collect();
        kin.sort_unstable();
        assert_eq!(kin, [10, 11, 12, 13, 14]);
        let circle = HashMap::from([(1, process(2, 0, 0)), (2, process(1, 0, 0))]);
        assert!(!is_kin(1, 10, &circle, &mut HashMap::new()));
    }
}
