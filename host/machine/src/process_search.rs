//! Searches the process table, for services without any other way to find their state.
//!
//! A guest writes the pattern, and any local user the command lines. So both are bounded: a search of one process takes at most
//! as long as a small pattern takes on a few pages, and after each the policy is asked whether it may go on.

use crate::pace::BYTES_PER_UNIT;
use contract::{Account, Ended, ErrorKind, Raised};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Maximum size of a compiled pattern, in bytes. Guests write the patterns.
const MAX_PATTERN: usize = 64 << 10;

/// How much of a command line is searched, in bytes.
const MAX_LINE: u64 = 4 << 10;

/// The part of a process that is compared with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The whole command line, as in Chef.
    Line,
    /// Only the program's name. Arguments may contain other users' passwords, and repeated pattern matches could find these
    /// letter by letter.
    Program,
}

/// Tells whether any process of the root matches. Kernel threads have no command line, so their name in brackets is used.
///
/// # Errors
/// The pattern is none, or too large; the policy may not go on.
pub fn any_matches(pattern: &str, scope: Scope, root: &Path, account: &Account) -> Result<bool, Raised> {
    let compiled = regex::RegexBuilder::new(pattern).size_limit(MAX_PATTERN).build();
    let compiled = compiled.map_err(|error| {
        let message = format!("pattern {pattern:?}: {}", error.to_string().lines().last().unwrap_or_default());
        let raised = Raised::new(ErrorKind::InvalidPattern, message);
        match error {
            regex::Error::CompiledTooBig(_) => raised.with_hint("shorten the pattern, or repeat less of it"),
            _ => raised,
        }
    })?;
    let whole = root == Path::new("/");
    let root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let own = std::process::id().to_string();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Ok(false) };
    let processes = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.bytes().all(|byte| byte.is_ascii_digit()) && name != own
    });
    for process in processes {
        let folder = process.path();
        // For a root other than `/`, only processes inside it count.
        let is_inside = whole || std::fs::read_link(folder.join("root")).is_ok_and(|its| its.starts_with(&root));
        let looks = if is_inside { looks(&folder, scope) } else { vec![] };
        may_go_on(&looks, account)
            .map_err(|ended| Raised::new(ErrorKind::InputOutput, format!("the search of the processes: {ended}")))?;
        if looks.iter().any(|text| compiled.is_match(text)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the id of a process of the root that runs as a user, or may become that user again.
///
/// # Errors
/// The policy may not go on.
pub fn of_user(uid: u32, root: &Path, account: &Account) -> Result<Option<u32>, Raised> {
    // A process of a container has a root of its own, and may have the same number there.
    let folder = |path: &Path| std::fs::metadata(path).map(|about| (about.dev(), about.ino())).ok();
    let own = folder(root);
    let Ok(entries) = std::fs::read_dir("/proc") else { return Ok(None) };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
    for process in numbers {
        let about = format!("/proc/{process}");
        let status = std::fs::read_to_string(format!("{about}/status")).unwrap_or_default();
        account
            .work(status.len() as u64 / BYTES_PER_UNIT + 1)
            .map_err(|ended| Raised::new(ErrorKind::InputOutput, format!("the search of the processes: {ended}")))?;
        let line = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
        // The real, the effective and the saved number. The one of file systems is the effective one.
        let is_users = line.split_whitespace().take(3).any(|number| number.parse() == Ok(uid));
        if is_users && folder(&Path::new(&about).join("root")) == own {
            return Ok(Some(process));
        }
    }
    Ok(None)
}

/// Charges the search of one process. One text alone may take long, so the clock is looked at each time.
fn may_go_on(looks: &[String], account: &Account) -> Result<(), Ended> {
    let bytes: usize = looks.iter().map(String::len).sum();
    account.work(bytes as u64 / BYTES_PER_UNIT + 1)?;
    account.check_waiting()
}

/// Returns the texts of a process to compare with.
fn looks(folder: &Path, scope: Scope) -> Vec<String> {
    let mut bytes = vec![];
    let read = File::open(folder.join("cmdline")).and_then(|line| line.take(MAX_LINE).read_to_end(&mut bytes));
    if read.is_err() {
        return vec![];
    }
    let name = std::fs::read_to_string(folder.join("comm")).map(|name| name.trim_end().to_owned());
    let words = bytes.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect::<Vec<_>>();
    let line = words.join(" ").trim_end().to_owned();
    match (name, scope) {
        (Ok(name), _) if line.is_empty() => vec![format!("[{name}]")],
        (_, Scope::Line) => vec![line],
        // A process that renames itself puts a whole sentence there.
        (name, Scope::Program) => line.split(' ').next().map(str::to_owned).into_iter().chain(name.ok()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Stop, StopReason};

    fn search(pattern: &str, scope: Scope, root: &Path) -> Result<bool, Raised> {
        any_matches(pattern, scope, root, &Account::unmetered("test"))
    }

    #[test]
    fn processes_are_found_by_their_command_line() {
        let mut child = std::process::Command::new("sleep").arg("98.7654").spawn().unwrap();
        // The kernel lets the parent go on a moment before the child's command line can be read.
        let line = format!("/proc/{}/cmdline", child.id());
        while std::fs::read(&line).unwrap().is_empty() {
            std::thread::yield_now();
        }
        let whole = r"^sleep 98\.76\d+$";
        let found = search(whole, Scope::Line, Path::new("/"));
        let elsewhere = search(whole, Scope::Line, Path::new("/proc"));
        let by_argument = search(r"98\.76", Scope::Program, Path::new("/"));
        let by_program = search("^sleep$", Scope::Program, Path::new("/"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.unwrap() && !elsewhere.unwrap());
        assert!(by_program.unwrap() && !by_argument.unwrap());
        assert!(!search("no such process here at all", Scope::Line, Path::new("/")).unwrap());
        assert_eq!(search("(", Scope::Program, Path::new("/")).unwrap_err().kind, ErrorKind::InvalidPattern);
    }

    #[test]
    fn attack_a_search_of_processes_is_bounded() {
        // One mebibyte of automaton, of which no state is ever left.
        let raised = search("aa(?:[ab]?){6000}[0-9]", Scope::Program, Path::new("/")).unwrap_err();
        assert_eq!(raised.kind, ErrorKind::InvalidPattern);
        assert!(raised.message.ends_with("Compiled regex exceeds size limit of 65536 bytes."), "{}", raised.message);
        // A process with a long name, as the kernel shows it.
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("cmdline"), vec![b'a'; 120_000]).unwrap();
        assert_eq!(looks(folder.path(), Scope::Program).first().map(String::len), Some(4 << 10));
        let (account, stop) = (Account::unmetered("test"), Stop::default());
        account.begin_turn(stop.clone());
        stop.request(StopReason::Signal(15));
        let stopped = any_matches("nothing at all", Scope::Line, Path::new("/"), &account).unwrap_err();
        assert_eq!(stopped.message, "the search of the processes: was stopped by SIGTERM");
        assert!(account.usage().work > 0);
    }
}
