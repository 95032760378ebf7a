//! Processes whose end wrun does not hear of, although SIGKILL was sent to them.
//!
//! wrun waits for them for a few seconds and then goes on, so that nobody can hold a run. There are two causes. The end of a
//! traced process is told to its tracer first, and a tracer need not take note of it. And no signal ends a process that waits
//! in the kernel for the server of a file system. Any user can cause both for the processes of that user.

use rustix::process::Pid;
use std::io;
use std::path::Path;
use text::escape_line;

/// The reason if no thread of the process shows one.
const UNKNOWN: &str = "the kernel does not say why";

/// A process that does not end, with the reason as a clause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("process {process} does not end: {why}")]
pub(super) struct Unended {
    /// The number of the process.
    pub(super) process: i32,
    /// The reason, such as `process 12 (perl) traces it`.
    pub(super) why: String,
}

impl From<Unended> for io::Error {
    fn from(unended: Unended) -> Self {
        Self::other(unended)
    }
}

/// The state of one thread, as the kernel describes it.
#[derive(Debug, Default, PartialEq, Eq)]
struct State {
    /// The kernel's letter, such as `D` for a wait that no signal ends.
    letter: char,
    /// The thread that traces it, or 0.
    tracer: i32,
}

impl Unended {
    /// Describes a process that should have ended.
    pub(super) fn of(process: Pid) -> Self {
        let process = process.as_raw_nonzero().get();
        Self { process, why: cause(process).unwrap_or_else(|| UNKNOWN.into()) }
    }

    /// Returns the description that an error carries.
    pub(super) fn in_error(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    /// Describes the first of some processes that has a reason not to end, or else the first one.
    pub(super) fn among(processes: &[Pid]) -> Option<Self> {
        let reason = |process: &Pid| {
            let process = process.as_raw_nonzero().get();
            cause(process).map(|why| Self { process, why })
        };
        processes.iter().find_map(reason).or_else(|| processes.first().copied().map(Self::of))
    }
}

/// Returns the reason why a process does not end, if one of its threads shows it.
fn cause(process: i32) -> Option<String> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten().map(|thread| thread.path());
    let states: Vec<_> = threads.filter_map(|thread| Some((state(&thread)?, thread))).collect();
    // A dry run's commands are traced by a thread of wrun itself.
    let is_foreign = |tracer: i32| tracer != 0 && !Path::new(&format!("/proc/self/task/{tracer}")).exists();
    if let Some((state, _)) = states.iter().find(|(state, _)| is_foreign(state.tracer)) {
        let name = std::fs::read_to_string(format!("/proc/{}/comm", state.tracer)).unwrap_or_default();
        return Some(format!("process {} ({}) traces it", state.tracer, escape_line(name.trim_end())));
    }
    let (_, waiting) = states.iter().find(|(state, _)| state.letter == 'D')?;
    let place = std::fs::read_to_string(waiting.join("wchan")).unwrap_or_default();
    let place = if place.is_empty() || place == "0" { String::new() } else { format!(" ({place})") };
    Some(format!("it waits in the kernel{place}, as for a file system whose server is silent"))
}

fn state(thread: &Path) -> Option<State> {
    parse(&std::fs::read_to_string(thread.join("status")).ok()?)
}

/// Parses the lines `State:` and `TracerPid:` of a `status` file. The name of the program, in the first line, is escaped by
/// the kernel and has no line breaks.
fn parse(status: &str) -> Option<State> {
    let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    Some(State { letter: value("State:")?.chars().next()?, tracer: value("TracerPid:")?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_read_from_the_kernels_lines() {
        let status =
            "Name:\tx\\nState:\tZ\nState:\tD (disk sleep)\nTgid:\t7\nPid:\t7\nPPid:\t1\nTracerPid:\t12\nUid:\t0\n";
        assert_eq!(parse(status), Some(State { letter: 'D', tracer: 12 }));
        assert_eq!(parse("State:\tZ (zombie)\nTracerPid:\t0\n"), Some(State { letter: 'Z', tracer: 0 }));
        assert_eq!(parse("State:\n"), None);
    }

    #[test]
    fn a_process_without_a_visible_reason_is_named_all_the_same() {
        let own = rustix::process::getpid();
        let shown = Unended::among(&[own]).map(|unended| unended.to_string());
        let expected = format!("process {} does not end: the kernel does not say why", own.as_raw_nonzero());
        assert_eq!(shown, Some(expected));
        assert_eq!(Unended::among(&[]), None);
    }
}
